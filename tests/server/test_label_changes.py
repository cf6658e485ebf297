"""Labels that change over HTTP: written in the journal, killed, taken back and replayed."""

import pytest

import shortlist as sl
from shortlist.models.relabelling import Change
from shortlist.server import snapshot_writer
from shortlist.server.replica import Replica
from tests.hostile.kills import Forked
from tests.server.servers import Client, state_bytes

CHANGES = [
    {"change": "rename", "labels": ["grain"], "into": "cereal"},
    {"change": "merge", "labels": ["new"], "into": "grain"},
    {"change": "split", "labels": ["grain"], "into": "corn"},
    {"change": "retire", "labels": ["grain"]},
]


def ask(client, body, status=200):
    answer = client.post("/v1/labels", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def bytes_of(folder):
    replica = Replica(folder)
    found = state_bytes(replica.model)
    replica.close()
    return found


def test_a_change_is_in_the_answers_and_can_be_taken_back(server):
    before = server.ask("rank", text="wheat and corn", k=3)
    number = ask(server, CHANGES[0])["number"]
    assert server.best("wheat")[0] == "cereal"
    labels = server.get("/v1/labels", params={"q": "cereal"}).json()["labels"]
    assert [one["label"] for one in labels] == ["cereal"]
    assert server.get("/v1/labels", params={"q": "grain"}).json()["labels"] == []
    entry = server.get("/v1/examples").json()["examples"][0]
    assert (entry["number"], entry["text"], entry["labels"]) == (number, "rename grain to cereal", [])
    server.learn("wheat once more", ["cereal"])
    assert server.get("/v1/journal").text.count("\n") == 1  # a change is no example to train on
    assert server.ask("model")["rolling"]["window"] == 1
    server.ask("undo", number=number)
    server.ask("undo", number=number + 1)
    assert server.ask("rank", text="wheat and corn", k=3) == before


def test_changes_that_cannot_be_made(server):
    assert "has not been learned" in ask(server, {"change": "retire", "labels": ["nothing"]}, 404)["error"]
    assert "retire takes labels" in ask(server, {"change": "retire", "labels": ["grain"], "into": "x"}, 409)["error"]
    ask(server, {"change": "vanish", "labels": ["grain"]}, 422)
    ask(server, {"change": "retire", "labels": ["grain"]})
    assert "was retired" in ask(server, {"change": "retire", "labels": ["grain"]}, 409)["error"]
    answer = server.post("/v1/learn", json={"examples": [{"text": "a", "labels": ["grain"]}]})
    assert answer.status_code == 422
    ask(server, {"change": "restore", "labels": ["grain"]})
    first = ask(server, CHANGES[0] | {"key": "once"})
    assert server.best("wheat")[0] == "cereal"
    assert first["new"]


def test_rules_of_a_request(server):
    best = [one["label"] for one in server.ask("rank", text="wheat at the bank", k=5)["rankings"][0]]
    assert len(best) > 1
    ranked = server.ask("rank", text="wheat at the bank", k=5, but=[best[0]])["rankings"][0]
    assert [one["label"] for one in ranked] == best[1:]
    ranked = server.ask("rank", text="wheat at the bank", k=5, only=[best[1], "nothing"])["rankings"][0]
    assert [one["label"] for one in ranked] == [best[1]]
    asked = {"text": "wheat at the bank", "k": 5, "below": [best[0]], "at_most": [{"label": best[0], "n": 1}]}
    assert [one["label"] for one in server.ask("rank", **asked)["rankings"][0]] == best[:1]
    assert server.post("/v1/rank", json={"text": "a", "at_most": [{"label": "a", "n": -1}]}).status_code == 422
    plain, tamed = (server.ask("rank", text="wheat at the bank", **own)["rankings"][0] for own in ({}, {"tame": 0.5}))
    assert {one["label"]: one["score"] for one in tamed} != {one["label"]: one["score"] for one in plain}
    assert server.post("/v1/rank", json={"text": "a", "tame": 2}).status_code == 422


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one["change"])
def test_killed_in_the_middle_taken_back_and_replayed(folder, model_file, change):
    server = Forked(folder)
    with Client(base_url=server.url, timeout=60) as client:
        client.learn("rye and oats", ["new"])
        number = ask(client, change)["number"]
        server.kill(everything=True)  # with all that it had not written
    expected = sl.load(model_file).learn("rye and oats", ["new"])
    without = state_bytes(expected)
    expected.change_labels(Change.of(change))
    assert bytes_of(folder) == state_bytes(expected)
    snapshot_writer.write(folder)
    assert bytes_of(folder) == state_bytes(expected)
    server = Forked(folder)
    with Client(base_url=server.url, timeout=60) as client:
        client.ask("undo", number=number)
        server.kill(everything=True)
    assert bytes_of(folder) == without
