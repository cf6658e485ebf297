"""The file of a queue: how many texts are in each state is known without counting them."""

import random

import pytest

from shortlist.server.review_queue import STATES, Queue

TEXTS = [f"text {n}" for n in range(30)]


@pytest.fixture
def queue(tmp_path):
    opened = Queue(tmp_path)
    yield opened
    opened.close()


def counted(queue):
    found = dict(queue.db.execute("SELECT state, count(*) FROM items GROUP BY state").fetchall())
    return {state: found.get(state, 0) for state in STATES}


def told(queue):
    return {state: n for state, n in queue.counts().items() if state in STATES}


def test_what_is_told_is_what_a_count_finds(queue):
    chance = random.Random(7)
    assert queue.add(TEXTS) == {"added": 30, "known": 0}
    assert queue.add(TEXTS) == {"added": 0, "known": 30}
    for _ in range(100):
        number = chance.randrange(1, 31)
        if chance.random() < 0.3:
            with queue.transaction():
                queue.db.execute("UPDATE items SET state = 'judged' WHERE number = ?", (number,))
        elif (item := queue.reserve([number], "anna", 900)) is not None:
            queue.move(
                [item.key], chance.choice(["skipped", "later", "flagged", "waiting"]), "anna"
            )
        assert told(queue) == counted(queue)
    assert min(told(queue).values()) > 0, "all states were tried"
    with queue.transaction():
        queue.db.execute("DELETE FROM items WHERE number % 3 = 0")
    assert told(queue) == counted(queue)
    assert queue.counts()["total"] == 20


def test_who_has_a_text_is_counted_until_the_lease_ends(queue):
    queue.add(TEXTS)
    for number, seconds in [(1, 900), (2, 900), (3, -1)]:
        queue.reserve([number], f"person {number}", seconds)
    with queue.transaction():
        queue.db.execute("UPDATE items SET state = 'judged' WHERE number = 2")
    assert queue.counts()["held"] == 1


def test_neither_is_found_by_going_through_all_texts(queue):
    plan = "EXPLAIN QUERY PLAN SELECT count(*) FROM items WHERE +state = 'waiting' AND until >= 5"
    assert "by_until" in str(queue.db.execute(plan).fetchall())


def test_what_was_asked_to_be_kept_is_on_disk_when_it_is_done(queue):
    (full, normal) = (2, 1)  # as SQLite counts
    for durable, wanted in [(True, full), (False, normal), (True, full)]:
        with queue.transaction(durable=durable):
            pass
        assert queue.db.execute("PRAGMA synchronous").fetchone() == (wanted,)
