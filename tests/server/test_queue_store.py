"""The file of a queue: how many texts are in each state is known without counting them."""

import random
import time

import pytest

from shortlist.server.journal_errors import Conflict
from shortlist.server.review_queue import RESERVED, STATES, Queue

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
    plan = f"EXPLAIN QUERY PLAN SELECT count(*) FROM items WHERE +state = 'waiting' AND {RESERVED}"
    assert "by_until" in str(queue.db.execute(plan, {"now": 5}).fetchall())


@pytest.mark.parametrize("years", [10, -20])
def test_no_text_stays_reserved_after_the_clock_was_wrong(queue, monkeypatch, years):
    """A reservation that ends later than any could is over."""
    right_now = time.time()
    queue.add(TEXTS[:1])
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: right_now + max(years, 0) * 365 * 86_400)
        item = queue.reserve([1], "anna", 86_400)
    monkeypatch.setattr(time, "time", lambda: right_now + min(years, 0) * 365 * 86_400)
    assert queue.counts()["held"] == 0
    assert queue.reserved("anna", 900) is None
    assert [one.number for one in queue.free("date", "ben", 10)] == [1]
    assert queue.reserve([1], "ben", 900).id == item.id
    with pytest.raises(Conflict, match="another person has"):
        queue.move([item.key], "waiting", "anna")
    assert queue.move([item.key], "waiting", "anna", is_manager=True) == 1
    assert queue.reserve([1], "cleo", 900).id == item.id
    with pytest.raises(Conflict, match="another person has"):
        queue.move([item.key], "skipped", "anna", is_manager=True)


def test_what_was_asked_to_be_kept_is_on_disk_when_it_is_done(queue):
    (full, normal) = (2, 1)  # as SQLite counts
    for durable, wanted in [(True, full), (False, normal), (True, full)]:
        with queue.transaction(durable=durable):
            pass
        assert queue.db.execute("PRAGMA synchronous").fetchone() == (wanted,)
