"""The journal: every example learned and every undo, in order, in one SQLite file.

A commit returns when the disk has it (write-ahead log, synchronous=FULL). Examples are numbered from 1; undos too, in
a row of their own. What a model should be is a function of the journal alone: the base model, and then all examples
that were not taken back, one at a time, in order.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.errors import InputError, ShortlistError

FILE = "journal.sqlite"
VERSION = 1
PATIENCE = 30.0  # seconds to wait for another process's commit
WINDOW = 200  # examples that the rolling measures look back on

TABLES = """
CREATE TABLE examples (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    key TEXT UNIQUE,
    text TEXT NOT NULL,
    labels TEXT NOT NULL,  -- a JSON list
    place INTEGER          -- where the best of its labels stood before it was learned; NULL if not among the first
);
CREATE TABLE undos (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    example INTEGER NOT NULL UNIQUE REFERENCES examples
);
"""
KEPT = "NOT EXISTS (SELECT 1 FROM undos WHERE example = examples.number)"


class JournalError(ShortlistError):
    """The journal cannot be opened, read or written."""


class DiskFull(JournalError):
    """The disk has no room; nothing was changed."""


class KeyUsed(InputError):
    """An idempotency key came a second time, with something else to learn."""


class Version(NamedTuple):
    """A moment of the journal: all examples and all undos up to these numbers."""

    examples: int
    undos: int


@dataclass(frozen=True)
class Example:
    """Something to learn."""

    text: str
    labels: Sequence[Any]
    key: str | None = None
    place: int | None = None


@dataclass(frozen=True)
class Entry:
    """An example as the journal holds it."""

    number: int
    time: float
    text: str
    labels: list[Any]
    place: int | None
    undone: bool


class Receipt(NamedTuple):
    """Where an example stands in the journal, and whether it was put there just now."""

    number: int
    new: bool


class Journal:
    """The journal in a folder. Each thread and each process opens its own."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        try:
            self._db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as problem:
            raise _explained(self.path, problem) from None
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA foreign_keys=ON")
            self._make_tables()
        except sqlite3.Error as problem:
            self.close()
            raise _explained(self.path, problem) from None

    def close(self) -> None:
        self._db.close()

    def check(self) -> None:
        """Read the whole file once; refuse it if any of it is damaged."""
        try:
            found = [row[0] for row in self._db.execute("PRAGMA quick_check(1)")]
        except sqlite3.Error as problem:
            raise _explained(self.path, problem) from None
        if found != ["ok"]:
            raise JournalError(f"the journal {self.path} is damaged ({found[0]}); bring back a copy of it")

    def append(self, requests: Sequence[Sequence[Example]]) -> list[list[Receipt] | KeyUsed]:
        """Write the examples of some requests in one commit. A request whose key is taken fails alone and whole."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            answers = [self._append(request) for request in requests]
            self._db.execute("COMMIT")
        except sqlite3.Error as problem:
            self._roll_back()
            raise _explained(self.path, problem) from None
        return answers

    def undo(self, number: int) -> bool:
        """Take an example back. Gives whether that changed anything; it may have been taken back before."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            known = self._db.execute("SELECT 1 FROM examples WHERE number = ?", (number,)).fetchone()
            row = (time.time(), number)
            insert = "INSERT INTO undos (time, example) VALUES (?, ?) ON CONFLICT DO NOTHING"
            changed = self._db.execute(insert, row).rowcount == 1 if known else False
            self._db.execute("COMMIT")
        except sqlite3.Error as problem:
            self._roll_back()
            raise _explained(self.path, problem) from None
        if not known:
            raise InputError(f"there is no example {number}")
        return changed

    def version(self) -> Version:
        """The newest moment."""
        select = "SELECT coalesce(max(number), 0) FROM"
        return Version(*self._row(f"SELECT ({select} examples), ({select} undos)"))

    def undone_since(self, version: Version) -> int | None:
        """The first of the examples that a model of that version has learned and that were taken back since."""
        query = "SELECT min(example) FROM undos WHERE number > ? AND example <= ?"
        found: int | None = self._row(query, (version.undos, version.examples))[0]
        return found

    def after(self, number: int, last: int, limit: int = 256) -> list[tuple[int, str, list[Any]]]:
        """Number, text and labels of the next examples to learn, up to the last: none that was taken back."""
        query = (
            f"SELECT number, text, labels FROM examples WHERE number > ? AND number <= ? AND {KEPT} "
            "ORDER BY number LIMIT ?"
        )
        return [(n, text, json.loads(labels)) for n, text, labels in self._rows(query, (number, last, limit))]

    def entries(self, before: int | None = None, limit: int = 20) -> list[Entry]:
        """The newest examples, newest first; those before a number if one is given."""
        query = (
            f"SELECT number, time, text, labels, place, NOT {KEPT} FROM examples WHERE number < ? "
            "ORDER BY number DESC LIMIT ?"
        )
        rows = self._rows(query, (2**62 if before is None else before, limit))
        return [Entry(n, at, text, json.loads(own), place, bool(undone)) for n, at, text, own, place, undone in rows]

    def lines(self, after: int, limit: int = 500) -> tuple[int, bytes]:
        """Some examples as JSON lines, a training file like any other, and the number of the last of them."""
        rows = self.after(after, 2**62, limit)
        lines = [json.dumps({"text": text, "labels": labels}, ensure_ascii=False) + "\n" for _, text, labels in rows]
        return rows[-1][0] if rows else 0, "".join(lines).encode()

    def counts(self) -> tuple[int, int]:
        """How many examples there are, and how many of them were taken back."""
        examples, undone = self._row("SELECT (SELECT count(*) FROM examples), (SELECT count(*) FROM undos)")
        return examples, undone

    def places(self) -> list[int | None]:
        """Where the best right label of each of the last examples stood before it was learned, newest first."""
        query = f"SELECT place FROM examples WHERE {KEPT} ORDER BY number DESC LIMIT ?"
        return [place for (place,) in self._rows(query, (WINDOW,))]

    def _append(self, request: Sequence[Example]) -> list[Receipt] | KeyUsed:
        self._db.execute("SAVEPOINT request")
        try:
            answer: list[Receipt] | KeyUsed = [self._append_one(example) for example in request]
        except KeyUsed as problem:
            self._db.execute("ROLLBACK TO request")
            answer = problem
        self._db.execute("RELEASE request")
        return answer

    def _append_one(self, example: Example) -> Receipt:
        labels = json.dumps(list(example.labels), ensure_ascii=False)
        if example.key is not None:
            query = "SELECT number, text, labels FROM examples WHERE key = ?"
            known = self._db.execute(query, (example.key,)).fetchone()
            if known is not None and known[1:] != (example.text, labels):
                raise KeyUsed(f"the key {example.key!r} was used for another example, number {known[0]}")
            if known is not None:
                return Receipt(known[0], new=False)
        insert = "INSERT INTO examples (time, key, text, labels, place) VALUES (?, ?, ?, ?, ?)"
        row = (time.time(), example.key, example.text, labels, example.place)
        return Receipt(self._db.execute(insert, row).lastrowid or 0, new=True)

    def _make_tables(self) -> None:
        found = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found == 0:
            self._db.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version={VERSION}; COMMIT;")
        elif found != VERSION:
            self.close()
            raise JournalError(f"the journal {self.path} has version {found}; this shortlist reads {VERSION}")

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _row(self, query: str, values: Sequence[Any] = ()) -> Any:
        return next(self._rows(query, values))

    def _rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        try:
            yield from self._db.execute(query, values).fetchall()
        except sqlite3.Error as problem:
            raise _explained(self.path, problem) from None


def _explained(path: Path, problem: sqlite3.Error) -> JournalError:
    """SQLite's error in our words."""
    said = str(problem)
    if "disk is full" in said or "disk I/O error" in said:
        return DiskFull(f"the disk did not take it ({said}): nothing was changed; make room and try again")
    if "not a database" in said or "malformed" in said:
        return JournalError(f"the journal {path} is damaged ({said}); bring back a copy of it")
    if "readonly" in said or "unable to open" in said:
        return JournalError(f"cannot write the journal {path}; may this user write to the folder?")
    return JournalError(f"the journal {path} cannot be used: {said}")
