"""The queue over HTTP: texts in, one at a time out, each to one person, judged once."""

import gzip
import io
import json
from concurrent.futures import ThreadPoolExecutor

import polars
import pytest

from shortlist.server.review_queue import Queue
from tests.server.servers import Client, in_thread

TEXTS = [f"wheat harvest {n}" for n in range(20)]


def send(server, content, name, **more):
    headers = {"content-type": "application/octet-stream"}
    return server.post(
        "/v1/queue/file", params={"name": name, **more}, content=content, headers=headers
    )


def take(server, person="anna", order="date"):
    return server.ask("queue/next", person=person, order=order)["item"]


def judge(server, item, labels=("grain",)):
    return server.learn(item["text"], list(labels), item["id"])


def test_texts_come_once_each_and_in_order(server):
    assert server.ask("queue", texts=[*TEXTS, " ", TEXTS[0]]) == {"added": 20, "known": 1}
    assert server.ask("queue", texts=TEXTS) == {"added": 0, "known": 20}
    for text in TEXTS:
        item = take(server)
        assert item["text"] == text
        assert take(server)["id"] == item["id"], "it stays with who has it until it is judged"
        assert judge(server, item)["new"]
    assert take(server) is None
    progress = server.ask("queue")
    assert progress == {
        "waiting": 0,
        "held": 0,
        "judged": 20,
        "skipped": 0,
        "flagged": 0,
        "total": 20,
    }


def test_two_people_never_have_the_same_text(server):
    server.ask("queue", texts=TEXTS)

    def work(person):
        with Client(base_url=server.base_url, timeout=60) as own:
            had = []
            while (item := take(own, person, "gain")) is not None:
                had.append(item["id"])
                judge(own, item)
            return had

    with ThreadPoolExecutor(4) as people:
        had = list(people.map(work, ["anna", "ben", "cleo", "dan"]))
    every = [id for one in had for id in one]
    assert len(every) == len(set(every)) == 20
    assert server.ask("model")["journal"] == 20


def test_of_two_who_want_the_same_text_one_gets_it(server, folder):
    server.ask("queue", texts=TEXTS[:2])
    one, other = Queue(folder), Queue(folder)
    first, second = (item.number for item in one.free("date", "anna", 2))
    assert one.reserve([first], "anna", 900).number == first
    assert other.reserve([first], "ben", 900) is None
    assert other.reserve([first, second], "ben", 900).number == second
    assert one.reserve([first], "anna", 900).number == first, "who has it can have it again"
    one.close()
    other.close()


@pytest.mark.parametrize("order", ["gain", "date", "random"])
def test_who_does_not_judge_loses_the_text_after_a_while(server, folder, order):
    server.ask("queue", texts=TEXTS[:1])
    item = take(server, "anna", order)
    assert take(server, "ben", order) is None
    queue = Queue(folder)
    with queue.transaction():
        queue.db.execute("UPDATE items SET until = until - 1000")
    queue.close()
    assert take(server, "ben", order)["id"] == item["id"]
    assert take(server, "anna", order) is None


def test_skip_later_flag_and_back(server):
    server.ask("queue", texts=TEXTS[:4])
    one, other = take(server, "anna"), take(server, "ben")
    refused = server.post(
        "/v1/queue/move", json={"ids": [other["id"]], "to": "skipped", "person": "anna"}
    )
    assert (refused.status_code, refused.json()["error"][:14]) == (409, "another person")
    assert server.ask("queue/move", ids=[one["id"]], to="later", person="anna")["moved"] == 1
    flagged = take(server, "anna")
    assert flagged["text"] == TEXTS[2]
    server.ask("queue/move", ids=[flagged["id"]], to="flagged", person="anna", note="two topics")
    skipped = take(server, "anna")
    server.ask("queue/move", ids=[skipped["id"]], to="skipped", person="anna")
    assert take(server, "anna")["text"] == TEXTS[0], (
        "what was put off comes when nothing else is left"
    )
    progress = server.ask("queue")
    assert (progress["waiting"], progress["held"], progress["flagged"], progress["skipped"]) == (
        2,
        2,
        1,
        1,
    )
    (found,) = server.ask("queue/items?state=flagged")["items"]
    assert (found["id"], found["note"], found["person"]) == (flagged["id"], "two topics", "anna")
    server.ask("queue/move", ids=[flagged["id"]], to="waiting", person="cleo")
    assert take(server, "cleo")["id"] == flagged["id"]
    unknown = server.post(
        "/v1/queue/move", json={"ids": ["queue-x"], "to": "skipped", "person": "anna"}
    )
    assert unknown.status_code == 404


def test_what_is_taken_back_waits_again_under_another_key(server):
    server.ask("queue", texts=TEXTS[:1])
    first = take(server)
    number = judge(server, first)["number"]
    assert server.ask("queue/items?state=judged")["items"][0]["example"] == number
    moved = server.post(
        "/v1/queue/move", json={"ids": [first["id"]], "to": "skipped", "person": "anna"}
    )
    assert (moved.status_code, f"take its example {number} back" in moved.json()["error"]) == (
        409,
        True,
    )
    server.ask("undo", number=number)
    again = take(server)
    assert (again["text"], again["id"]) == (first["text"], f"{first['id']}-2")
    assert judge(server, again, ["money"])["new"]
    assert server.ask("queue")["judged"] == 1
    assert take(server) is None


def test_who_has_a_text_that_was_taken_back_keeps_it_when_others_are_added(server):
    """The journal is then followed from its beginning, where the text was judged once."""
    server.ask("queue", texts=TEXTS[:1])
    server.ask("undo", number=judge(server, take(server, "ben"))["number"])
    mine = take(server, "anna")
    server.ask("queue", texts=TEXTS[1:2])
    assert take(server, "ben")["text"] == TEXTS[1]
    assert take(server, "anna")["id"] == mine["id"]
    assert judge(server, mine)["new"]


@pytest.mark.parametrize(
    "key", ["queue-abc-xyz", "queue-abc-99999999999999999999", "queue-", "queue--1"]
)
def test_a_key_of_somebody_else_that_begins_like_its_own_stops_nothing(server, key):
    server.ask("queue", texts=TEXTS[:2])
    server.learn("oats", ["grain"], key)
    assert server.ask("queue")["waiting"] == 2
    assert take(server)["text"] == TEXTS[0]
    assert server.ask("repair", number=1, labels=["money"])["new"]


def test_the_journal_says_what_is_judged(server, folder):
    """Also to a queue that was lost and filled again, and to one whose journal was brought back
    from before.
    """
    server.ask("queue", texts=TEXTS[:3])
    judge(server, take(server))
    queue = Queue(folder)
    with queue.transaction():
        queue.db.execute("DELETE FROM items")
    assert server.ask("queue")["total"] == 0
    server.ask("queue", texts=TEXTS[:4])
    assert {name: server.ask("queue")[name] for name in ("judged", "waiting")} == {
        "judged": 1,
        "waiting": 3,
    }
    with queue.transaction():
        queue.db.execute("UPDATE items SET state = 'judged', example = 17 WHERE state = 'waiting'")
        queue.db.execute("UPDATE followed SET seal = 'of another journal'")
    assert server.ask("queue")["judged"] == 1
    queue.close()


def test_a_queue_is_the_same_after_a_restart(folder):
    with in_thread(folder) as server:
        server.ask("queue", texts=TEXTS[:3])
        had = take(server)
    with in_thread(folder) as server:
        assert take(server) == had | {"until": pytest.approx(had["until"], abs=900)}
        assert take(server, "ben")["text"] == TEXTS[1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "tickets.jsonl",
            "\n".join(json.dumps({"text": text, "labels": ["grain"]}) for text in TEXTS),
        ),
        ("tickets.csv", "id,text\n" + "\n".join(f"{n},{text}" for n, text in enumerate(TEXTS))),
        ("tickets.tsv", "text\tid\n" + "\n".join(f"{text}\t{n}" for n, text in enumerate(TEXTS))),
        ("tickets.json", json.dumps([{"text": text} for text in TEXTS])),
        ("tickets.txt", "\n".join(TEXTS)),
    ],
)
def test_a_file_becomes_many_texts(server, name, content):
    assert send(server, content.encode(), name).json() == {"added": 20, "known": 0}
    assert send(server, gzip.compress(content.encode()), f"{name}.gz").json() == {
        "added": 0,
        "known": 20,
    }
    assert take(server)["text"] == TEXTS[0]


def test_files_that_are_refused(server):
    bad = send(server, b'{"text": "fine"}\n{"tex', "bad.jsonl")
    assert (bad.status_code, "bad.jsonl, line 2" in bad.json()["error"]) == (422, True)
    assert send(server, b"", "empty.csv").status_code == 422
    column = send(server, b"id,subject\n1,wheat", "tickets.csv", text="subject", format="csv")
    assert column.json() == {"added": 1, "known": 0}
    form = server.post("/v1/queue/file", content=b"text", headers={"content-type": "text/plain"})
    assert (form.status_code, "application/octet-stream" in form.json()["error"]) == (415, True)
    long = send(server, b"x" * 200_001, "long.txt")
    assert (long.status_code, "text 0 has 200,001 characters" in long.json()["error"]) == (
        422,
        True,
    )
    assert server.ask("queue")["total"] == 1


def test_a_small_file_that_holds_very_much(folder):
    from shortlist.server.settings import Limits

    with in_thread(folder, limits=Limits(file=10_000)) as server:
        unpacked = send(server, gzip.compress(b"wheat\n" * 5000), "much.txt.gz")
        assert (
            unpacked.status_code,
            "more than 10,000 characters" in unpacked.json()["error"],
        ) == (422, True)
        assert send(server, b"x" * 10_001, "large.txt").status_code == 413


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"\n" * 1_000_000, "empty.txt", "more than 50,000 characters"),
        (b'{"text": ""}\n' * 1000, "empty.jsonl", "more than 50,000 characters"),
        (b"text,n\nwheat,1\n" + b"\n" * 2_000_000, "blank.csv", "more than 1,048,576 bytes"),
        (b"__label__x a\n" + b"\n" * 2_000_000, "blank.ft", "more than 1,048,576 bytes"),
    ],
)
def test_a_small_file_of_empty_texts(folder, data, name, words):
    """A text without a letter takes time and memory, too, and so do lines that hold none."""
    from shortlist.server.settings import Limits

    with in_thread(folder, limits=Limits(file=50_000)) as server:
        refused = send(server, gzip.compress(data), f"{name}.gz")
        assert (refused.status_code, words in refused.json()["error"]) == (422, True)
        assert server.ask("queue")["total"] == 0


def test_a_small_parquet_file_with_a_long_text(folder):
    from shortlist.server.settings import Limits

    file = io.BytesIO()
    polars.DataFrame({"text": ["a" * 3_000_000]}).write_parquet(file)
    with in_thread(folder, limits=Limits(file=50_000)) as server:
        refused = send(server, file.getvalue(), "long.parquet")
        assert (refused.status_code, "1,048,576 bytes" in refused.json()["error"]) == (422, True)


def test_a_read_only_server_has_no_queue(folder):
    with in_thread(folder, read_only=True) as server:
        assert server.get("/v1/queue").status_code == 403
        assert server.post("/v1/queue", json={"texts": ["a"]}).status_code == 403
        assert not (folder / "queue.sqlite").exists()


def test_a_damaged_queue_stops_nothing_else(folder):
    (folder / "queue.sqlite").write_bytes(b"no database at all" * 1000)
    with in_thread(folder) as server:
        answer = server.get("/v1/queue")
        assert (answer.status_code, "move it away" in answer.json()["error"]) == (503, True)
        assert server.learn("zebra", ["animals"])["new"]
        (folder / "queue.sqlite").unlink()
        assert server.ask("queue", texts=TEXTS)["added"] == 20


def test_the_gain_of_an_uncertain_text_is_larger(server):
    sure, unsure, unknown, lonely = "wheat and corn prices", "wheat at the bank", "zebra", "quagga"
    server.ask("queue", texts=[sure, unsure, unknown, lonely, "zebra okapi"])
    had = []
    while (item := take(server, order="gain")) is not None:
        had.append(item["text"])
        server.ask("queue/move", ids=[item["id"]], to="skipped", person="anna")
    assert had[0] == unknown, (
        "before a word that the model does not know either, but no other text has"
    )
    assert had.index(unsure) < had.index(sure)


@pytest.fixture
def queued(sure):
    """A server whose queue has texts of which the model is sure, but for two; anna has the
    first.
    """
    certain = [f"{('apple', 'bolt')[n % 2]} number{n % 7} again{n}" for n in range(10)]
    sure.ask("queue", texts=[*certain, "number3 number4", "zebra"])
    sure.reserved = take(sure, "anna")
    assert sure.reserved["text"] == certain[0]
    return sure


def test_looking_for_the_sure_ones_learns_nothing(queued):
    seen = queued.ask("queue/sure", precision=0.9)
    assert (seen["looked_at"], seen["sure"], len(seen["ids"])) == (11, 9, 9)
    assert {tuple(one["labels"]) for one in seen["examples"]} == {("fruit",), ("metal",)}
    assert queued.ask("model")["journal"] == 0


def test_the_sure_ones_are_decided_once(queued):
    ids = queued.ask("queue/sure", precision=0.9)["ids"]
    ids = [*ids, ids[0], queued.reserved["id"]]
    decision = queued.ask("queue/decide", ids=ids, precision=0.9)
    assert decision == {"decision": 1, "decided": 9}
    assert queued.ask("queue")["judged"] == 9
    examples = queued.ask("examples")["examples"]
    assert {tuple(one["labels"]) for one in examples} == {("fruit",), ("metal",)}
    assert {one["judge"] for one in examples} == {"decided"}
    again = queued.ask("queue/decide", ids=ids, precision=0.9)
    assert again == {"decision": None, "decided": 0}
    assert take(queued, "anna")["id"] == queued.reserved["id"], "what somebody has is left alone"


def test_a_decision_is_taken_back_at_once(queued):
    ranking = queued.best("apple number3")
    ids = queued.ask("queue/sure", precision=0.9)["ids"]
    queued.ask("queue/decide", ids=ids, precision=0.9)
    assert queued.ask("queue/undo", decision=1) == {"undone": 9}
    assert queued.ask("queue/undo", decision=1) == {"undone": 0}
    assert (queued.ask("queue")["judged"], queued.best("apple number3")) == (0, ranking)
    assert queued.post("/v1/queue/undo", json={"decision": 99}).status_code == 404
