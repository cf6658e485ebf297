"""The journal: every example learned and every undo, in order, in one SQLite file. It is the truth
of a server.

A commit returns when it is on disk (write-ahead log, synchronous=FULL). Examples are numbered from
1; undos too, in a table of their own. A change of labels is an example without a text, whose labels
are a JSON object. A model is a function of the journal alone: the base model, and then all examples
that were not undone, one at a time, in order.

Each row keeps a checksum of the row before it and of its own values. A row that was changed,
removed or moved breaks this chain at its number. The end of the chain is written to a file beside
the journal after each commit, before anything is acknowledged. A server checks both when it starts,
and the end before each commit. The journal is made once, with the state directory; a missing
journal is never replaced by a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import time
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from shortlist.data.texts import Document, Vectors
from shortlist.errors import InputError, ShortlistError, counted
from shortlist.learners.index.scoring import unit

FILE, END_FILE = "journal.sqlite", "journal.end"
BASE = "base.shortlist"  # the model that serving began with, or the promoted one
VERSION = 1
TABLES = """
CREATE TABLE examples (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,    -- the same for all of one request
    key TEXT UNIQUE,
    text TEXT NOT NULL,
    labels TEXT NOT NULL,  -- a JSON list of the right labels, or an object: a change of labels
    place INTEGER,         -- the rank of its best label before it was learned; NULL if not among the first
    wrong TEXT NOT NULL DEFAULT '[]',  -- a JSON list of the labels that were crossed out
    complete INTEGER NOT NULL DEFAULT 1,  -- whether all other labels are wrong; 0: they were not judged
    person TEXT NOT NULL DEFAULT '',  -- who judged
    vector TEXT NOT NULL DEFAULT '',  -- the vector of the text, in base64
    fields INTEGER NOT NULL DEFAULT 0,  -- whether the text is a JSON object of fields
    chain BLOB             -- the checksum of this row and of all before it
);
CREATE TABLE undos (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    example INTEGER NOT NULL UNIQUE REFERENCES examples,
    person TEXT NOT NULL DEFAULT '',
    chain BLOB
);
"""
COLUMNS = {
    "examples": "number, time, key, text, labels, place, wrong, complete, person, vector, fields",
    "undos": "number, time, example, person",
}
PATIENCE = 30.0  # seconds to wait for another process's commit
PROBLEMS = (sqlite3.Error, UnicodeDecodeError)  # the latter if SQLite's message quotes damaged text
DAMAGED = (
    "not a database",
    "malformed",
    "no such",
    "decode",
    "already exists",
    "duplicate",
    "file is encrypted",
)
AFRESH = "To start afresh from a model or a snapshot, serve that file with another --state"
WINDOW = 200  # examples of the rolling measures
ALONE = "(decided alone)"  # ends the person of an example that the model decided
KEPT = "NOT EXISTS (SELECT 1 FROM undos WHERE example = examples.number)"
# examples that measure the model
MEASURED = f"{KEPT} AND person NOT LIKE '%{ALONE}' AND labels LIKE '[_%]'"
ALL = 2**62  # more than any number
MOST = 64  # requests in one commit
NUMBERS = np.dtype("<f4")  # of a vector
Found = TypeVar("Found")
# names of an export beside the fields
BESIDE = ("labels", "wrong", "complete", "person", "time", "key", "vector")


class JournalError(ShortlistError):
    """The journal cannot be opened, read or written."""


class DiskFull(JournalError):
    """The disk has no room; nothing was changed."""


class Conflict(InputError):
    """What is there does not allow what is asked for."""


class Moved(InputError):
    """Labels were changed, something was undone or another model was promoted since a request
    was checked.
    """


class MustTry(InputError):
    """A change of labels may need the examples to be undone: only a model without them can tell."""


class Example(NamedTuple):
    """An example, to learn or from the journal."""

    text: Document
    labels: list[Any] | dict[str, Any]  # or a change of labels, which has no text
    key: str | None = None
    place: int | None = None
    wrong: Sequence[Any] = ()  # labels that were crossed out
    complete: bool = True  # whether all other labels are wrong; False: they were not judged
    person: str = ""  # who judged
    vector: Vectors | None = None
    number: int = 0  # this and what follows: of one from the journal
    time: float = 0.0
    undone: bool = False


class Version(NamedTuple):
    """A moment of the journal: all examples and all undos up to these numbers."""

    examples: int
    undos: int


class Seen(NamedTuple):
    """What a request was checked against: a moment of the journal, and the base of the model."""

    version: Version
    base: tuple[int, ...]


class Receipt(NamedTuple):
    """The number of an example, and whether it was written just now."""

    number: int
    new: bool


# Texts, documents of fields and vectors as they are stored.


def kept(document: Document) -> tuple[str, int]:
    """Return the stored form of a text or a document of fields, and whether it is a JSON object
    of fields.
    """
    if isinstance(document, Mapping):
        return json.dumps(dict(document), ensure_ascii=False), 1
    return document, 0


def read_back(text: str, fields: int) -> Document:
    """Return the document of a stored form."""
    return json.loads(text) if fields else text


def alike(documents: Sequence[Document], fields: Sequence[str] | None) -> list[Any]:
    """Return documents of one kind, for a model of these fields: among documents of fields, a
    text is the first.
    """
    if not any(isinstance(one, Mapping) for one in documents):
        return list(documents)
    first = fields[0] if fields else "text"
    return [one if isinstance(one, Mapping) else {first: one} for one in documents]


def written_vector(vector: Vectors | None) -> str:
    """Return the stored form of a vector, from which exactly the same vector is read."""
    return "" if vector is None else b64encode(vector.astype(NUMBERS).tobytes()).decode()


def read_vector(kept: str) -> Vectors | None:
    """Return the vector of a stored form."""
    if not kept:
        return None
    try:
        return np.frombuffer(b64decode(kept, validate=True), dtype=NUMBERS).astype(np.float32)
    except ValueError:
        raise InputError("the stored vector is not valid base64 float32") from None


# The checksums, and the record of their end beside the journal.


SIZE = 16  # bytes of a checksum
START = (0, bytes(SIZE))  # before the first row
# the length of the record never changes, so its content is enough
sync = getattr(os, "fdatasync", os.fsync)


def link(before: bytes, row: Sequence[Any]) -> bytes:
    """Return the checksum of a row and of all rows before it."""
    return blake2b(before + json.dumps(list(row)).encode(), digest_size=SIZE).digest()


class End(NamedTuple):
    """The numbers and checksums of the last example and of the last undo."""

    examples: tuple[int, bytes] = START
    undos: tuple[int, bytes] = START

    def line(self) -> bytes:
        (examples, example_chain), (undos, undo_chain) = self
        values = f"{examples:015} {undos:015} {example_chain.hex()} {undo_chain.hex()}".encode()
        return values + b" " + blake2b(values, digest_size=8).hexdigest().encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> End | None:
        """Return the end that a line records; None if the line is damaged."""
        try:
            examples, undos, *chains = line.decode().split()[:4]
            end = cls(*zip(map(int, (examples, undos)), map(bytes.fromhex, chains), strict=True))
        except ValueError:
            return None
        return end if end.line() == line else None


class EndRecord:
    """The file with the end of the journal. Its lock is the lock of the journal."""

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder / END_FILE
        self._file = -1
        if not read_only or self.path.exists():
            flags = os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT
            self._file = os.open(self.path, flags | os.O_CLOEXEC, 0o644)

    def close(self) -> None:
        if self._file != -1:
            os.close(self._file)
            self._file = -1

    @contextlib.contextmanager
    def held(self, alone: bool = True) -> Iterator[None]:
        """Lock the journal against writers; ``alone``: also against readers of the record."""
        import fcntl

        if self._file == -1:
            yield
            return
        fcntl.flock(self._file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def line(self) -> bytes:
        """Return the recorded line, while the lock is held; empty if there is no record."""
        return b"" if self._file == -1 else os.pread(self._file, 200, 0)  # longer than a line

    def write(self, end: End) -> None:
        """Record an end; returns when it is on disk."""
        os.pwrite(self._file, end.line(), 0)
        sync(self._file)


class Journal:
    """The journal of a folder. Each thread and each process opens its own.

    Examples that are ``hidden`` are not learned, as if they had been undone.
    """

    hidden: Collection[int] = ()

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder / FILE
        self._log = folder / f"{FILE}-wal"
        self._read_only = read_only
        self._untouched = False
        if not self.path.exists():
            raise JournalError(
                f"the journal {self.path} is gone; bring back a copy of it. {AFRESH}"
            )
        with self._explaining(), contextlib.ExitStack() as failing:
            self._record = EndRecord(folder, read_only)
            failing.callback(self._record.close)
            self._db = self._connected()
            failing.callback(self._db.close)
            self._prepare()
            self._opened = self._files()
            failing.pop_all()

    @classmethod
    def begin(cls, folder: Path) -> None:
        """Make an empty journal, unless there is one."""
        try:
            (folder / FILE).touch()
        except OSError as problem:
            raise explained(folder / FILE, problem) from None
        cls(folder).close()

    def close(self) -> None:
        self._db.close()
        self._record.close()

    def version(self) -> Version:
        """Return the newest moment, which counts all examples and all undos: their numbers have
        no gaps.
        """
        select = "SELECT coalesce(max(number), 0) FROM"
        return Version(*self._row(f"SELECT ({select} examples), ({select} undos)"))

    # Writing.

    def append(self, examples: Sequence[Example], seen: Seen | None = None) -> list[Receipt]:
        """Write examples in one commit, all or none.

        Refused if a key was used for another example, or if the ``seen`` state is no longer
        current.
        """
        with self.held():
            return [self._append_one(example, seen) for example in examples]

    def undo(
        self, numbers: Sequence[int], person: str = "", check: Check = lambda journal: None
    ) -> int:
        """Undo examples in one commit, all or none. Returns how many of them had not been undone
        before.

        ``check`` may refuse that; nothing is written between the check and the commit.
        """
        with self.held():
            check(self)
            return sum(self._undo_one(number, person) for number in numbers)

    def replace(
        self,
        number: int,
        example: Example,
        seen: Seen | None = None,
        check: Check = lambda journal: None,
    ) -> Receipt:
        """Undo an example and write another in its place, in one commit. With the same key,
        again changes nothing.
        """
        with self.held():
            check(self)
            receipt = self._append_one(example, seen)
            if receipt.new != self._undo_one(number, example.person):
                raise Conflict(f"example {number} was taken back already")
            if not receipt.new and self._is_undone(receipt.number):
                raise Conflict(
                    f"example {receipt.number}, learned in its place, was taken back; learn the "
                    "text anew"
                )
            return receipt

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Make one commit, to the file and to the record of its end, while others wait.

        Within another ``held``: one part of its commit, which is taken back alone if it fails.
        """
        if self._db.in_transaction:
            with self._part():
                yield
            return
        with self._explaining(), self._record.held():
            self._must_be_there()
            line = self._record.line()
            try:
                self._db.execute("BEGIN IMMEDIATE")
                if missing := self._missing(line):
                    raise JournalError(
                        f"the journal {self.path} {missing}; stop the server and start it again"
                    )
                self._end, self._time = self._newest(), time.time()
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            self._must_be_there()
            if self._end.line() != line:
                self._record.write(self._end)

    @contextlib.contextmanager
    def _part(self) -> Iterator[None]:
        # no two parts have the same time
        before, self._time = self._end, max(time.time(), self._time + 1e-6)
        self._db.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            self._end = before
            if self._db.in_transaction:  # SQLite ends it by itself where the disk is full
                self._db.execute("ROLLBACK TO part")
            raise
        self._db.execute("RELEASE part")

    def _append_one(self, example: Example, seen: Seen | None) -> Receipt:
        labels, wrong = (
            json.dumps(own, ensure_ascii=False) for own in (example.labels, example.wrong)
        )
        text, fields = kept(example.text)
        judged = (
            wrong,
            int(example.complete),
            example.person,
            written_vector(example.vector),
            fields,
        )
        if example.key is not None:
            query = (
                "SELECT number, text, labels, wrong, complete, person, vector, fields FROM "
                "examples WHERE key = ?"
            )
            known = self._db.execute(query, (example.key,)).fetchone()
            if known is not None and known[1:] != (text, labels, *judged):
                raise Conflict(
                    f"the key {example.key!r} was used for another example, number {known[0]}"
                )
            if known is not None:
                return Receipt(known[0], new=False)
        if seen is not None:
            self._must_be(seen)
        return Receipt(
            self._add("examples", self._time, example.key, text, labels, example.place, *judged),
            new=True,
        )

    def _must_be(self, seen: Seen) -> None:
        """Refuse a request that was checked before labels changed, something was undone or a
        model was promoted.
        """
        query = (
            "SELECT EXISTS (SELECT 1 FROM examples WHERE number > ? AND labels LIKE '{%') "
            "OR EXISTS (SELECT 1 FROM undos WHERE number > ?)"
        )
        if (
            self._db.execute(query, seen.version).fetchone()[0]
            or identity(self.path.parent) != seen.base
        ):
            raise Moved("labels were changed meanwhile; try again")

    def _undo_one(self, number: int, person: str) -> bool:
        if number < 1 or self._at("examples", number) is None:
            raise InputError(f"there is no example {number}")
        return not self._is_undone(number) and self._add("undos", self._time, number, person) > 0

    def _is_undone(self, number: int) -> bool:
        return (
            self._db.execute("SELECT 1 FROM undos WHERE example = ?", (number,)).fetchone()
            is not None
        )

    def _add(self, table: str, *values: Any) -> int:
        """Insert the next row of a table, with its checksum; returns its number."""
        number, before = getattr(self._end, table)
        row = (number + 1, *values)
        chain = link(before, row)
        self._insert(table, (*row, chain))
        self._end = self._end._replace(**{table: (number + 1, chain)})
        return number + 1

    def _insert(self, table: str, row: Sequence[Any]) -> None:
        places = ", ".join("?" * len(row))
        self._db.execute(f"INSERT INTO {table} ({COLUMNS[table]}, chain) VALUES ({places})", row)

    # Reading.

    def after(self, number: int, last: int, limit: int = 256) -> list[Example]:
        """Return the next examples to learn, up to the last; no undone ones."""
        others = (
            f"AND number NOT IN ({', '.join(map(str, map(int, self.hidden)))})"
            if self.hidden
            else ""
        )
        return self._entries(
            f"number > ? AND number <= ? AND {KEPT} {others} ORDER BY number", number, last, limit
        )

    def each(self, after: int = 0, last: int = ALL) -> Iterator[Example]:
        """Yield all examples to learn after a number and up to another, read in batches."""
        while some := self.after(after, last):
            yield from some
            after = some[-1].number

    def entries(
        self, before: int | None = None, limit: int = 20, prefix: str = ""
    ) -> list[Example]:
        """Return the newest examples, newest first: before a number, or with this prefix of
        their keys.
        """
        of_key, given = ("key >= ? AND key < ? AND", _span(prefix)) if prefix else ("", ())
        return self._entries(
            f"{of_key} number < ? ORDER BY number DESC", *given, before or ALL, limit
        )

    def entry(self, number: int) -> Example | None:
        """Return the example of a number, undone or not; None if there is none."""
        return next(iter(self._entries("number = ?", number, 1)), None)

    def _entries(self, where: str, *values: Any) -> list[Example]:
        """Return examples by a condition; the last value is the limit."""
        query = (
            "SELECT number, text, fields, labels, wrong, complete, person, vector, time, key, "
            "place, "
            f"NOT {KEPT} FROM examples WHERE {where} LIMIT ?"
        )
        return [
            Example(
                read_back(text, fields),
                json.loads(labels),
                key,
                place,
                json.loads(wrong),
                bool(complete),
                person,
                read_vector(vector),
                n,
                at,
                bool(undone),
            )
            for n, text, fields, labels, wrong, complete, person, vector, at, key, place, undone in self._rows(
                query, values
            )
        ]

    def nearest(
        self, vector: Vectors, n: int = 3, looked_at: int = 1000
    ) -> list[tuple[float, Document, list[Any]]]:
        """Return the n nearest of the newest labelled examples that have a vector: cosine,
        text, labels.
        """
        asked = unit(vector[np.newaxis])[0]
        where = f"vector != '' AND labels LIKE '[_%]' AND {KEPT} ORDER BY number DESC"
        known = [
            (float((unit(own[np.newaxis]) @ asked)[0]), one.text, list(one.labels))
            for one in self._entries(where, looked_at)
            if (own := one.vector) is not None and own.shape == vector.shape
        ]
        return sorted(known, key=lambda one: -one[0])[:n]

    def places(self) -> list[int | None]:
        """Return the rank of the best right label of each of the last examples before it was
        learned, oldest first.
        """
        query = f"SELECT place FROM examples WHERE {MEASURED} ORDER BY number DESC LIMIT ?"
        return [place for (place,) in self._rows(query, (WINDOW,))][::-1]

    def undone_since(self, version: Version) -> int | None:
        """Return the first example that a model of that version has learned and that was undone
        since.
        """
        query = "SELECT min(example) FROM undos WHERE number > ? AND example <= ?"
        found: int | None = self._row(query, (version.undos, version.examples))[0]
        return found

    def undone_between(self, after: int, last: int) -> list[int]:
        """Return the examples that the undos in between have undone."""
        query = "SELECT example FROM undos WHERE number > ? AND number <= ? ORDER BY number"
        return [example for (example,) in self._rows(query, (after, last))]

    def has_change_from(self, number: int) -> bool:
        """Return whether a change of labels from this number on was not undone."""
        query = (
            f"SELECT EXISTS (SELECT 1 FROM examples WHERE number >= ? AND labels LIKE '{{%' AND "
            f"{KEPT})"
        )
        return bool(self._row(query, (number,))[0])

    def has_key(self, key: str | None) -> bool:
        """Return whether an example has this key, undone or not."""
        return key is not None and any(self._rows("SELECT 1 FROM examples WHERE key = ?", (key,)))

    def decision(self, number: int) -> list[int]:
        """Return the examples that the model decided in one commit, undone or not, by the
        number of the first.
        """
        query = (
            f"SELECT number FROM examples WHERE number >= ?1 AND person LIKE '%{ALONE}' "
            "AND time = (SELECT time FROM examples WHERE number = ?1)"
        )
        return [one for (one,) in self._rows(query, (number,))]

    def keyed(self, prefix: str, after: int, last: int) -> list[tuple[int, str]]:
        """Return number and key of the examples in between whose keys have this prefix, undone
        or not.
        """
        key = "+key" if after else "key"  # a few new ones are found by number, all of them by key
        where = f"{key} >= ? AND {key} < ? AND number > ? AND number <= ? ORDER BY number"
        return list(
            self._rows(
                f"SELECT number, key FROM examples WHERE {where}", (*_span(prefix), after, last)
            )
        )

    def field_names(self) -> list[str]:
        """Return the names of the fields of all examples that were not undone, in alphabetical
        order.
        """
        query = (
            "SELECT DISTINCT one.key FROM examples, json_each(text) AS one WHERE fields = 1 AND "
            f"{KEPT} ORDER BY 1"
        )
        return [name for (name,) in self._rows(query)]

    def has_in_a_list(self, letters: str) -> bool:
        """Return whether these letters may be in a label, or in a list that is a field of a
        document.
        """
        in_a_field = (
            "SELECT 1 FROM json_each(text) AS one WHERE one.type = 'array' AND instr(one.value, ?1)"
        )
        query = (
            "SELECT EXISTS (SELECT 1 FROM examples WHERE labels LIKE '[%' AND "
            f"(instr(labels, ?1) OR instr(wrong, ?1) OR (fields = 1 AND EXISTS ({in_a_field}))))"
        )
        return bool(self._row(query, (letters,))[0])

    def _row(self, query: str, values: Sequence[Any] = ()) -> Any:
        return next(self._rows(query, values))

    def _rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        with self._explaining():
            self._must_be_there()
            rows = self._db.execute(query, values).fetchall()
        yield from rows

    # Checking.

    def check(self) -> None:
        """Read all of it; refuse it if any row is damaged or lost."""
        with self._record.held(alone=False):
            line = self._record.line()  # first: later commits only add to it
        problem = self._broken() or self._damage() or self._missing(line)
        if problem is not None:
            raise JournalError(f"the journal {self.path} {problem}. {self.way_out()}")

    def way_out(self) -> str:
        """Return what to do about damage."""
        examples, undos = (sum(1 for _ in self.sound_rows(table)) for table in COLUMNS)
        return (
            f"Bring back a copy of {self.path.parent}, or go on with what is sound, "
            f"{counted(examples, 'examples')} and "
            f"{counted(undos, 'undos')}, by shortlist serve --state {self.path.parent} --salvage"
        )

    def sound_rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows before the first damaged one, in order, each with its checksum at the
        end.
        """
        number, before = START
        try:
            for *row, chain in self._db.execute(
                f"SELECT {COLUMNS[table]}, chain FROM {table} ORDER BY number"
            ):
                if row[0] != number + 1 or chain != link(before, row):
                    return
                number, before = row[0], chain
                yield (*row, chain)
        except (*PROBLEMS, TypeError):  # a page that cannot be read; a text that has become bytes
            return

    def take_from(self, damaged: Journal) -> list[int]:
        """Fill an empty journal with the sound rows of another; returns how many of each table."""
        taken: list[int] = []
        with self.held():
            for table in COLUMNS:
                number = 0
                for row in damaged.sound_rows(table):
                    if table == "undos" and row[2] > taken[0]:
                        break  # its example is lost
                    self._insert(table, row)
                    number = row[0]
                taken.append(number)
            self._end = self._newest()
        return taken

    def seal(self, version: Version) -> str | None:
        """Return a checksum of the journal up to a moment; None if it ends before that."""
        with self._explaining():
            ends = [self._at(table, number) for table, number in zip(COLUMNS, version, strict=True)]
        known = [end for end in ends if end is not None]
        return (
            blake2b(b"".join(known), digest_size=8).hexdigest() if len(known) == len(ends) else None
        )

    def _at(self, table: str, number: int) -> bytes | None:
        """Return the checksum of a row; None if there is no such row."""
        if number == 0:
            return START[1]
        row = self._db.execute(f"SELECT chain FROM {table} WHERE number = ?", (number,)).fetchone()
        return None if row is None else row[0]

    def _newest(self) -> End:
        last = [
            f"SELECT number, chain FROM {table} ORDER BY number DESC LIMIT 1" for table in COLUMNS
        ]
        return End(*(self._db.execute(query).fetchone() or START for query in last))

    def _damage(self) -> str | None:
        """Return what SQLite finds wrong: tables and indexes that do not agree, pages that
        cannot be read.
        """
        try:
            found: str = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        except PROBLEMS as problem:
            found = str(problem)
        return None if found == "ok" else f"is damaged ({found})"

    def _broken(self) -> str | None:
        """Return where the chain of checksums breaks."""
        for table, there in zip(COLUMNS, self.version(), strict=True):
            number = sum(1 for _ in self.sound_rows(table))
            if number < there:
                return (
                    f"is damaged from number {number + 1} of its {table} on: that is not what was "
                    "written"
                )
        return None

    def _missing(self, line: bytes) -> str | None:
        """Return which acknowledged rows are missing, by the record of the end."""
        end = End.of(line)
        if end is None:
            return (
                f"may have lost its end: the record of it, {self._record.path}, is "
                f"{'damaged' if line else 'gone'}"
            )
        for table, (number, chain) in zip(COLUMNS, end, strict=True):
            if self._at(table, number) != chain:
                first = min(getattr(self._newest(), table)[0] + 1, number)
                return (
                    f"is damaged from number {first} of its {table} on: {number:,} were "
                    "acknowledged"
                )
        return None

    # The file.

    def _connected(self) -> sqlite3.Connection:
        where = self.path.resolve().as_uri()
        if not self._read_only:
            return _connect(where + "?mode=rw")
        try:
            return _connect(where + "?mode=ro")
        except sqlite3.OperationalError:
            # In a folder that cannot be written, SQLite must be told that there are no other
            # processes.
            if self._log.exists():
                raise JournalError(
                    f"the journal {self.path} was not closed, and its log {self._log.name} can be "
                    "read only where "
                    "files may be written; copy the folder to such a place"
                ) from None
            self._untouched = True
            return _connect(where + "?mode=ro&immutable=1")

    def _prepare(self) -> None:
        found = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, VERSION):
            raise JournalError(
                f"the journal {self.path} has version {found}; this shortlist reads {VERSION}"
            )
        if not self._read_only:
            for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                self._db.execute(f"PRAGMA {setting}")
            if found != VERSION:
                self._make_tables()

    def _make_tables(self) -> None:
        """Make the tables, unless another process has."""
        with self._record.held():
            self._db.execute("BEGIN IMMEDIATE")
            if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
                if self._record.line() not in (b"", End().line()):
                    raise JournalError(
                        f"the journal {self.path} is empty, and was not; bring back a copy of it. "
                        f"{AFRESH}"
                    )
                for statement in TABLES.split(";\n")[:-1]:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={VERSION}")
                self._record.write(End())
            self._db.execute("COMMIT")

    def _files(self) -> list[tuple[int, int] | None]:
        """Return the identities of the files, to notice others of the same names."""
        if self._read_only and not self._untouched:
            return [_inode(self.path)]  # the log comes and goes with the writer
        return [_inode(path) for path in (self.path, self._log, self._record.path)]

    def _must_be_there(self) -> None:
        if self._files() != self._opened:
            raise JournalError(
                f"the journal {self.path} was deleted or replaced while the server worked with it, "
                "and nothing more is "
                "learned; stop the server, bring back a copy of the journal, and start it again"
            )

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (*PROBLEMS, OSError) as problem:
            raise explained(self.path, problem) from None


def check_journal(folder: Path) -> None:
    """Refuse a damaged journal without changing it: SQLite would tidy up what it opens for
    writing.
    """
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        journal.check()


Check = Callable[[Journal], None]  # may refuse what is about to be written


def nothing_needs(numbers: Sequence[int], journal: Journal) -> None:
    """Refuse to undo examples that a later change of labels may need."""
    if journal.has_change_from(min(numbers, default=ALL)):
        raise MustTry("a change of labels may need it")


def _connect(where: str) -> sqlite3.Connection:
    db = sqlite3.connect(where, PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
    try:
        db.execute("PRAGMA schema_version").fetchone()  # opens the file
    except PROBLEMS:
        db.close()
        raise
    return db


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def identity_of(path: Path) -> tuple[int, ...]:
    """Return the identity of a file, which changes when it is replaced or written to."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def identity(folder: Path) -> tuple[int, ...]:
    """Return the identity of the base, which changes when a model is promoted."""
    return identity_of(folder / BASE)


def _span(prefix: str) -> tuple[str, str]:
    """Return the first key with a prefix, and the first key behind them."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def explained(path: Path, problem: Exception) -> JournalError:
    """Return an error of SQLite or the system in our words."""
    words = str(problem)
    if "disk is full" in words or "disk I/O error" in words:
        return DiskFull(
            f"the disk did not take it ({words}): nothing was changed; make room and try again"
        )
    if any(one in words for one in DAMAGED):
        return JournalError(
            f"the journal {path} is damaged ({words}); bring back a copy of it. {AFRESH}"
        )
    if "readonly" in words or "unable to open" in words or isinstance(problem, PermissionError):
        return JournalError(f"cannot write the journal {path}; may this user write to the folder?")
    return JournalError(f"the journal {path} cannot be used: {words}")


class Writer:
    """A thread that writes to the journal, so that nothing else waits for the disk.

    What comes while a commit is under way shares the next one (group commit).
    """

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder)
        self._thread = ThreadPoolExecutor(1, "journal")
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    async def ask(self, work: Callable[..., Found], *arguments: object) -> Found:
        """Return ``work(journal, *arguments)`` once it is on disk.

        A caller that gives up does not cancel what is on its way there.
        """
        answer: Future[Found] = Future()
        self._waiting.append((partial(work, self._journal, *arguments), answer))
        self._thread.submit(self._commit)
        return await asyncio.shield(asyncio.wrap_future(answer))

    def close(self) -> None:
        """Finish what was asked for."""
        self._thread.shutdown()
        self._journal.close()

    def _commit(self) -> None:
        """Do all work that waits, unless another call has; what is refused fails alone."""
        waiting = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
        if not waiting:
            return
        results: list[Any] = []
        try:
            with self._journal.held():
                for work, _ in waiting:
                    try:
                        results.append(work())
                    except (sqlite3.Error, JournalError):  # the journal itself fails, and so do all
                        raise
                    except Exception as problem:
                        results.append(problem)
        except Exception as problem:
            results = [problem] * len(waiting)
        for (_, answer), result in zip(waiting, results, strict=True):
            if isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)
