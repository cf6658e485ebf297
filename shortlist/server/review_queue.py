"""Texts that wait to be judged, in a SQLite file beside the journal.

The journal stays the truth. A text's id is the key under which its judgement is learned, and the
queue follows the journal: a text is judged when its key is there, and waits again when that example
was undone. Every change is one transaction, so that only one of two people gets a text. A
reservation has an end: a text that was taken and never judged comes back. Each process and each
thread opens its own.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from shortlist.confidence.spot_checks import draw_of
from shortlist.data.texts import Document
from shortlist.errors import InputError
from shortlist.inputs.labelled import SPREADSHEET_ERRORS
from shortlist.server.entries import JUDGE_NOTES, Judge, read_document, written_document
from shortlist.server.journal import BEYOND_ANY_NUMBER
from shortlist.server.journal_errors import (
    SQLITE_ERRORS,
    Conflict,
    DiskFull,
    JournalError,
    is_disk_full,
)
from shortlist.server.journal_file import LOCK_SECONDS

QUEUE_FILE = "queue.sqlite"
QUEUE_VERSION = 2
ID_PREFIX = "queue-"  # of ids, which are keys in the journal
ATTEMPT = re.compile("[0-9]{0,9}")  # the number of a judgement, behind the id in its key
STATES = ("waiting", "judged", "skipped", "flagged")
TEXTS_IN_ONE_COMMIT = 1000  # of a long import
CHECKS_TRIED = 16  # if others take them
ORDERS = {
    "date": "number",
    "random": "lot",
    "gain": "gain DESC, lot",
    "stale": "measured, lot",
    "sure": "gain, lot",
}
MODEL = JUDGE_NOTES[Judge.MODEL]  # reserves texts as a person does
MODEL_SECONDS = 120.0  # for the model to decide
LONGEST_RESERVATION = 86_400  # seconds

QUEUE_TABLES = """
CREATE TABLE items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,              -- made from the text: the same text comes once
    attempt INTEGER NOT NULL DEFAULT 1,   -- one more each time that its judgement was undone
    time REAL NOT NULL,
    text TEXT NOT NULL,
    fields INTEGER NOT NULL DEFAULT 0,    -- whether the text is a JSON object of fields
    rows TEXT NOT NULL DEFAULT '[]',      -- kept columns of each row that held it, JSON objects
    lot INTEGER NOT NULL,                 -- its place in the random order
    state TEXT NOT NULL DEFAULT 'waiting',
    later INTEGER NOT NULL DEFAULT 0,     -- how often it was put off: the others come first
    note TEXT NOT NULL DEFAULT '',
    person TEXT,                          -- who has it, or had it last
    until REAL NOT NULL DEFAULT 0,        -- when its reservation ends
    gain REAL,
    measured REAL NOT NULL DEFAULT 0,     -- when its gain was measured
    example INTEGER,                      -- its number in the journal
    draw REAL NOT NULL DEFAULT 0,         -- below a share: drawn for a spot check
    checked INTEGER NOT NULL DEFAULT 0,   -- whether it was handed out as one
    looked_at INTEGER NOT NULL DEFAULT 0  -- whether a standing decision has looked at it
);
CREATE INDEX by_date ON items (state, later, number);
CREATE INDEX by_lot ON items (state, later, lot);
CREATE INDEX by_gain ON items (state, later, gain DESC, lot);
CREATE INDEX by_age ON items (state, later, measured, lot);
CREATE INDEX by_example ON items (example);
CREATE INDEX by_person ON items (person, until);
CREATE INDEX by_until ON items (until);
CREATE INDEX by_draw ON items (state, draw);
CREATE INDEX by_look ON items (state, looked_at, number);
CREATE TABLE followed (examples INTEGER, undos INTEGER, seal TEXT);
INSERT INTO followed VALUES (0, 0, NULL);
"""
# from version 1
QUEUE_MIGRATION = (
    "ALTER TABLE items ADD COLUMN rows TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE items ADD COLUMN draw REAL NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN checked INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN looked_at INTEGER NOT NULL DEFAULT 0",
    "UPDATE items SET draw = draw_of(id)",
    "CREATE INDEX by_draw ON items (state, draw)",
    "CREATE INDEX by_look ON items (state, looked_at, number)",
)
ADD_ROW = """UPDATE items SET rows = json_insert(rows, '$[#]', json(:row)) WHERE id = :id
AND NOT EXISTS (SELECT 1 FROM json_each(rows) AS each WHERE each.value = json(:row))"""
# one that ends later than any could was made while the clock was wrong
RESERVED = f"until BETWEEN :now AND :now + {LONGEST_RESERVATION}"
FREE = f"state = 'waiting' AND (NOT ({RESERVED}) OR person = :person)"
ITEM_COLUMNS = (
    "number, id, attempt, time, text, fields, rows, state, later, note, person, until, example, "
    "checked"
)


class NotThere(InputError):
    """There is no such text in the queue, or no such label."""


@dataclass(frozen=True)
class Item:
    """A text of the queue."""

    number: int
    id: str
    attempt: int
    time: float
    text: Document
    rows: list[dict[str, Any]]
    state: str
    later: int
    note: str
    person: str | None
    until: float
    example: int | None
    checked: int  # whether it is a spot check

    @classmethod
    def of(cls, row: Sequence[Any]) -> Item:
        """Return the text of a row."""
        number, id, attempt, added, text, fields, rows, *rest = row
        return cls(number, id, attempt, added, read_document(text, fields), json.loads(rows), *rest)

    @property
    def key(self) -> str:
        """The key of its judgement; another one once that was undone."""
        return self.id if self.attempt == 1 else f"{self.id}-{self.attempt}"

    def to_dict(self) -> dict[str, Any]:
        """Return it for an answer."""
        return {
            "id": self.key,
            "text": self.text,
            "rows": self.rows,
            "state": self.state,
            "note": self.note,
            "time": self.time,
            "person": self.person,
            "example": self.example,
            "until": self.until or None,
            "check": bool(self.checked),
        }


class Queue:
    """The queue of a state directory."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / QUEUE_FILE
        with self.explaining():
            self.db = sqlite3.connect(
                self.path, LOCK_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self.db.close()
                raise

    def close(self) -> None:
        self.db.close()

    def add(self, texts: Iterable[Document]) -> dict[str, int]:
        """Add texts, except those without a word; return how many are ``added``, and how many were
        ``known``.

        Known texts stay as they are, so a retry is safe.
        """
        return self.add_rows((text, {}) for text in texts)

    def add_rows(self, texts: Iterable[tuple[Document, Mapping[str, Any]]]) -> dict[str, int]:
        """Add texts, each with the kept columns of its row, as ``add`` does. A known text keeps the
        rows that it had, and those that are new.
        """
        insert = (
            "INSERT OR IGNORE INTO items (id, lot, draw, time, text, fields) "
            "VALUES (?, ?, ?, ?, ?, ?)"
        )
        n_texts = 0
        n_added = 0
        texts = iter(texts)
        while batch := list(islice(texts, TEXTS_IN_ONE_COMMIT)):
            now = time.time()
            items = []
            rows = []
            for text, row in batch:
                if says_something(text):
                    id, lot, draw = id_lot_and_draw(text)
                    items.append((id, lot, draw, now, *written_document(text)))
                    if row:
                        rows.append({"id": id, "row": json.dumps(row, ensure_ascii=False)})
            with self.transaction():
                n_added += self.db.executemany(insert, items).rowcount
                self.db.executemany(ADD_ROW, rows)
                # some may be judged
                self.db.execute("UPDATE followed SET examples = 0, undos = 0, seal = NULL")
            n_texts += len(items)
        return {"added": n_added, "known": n_texts - n_added}

    # Reservations.

    def reserved(self, person: str, seconds: float) -> Item | None:
        """Return the text that this person has and has not judged yet; its reservation begins
        anew.
        """
        query = (
            f"SELECT number FROM items WHERE person = :person AND {RESERVED} "
            "AND state = 'waiting' LIMIT 1"
        )
        with self.explaining():
            row = self.db.execute(query, {"person": person, "now": time.time()}).fetchone()
        return None if row is None else self.reserve(row, person, seconds)

    def reserve(self, numbers: Sequence[int], person: str, seconds: float) -> Item | None:
        """Reserve the first of these texts that is free; None if none is."""
        return next(iter(self.reserve_all(numbers, person, seconds, most=1)), None)

    def reserve_again(self, key: str, person: str, seconds: float) -> Item | None:
        """Reserve the text of a key, which may have been undone; None if it is not free."""
        id_and_attempt = judgement_of(key)
        if id_and_attempt is None:
            return None
        items = self._items("id = :id", id=id_and_attempt[0])
        return self.reserve([item.number for item in items], person, seconds)

    def reserve_check(self, share: float, person: str, seconds: float) -> Item | None:
        """Reserve a text that was drawn for a spot check, if one is free."""
        where = f"{FREE} AND draw < :share ORDER BY later, lot LIMIT {CHECKS_TRIED}"
        items = self._items(where, now=time.time(), person=person, share=share)
        numbers = [item.number for item in items]
        return next(iter(self.reserve_all(numbers, person, seconds, most=1, checked=True)), None)

    def reserve_all(
        self,
        numbers: Sequence[int],
        person: str,
        seconds: float,
        most: int,
        checked: bool = False,
    ) -> list[Item]:
        """Reserve the first of these texts that are free, perhaps as spot checks."""
        update = (
            "UPDATE items SET person = :person, until = :until, "
            f"checked = max(checked, {int(checked)}) WHERE number = :number AND "
            f"{FREE} RETURNING {ITEM_COLUMNS}"
        )
        items: list[Item] = []
        with self.transaction(durable=False):
            now = time.time()
            values = {"person": person, "until": now + seconds, "now": now}
            for number in numbers:
                row = self.db.execute(update, values | {"number": number}).fetchone()
                if row is not None:
                    items.append(Item.of(row))
                    if len(items) == most:
                        break
        return items

    def reserve_for_model(self, keys: Sequence[str]) -> list[Item]:
        """Reserve texts until the model has decided, except those that a person has or has
        judged.
        """
        items = [self.of_key(key) for key in keys]
        numbers = [item.number for item in items if item is not None]
        return self.reserve_all(numbers, MODEL, MODEL_SECONDS, most=len(numbers))

    def reserve_arrivals(self, share: float, most: int) -> list[Item]:
        """Reserve the first texts that no standing decision has looked at, without the ``share``
        that is drawn for spot checks.
        """
        where = f"{FREE} AND looked_at = 0 AND draw >= :share ORDER BY number LIMIT :most"
        items = self._items(where, now=time.time(), person=MODEL, share=share, most=most)
        numbers = [item.number for item in items]
        reserved = self.reserve_all(numbers, MODEL, MODEL_SECONDS, most)
        update = "UPDATE items SET looked_at = 1 WHERE number = ?"
        with self.transaction():
            self.db.executemany(update, [(item.number,) for item in reserved])
        return reserved

    def release_from_model(self, items: Sequence[Item]) -> None:
        """End the reservations of texts that are not decided."""
        update = "UPDATE items SET until = 0 WHERE number = ? AND person = ?"
        with self.transaction():
            self.db.executemany(update, [(item.number, MODEL) for item in items])

    def move(
        self, keys: Sequence[str], to: str, person: str, note: str = "", is_manager: bool = False
    ) -> int:
        """Put texts into another state, all or none; refuse texts that another person has, except
        that a manager may free them.
        """
        update = (
            "UPDATE items SET state = ?, later = ?, note = ?, person = ?, until = 0 "
            "WHERE number = ?"
        )
        with self.transaction():
            now = time.time()
            for key in keys:
                item = self.of_key(key)
                if item is None:
                    raise NotThere(
                        f"there is no text {key!r} in the queue, or its judgement was taken back "
                        "since"
                    )
                if item.state == "judged":
                    raise Conflict(
                        f"the text {key} is judged; take its example {item.example} back instead"
                    )
                is_reserved = now <= item.until <= now + LONGEST_RESERVATION
                may_free = is_manager and to == "waiting"
                if is_reserved and item.person != person and not may_free:
                    raise Conflict(
                        f"another person has the text {key} just now; a manager may put it back "
                        "to waiting"
                    )
                state = to
                later = item.later
                if to == "later":
                    state = "waiting"
                    later += 1
                elif to == "waiting":
                    later = 0
                self.db.execute(update, (state, later, note, person, item.number))
        return len(keys)

    # Looking.

    def of_key(self, key: str) -> Item | None:
        """Return the text whose judgement has this key."""
        id = ID_PREFIX + key.removeprefix(ID_PREFIX).partition("-")[0]
        for item in self._items("id = :id", id=id):
            if item.key == key:
                return item
        return None

    def free(
        self, order: str, person: str, limit: int, but: Sequence[int] = (), share: float = 0.0
    ) -> list[Item]:
        """Return the first texts in an order that this person may have, without the ``share`` that
        is drawn for spot checks.
        """
        where = f"{FREE} AND draw >= {float(share)}"
        if order == "gain":
            where += " AND gain IS NOT NULL"
        if but:
            where += f" AND number NOT IN ({', '.join(map(str, map(int, but)))})"
        where += f" ORDER BY later, {ORDERS[order]} LIMIT :n"
        return self._items(where, now=time.time(), person=person, n=limit)

    def items(self, state: str, after: str | None = None, limit: int = 20) -> list[Item]:
        """Return texts in a state, newest first, behind one of them."""
        item = None if after is None else self.of_key(after)
        behind = BEYOND_ANY_NUMBER if item is None else item.number
        where = "state = :state AND number < :behind ORDER BY number DESC LIMIT :n"
        return self._items(where, state=state, behind=behind, n=limit)

    def _items(self, where: str, **values: Any) -> list[Item]:
        query = f"SELECT {ITEM_COLUMNS} FROM items WHERE {where}"
        with self.explaining():
            rows = self.db.execute(query, values).fetchall()
        return [Item.of(row) for row in rows]

    def are_checks(self, keys: Sequence[str]) -> list[bool]:
        """Return whether the text of each key was handed out as a spot check."""
        items = [self.of_key(key) for key in keys]
        return [item is not None and item.checked > 0 for item in items]

    def measure(self, gains: Sequence[tuple[int, float]]) -> None:
        """Note what judgements of these texts would gain."""
        now = time.time()
        rows = [(gain, now, number) for number, gain in gains]
        with self.transaction(durable=False):
            self.db.executemany("UPDATE items SET gain = ?, measured = ? WHERE number = ?", rows)

    def counts(self) -> dict[str, int]:
        """Return how many texts are in each state, how many are reserved, and how many there
        are.
        """
        counts = dict.fromkeys(STATES, 0)
        with self.explaining():
            counts |= self.db.execute("SELECT state, count(*) FROM items GROUP BY state").fetchall()
            # uses by_until: few are reserved
            query = f"SELECT count(*) FROM items WHERE +state = 'waiting' AND {RESERVED}"
            (n_reserved,) = self.db.execute(query, {"now": time.time()}).fetchone()
        return counts | {"held": n_reserved, "total": sum(counts.values())}

    # The file.

    @contextlib.contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """Make one transaction while others wait.

        A ``durable`` one is on disk at the end. Reservations, gains and what the journal says need
        not be: a power failure at worst loses what can be worked out again.
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
        except SQLITE_ERRORS as problem:
            if is_disk_full(problem):
                raise DiskFull(
                    f"the disk is full or fails ({problem}): make room and try again"
                ) from None
            raise JournalError(
                f"the queue {self.path} cannot be used ({problem}); move it away and import the "
                "texts again: what was judged stands in the journal"
            ) from None

    def _prepare(self) -> None:
        self.db.create_function("draw_of", 1, draw_of, deterministic=True)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("BEGIN IMMEDIATE")
        (version,) = self.db.execute("PRAGMA user_version").fetchone()
        if version not in (0, 1, QUEUE_VERSION):
            raise JournalError(
                f"the queue {self.path} has version {version}; this shortlist reads {QUEUE_VERSION}"
            )
        statements: Sequence[str] = ()
        if version == 0:
            statements = QUEUE_TABLES.split(";\n")[:-1]
        elif version == 1:
            statements = QUEUE_MIGRATION
        for statement in statements:
            self.db.execute(statement)
        self.db.execute(f"PRAGMA user_version={QUEUE_VERSION}")
        self.db.execute("COMMIT")


def next_key(key: str) -> str | None:
    """Return the key for the next judgement of a text of the queue; None for other keys."""
    id_and_attempt = judgement_of(key)
    if id_and_attempt is None:
        return None
    id, attempt = id_and_attempt
    return f"{id}-{attempt + 1}"


def judgement_of(key: str) -> tuple[str, int] | None:
    """Return the id of a text of the queue, and the number of its judgement; None for other
    keys.
    """
    id, _, attempt = key.removeprefix(ID_PREFIX).partition("-")
    if not key.startswith(ID_PREFIX) or not ATTEMPT.fullmatch(attempt):
        return None
    return ID_PREFIX + id, int(attempt or 1)


def id_lot_and_draw(text: Document) -> tuple[str, int, float]:
    """Return the id of a text, its place in the random order, and what it drew for spot checks; all
    depend on the text alone.
    """
    written, fields = written_document(text)
    digest = blake2b(written.encode(), digest_size=16, person=b"fields" * fields).digest()
    id = ID_PREFIX + digest[:10].hex()
    return id, int.from_bytes(digest[10:], "big"), draw_of(id)


def says_something(document: Document) -> bool:
    """Return whether a document holds anything to judge: a word or a value, not only a
    spreadsheet's errors.
    """
    values = document.values() if isinstance(document, Mapping) else [document]
    return any(str(value).strip() not in {"", *SPREADSHEET_ERRORS} for value in values)
