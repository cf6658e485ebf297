"""The queue under several processes: no text to two people. Killing them: tests/hostile/queue_kills.py."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

from tests.server.servers import Client

PEOPLE = ("anna", "ben", "cleo")


def work(url, person, acknowledged):
    """Judge until nothing is left."""
    with Client(base_url=url, timeout=60) as client:
        while (item := client.ask("queue/next", person=person)["item"]) is not None:
            client.learn(item["text"], ["grain"], item["id"])
            acknowledged.append(item["id"])


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
        list(people.map(lambda person: work(server.url, person, acknowledged), PEOPLE))
    assert len(acknowledged) == len(set(acknowledged)) == 60
    assert sorted(judged(folder)) == sorted(acknowledged)
    assert server.client.ask("queue")["judged"] == 60
