"""The journal's examples, looked through over HTTP, and repaired."""

import json

import pytest

import shortlist as sl
from shortlist.label_vocabulary import Concept, LabelVocabulary
from shortlist.server import snapshots
from shortlist.server.journal_audit import present_judgements
from shortlist.server.people import Role, changing
from tests.models.test_auditing import WRONG, examples
from tests.server.servers import EXAMPLES, in_thread


def begun(tmp_path, vocabulary=None):
    texts, labels = zip(*EXAMPLES, strict=True)
    model = sl.Categorizer(text=sl.TextVectorizer()).fit(list(texts), list(labels))
    if vocabulary is not None:
        model.set_vocabulary(vocabulary)
    model.save(tmp_path / "base.shortlist")
    folder = tmp_path / "begun"
    folder.mkdir()
    snapshots.take_base(folder, tmp_path / "base.shortlist")
    return folder


def test_found_and_repaired(tmp_path):
    texts, labels = examples(60)
    wrong = {number + 1 for number in WRONG if number < 60}  # as the journal numbers them
    with in_thread(begun(tmp_path)) as server:
        assert server.ask("audit")["doubts"] == [], "there is nothing yet"
        lessons = [{"text": text, "labels": own} for text, own in zip(texts, labels, strict=True)]
        server.ask("learn", examples=lessons)
        found = server.get("/v1/audit?limit=2").json()
        assert {one["number"] for one in found["doubts"]} == wrong
        assert found["examples"] == 60
        for one in found["doubts"]:
            done = server.ask("repair", number=one["number"], labels=[one["found"]])
            assert server.ask("repair", number=one["number"], labels=[one["found"]]) == done | {
                "new": False
            }
        again = server.ask("audit")
        assert not {one["number"] for one in again["doubts"]} & wrong
        assert again["examples"] == 60
        assert server.get("/v1/audit?limit=0").status_code == 422


def test_labels_have_the_names_that_they_have_now(tmp_path):
    texts, labels = examples(30)
    folder = begun(tmp_path)
    with in_thread(folder) as server:
        server.ask(
            "learn",
            examples=[
                {"text": text, "labels": own} for text, own in zip(texts, labels, strict=True)
            ],
        )
        server.ask("labels", change="rename", labels=["grain"], into="cereals")
        server.ask("labels", change="merge", labels=["cereals", "metal"], into="metal")
        server.ask("labels", change="retire", labels=["trade"])
        server.ask(
            "learn", examples=[{"text": "one more", "labels": ["money"], "wrong": ["metal"]}]
        )
        server.ask("undo", number=1)
        lessons, changes = present_judgements(folder)
        assert [one.number for one in lessons] == [*range(2, 31), 34]
        assert {label for one in lessons for label in one.labels} == {"metal", "money"}
        assert [change.what for change in changes] == ["rename", "merge", "retire"]
        found = server.ask("audit")
        assert {one["label"] for one in found["doubts"]} <= {"metal", "money"}
        assert {one["found"] for one in found["doubts"]} <= {"metal", "money"}


LONG = "wheat " * 100 + "rose"


@pytest.fixture
def judged(folder):
    """judged(path, who="bob", **body): the answer to one of two people; anna has judged two
    texts.
    """
    with changing(folder) as people:
        tokens = {name: people.add(name, Role.JUDGE) for name in ("anna", "bob")}
    with in_thread(folder) as server:

        def ask(path, who="bob", **body):
            headers = {"authorization": f"Bearer {tokens[who]}"}
            if body:
                return server.post(f"/v1/{path}", json=body, headers=headers)
            return server.get(f"/v1/{path}", headers=headers)

        examples = [{"text": text, "labels": ["money"]} for text in (LONG, "corn fell")]
        ask("learn", "anna", examples=examples)
        yield ask


def refusal(answer):
    return answer.status_code, answer.json()["error"]


def test_a_repair_puts_another_judgement_in_the_place_of_an_example(judged):
    assert judged("repair", number=1, labels=["grain"]).json() == {"number": 3, "new": True}
    newest, _, first = judged("examples").json()["examples"]
    assert (first["number"], first["person"], first["undone"]) == (1, "anna", True)
    assert (newest["labels"], newest["person"], newest["undone"]) == (["grain"], "bob", False)
    lines = judged("export").text.splitlines()
    assert json.loads(lines[1])["text"] == LONG, "of which an audit shows the beginning"


def test_a_repair_happens_once(judged):
    judged("repair", number=1, labels=["grain"])
    again = judged("repair", number=1, labels=["grain"])
    assert again.json() == {"number": 3, "new": False}
    assert judged("repair", number=1, labels=["trade"]).status_code == 409
    assert judged("model").json()["journal"] == 3


def test_what_was_repaired_can_be_repaired_again(judged):
    judged("repair", number=1, labels=["grain"])
    again = judged("repair", number=3, labels=["money"])
    assert again.json() == {"number": 4, "new": True}
    assert judged("model").json()["undone"] == 2
    judged("undo", number=4)
    sentence = "example 4, learned in its place, was taken back; learn the text anew"
    assert refusal(judged("repair", number=3, labels=["money"])) == (409, sentence)


def test_repairs_that_are_refused(judged):
    judged("undo", number=2)
    sentence = "example 2 was taken back already"
    assert refusal(judged("repair", number=2, labels=["grain"])) == (409, sentence)
    assert judged("repair", number=9, labels=["grain"]).status_code == 404
    assert judged("repair", number=1, labels=[]).status_code == 422


def test_a_repaired_text_of_the_queue_stays_judged(server):
    server.ask("queue", texts=["wheat and barley", "a loan"])
    item = server.ask("queue/next", person="anna", order="date")["item"]
    server.learn(item["text"], ["money"], item["id"])
    assert server.ask("repair", number=1, labels=["grain"])["number"] == 2
    assert server.ask("queue")["judged"] == 1
    (judged,) = server.ask("queue/items?state=judged")["items"]
    assert (judged["text"], judged["example"]) == (item["text"], 2)
    server.ask("repair", number=2, labels=["money"])
    server.ask("undo", number=3)
    assert server.ask("queue")["waiting"] == 2


def test_what_was_judged_in_part_stays_so(tmp_path):
    with in_thread(begun(tmp_path)) as server:
        server.ask(
            "learn",
            examples=[
                {"text": "wheat", "labels": ["money"], "wrong": ["grain"], "complete": False}
            ],
        )
        server.ask("repair", number=1, labels=["grain"])
        newest = server.ask("examples?limit=1")["examples"][0]
        assert (newest["labels"], newest["wrong"], newest["complete"]) == (
            ["grain"],
            ["money"],
            False,
        )


def test_names_of_labels_are_told(tmp_path):
    names = {"grain": "Cereals", "money": "Finance", "metal": "Metals", "trade": "Trade"}
    folder = begun(
        tmp_path, LabelVocabulary([Concept(label, name) for label, name in names.items()])
    )
    texts, labels = examples(30)
    with in_thread(folder) as server:
        server.ask(
            "learn",
            examples=[
                {"text": text, "labels": own} for text, own in zip(texts, labels, strict=True)
            ],
        )
        assert server.ask("audit")["names"]["metal"] == "Metals"
