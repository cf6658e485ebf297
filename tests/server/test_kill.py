"""kill -9 at any moment: what was acknowledged is there, once, and the model is the journal's.

SHORTLIST_KILL_RUNS=100 runs a hundred; the usual number is small. The servers are forked from the test, which has
loaded everything already; each is a real process with clients of its own, and is killed without a word.
"""

import contextlib
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest

import shortlist as sl
from shortlist.server import snapshots
from shortlist.server.app import make_app  # noqa: F401  imported here once, not in every server forked
from shortlist.server.journal import Journal
from shortlist.server.replica import Replica
from shortlist.server.serving import serve
from shortlist.server.settings import Settings
from tests.server.servers import Client, state_bytes

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
RUNS = int(os.environ.get("SHORTLIST_KILL_RUNS", "10"))
CLIENTS = 4
WORDS = ["wheat", "corn", "bank", "rates", "river", "gold", "ship", "harvest", "central", "price"]
PROBES = ["wheat and corn", "gold at the bank", "ship on the river", " ".join(WORDS)]


def wait_for_more_than(n, things):
    until = time.monotonic() + 60
    while len(things) <= n:
        assert time.monotonic() < until
        time.sleep(0.005)


class Forked:
    """A server forked from this process."""

    def __init__(self, folder, **settings):
        here, there = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=self._run, args=(folder, settings, there))
        self.process.start()
        there.close()
        assert here.poll(60), "the server does not start"
        self.url = here.recv()
        here.close()

    @staticmethod
    def _run(folder, settings, there):
        os.setsid()
        with open(folder / "log", "a") as log:
            sys.stderr = log
            serve(Settings(folder, port=0, **settings), None, there.send)

    def kill(self, everything):
        """The server, or with it every process that it has started."""
        (os.killpg if everything else os.kill)(self.process.pid, signal.SIGKILL)
        self.process.join()


def work(url, seed, undone, todo, acknowledged):
    """Learn until the server is gone; what was not acknowledged stays to do, with the same key."""
    chance = random.Random(seed)
    with contextlib.suppress(httpx.HTTPError), Client(base_url=url, timeout=20) as client:
        while True:
            if not todo:
                size = chance.choice([1, 1, 1, 5])
                todo.extend(
                    (f"{seed}-{chance.random()}", " ".join(chance.choices(WORDS, k=5)), [f"label{chance.randrange(9)}"])
                    for _ in range(size)
                )
            examples = [{"text": text, "labels": labels, "key": key} for key, text, labels in todo]
            for (key, text, labels), got in zip(todo, client.ask("learn", examples=examples)["learned"], strict=True):
                acknowledged[key] = (got["number"], text, labels)
            todo.clear()
            if chance.random() < 0.03:
                number = chance.choice(list(acknowledged.values()))[0]
                client.ask("undo", number=number)
                undone.add(number)


def expected_model(folder, model_file, undone):
    """The base and then every example of the journal, read with nothing but SQL."""
    journal = Journal(folder)
    rows = journal._db.execute("SELECT number, key, text, labels FROM examples ORDER BY number").fetchall()
    gone = {number for (number,) in journal._db.execute("SELECT example FROM undos")}
    journal.close()
    assert undone <= gone
    model = sl.load(model_file)
    for number, _, text, labels in rows:
        if number not in gone:
            model.learn(text, json.loads(labels))
    return model, rows


def test_whatever_was_acknowledged_is_there_once(tmp_path, model_file):
    chance = random.Random(7)
    killed = 0
    while killed < RUNS:
        folder = tmp_path / f"state-{killed}"
        folder.mkdir()
        snapshots.take_base(folder, model_file)
        acknowledged, undone = {}, set()
        todo = [[] for _ in range(CLIENTS)]
        for _ in range(min(10, RUNS - killed)):
            server = Forked(folder, snapshot_examples=50, snapshot_seconds=1.0)
            threads = [
                threading.Thread(target=work, args=(server.url, 1000 * killed + n, undone, todo[n], acknowledged))
                for n in range(CLIENTS)
            ]
            for thread in threads:
                thread.start()
            before = len(acknowledged)
            if chance.random() < 0.9:  # or else perhaps before it answers at all
                wait_for_more_than(before, acknowledged)
            time.sleep(chance.uniform(0.0, 0.7))
            server.kill(everything=chance.random() < 0.5)
            for thread in threads:
                thread.join()
            killed += 1
            check(folder, model_file, acknowledged, undone)
            if chance.random() < 0.3:
                snapshots.write(folder)
        assert len(acknowledged) > 5 * CLIENTS


def check(folder, model_file, acknowledged, undone):
    expected, rows = expected_model(folder, model_file, undone)
    by_key = {key: (number, text, json.loads(labels)) for number, key, text, labels in rows}
    assert len(by_key) == len(rows), "no key is there twice"
    for key, entry in acknowledged.items():
        assert by_key[key] == entry
    replica = Replica(folder)
    assert state_bytes(replica.model) == state_bytes(expected)
    replica.close()
    server = Forked(folder)
    with Client(base_url=server.url, timeout=60) as client:
        for probe in PROBES:
            told = [(one["label"], one["score"]) for one in client.ask("rank", text=probe)["rankings"][0]]
            assert told == list(expected.rank(probe, 10))
    server.process.terminate()
    server.process.join()
    assert server.process.exitcode == 0


def fill(server, client):
    """Learn until the disk is full."""
    for n in range(2000):
        body = {"examples": [{"text": f"word{n} " * 400, "labels": ["x"]}]}
        answer = client.post("/v1/learn", json=body)
        if answer.status_code != 200:
            return n, answer
    raise AssertionError("the disk never filled up")


def check_full(folder, model_file, make_room):
    server = Forked(folder)
    with Client(base_url=server.url, timeout=60) as client:
        n, answer = make_room(server, client)
        assert answer.status_code == 507, answer.text
        assert "make room and try again" in answer.json()["error"]
        assert client.best("wheat"), "ranking goes on"
        assert client.ask("model")["journal"] == n
        yield client, n
        assert client.learn("there is room again", ["room"])["number"] == n + 1
        assert client.best("room") == ["room"]
    server.kill(everything=True)
    expected, rows = expected_model(folder, model_file, set())
    assert len(rows) == n + 1
    replica = Replica(folder)
    assert state_bytes(replica.model) == state_bytes(expected)
    replica.close()


def test_a_file_that_may_not_grow(folder, model_file):
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limited = []

    def limit(server, client):
        client.learn("a first example", ["x"])
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (300_000, hard))
        limited.append(server.process.pid)
        n, answer = fill(server, client)
        return n + 1, answer

    for _ in check_full(folder, model_file, limit):
        resource.prlimit(limited[0], resource.RLIMIT_FSIZE, (hard, hard))


def test_a_full_disk(tmp_path, model_file):
    """A real file system with no room left, where this user may make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this user may not mount a small file system")
    try:
        snapshots.take_base(disk, model_file)
        filler = disk / "filler"
        filler.write_bytes(bytes(500_000))
        for _ in check_full(disk, model_file, fill):
            filler.unlink()
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_damaged_snapshot_is_passed_over(folder, model_file):
    server = Forked(folder)
    with Client(base_url=server.url) as client:
        client.ask("learn", examples=[{"text": f"text {n}", "labels": ["x"], "key": str(n)} for n in range(30)])
    server.kill(everything=True)
    newest = snapshots.write(folder)
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 0xFF
    newest.write_bytes(content)
    check(folder, model_file, {}, set())
    assert "passed over a snapshot" in (folder / "log").read_text()
