"""A model of texts with vectors, served: vectors come with the texts or from an encoder, and
the journal keeps them.
"""

import json

import numpy as np
import pytest

import shortlist as sl
from shortlist.cli.options import find_encoder
from shortlist.errors import InputError
from shortlist.server import snapshots
from shortlist.server.app import check_encoder
from shortlist.server.entries import read_vector, written_vector
from shortlist.server.replica import Replica
from shortlist.server.settings import ServerSettings
from tests.server.servers import EXAMPLES, in_thread, state_bytes


def meaning(texts):
    """Three numbers for each text: is it about wheat, about a bank, and how long it is."""
    return np.array(
        [["wheat" in one, "bank" in one, -0.01 * len(one)] for one in texts], dtype=np.float32
    )


@pytest.fixture
def folder(tmp_path):
    texts, labels = zip(*EXAMPLES, strict=True)
    sl.Categorizer().fit(list(texts), list(labels), vectors=meaning(texts)).save(
        tmp_path / "m.shortlist"
    )
    path = tmp_path / "state"
    path.mkdir()
    snapshots.take_base(path, tmp_path / "m.shortlist")
    return path


def vector(text):
    return meaning([text])[0].tolist()


def test_vectors_come_with_texts(folder):
    model = sl.load(folder.parent / "m.shortlist")
    with in_thread(folder) as server:
        one = server.ask("rank", text="wheat", vector=vector("wheat"), k=2)["rankings"][0]
        assert [(own["label"], own["score"]) for own in one] == list(
            model.rank("wheat", 2, vector=vector("wheat"))
        )
        texts = ["wheat", "bank"]
        both = server.ask("rank", text=texts, vector=[vector(text) for text in texts], k=1)[
            "rankings"
        ]
        assert [own[0]["label"] for own in both] == ["grain", "money"]
        found = server.ask("explain", text="wheat", vector=vector("wheat"))
        assert "(vector)" in [vote["feature"] for vote in found["votes"]]
        assert sum(vote["vote"] for vote in found["votes"]) == pytest.approx(found["score"])
        about = server.ask("model")
        assert about["labels"] == 3


def test_what_is_learned_is_kept_with_its_vector(folder):
    with in_thread(folder) as server:
        example = {
            "text": "zebra stripes",
            "labels": ["animals"],
            "vector": [0.5, -1, 3],
            "key": "once",
        }
        assert server.ask("learn", examples=[example])["learned"][0]["new"]
        assert not server.ask("learn", examples=[example])["learned"][0]["new"]
        assert (
            server.post(
                "/v1/learn", json={"examples": [example | {"vector": [1, 2, 3]}]}
            ).status_code
            == 409
        )
        assert (
            server.ask("rank", text="zebra", vector=[0.5, -1, 3], k=1)["rankings"][0][0]["label"]
            == "animals"
        )
        (entry,) = server.ask("examples")["examples"]
        assert (entry["text"], entry["labels"]) == ("zebra stripes", ["animals"])
        line = json.loads(server.get("/v1/export").text)
        assert line.pop("time")
        assert line == {
            "text": "zebra stripes",
            "labels": ["animals"],
            "vector": [0.5, -1.0, 3.0],
            "key": "once",
        }
        assert server.ask("model")["rolling"]["window"] == 1
        expected = state_bytes(server.replica.model)
        learned = server.ask("learn", examples=[example | {"key": None, "text": "bank"}])[
            "learned"
        ][0]
        server.ask("undo", number=learned["number"])
        assert state_bytes(server.replica.model) == expected
    again = Replica(folder)  # reads the journal anew
    assert state_bytes(again.model) == expected
    again.close()


def test_an_encoder_makes_them(folder):
    with in_thread(folder, encoder=meaning) as server:
        assert server.ask("rank", text="wheat", k=1) == server.ask(
            "rank", text="wheat", vector=vector("wheat"), k=1
        )
        server.learn("a bank of sand", ["sea"])
        line = json.loads(server.get("/v1/export").text)
        assert line["vector"] == vector("a bank of sand")
        found = server.ask("explain", text="wheat")
        assert (found["label"], [one["text"] for one in found["nearest"]]) == (
            "grain",
            ["a bank of sand"],
        )
        server.learn("much wheat", ["grain"])
        server.learn("no wheat", ["grain"])
        server.post("/v1/undo", json={"number": 3})
        nearest = server.ask("explain", text="more wheat")["nearest"]
        assert [one["text"] for one in nearest] == ["much wheat", "a bank of sand"]
        assert nearest[0]["labels"] == ["grain"]
        assert nearest[0]["similarity"] == pytest.approx(1.0, abs=1e-3)
    again = Replica(folder)  # without the encoder
    assert again.model.learner_.n_examples_ == len(EXAMPLES) + 2
    again.close()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("rank", {"text": "wheat"}),
        ("rank", {"text": "wheat", "vector": [1, 2]}),
        ("rank", {"text": "wheat", "vector": []}),
        ("rank", {"text": "wheat", "vector": [[1, 2, 3]]}),
        ("rank", {"text": ["wheat"], "vector": [1, 2, 3]}),
        ("rank", {"text": ["wheat"], "vector": [[1, 2, 3], [1, 2, 3]]}),
        ("rank", {"text": "wheat", "vector": [1, 2, "3"]}),
        ("rank", {"text": "wheat", "vector": [1, 2, True]}),
        ("rank", {"text": "wheat", "vector": [1, 2, 1e39]}),
        ("explain", {"text": "wheat"}),
        ("explain", {"text": "wheat", "vector": [1]}),
        ("learn", {"examples": [{"text": "wheat", "labels": ["grain"]}]}),
        ("learn", {"examples": [{"text": "wheat", "labels": ["grain"], "vector": [1]}]}),
    ],
)
def test_what_does_not_fit_is_refused(folder, path, body):
    with in_thread(folder) as server:
        answer = server.post(f"/v1/{path}", json=body)
        assert answer.status_code in (409, 422), answer.text
        assert server.replica.journal.version().examples == 0


def test_a_model_of_words_takes_no_vector(tmp_path, model_file):
    words = tmp_path / "words"
    words.mkdir()
    snapshots.take_base(words, model_file)
    with in_thread(words) as server:
        answer = server.post("/v1/rank", json={"text": "wheat", "vector": [1.0]})
    assert answer.status_code == 409
    assert "learned without vectors" in answer.text


def test_a_queue_is_ordered_and_decided_with_the_vectors_of_the_encoder(tmp_path):
    """Words alone say nothing here: only the vector tells the two labels apart."""
    texts = [f"{('wheat', 'bank')[n % 2]}{n} number{n % 7}" for n in range(1400)]
    labels = [["grain", "money"][(n + (n % 23 == 0)) % 2] for n in range(1400)]
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(texts, labels, vectors=meaning(texts))
    model.save(tmp_path / "m.shortlist")
    folder = tmp_path / "sure"
    folder.mkdir()
    snapshots.take_base(folder, tmp_path / "m.shortlist")
    waiting = [f"{('wheat', 'bank')[n % 2]}new{n} number{n % 7}" for n in range(10)]
    with in_thread(folder) as server:
        server.ask("queue", texts=waiting)
        refused = server.post("/v1/queue/next", json={"person": "anna"})
        assert (refused.status_code, "vector" in refused.json()["error"]) == (409, True)
    with in_thread(folder, encoder=meaning) as server:
        item = server.ask("queue/next", person="anna", order="gain")["item"]
        assert item["text"] in waiting
        server.ask("queue/move", ids=[item["id"]], to="waiting", person="anna")
        ids = server.ask("queue/sure", precision=0.9)["ids"]
        decided = server.ask("queue/decide", ids=ids, precision=0.9)
        assert decided["decided"] == len(ids) > 0
        for line in map(json.loads, server.get("/v1/export").text.splitlines()):
            assert line["vector"] == vector(line["text"])
            assert line["labels"] == ["grain" if "wheat" in line["text"] else "money"]


def test_the_encoder_must_fit(folder, model_file, tmp_path):
    replica = Replica(folder)
    replica.warm_up()
    check_encoder(ServerSettings(folder, encoder=meaning), replica)
    with pytest.raises(InputError, match=r"--encoder: .* vectors of 3 numbers, and these have 2"):
        check_encoder(ServerSettings(folder, encoder=lambda texts: meaning(texts)[:, :2]), replica)
    replica.model.encoder_name_ = "another.encoder"
    with pytest.raises(InputError, match=r"of the encoder another\.encoder, not of"):
        check_encoder(ServerSettings(folder, encoder=meaning), replica)
    replica.close()
    words = tmp_path / "words"
    words.mkdir()
    snapshots.take_base(words, model_file)
    replica = Replica(words)
    with pytest.raises(InputError, match="was learned with vectors, and this one was not"):
        check_encoder(ServerSettings(words, encoder=meaning), replica)
    replica.close()


def test_an_encoder_is_named_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "an_encoder_of_mine.py").write_text(
        "def encode(texts):\n    return [[1.0]] * len(texts)\nn = 3\n"
    )
    assert find_encoder("an_encoder_of_mine:encode")(["a", "b"]) == [[1.0], [1.0]]
    for wrong, sentence in [
        ("an_encoder_of_mine", "there is no encoder an_encoder_of_mine: name a folder"),
        (":encode", "must be a name, a folder or MODULE:FUNCTION"),
        (
            "an_encoder_of_mine:n",
            "n in an_encoder_of_mine is not a function but of the type int; name",
        ),
        (
            "an_encoder_of_mine:absent",
            "the module an_encoder_of_mine has no absent; name a function that it has",
        ),
        ("an_encoder_of_mine:encode.absent", r"has no encode\.absent"),
        (
            "no_such_module_of_mine:encode",
            "there is no module no_such_module_of_mine here or among what is installed",
        ),
        (
            "json.no_such_module_of_mine:encode",
            r"there is no module json\.no_such_module_of_mine here",
        ),
    ]:
        with pytest.raises(InputError, match=sentence):
            find_encoder(wrong)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            "\nimport no_such_library\n",
            "ModuleNotFoundError: No module named 'no_such_library' (FILE, line 2)",
        ),
        ("def encode(texts:\n", "SyntaxError: '(' was never closed (FILE, line 1)"),
        ("\n\nraise RuntimeError('no\\nmodel')\n", "RuntimeError: no model (FILE, line 3)"),
        (
            "import json\njson.loads('?')\n",
            "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (FILE, line 2)",
        ),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3 (FILE, line 2)"),
    ],
)
def test_a_module_that_cannot_be_imported(tmp_path, monkeypatch, code, sentence):
    monkeypatch.chdir(tmp_path)
    name = f"broken_{tmp_path.name}"  # no module twice
    (tmp_path / f"{name}.py").write_text(code)
    with pytest.raises(InputError) as problem:
        find_encoder(f"{name}:encode")
    place = str(tmp_path / f"{name}.py")
    said = (
        f"--encoder: cannot import {name}: {sentence.replace('FILE', place)}; mend it, or name "
        "another MODULE:FUNCTION"
    )
    assert str(problem.value) == said


def out_of_order(texts):
    return [float(text) for text in texts]


@pytest.mark.parametrize(
    ("encoder", "sentence"),
    [
        (
            out_of_order,
            "out_of_order failed on a list of one text: ValueError: could not convert string to "
            "float",
        ),
        (
            lambda texts: np.ones(3),
            "must have a row of numbers for each text, 1 row, not the shape (3,)",
        ),
        (lambda texts: None, "must hold numbers, a row of as many for each text"),
        (lambda texts: [[1.0, np.nan, 2.0]], "holds a number that is not finite, or too large"),
        (lambda: [[1.0]], "failed on a list of one text: TypeError: "),
    ],
)
def test_an_encoder_that_fails_at_the_start_is_told_in_a_sentence(folder, encoder, sentence):
    replica = Replica(folder)
    with pytest.raises(InputError) as problem:
        check_encoder(ServerSettings(folder, encoder=encoder), replica)
    replica.close()
    assert str(problem.value).startswith("--encoder: ")
    assert sentence in str(problem.value)
    assert "\n" not in str(problem.value)
    if encoder is out_of_order:
        line = out_of_order.__code__.co_firstlineno + 1
        assert f"({__file__}, line {line}); mend it" in str(problem.value)


def test_vectors_in_the_journal_are_what_they_were():
    numbers = np.array([0.1, -2.5e-30, 3e38], dtype=np.float32)
    assert read_vector(written_vector(numbers)).tobytes() == numbers.tobytes()
    assert written_vector(None) == ""
    assert read_vector("") is None
    for bad in ("?", "AAA=", "AAAAA"):
        with pytest.raises(InputError):
            read_vector(bad)


@pytest.mark.long
def test_the_page_shows_what_is_near(folder, visit):
    with in_thread(folder, encoder=meaning) as server:
        server.learn("much wheat", ["grain"])
        server.learn("a bank of sand", ["sea"])
        page = visit(server.base_url)
        page.get_by_role("textbox", name="Text").fill("more wheat")
        page.locator("#ranking .name").first.click()
        page.locator("#nearest li").first.wait_for()
        assert "much wheat" in page.locator("#nearest li").first.inner_text()
