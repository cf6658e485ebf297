"""kill -9 at any moment: of the server, of the process that writes a snapshot, of both at once.

    python tests/hostile/kills.py --count 50
    python tests/hostile/kills.py --long          # 1,000 kills

Clients learn and undo without a pause, another changes labels, and all send again with the same key
what was not acknowledged. After each life of a server, whatever was acknowledged must be in the
journal, once, and the model must be the base and then the journal's examples and changes, byte for
byte. The servers are forked from this process, which has loaded everything already.
"""

import argparse
import collections
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))  # when it is run as a program

import httpx

import shortlist as sl
from shortlist.models.label_changes import Change
from shortlist.server import snapshots
from shortlist.server.app import (
    make_app,  # noqa: F401  imported here once, not in every server forked
    serve,
)
from shortlist.server.journal_file import JOURNAL_FILE
from shortlist.server.replica import Replica
from shortlist.server.settings import ServerSettings
from tests.server.servers import EXAMPLES, Client, state_bytes

CLIENTS = 4
LIVES = 5  # of one state directory, before the next begins with a journal of its own
WORDS = ["wheat", "corn", "bank", "rates", "river", "gold", "ship", "harvest", "central", "price"]
FAULTS = ("lost", "doubled", "refused", "wrong")
PATIENCE = 240.0  # seconds for what takes one


class Forked:
    """A server forked from this process."""

    def __init__(self, folder, **settings):
        here, there = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(
            target=self._run, args=(folder, settings, there)
        )
        self.process.start()
        there.close()
        assert here.poll(PATIENCE), (
            f"the server does not start: {(folder / 'log').read_text()[-2000:]}"
        )
        self.url = here.recv()
        here.close()

    @staticmethod
    def _run(folder, settings, there):
        os.setsid()
        with open(folder / "log", "a") as log:
            sys.stderr = log
            serve(ServerSettings(folder, port=0, **settings), None, there.send)

    def writers(self):
        """The process that writes a snapshot, if there is one."""
        return [child for child in children(self.process.pid) if is_writer(child)]

    def kill(self, everything=True):
        """The server, and with it every process that it has started, or without."""
        (os.killpg if everything else os.kill)(self.process.pid, signal.SIGKILL)
        self.process.join()


def children(pid):
    try:
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []


def is_writer(pid):
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


class Changing:
    """Who changes labels: each change with a key, sent again until it is acknowledged."""

    def __init__(self, label):
        self.label = label  # which the base has learned
        self.todo = []  # keys and changes, of which the first is next
        self.acknowledged = {}  # key: number, change
        self.undone = set()
        self.refused = 0

    def step(self, client, chance):
        """The next change. Sometimes the last one of a label is taken back."""
        if not self.todo:
            name = str(chance.random())
            self.todo = [(f"{name}-{one['change']}", one) for one in changes_of(self.label, name)]
        key, change = self.todo[0]
        number = client.ask("labels", key=key, **change)["number"]
        self.acknowledged[key] = (number, change)
        del self.todo[0]
        if not self.todo and chance.random() < 0.5:
            client.ask("undo", number=number)
            self.undone.add(number)
        time.sleep(chance.uniform(0.0, 0.2))

    def lost(self, rows, gone):
        """How many changes, and undos of one, are not in the journal."""
        by_key = {row.key: (row.number, row.change) for row in rows}
        return sum(by_key.get(key) != entry for key, entry in self.acknowledged.items()) + len(
            self.undone - gone
        )


def changes_of(label, name):
    """One of each kind, each of which can be made after the one before it."""
    part, renamed = f"part {name}", f"renamed {name}"
    yield {"change": "split", "labels": [label], "into": part}
    yield {"change": "rename", "labels": [part], "into": renamed}
    yield {"change": "retire", "labels": [renamed]}
    yield {"change": "restore", "labels": [renamed]}
    yield {"change": "merge", "labels": [renamed], "into": label}


@dataclass
class Asked:
    """What the clients of one state directory have asked for, and what was acknowledged."""

    folder: Path
    acknowledged: dict = field(default_factory=dict)  # key: number, text, labels
    undone: set = field(default_factory=set)
    todo: list = field(default_factory=lambda: [[] for _ in range(CLIENTS)])
    changing: Changing = field(default_factory=lambda: Changing("grain"))

    def threads(self, url, chance, stop):
        """The clients, at work on a server until told to stop."""
        jobs = [(url, chance.randrange(2**60), todo, self, stop) for todo in self.todo]
        changer = threading.Thread(
            target=change, args=(url, chance.randrange(2**60), self.changing, stop)
        )
        return [changer, *(threading.Thread(target=work, args=job) for job in jobs)]

    def see_kill(self, chance):
        """Somebody is about to be killed."""

    def faults(self, model_file):
        """How many acknowledged examples and undos are lost or doubled, and how many models are
        wrong.
        """
        rows, gone = rows_of(self.folder)
        by_key = {row.key: (row.number, row.text, row.labels) for row in rows}
        lost = sum(by_key.get(key) != entry for key, entry in self.acknowledged.items()) + len(
            self.undone - gone
        )
        lost += self.changing.lost(rows, gone)
        doubled = len(rows) - len({row.text or row.key for row in rows})
        wrong, refused, self.changing.refused = (
            wrong_models(self.folder, model_file),
            self.changing.refused,
            0,
        )
        return collections.Counter(lost=lost, doubled=doubled, wrong=wrong, refused=refused)


def work(url, seed, todo, asked, stop):
    """Learn until told to stop; what was not acknowledged stays to do, with the same key."""
    chance = random.Random(seed)
    while not stop.is_set():
        with contextlib.suppress(httpx.HTTPError), Client(base_url=url, timeout=20) as client:
            while not stop.is_set():
                if not todo:
                    for key in [
                        f"{seed}-{chance.random()}" for _ in range(chance.choice([1, 1, 1, 5]))
                    ]:
                        text = f"{key} " + " ".join(chance.choices(WORDS, k=5))
                        todo.append((key, text, [f"label{chance.randrange(9)}"]))
                examples = [
                    {"text": text, "labels": labels, "key": key} for key, text, labels in todo
                ]
                answer = client.ask("learn", examples=examples)
                for (key, text, labels), got in zip(todo, answer["learned"], strict=True):
                    asked.acknowledged[key] = (got["number"], text, labels)
                todo.clear()
                if chance.random() < 0.03:
                    number = chance.choice(list(asked.acknowledged.values()))[0]
                    client.ask("undo", number=number)
                    asked.undone.add(number)
        time.sleep(0.01)


def change(url, seed, changing, stop):
    """Change labels until told to stop."""
    chance = random.Random(seed)
    while not stop.is_set():
        try:
            with contextlib.suppress(httpx.HTTPError), Client(base_url=url, timeout=20) as client:
                while not stop.is_set():
                    changing.step(client, chance)
        except (
            AssertionError
        ) as problem:  # not 200; a busy machine may be too slow, which can be tried again
            if not str(problem).startswith(("429", "503")):
                print(f"a change was refused: {problem}", file=sys.stderr)
                changing.refused += 1
        time.sleep(0.01)


class Row(NamedTuple):
    """An example of the journal, or a change of labels."""

    number: int
    key: str
    text: str
    labels: list
    wrong: list
    complete: bool
    person: str
    judge: str
    change: dict | None


def rows_of(folder):
    """The journal's examples and what was taken back, read with nothing but SQL."""
    db = sqlite3.connect(folder / JOURNAL_FILE)
    columns = "number, key, text, labels, wrong, complete, person, judge, change"
    rows = []
    for values in db.execute(f"SELECT {columns} FROM entries ORDER BY number"):
        row = Row(*values)
        rows.append(
            row._replace(
                labels=json.loads(row.labels),
                wrong=json.loads(row.wrong),
                complete=bool(row.complete),
                change=json.loads(row.change or "null"),
            )
        )
    gone = {number for (number,) in db.execute("SELECT example FROM undos")}
    db.close()
    return rows, gone


def expected_model(folder, model_file):
    """The base and then every example and every change of labels of the journal."""
    rows, gone = rows_of(folder)
    model = sl.load(model_file)
    for row in rows:
        if row.number in gone or row.judge == "decided":
            continue
        if row.change is not None:
            model.change_labels(Change.of(row.change))
        else:
            checked = row.judge == "check"
            model.learn(row.text, row.labels, row.wrong, row.complete, checked=checked)
    return model


def differing(model, expected):
    """The names of what differs between two models."""
    states = [one.to_state() for one in (model, expected)]
    mine, theirs = (
        {name: array.tobytes() for name, array in state.all_arrays().items()} for state in states
    )
    names = sorted(
        name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name)
    )
    return names + ["the header"] * (states[0].header() != states[1].header())


def wrong_models(folder, model_file):
    """1 if the model that a server would begin with is not the one of its journal, byte for
    byte, and 0 if it is.
    """
    expected = expected_model(folder, model_file)
    replica = Replica(folder)
    replica.close()
    if state_bytes(replica.model) == state_bytes(expected):
        return 0
    print(
        f"the model of {folder.name} is not the one of its journal: "
        f"{differing(replica.model, expected)}"
    )
    return 1


def one_life(most, asked, chance):
    """Start a server, kill its snapshot writers while clients learn, and at the end itself.
    Gives it and the kills.
    """
    server = Forked(asked.folder, snapshot_examples=40, snapshot_seconds=0.5)
    stop = threading.Event()
    threads = asked.threads(server.url, chance, stop)
    for thread in threads:
        thread.start()
    kills = collections.Counter()
    for _ in range(chance.randrange(most)):
        time.sleep(chance.uniform(0.0, 0.6))
        asked.see_kill(chance)
        wait_a_little_for(server.writers)
        for writer in server.writers()[:1]:
            time.sleep(chance.uniform(0.0, 0.3))  # mostly in the midst of its work
            with contextlib.suppress(ProcessLookupError):
                os.kill(writer, signal.SIGKILL)
                kills["snapshot writer"] += 1
    if chance.random() < 0.9:  # or else perhaps before it answers at all
        wait_for_more(asked.acknowledged)
    time.sleep(chance.uniform(0.0, 0.6))
    everything = chance.random() < 0.5
    asked.see_kill(chance)
    server.kill(everything)
    kills["both at once" if everything else "server"] += 1
    stop.set()
    for thread in threads:
        thread.join()
    return server, kills


def wait_a_little_for(there):
    """Wait for something to be under way; for a few seconds at most."""
    until = time.monotonic() + 5
    while not there() and time.monotonic() < until:
        time.sleep(0.002)


def wait_for_more(things):
    before, until = len(things), time.monotonic() + PATIENCE
    while len(things) == before:
        assert time.monotonic() < until, "nothing is acknowledged any more"
        time.sleep(0.005)


def trial(count, root, model_file, seed=7, asking=Asked):
    """So many kills or a few more. Gives kills by kind, faults, and examples."""
    chance = random.Random(seed)
    kills, found = collections.Counter(), collections.Counter()
    turn = 0
    while kills.total() < count:
        folder = root / f"state-{turn}"
        folder.mkdir()
        snapshots.take_base(folder, model_file)
        asked, servers = asking(folder), []
        for _ in range(LIVES):
            if kills.total() < count:
                most = min(8, count - kills.total())
                server, killed = one_life(most, asked, chance)
                kills += killed
                servers.append(server)
                found += asked.faults(model_file)
                print(
                    f"{kills.total()} kills, {len(asked.acknowledged)} acknowledged",
                    file=sys.stderr,
                    flush=True,
                )
        found["examples"] += len(asked.acknowledged)
        found["changes"] += len(asked.changing.acknowledged)
        for server in servers:
            # a writer of snapshots may have outlived its parent
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.process.pid, signal.SIGKILL)
        shutil.rmtree(folder)
        turn += 1
    return kills, found


def make_model(folder):
    path = folder / "news.shortlist"
    texts, labels = zip(*EXAMPLES, strict=True)
    model = sl.Categorizer(sl.FeatureFocus(margin=0.3), sl.TextVectorizer(tf="log", idf="smooth"))
    model.fit(list(texts), list(labels)).save(path)
    return path


def run(about, faults, long, model=make_model, beside=lambda found: "", **more):
    """The command: so many kills, then one line of summary, and 1 if anything was found."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--count", type=int, default=30, help="kills")
    parser.add_argument("--long", action="store_true", help=f"{long:,} kills")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)  # of forking
    with tempfile.TemporaryDirectory() as name:
        count = long if arguments.long else arguments.count
        kills, found = trial(count, Path(name), model(Path(name)), arguments.seed, **more)
    kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(kills.items()))
    print(
        f"{kills.total():,} kills ({kinds}), {beside(found)}{found['examples']:,} examples and "
        f"{found['changes']:,} changes of labels acknowledged: "
        + ", ".join(f"{found[fault]} {fault}" for fault in faults)
    )
    sys.exit(1 if any(found[fault] for fault in faults) else 0)


if __name__ == "__main__":
    run(__doc__, FAULTS, 1000)
