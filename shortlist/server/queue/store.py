"""The queue's file: SQLite beside the journal, written as durably. Each process and each thread opens its own.

Every change is one transaction that nobody else writes during, so that of two who ask at once only one gets a text. A
lease has an end: what somebody took and never judged comes back by itself.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.errors import InputError
from shortlist.server.documents import kept, read_back, says_something
from shortlist.server.journal import PATIENCE, PROBLEMS, DiskFull, JournalError
from shortlist.texts.fields import Document

FILE = "queue.sqlite"
VERSION = 1
PREFIX = "queue-"  # of ids, which are keys in the journal
ATTEMPT = re.compile("[0-9]{0,9}")  # which judgement of a text a key is, behind its id
STATES = ("waiting", "judged", "skipped", "flagged")
AT_ONCE = 1000  # texts in one commit of a long import
ORDERS = {"date": "number", "random": "lot", "gain": "gain DESC, lot", "stale": "measured, lot", "sure": "gain, lot"}

TABLES = """
CREATE TABLE items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,              -- made from the text: the same text comes once
    attempt INTEGER NOT NULL DEFAULT 1,   -- one more each time that its judgement was taken back
    time REAL NOT NULL,
    text TEXT NOT NULL,
    fields INTEGER NOT NULL DEFAULT 0,    -- whether the text is an object of fields (documents.py)
    lot INTEGER NOT NULL,                 -- its place in the random order
    state TEXT NOT NULL DEFAULT 'waiting',
    later INTEGER NOT NULL DEFAULT 0,     -- how often it was put off: the others come first
    note TEXT NOT NULL DEFAULT '',
    person TEXT,                          -- who has it, or had it last
    until REAL NOT NULL DEFAULT 0,        -- when it is free again
    gain REAL,
    measured INTEGER NOT NULL DEFAULT 0,  -- the round in which its gain was measured
    example INTEGER                       -- its number in the journal
);
CREATE INDEX by_date ON items (state, later, number);
CREATE INDEX by_lot ON items (state, later, lot);
CREATE INDEX by_gain ON items (state, later, gain DESC, lot);
CREATE INDEX by_age ON items (state, later, measured, lot);
CREATE INDEX by_example ON items (example);
CREATE INDEX by_person ON items (person, until);
CREATE TABLE followed (examples INTEGER, undos INTEGER, seal TEXT);
INSERT INTO followed VALUES (0, 0, NULL);
CREATE TABLE rounds (number INTEGER);
INSERT INTO rounds VALUES (0);
CREATE TABLE decisions (              -- of the model alone, written down before they are learned
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    keys TEXT NOT NULL
);
"""
# How many texts are in each state, kept as they move, since counting takes as long as the queue is.
TALLY = f"""
CREATE TABLE tally (state TEXT PRIMARY KEY, n INTEGER NOT NULL);

INSERT INTO tally SELECT value, (SELECT count(*) FROM items WHERE state = value) FROM json_each('{json.dumps(STATES)}');

CREATE TRIGGER items_added AFTER INSERT ON items BEGIN
    UPDATE tally SET n = n + 1 WHERE state = new.state;
END;

CREATE TRIGGER items_gone AFTER DELETE ON items BEGIN
    UPDATE tally SET n = n - 1 WHERE state = old.state;
END;

CREATE TRIGGER items_moved AFTER UPDATE OF state ON items WHEN old.state <> new.state BEGIN
    UPDATE tally SET n = n - 1 WHERE state = old.state;
    UPDATE tally SET n = n + 1 WHERE state = new.state;
END;

CREATE INDEX by_until ON items (until);
"""
FREE = "state = 'waiting' AND (until < :now OR person = :person)"
COLUMNS = "number, id, attempt, time, text, fields, state, later, note, person, until, example"


@dataclass(frozen=True)
class Item:
    """A text of the queue."""

    number: int
    id: str
    attempt: int
    time: float
    text: Document
    state: str
    later: int
    note: str
    person: str | None
    until: float
    example: int | None

    @classmethod
    def of(cls, row: Sequence[Any]) -> Item:
        """As the file has it."""
        number, id, attempt, at, text, fields, *others = row
        return cls(number, id, attempt, at, read_back(text, fields), *others)

    @property
    def key(self) -> str:
        """Under which its judgement is learned; another one once that was taken back."""
        return self.id if self.attempt == 1 else f"{self.id}-{self.attempt}"


class Added(NamedTuple):
    """How many texts are new, and how many were there already."""

    added: int
    known: int


class Queue:
    """The queue of a state directory."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        with self.explaining():
            self.db = sqlite3.connect(self.path, PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self.db.close()
                raise

    def close(self) -> None:
        self.db.close()

    def add(self, texts: Iterable[Document]) -> Added:
        """Take up texts, those without a word left out. What is there already stays as it is, so a retry is safe."""
        given = added = 0
        texts = iter(texts)
        while some := list(islice(texts, AT_ONCE)):
            now = time.time()
            rows = [(*names_of(text), now, *kept(text)) for text in some if says_something(text)]
            with self.writing():
                insert = "INSERT OR IGNORE INTO items (id, lot, time, text, fields) VALUES (?, ?, ?, ?, ?)"
                added += self.db.executemany(insert, rows).rowcount
                self.db.execute("UPDATE followed SET examples = 0, undos = 0, seal = NULL")  # some may be judged
            given += len(rows)
        return Added(added, given - added)

    # Who has what.

    def held(self, person: str, seconds: float) -> Item | None:
        """What this person has and has not judged yet; the lease begins anew."""
        query = "SELECT number FROM items WHERE person = ? AND until >= ? AND state = 'waiting' LIMIT 1"
        with self.explaining():
            row = self.db.execute(query, (person, time.time())).fetchone()
        return None if row is None else self.lease(row, person, seconds)

    def lease(self, numbers: Sequence[int], person: str, seconds: float) -> Item | None:
        """The first of these texts that is free, for this person alone; None if others have taken all of them."""
        return next(iter(self.lease_all(numbers, person, seconds, most=1)), None)

    def lease_all(self, numbers: Sequence[int], person: str, seconds: float, most: int) -> list[Item]:
        """The first of these texts that are free."""
        taken: list[Item] = []
        with self.writing(durable=False):
            now = time.time()
            update = f"UPDATE items SET person = :person, until = :until WHERE number = :number AND {FREE} RETURNING "
            given = {"person": person, "until": now + seconds, "now": now}
            for number in numbers:
                row = self.db.execute(update + COLUMNS, given | {"number": number}).fetchone()
                taken += [] if row is None else [Item.of(row)]
                if len(taken) == most:
                    break
        return taken

    def move(self, keys: Sequence[str], to: str, person: str, note: str = "") -> int:
        """Put texts into another state, all or none: nobody moves what another person has just now."""
        with self.writing():
            now = time.time()
            for key in keys:
                item = self.of_key(key)
                if item is None:
                    raise NotThere(f"there is no text {key!r} in the queue, or its judgement was taken back since")
                if item.state == "judged":
                    raise Taken(f"the text {key} is judged; take its example {item.example} back instead")
                if item.until >= now and item.person != person:
                    raise Taken(f"another person has the text {key} just now")
                later = item.later + 1 if to == "later" else 0 if to == "waiting" else item.later
                state = "waiting" if to == "later" else to
                self.db.execute(
                    "UPDATE items SET state = ?, later = ?, note = ?, person = ?, until = 0 WHERE number = ?",
                    (state, later, note, person, item.number),
                )
        return len(keys)

    def of_key(self, key: str) -> Item | None:
        """The text whose judgement would be learned, or was, under this key."""
        id = PREFIX + key.removeprefix(PREFIX).partition("-")[0]
        with self.explaining():
            row = self.db.execute(f"SELECT {COLUMNS} FROM items WHERE id = ?", (id,)).fetchone()
        item = None if row is None else Item.of(row)
        return item if item is not None and item.key == key else None

    # Looking.

    def free(self, order: str, person: str, limit: int, but: Sequence[int] = ()) -> list[Item]:
        """The first texts that this person may have."""
        others = f"AND number NOT IN ({', '.join(map(str, map(int, but)))})" if but else ""
        unknown = "AND gain IS NOT NULL" if order == "gain" else ""
        query = f"SELECT {COLUMNS} FROM items WHERE {FREE} {unknown} {others} ORDER BY later, {ORDERS[order]} LIMIT :n"
        with self.explaining():
            rows = self.db.execute(query, {"now": time.time(), "person": person, "n": limit}).fetchall()
        return [Item.of(row) for row in rows]

    def measure(self, gains: Sequence[tuple[int, float]]) -> None:
        """Note what judgements of these texts would gain."""
        with self.writing(durable=False):
            (now,) = self.db.execute("UPDATE rounds SET number = number + 1 RETURNING number").fetchone()
            update = "UPDATE items SET gain = ?, measured = ? WHERE number = ?"
            self.db.executemany(update, [(gain, now, number) for number, gain in gains])

    def items(self, state: str, after: str | None = None, limit: int = 20) -> list[Item]:
        """Texts in a state, newest first, from behind one of them on."""
        behind = None if after is None else self.of_key(after)
        query = f"SELECT {COLUMNS} FROM items WHERE state = ? AND number < ? ORDER BY number DESC LIMIT ?"
        with self.explaining():
            rows = self.db.execute(query, (state, behind.number if behind else 2**62, limit)).fetchall()
        return [Item.of(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """How many texts are in each state, how many are with somebody just now, and how many there are."""
        with self.explaining():
            found = dict(self.db.execute("SELECT state, n FROM tally").fetchall())
            query = "SELECT count(*) FROM items WHERE +state = 'waiting' AND until >= ?"  # few are held: by_until
            (held,) = self.db.execute(query, (time.time(),)).fetchone()
        return {state: found[state] for state in STATES} | {"held": held, "total": sum(found.values())}

    # The file.

    @contextlib.contextmanager
    def writing(self, durable: bool = True) -> Iterator[None]:
        """One transaction; nobody else writes meanwhile.

        It is on disk when it is done, if it is to be ``durable``. What others can find out again need not be: who has
        which text, what a judgement would gain, what the journal says. None of it is lost but in a power failure.
        """
        with self.explaining():
            self.db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.db.execute("COMMIT")
            finally:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        try:
            yield
        except PROBLEMS as problem:
            if "disk is full" in str(problem) or "disk I/O error" in str(problem):
                raise DiskFull(f"the disk did not take it ({problem}): make room and try again") from None
            raise JournalError(
                f"the queue {self.path} cannot be used ({problem}); move it away and import the texts again: what was "
                "judged stands in the journal"
            ) from None

    def _prepare(self) -> None:
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("BEGIN IMMEDIATE")
        (found,) = self.db.execute("PRAGMA user_version").fetchone()
        if found not in (0, VERSION):
            raise JournalError(f"the queue {self.path} has version {found}; this shortlist reads {VERSION}")
        if found == 0:
            for statement in TABLES.split(";\n")[:-1]:
                self.db.execute(statement)
            self.db.execute(f"PRAGMA user_version={VERSION}")
        if not self.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'tally'").fetchone():
            for statement in TALLY.split(";\n\n"):
                self.db.execute(statement)
        self.db.execute("COMMIT")


class NotThere(InputError):
    """There is no such text in the queue."""


class Taken(InputError):
    """Somebody else has the text, or has judged it."""


def key_again(key: str) -> str | None:
    """The key for the next judgement of a text of the queue whose last one is taken back; None for other keys."""
    judged = judgement_of(key)
    return None if judged is None else f"{judged[0]}-{judged[1] + 1}"


def judgement_of(key: str) -> tuple[str, int] | None:
    """The id of a text of the queue, and which of its judgements a key is; None where somebody else made the key."""
    id, _, attempt = key.removeprefix(PREFIX).partition("-")
    if not key.startswith(PREFIX) or not ATTEMPT.fullmatch(attempt):
        return None
    return PREFIX + id, int(attempt or 1)


def names_of(text: Document) -> tuple[str, int]:
    """The id of a text, and its place in the random order; both from the text alone."""
    written, fields = kept(text)
    digest = blake2b(written.encode(), digest_size=16, person=b"fields" * fields).digest()
    return PREFIX + digest[:10].hex(), int.from_bytes(digest[10:], "big")


def as_dict(item: Item) -> dict[str, Any]:
    """A text as it is answered."""
    shown = {name: getattr(item, name) for name in ("text", "state", "note", "time", "person", "example")}
    return {"id": item.key} | shown | {"until": item.until or None}
