"""The journal's examples, looked through over HTTP, and repaired."""

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.auditing import lessons_of
from tests.models.test_auditing import WRONG, examples
from tests.server.servers import EXAMPLES, in_thread


def begun(tmp_path):
    texts, labels = zip(*EXAMPLES, strict=True)
    sl.Categorizer(text=sl.TextVectorizer()).fit(list(texts), list(labels)).save(tmp_path / "base.shortlist")
    folder = tmp_path / "state"
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
            server.ask("undo", number=one["number"])
            server.learn(one["text"], [one["found"]])
        again = server.ask("audit")
        assert not {one["number"] for one in again["doubts"]} & wrong
        assert again["examples"] == 60
        assert server.get("/v1/audit?limit=0").status_code == 422


def test_labels_have_the_names_that_they_have_now(tmp_path):
    texts, labels = examples(30)
    folder = begun(tmp_path)
    with in_thread(folder) as server:
        server.ask("learn", examples=[{"text": text, "labels": own} for text, own in zip(texts, labels, strict=True)])
        server.ask("labels", change="rename", labels=["grain"], into="cereals")
        server.ask("labels", change="merge", labels=["cereals", "metal"], into="metal")
        server.ask("labels", change="retire", labels=["trade"])
        server.ask("learn", examples=[{"text": "one more", "labels": ["money"], "wrong": ["metal"]}])
        server.ask("undo", number=1)
        lessons, changes = lessons_of(folder)
        assert [one.number for one in lessons] == [*range(2, 31), 34]
        assert {label for one in lessons for label in one.labels} == {"metal", "money"}
        assert [change.what for change in changes] == ["rename", "merge", "retire"]
        found = server.ask("audit")
        assert {one["label"] for one in found["doubts"]} <= {"metal", "money"}
        assert {one["found"] for one in found["doubts"]} <= {"metal", "money"}
