"""Right, wrong and not judged over HTTP: what is learned, taken back, learned again and
exported.
"""

import asyncio
import io
import json

import pytest

import shortlist as sl
from shortlist.inputs.labelled import teaching
from shortlist.server import snapshots
from shortlist.server.background import write_snapshot
from shortlist.server.replica import Replica
from tests.server.servers import EXAMPLES, in_thread, state_bytes

LESSONS = [
    {"text": "wheat at the bank", "labels": ["grain"], "wrong": ["money"]},
    {"text": "the bank of corn", "labels": [], "wrong": ["money", "never heard of"]},
    {"text": "gold and wheat", "labels": ["metal"], "wrong": ["money"], "complete": True},
    {"text": "gold rates", "labels": ["metal"], "complete": False},
    {"text": "gold and corn", "labels": ["metal", "grain"], "wrong": ["trade"], "key": "mine"},
]


@pytest.fixture(scope="module")
def tuned_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "tuned.shortlist"
    texts, labels = zip(*EXAMPLES, strict=True)
    sl.Categorizer(text=sl.TextVectorizer()).fit(list(texts), list(labels)).save(path)
    return path


@pytest.fixture
def state(tmp_path, tuned_file):
    path = tmp_path / "state"
    path.mkdir()
    snapshots.take_base(path, tuned_file)
    return path


def expected(tuned_file, lessons):
    model = sl.load(tuned_file)
    for one in lessons:
        model.learn(one["text"], one["labels"], one.get("wrong", []), one.get("complete"))
    return state_bytes(model)


def of_folder(folder):
    replica = Replica(folder)
    found = state_bytes(replica.model)
    replica.close()
    return found


def test_learned_taken_back_and_learned_again(state, tuned_file):
    with in_thread(state) as server:
        for lesson in LESSONS[:2]:
            server.ask("learn", examples=[lesson])
        learned = server.ask("learn", examples=LESSONS[2:])["learned"]
        assert [one["number"] for one in learned] == [3, 4, 5]
        assert state_bytes(server.replica.model) == expected(tuned_file, LESSONS)
        assert not server.ask("learn", examples=LESSONS[4:])["learned"][0]["new"]
        for other in ({"wrong": ["money"]}, {"complete": True}):
            assert (
                server.post("/v1/learn", json={"examples": [LESSONS[4] | other]}).status_code == 409
            )
        entries = server.ask("examples")["examples"][::-1]
        assert [(one["labels"], one["wrong"], one["complete"]) for one in entries] == [
            (["grain"], ["money"], False),
            ([], ["money", "never heard of"], False),
            (["metal"], ["money"], True),
            (["metal"], [], False),
            (["metal", "grain"], ["trade"], False),
        ]
        assert len(server.ask("model")["rolling"]["places"]) == 4, (
            "where nothing is right, nothing can stand first"
        )
        server.ask("undo", number=2)
        kept = [LESSONS[0], *LESSONS[2:]]
        assert state_bytes(server.replica.model) == expected(tuned_file, kept)
    assert of_folder(state) == expected(tuned_file, kept)
    write_snapshot(state)
    assert of_folder(state) == expected(tuned_file, kept)


def test_the_export_teaches_the_same(state, tuned_file, tmp_path):
    with in_thread(state) as server:
        server.ask("learn", examples=LESSONS)
        lines = server.get("/v1/export").text
    first = json.loads(lines.splitlines()[0])
    assert first.pop("time")
    assert first == {
        "text": "wheat at the bank",
        "labels": ["grain"],
        "wrong": ["money"],
        "complete": False,
    }
    path = tmp_path / "export.jsonl"
    path.write_text(lines, encoding="utf-8")
    model = sl.load(tuned_file)
    model.learn_batches(sl.read(str(path)))
    assert state_bytes(model) == expected(tuned_file, LESSONS)


def test_what_is_refused(state):
    with in_thread(state) as server:
        for lesson, status, words in (
            (
                {"text": "a", "labels": []},
                422,
                "examples.0: needs a label that is right, or one that is wrong",
            ),
            ({"text": "a"}, 422, "examples.0: needs a label that is right, or one that is wrong"),
            (
                {"text": "a", "labels": ["x"], "wrong": ["x"]},
                409,
                "the label 'x' of example 0 is both right and wrong",
            ),
            ({"text": "a", "labels": ["x"], "complete": "yes"}, 422, "complete"),
        ):
            answer = server.post("/v1/learn", json={"examples": [lesson]})
            assert answer.status_code == status
            assert words in answer.json()["error"]
        assert server.ask("model")["journal"] == 0


def test_none_of_the_labels_fits(state, tuned_file):
    none = {"text": "the weather today", "labels": [], "complete": True}
    with in_thread(state) as server:
        server.ask("learn", examples=[LESSONS[0], none])
        assert server.ask("examples")["examples"][0]["complete"]
        expected_now = (
            sl.load(tuned_file)
            .learn("wheat at the bank", ["grain"], wrong=["money"])
            .learn(none["text"], [])
        )
        assert state_bytes(server.replica.model) == state_bytes(expected_now)
        assert len(server.ask("model")["rolling"]["places"]) == 1, (
            "where nothing is right, nothing can stand first"
        )
        written = [
            server.get(path).content
            for path in ("/v1/export?format=jsonl", "/v1/export?format=csv")
        ]
    for content in written:
        stream = sl.read(io.BytesIO(content), label_separator="|")
        model = sl.load(tuned_file).learn_batches(teaching("categories", "file", stream, stream))
        assert state_bytes(model) == state_bytes(expected_now)


def test_a_learner_that_cannot_is_not_asked_to(server):
    """Before it is in the journal: nothing is acknowledged that would be passed over."""
    answer = server.post("/v1/learn", json={"examples": [LESSONS[0]]})
    assert answer.status_code == 409
    assert "FeatureFocus learns only from complete judgements" in answer.json()["error"]
    assert server.ask("model")["journal"] == 0
    assert server.ask("learn", examples=[LESSONS[2]])["learned"][0]["new"], "all of it was judged"


def test_a_second_process_follows(state, tuned_file):
    with in_thread(state) as server:
        reader = Replica(state, read_only=True)
        server.ask("learn", examples=LESSONS)
        asyncio.run(reader.catch_up())
        assert state_bytes(reader.model) == expected(tuned_file, LESSONS)
        reader.close()
