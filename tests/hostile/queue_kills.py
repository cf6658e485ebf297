"""kill -9 while three people judge texts of a queue, a fourth has the sure ones decided, and labels
change.

    python tests/hostile/queue_kills.py --count 20
    python tests/hostile/queue_kills.py --long          # 200 kills

Everybody has a token. The three take the next text, judge it whole or in part, and send again what
was not acknowledged. The fourth imports texts, looks at what the model would decide alone, has it
decided, and takes some decisions back. A fifth changes labels. After each life of a server whatever
was acknowledged must be in the journal, once, by whom it was; a decision, and its undo, all or not
at all; no text may be judged twice; the queue must say what the journal says; and the model must be
the base and then the journal's examples and changes, byte for byte.
"""

import collections
import contextlib
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # when it is run as a program

import httpx

import shortlist as sl
from shortlist.server.journal import Journal
from shortlist.server.journal_history import History
from shortlist.server.people import Role, changing
from shortlist.server.queue_following import follow
from shortlist.server.review_queue import Queue
from tests.hostile.kills import Changing, rows_of, run, wait_a_little_for, wrong_models
from tests.server.servers import Client

JUDGES = ("anna", "ben", "cleo")
MANAGER = "dora"
CHANGER = "finn"
LABELS = {"apple": "fruit", "bolt": "metal"}
ORDERS = ("gain", "date", "random")
AT_ONCE = 25  # texts of one import, and the most that are decided at once
# a label, since the model wanted to decide for it
GONE = "was retired or merged; it is not learned any more"
PAUSED = ("deciding at", "deciding waits")  # by spot checks
FAULTS = ("lost", "doubled", "torn", "astray", "refused", "wrong")


class Judging:
    """What the people of one state directory have asked for, and what was acknowledged."""

    def __init__(self, folder):
        self.folder = folder
        self.acknowledged = {}  # key: number, text, labels, wrong, complete, person
        self.todo = dict.fromkeys(JUDGES)  # what each has judged and nobody has acknowledged
        self.decided = {}  # number of a decision: how many texts
        self.undone = set()  # decisions that were taken back
        self.deciding = False  # whether a decision is under way
        self.changing = Changing("fruit")
        self.found = collections.Counter()
        with changing(folder) as people:
            self.tokens = {name: people.add(name, Role.JUDGE) for name in JUDGES}
            self.tokens |= {name: people.add(name, Role.MANAGE) for name in (MANAGER, CHANGER)}

    def threads(self, url, chance, stop):
        """Everybody, at work on a server until told to stop."""
        jobs = [(url, chance.randrange(2**60), self.judge, name, stop) for name in JUDGES]
        jobs.append((url, chance.randrange(2**60), self.manage, MANAGER, stop))
        jobs.append((url, chance.randrange(2**60), self.change, CHANGER, stop))
        return [threading.Thread(target=self.work, args=job) for job in jobs]

    def see_kill(self, chance):
        """Mostly in the midst of a decision."""
        if chance.random() < 0.7:
            wait_a_little_for(lambda: self.deciding)
            time.sleep(chance.uniform(0.0, 0.1))
        self.found["while deciding"] += self.deciding

    def work(self, url, seed, what, name, stop):
        """Do something again and again; when the server is gone, wait for what comes next."""
        chance = random.Random(seed)
        headers = {"authorization": f"Bearer {self.tokens[name]}"}
        while not stop.is_set():
            try:
                with (
                    contextlib.suppress(httpx.HTTPError),
                    Client(base_url=url, headers=headers, timeout=20) as client,
                ):
                    while not stop.is_set():
                        what(client, name, chance)
            except (
                AssertionError
            ) as problem:  # not 200; a busy machine may be too slow, which can be tried again
                is_expected = any(words in str(problem) for words in (GONE, *PAUSED))
                if not str(problem).startswith(("429", "503")) and not is_expected:
                    print(f"{name} was refused: {problem}", file=sys.stderr)
                    self.found["refused"] += 1
            time.sleep(0.01)

    def judge(self, client, name, chance):
        """The next text, judged; or once more what was not acknowledged."""
        if self.todo[name] is None:
            item = client.ask("queue/next", person=name, order=chance.choice(ORDERS))["item"]
            if item is None:
                time.sleep(0.02)
                return
            self.todo[name] = judgement(item, chance)
        example = self.todo[name]
        (got,) = client.ask("learn", examples=[example])["learned"]
        said = tuple(example[what] for what in ("text", "labels", "wrong", "complete"))
        self.acknowledged[example["key"]] = (got["number"], *said, name)
        self.todo[name] = None

    def manage(self, client, name, chance):
        """More texts, and those of which the model is sure decided; sometimes that is taken
        back.
        """
        texts = [
            f"{chance.choice(list(LABELS))} number{chance.randrange(7)} {chance.random()}"
            for _ in range(AT_ONCE)
        ]
        client.ask("queue", texts=texts)
        sure = client.ask("queue/sure", most=4 * AT_ONCE)["ids"][:AT_ONCE]
        if not sure:
            return
        self.deciding = True
        try:
            answer = client.ask("queue/decide", ids=sure)
            if answer["decision"] is not None:
                self.decided[answer["decision"]] = answer["decided"]
            if self.decided and chance.random() < 0.3:
                decision = chance.choice(sorted(self.decided))
                client.ask("queue/undo", decision=decision)
                self.undone.add(decision)
        finally:
            self.deciding = False

    def change(self, client, name, chance):
        """The next change of labels."""
        self.changing.step(client, chance)

    def faults(self, model_file):
        """What is not as it was acknowledged."""
        every, gone = rows_of(self.folder)
        rows = [row for row in every if row.change is None]
        by_key = {row.key: row for row in rows}
        found = collections.Counter(self.found, wrong=wrong_models(self.folder, model_file))
        self.found.clear()
        found["lost"] += self.changing.lost(every, gone)
        for key, entry in self.acknowledged.items():
            row = by_key.get(key)
            found["lost"] += row is None or (row.number, *row[2:7]) != entry
        live = [row for row in rows if row.number not in gone]
        found["doubled"] += len(rows) - len(by_key) + len(live) - len({row.text for row in live})
        decisions = decisions_of(self.folder)
        for learned in decisions.values():
            found["torn"] += len(gone.intersection(learned)) not in (0, len(learned))
        for decision, n in self.decided.items():
            learned = decisions.get(decision, [])
            found["lost"] += len(learned) != n or (
                decision in self.undone and not gone.issuperset(learned)
            )
        found["astray"] += judged_texts(self.folder) != {row.text for row in live}
        return found


def judgement(item, chance):
    """What a person says of a text: mostly its label; sometimes only that another one is wrong."""
    right = LABELS[item["text"].split()[0]]
    other = next(label for label in LABELS.values() if label != right)
    in_part = chance.random() < 0.3
    said = (
        {"labels": [], "wrong": [other], "complete": False}
        if in_part
        else {"labels": [right], "wrong": []}
    )
    return {"text": item["text"], "key": item["id"], "complete": True} | said


def decisions_of(folder):
    """The examples of each decision, by the first of them."""
    journal = Journal(folder)
    by_model = [row.number for row in rows_of(folder)[0] if row.judge == "decided"]
    decisions = {}
    while by_model:
        first = min(by_model)
        decisions[first] = History(journal).decision(first)
        by_model = [number for number in by_model if number not in decisions[first]]
    journal.close()
    return decisions


def judged_texts(folder):
    """The texts that count as judged when the next server begins."""
    journal, queue = Journal(folder), Queue(folder)
    follow(queue, journal)
    found = {text for (text,) in queue.db.execute("SELECT text FROM items WHERE state = 'judged'")}
    queue.close()
    journal.close()
    return found


def make_model(folder):
    """A model that knows how sure it is: a thing's first word says what it is, nearly always."""
    path = folder / "sure.shortlist"
    sl.Categorizer(text=sl.TextVectorizer()).fit(*first_texts()).save(path)
    return path


def first_texts():
    """What the model learns before it is served: texts and labels."""
    texts = [f"{list(LABELS)[n % 2]} number{n % 7}" for n in range(1400)]
    return texts, [list(LABELS.values())[(n + (n % 23 == 0)) % 2] for n in range(1400)]


def run_queue(asking, summary, about):
    """The command, and what was asked for beside the examples."""
    run(about, FAULTS, 200, make_model, lambda found: f"{summary(found)}, ", asking=asking)


if __name__ == "__main__":
    run_queue(
        Judging,
        lambda found: f"{found['while deciding']} of them while a decision was under way",
        __doc__,
    )
