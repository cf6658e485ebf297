"""Documents of several fields over HTTP: ranked, explained, learned, queued, exported, and
replayed as they were.
"""

import csv
import io
import json

import pytest

import shortlist as sl
from shortlist.inputs import read
from shortlist.server import snapshots
from shortlist.server.entries import Judgement
from shortlist.server.exporting import LAYOUTS, exported
from shortlist.server.journal import Journal
from shortlist.server.journal_audit import audit_of
from shortlist.server.replica import Replica
from tests.server.servers import in_thread, state_bytes
from tests.test_fields import LABELS, LAWS

NEW = {
    "title": "rye exports",
    "body": "the board said that rye rose",
    "author": ["Smith", "Lee"],
    "price": 3,
}


@pytest.fixture
def state(tmp_path):
    """The state directory of a model that was learned from fields."""
    model = sl.Categorizer(sl.FeatureFocus(), sl.TextVectorizer()).fit(LAWS, LABELS)
    model.save(tmp_path / "laws.shortlist")
    folder = tmp_path / "fields"
    folder.mkdir()
    snapshots.take_base(folder, tmp_path / "laws.shortlist")
    return folder


def test_fields_are_ranked_and_explained(state):
    model = sl.load(state / "base.shortlist")
    with in_thread(state) as server:
        about = server.ask("model")
        assert about["fields"] == ["body", "title"]
        assert about["values"] == [
            {"field": "author", "kind": "category", "known": ["Jones", "Smith"]},
            {"field": "price", "kind": "number", "known": []},
        ]
        for one in ({"title": "wheat"}, {"author": ["Jones"]}, {"price": 700}, LAWS[0]):
            ranked = server.ask("rank", text=one)["rankings"][0]
            assert [(own["label"], own["score"]) for own in ranked] == [
                tuple(own) for own in model.rank(one, 10)
            ]
        many = server.ask("rank", text=[LAWS[0], "bank rates", LAWS[1]])["rankings"]
        assert [own[0]["label"] for own in many] == ["grain", "money", "money"]
        why = server.ask("explain", text=LAWS[0], label="grain")
        said = model.explain(LAWS[0], "grain")
        assert [(own["feature"], own["vote"]) for own in why["votes"]] == [
            tuple(own) for own in said.votes
        ]
        assert {"title: wheat", "author=Smith", "price 10–20"} <= {
            own["feature"] for own in why["votes"]
        }
        spans = {own["feature"]: own["spans"] for own in why["votes"]}
        text = f"{LAWS[0]['title']}\n{LAWS[0]['body']}"
        assert [text[first:end] for first, end in spans["title: wheat"]] == ["wheat"]


def test_what_is_learned_is_kept_with_its_fields(state):
    other = {"text": {"title": "x"}, "labels": ["grain"], "key": "one"}
    with in_thread(state) as server:
        assert server.learn(NEW, ["grain"], "one") == {
            "number": 1,
            "new": True,
            "place": 1,
            "learned": True,
        }
        assert server.learn(NEW, ["grain"], "one")["new"] is False
        assert server.post("/v1/learn", json={"examples": [other]}).status_code == 409
        server.learn("a plain text of rye", ["grain"])
        server.ask("repair", number=1, labels=["rye"])
        server.learn(json.dumps(NEW), ["grain"])
        newest, repaired, plain, first = server.ask("examples")["examples"]
        assert (first["fields"], first["undone"]) == (NEW, True)
        assert (repaired["fields"], repaired["labels"]) == (NEW, ["rye"])
        assert repaired["text"] == "rye exports · the board said that rye rose · Smith, Lee · 3.0"
        assert [one.get("fields") for one in (newest, plain)] == [None, None]
        model = (
            sl.load(state / "base.shortlist")
            .learn("a plain text of rye", ["grain"])
            .learn(NEW, ["rye"])
        )
        assert state_bytes(server.replica.model) == state_bytes(
            model.learn(json.dumps(NEW), ["grain"])
        )
        lines = [json.loads(line) for line in server.get("/v1/export").text.splitlines()]
        assert lines[1] == NEW | {name: lines[1][name] for name in ("time", "key")} | {
            "labels": ["rye"]
        }
    again = Replica(state)
    assert state_bytes(again.model) == state_bytes(server.replica.model), (
        "learned anew from the journal"
    )
    again.close()


def test_exports_have_the_fields_and_are_read_back(state, tmp_path):
    with in_thread(state) as server:
        server.learn(NEW, ["grain", "rye"])
        server.learn({"title": "bank"}, ["money"])
        exported = server.get("/v1/export?format=jsonl").text
        table = list(csv.DictReader(io.StringIO(server.get("/v1/export?format=csv").text)))
        (task, _) = server.get("/v1/export?format=label-studio").json()
        fasttext = server.get("/v1/export?format=fasttext").text.splitlines()
    (tmp_path / "judged.jsonl").write_text(exported)
    (batch,) = read(tmp_path / "judged.jsonl", text=["title", "body"], features=["author", "price"])
    assert list(batch.texts) == [NEW, {"title": "bank", "body": ""}]
    assert [(row["title"], row["author"], row["labels"]) for row in table] == [
        ("rye exports", "Smith|Lee", "grain|rye"),
        ("bank", "", "money"),
    ]
    assert task["data"]["title"] == "rye exports"
    assert fasttext[0] == "__label__grain __label__rye rye exports the board said that rye rose"


def test_fields_with_the_names_of_ours_are_refused(folder, tmp_path, run):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"title": "rye", "person": "a farmer"}\n')
    given = (
        "queue",
        "add",
        path,
        "--state",
        folder,
        "--text-column",
        "title",
        "--text-column",
        "person",
    )
    assert "a field cannot be called person" in run(*given).err


def test_a_queue_of_documents(state):
    table = "title,body,label\nrye exports,rye rose,grain\nloans,the bank fell,money\n"
    with in_thread(state) as server:
        as_file = {"content-type": "application/octet-stream"}
        added = server.post("/v1/queue/file?name=t.csv", content=table.encode(), headers=as_file)
        assert added.json() == {"added": 2, "known": 0}
        assert server.ask("queue", texts=[NEW, "plain rye", NEW, {"title": "  "}]) == {
            "added": 2,
            "known": 1,
        }
        had = []
        for order in ("gain", "date", "gain", "random"):
            item = server.ask("queue/next", person="anna", order=order)["item"]
            had.append(item["text"])
            server.learn(item["text"], ["grain"], item["id"])
        assert all(
            one in had
            for one in (
                {"title": "rye exports", "body": "rye rose"},
                {"title": "loans", "body": "the bank fell"},
                NEW,
                "plain rye",
            )
        )
        assert server.ask("queue")["judged"] == 4
        assert server.ask("queue/sure", most=10)["looked_at"] == 0
        assert NEW in [one.get("fields") for one in server.ask("examples")["examples"]]


def test_an_audit_of_documents_and_texts(state):
    documents = [one | {"body": f"{one['body']} {n}"} for n, one in enumerate(LAWS)]
    examples = [{"text": one, "labels": own} for one, own in zip(documents, LABELS, strict=True)]
    examples[4]["labels"] = ["money"]
    with in_thread(state) as server:
        server.ask(
            "learn", examples=[*examples, {"text": "wheat exports rose", "labels": ["grain"]}]
        )
        found = audit_of(state)
        assert (found.examples, found.doubts[0].number) == (13, 5)
        assert server.ask("audit?limit=1")["doubts"][0]["text"].startswith(
            "wheat exports · the board said"
        )


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"": "x"},
        {"labels": "x"},
        {"title": None},
        {"title": True},
        {"title": [1]},
        {"title": {"x": "y"}},
        {"a\nb": "x"},
        {"title": "x" * 300_000},
    ],
)
def test_what_is_no_document_is_refused(state, bad):
    with in_thread(state) as server:
        for path, question in (
            ("rank", {"text": bad}),
            ("explain", {"text": bad}),
            ("queue", {"texts": [bad]}),
            ("learn", {"examples": [{"text": bad, "labels": ["grain"]}]}),
        ):
            refused = server.post(f"/v1/{path}", json=question)
            assert refused.status_code == 422
            assert "function-" not in refused.json()["error"], "in words of ours"
        assert server.ask("model")["journal"] == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_learned_during_an_export_is_left_to_the_next_one(folder, layout):
    """It may have fields for which the file that was begun has no column."""
    journal = Journal(folder)
    journal.append([Judgement({"title": "rye"}, ["grain"])])
    before = b"".join(exported(journal, layout))
    pieces = exported(journal, layout)
    begun = next(pieces)
    journal.append([Judgement({"body": "oats", "other": "none"}, ["a|b"])])
    assert begun + b"".join(pieces) == before
    journal.close()
