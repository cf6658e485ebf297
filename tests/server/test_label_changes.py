"""Labels that change over HTTP: written in the journal, killed, taken back and replayed."""

import pytest

import shortlist as sl
from shortlist.models.label_changes import Change
from shortlist.server.background import write_snapshot
from shortlist.server.entries import Judgement, LabelChange
from shortlist.server.journal import Journal
from shortlist.server.journal_writer import JournalWriter
from shortlist.server.logs import log_failure
from shortlist.server.replica import Replica
from shortlist.server.snapshots import take_base
from tests.hostile.kills import Forked
from tests.server.servers import Client, in_thread, state_bytes

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
    assert (entry["number"], entry["text"], entry["labels"]) == (
        number,
        "rename grain to cereal",
        [],
    )
    server.learn("wheat once more", ["cereal"])
    assert server.get("/v1/export").text.count("\n") == 1  # a change is no example to train on
    assert server.ask("model")["rolling"]["window"] == 1
    server.ask("undo", number=number)
    server.ask("undo", number=number + 1)
    assert server.ask("rank", text="wheat and corn", k=3) == before


def test_changes_that_cannot_be_made(server):
    assert (
        "has not been learned"
        in ask(server, {"change": "retire", "labels": ["nothing"]}, 404)["error"]
    )
    assert (
        "retire takes labels"
        in ask(server, {"change": "retire", "labels": ["grain"], "into": "x"}, 409)["error"]
    )
    ask(server, {"change": "vanish", "labels": ["grain"]}, 422)
    ask(server, {"change": "retire", "labels": ["grain"]})
    assert "was retired" in ask(server, {"change": "retire", "labels": ["grain"]}, 409)["error"]
    answer = server.post("/v1/learn", json={"examples": [{"text": "a", "labels": ["grain"]}]})
    assert answer.status_code == 422
    ask(server, {"change": "restore", "labels": ["grain"]})
    first = ask(server, CHANGES[0] | {"key": "once"})
    assert server.best("wheat")[0] == "cereal"
    assert first["new"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one["change"])
def test_a_change_that_is_asked_for_again_is_made_once(server, change):
    server.learn("rye and oats", ["new"], key="rye")
    first = ask(server, change | {"key": "once"})
    assert ask(server, change | {"key": "once"}) == {"number": first["number"], "new": False}
    other = ask(server, {"change": "retire", "labels": ["money"], "key": "once"}, 409)
    assert (
        other["error"] == f"the key 'once' was used for another example, number {first['number']}"
    )


def test_an_example_that_is_sent_again_is_known_though_its_label_was_retired(server):
    first = server.learn("rye and oats", ["new"], key="rye")
    ask(server, {"change": "retire", "labels": ["new"]})
    assert server.learn("rye and oats", ["new"], key="rye") == first | {"new": False, "place": None}
    sent = {
        "examples": [{"text": text, "labels": ["new"], "key": text} for text in ("rye", "oats")]
    }
    refused = server.post("/v1/learn", json=sent)
    assert (refused.status_code, "was retired" in refused.json()["error"]) == (422, True)


def test_rules_of_a_request(server):
    best = [
        one["label"] for one in server.ask("rank", text="wheat at the bank", k=5)["rankings"][0]
    ]
    assert len(best) > 1
    ranked = server.ask("rank", text="wheat at the bank", k=5, but=[best[0]])["rankings"][0]
    assert [one["label"] for one in ranked] == best[1:]
    refused = server.post("/v1/rank", json={"text": "wheat", "only": [best[1], "nothing"]})
    assert (refused.status_code, "names 'nothing'" in refused.json()["error"]) == (409, True)
    ranked = server.ask("rank", text="wheat at the bank", k=5, only=[best[1]])["rankings"][0]
    assert [one["label"] for one in ranked] == [best[1]]
    asked = {
        "text": "wheat at the bank",
        "k": 5,
        "below": [best[0]],
        "at_most": [{"label": best[0], "n": 1}],
    }
    assert [one["label"] for one in server.ask("rank", **asked)["rankings"][0]] == best[:1]
    assert (
        server.post(
            "/v1/rank", json={"text": "a", "at_most": [{"label": "a", "n": -1}]}
        ).status_code
        == 422
    )
    plain, tamed = (
        server.ask("rank", text="wheat at the bank", **own)["rankings"][0]
        for own in ({}, {"tame": 0.5})
    )
    assert {one["label"]: one["score"] for one in tamed} != {
        one["label"]: one["score"] for one in plain
    }
    assert server.post("/v1/rank", json={"text": "a", "tame": 2}).status_code == 422


@pytest.mark.long
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
    write_snapshot(folder)
    assert bytes_of(folder) == state_bytes(expected)
    server = Forked(folder)
    with Client(base_url=server.url, timeout=60) as client:
        client.ask("undo", number=number)
        server.kill(everything=True)
    assert bytes_of(folder) == without


@pytest.fixture
def meanwhile(folder, monkeypatch):
    """meanwhile(change): another process changes labels between the check of the next request
    and its commit.
    """
    waiting = []
    ask = JournalWriter.run

    def come():
        if waiting:
            journal = Journal(folder)
            journal.append([LabelChange(Change.of(waiting.pop()))])
            journal.close()

    async def asked(self, *given):
        come()
        return await ask(self, *given)

    monkeypatch.setattr(JournalWriter, "run", asked)
    return waiting.append


RETIRED = {"change": "retire", "labels": ["grain"]}


def test_what_is_acknowledged_is_learned_whatever_comes_in_between(server, meanwhile):
    number = server.learn("rye and oats", ["new"])["number"]
    meanwhile({"change": "retire", "labels": ["trade"]})  # which does not concern it
    learned = server.learn("wheat", ["grain"])
    assert (learned["new"], learned["learned"]) == (True, True)
    meanwhile(RETIRED)
    answer = server.post("/v1/learn", json={"examples": [{"text": "wheat", "labels": ["grain"]}]})
    assert (answer.status_code, "was retired" in answer.json()["error"]) == (422, True)
    meanwhile({"change": "retire", "labels": ["money"]})
    answer = server.post("/v1/repair", json={"number": number, "labels": ["money"]})
    assert (answer.status_code, "was retired" in answer.json()["error"]) == (422, True)
    meanwhile({"change": "rename", "labels": ["new"], "into": "newer"})
    ask(server, {"change": "retire", "labels": ["new"]}, 404)
    model = server.ask("model")
    assert (model["passed_over"], model["passed"], model["journal"]) == (0, [], 6)


def test_what_is_sure_is_decided_by_labels_that_there_still_are(tmp_path, sure_file, monkeypatch):
    folder = tmp_path / "sure"
    folder.mkdir()
    take_base(folder, sure_file)
    with in_thread(folder) as server:
        server.ask("queue", texts=["apple number1", "bolt number2"])
        ids = server.ask("queue/sure", precision=0.8)["ids"]
        writer_ask = JournalWriter.run

        async def late(self, *given):
            monkeypatch.setattr(JournalWriter, "run", writer_ask)
            await writer_ask(
                self,
                Journal.append,
                [LabelChange(Change.of({"change": "retire", "labels": ["fruit"]}))],
            )
            return await writer_ask(self, *given)

        monkeypatch.setattr(JournalWriter, "run", late)
        answer = server.post("/v1/queue/decide", json={"ids": ids, "precision": 0.8})
        assert (answer.status_code, "was retired" in answer.json()["error"]) == (422, True)
        assert server.ask("model")["passed_over"] == 0
        assert server.ask("queue")["held"] == 0
        server.learn("bolt number2", ["metal"], ids[-1])  # by a person, who took it from the queue
        assert server.post("/v1/queue/undo", json={"decision": 1}).status_code == 404, (
            "it would take that back"
        )


def test_nothing_is_taken_back_that_others_need(server, capfd):
    renamed = ask(server, {"change": "rename", "labels": ["trade"], "into": "a secret label"})[
        "number"
    ]
    retired = ask(server, {"change": "retire", "labels": ["a secret label"]})["number"]
    answer = server.post("/v1/undo", json={"number": renamed})
    assert answer.status_code == 409
    assert f"take back example {retired} first" in answer.json()["error"]
    server.ask("undo", number=retired)
    server.ask("undo", number=renamed)
    assert "trade" in server.best("wheat exports rose")
    first = server.learn("rye and oats", ["new"])["number"]
    ask(server, {"change": "merge", "labels": ["new"], "into": "grain"})
    assert server.post("/v1/undo", json={"number": first}).status_code == 409
    assert server.post("/v1/repair", json={"number": first, "labels": ["grain"]}).status_code == 409
    server.learn("corn", ["grain"])
    server.ask("undo", number=server.ask("model")["journal"])
    model = server.ask("model")
    assert (model["passed_over"], model["undone"]) == (0, 3)
    log = capfd.readouterr().err
    assert "/v1/undo" in log
    assert "secret" not in log


def test_what_cannot_be_learned_is_told_without_its_labels_in_the_log_and_after_a_snapshot(
    folder, capfd
):
    journal = Journal(folder)
    journal.append(
        [
            LabelChange(Change.of(RETIRED)),
            Judgement("wheat", ["grain"]),
            Judgement("bank", ["money"]),
        ]
    )
    journal.close()
    for _ in range(2):
        with in_thread(folder) as server:
            model = server.ask("model")
            assert (model["passed_over"], [one["number"] for one in model["passed"]]) == (1, [2])
            assert "'grain' was retired" in model["passed"][0]["problem"]
        write_snapshot(folder)
    assert "grain" not in capfd.readouterr().err


def test_a_failure_is_logged_without_its_message(capfd):
    try:
        {}["secret" + " label"]
    except KeyError as problem:
        log_failure("failed", problem)
    log = capfd.readouterr().err
    assert "KeyError" in log
    assert "test_label_changes.py" in log, "where it happened"
    assert "secret label" not in log
