"""Words struck out over HTTP: previewed, kept in the journal, replayed and undone."""

import contextlib

from shortlist.server.entries import LabelChange
from shortlist.server.journal import Journal
from tests.server.servers import in_thread

WHEAT = {"word": "wheat", "label": "grain"}


def test_strike_and_undo(folder):
    with in_thread(folder) as server:
        before = server.ask("rank", text="wheat bank")["rankings"]
        assert server.best("wheat")[0] == "grain"
        receipt = server.ask("strike", **WHEAT, key="k")
        assert receipt["new"]
        assert not server.ask("strike", **WHEAT, key="k")["new"]
        assert server.post("/v1/strike", json=WHEAT).status_code == 409
        assert server.best("wheat")[:1] != ["grain"]
        why = server.ask("explain", text="corn and wheat", label="grain")
        assert why["struck"] == [{"word": "wheat", "person": "", "spans": [[9, 14]]}]
        assert "wheat" not in [vote["feature"] for vote in why["votes"]]
        assert server.ask("model")["struck"] == ["'wheat' does not count for grain"]
        server.learn("wheat wheat", ["grain"])
        assert server.best("wheat")[:1] != ["grain"]
        assert server.ask("examples")["examples"][1]["text"] == "strike wheat for grain"
    with in_thread(folder) as server:  # replayed, or from a snapshot
        assert server.best("wheat")[:1] != ["grain"]
        assert server.ask("undo", number=receipt["number"])["new"]
        assert server.best("wheat")[0] == "grain"
        number = server.ask("strike", word="bank")["number"]
        assert server.best("bank") == []
        server.ask("strike", word="bank", undo=True)
        assert server.best("bank") != []
        assert server.post("/v1/undo", json={"number": number}).status_code == 409
        assert server.post("/v1/strike", json={"word": "bank", "undo": True}).status_code == 409
        assert server.post("/v1/strike", json={"word": " "}).status_code == 422
        assert server.post("/v1/strike", json=WHEAT | {"label": "no"}).status_code in (404, 409)
    assert before
    with contextlib.closing(Journal(folder)) as journal:
        changes = [entry for entry in journal.each() if isinstance(entry, LabelChange)]
    assert [str(entry.change) for entry in changes] == [
        "strike bank for any label",
        "unstrike bank for any label",
    ]


def test_preview_is_what_then_happens(sure):
    texts = ["apple number3", "apple", "carrot number4", "bread"]
    sure.ask("queue", texts=texts)
    item = sure.ask("queue/next", person="anna")["item"]
    assert item
    best = {text: sure.best(text)[:1] for text in texts}
    effect = sure.ask("strike/preview", word="apple", label="fruit")
    assert effect["waiting"]["texts"] == len(texts)
    assert effect["decided"] == {"texts": 0, "change": 0, "some": []}
    assert {text: sure.best(text)[:1] for text in texts} == best
    now = sure.ask("rank", text=texts)["decisions"]
    sure.ask("strike", word="apple", label="fruit")
    then = sure.ask("rank", text=texts)["decisions"]
    changed = [
        text
        for text, old, new in zip(texts, now, then, strict=True)
        if old["assigned"] != new["assigned"] or sure.best(text)[:1] != best[text]
    ]
    assert sorted(one["text"] for one in effect["waiting"]["some"]) == sorted(changed)
    assert changed
