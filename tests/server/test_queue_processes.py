"""The queue under several processes, and under kill -9: no text to two people, no judgement lost or doubled."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx

from shortlist.server.queue.store import Queue
from tests.server.servers import Client

PEOPLE = ("anna", "ben", "cleo")


def work(url, person, acknowledged, until):
    """Judge until nothing is left, or the server is gone."""
    with Client(base_url=url, timeout=60) as client:
        while not until.is_set():
            try:
                item = client.ask("queue/next", person=person)["item"]
                if item is None:
                    return
                client.learn(item["text"], ["grain"], item["id"])
            except (httpx.HTTPError, AssertionError):
                if until.is_set():
                    return  # it was killed
                raise
            acknowledged.append((item["id"], person))


def judged(folder):
    """The keys of the queue in the journal."""
    with sqlite3.connect(folder / "journal.sqlite") as db:
        found = [key for (key,) in db.execute("SELECT key FROM examples WHERE key LIKE 'queue-%'")]
    db.close()
    return found


def test_two_processes_and_three_people(start, folder):
    server = start("--state", folder, "--workers", "2")
    texts = [f"wheat harvest {n}" for n in range(60)]
    assert server.client.ask("queue", texts=texts)["added"] == 60
    acknowledged = []
    with ThreadPoolExecutor(len(PEOPLE)) as people:
        list(people.map(lambda person: work(server.url, person, acknowledged, threading.Event()), PEOPLE))
    keys = [key for key, _ in acknowledged]
    assert len(keys) == len(set(keys)) == 60
    assert sorted(judged(folder)) == sorted(keys)
    assert server.client.ask("queue")["judged"] == 60


def test_killed_in_the_middle(start, folder):
    texts = [f"wheat harvest {n}" for n in range(90)]
    acknowledged = []
    for kill in (True, True, False):
        server = start("--state", folder, "--workers", "2")
        server.client.ask("queue", texts=texts)
        before, gone = len(acknowledged), threading.Event()
        if not kill:
            free(folder)
        with ThreadPoolExecutor(len(PEOPLE)) as people:
            at_work = [people.submit(work, server.url, person, acknowledged, gone) for person in PEOPLE]
            if kill:
                while len(acknowledged) < before + 10 and not all(one.done() for one in at_work):
                    gone.wait(0.01)
                gone.set()
                server.kill()
            for one in at_work:
                one.result()
    keys = [key for key, _ in acknowledged]
    found = judged(folder)
    assert len(found) == len(set(found)) == 90, "each is learned once, also what was not acknowledged"
    assert set(keys) <= set(found), "nothing acknowledged is lost"
    assert server.client.ask("queue")["judged"] == 90


def free(folder):
    """Let leases end at once that the killed left behind; who waits gets them in a quarter of an hour."""
    queue = Queue(folder)
    with queue.writing():
        queue.db.execute("UPDATE items SET until = 0 WHERE state = 'waiting'")
    queue.close()
