"""The journal: every example learned and every undo, in order, in one SQLite file. It is the truth of a server.

A commit returns when the disk has it (write-ahead log, synchronous=FULL). Examples are numbered from 1; undos too, in
a row of their own. A change of labels is an example without a text, whose labels are an object. What a model should be
is a function of the journal alone: the base model, and then all examples that were not taken back, one at a time, in
order. An example says which labels are right, which were crossed out, whether all others are wrong, and who judged.

Each row keeps a checksum of the row before it and of all that it says itself: a row that was changed, taken out, put in
or moved breaks this chain at its number. The end of the chain is written down beside the file after each commit and
before anything is acknowledged. So what is changed, lost or put in another's place from outside is noticed, when a
server starts and before each commit. The file is made once, with the state directory; where it is gone no other is
made in its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from shortlist.categories.index.retrieval import unit
from shortlist.errors import InputError, ShortlistError, counted
from shortlist.server.documents import kept, read_back, read_vector, written_vector
from shortlist.texts import Document, Vectors

FILE, END_FILE = "journal.sqlite", "journal.end"
BASE = "base.shortlist"  # the model that serving began with, or what was promoted since
VERSION = 1
TABLES = """
CREATE TABLE examples (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    key TEXT UNIQUE,
    text TEXT NOT NULL,
    labels TEXT NOT NULL,  -- a JSON list: those that are right; or an object, which is a change of labels
    place INTEGER,         -- where the best of its labels stood before it was learned; NULL if not among the first
    wrong TEXT NOT NULL DEFAULT '[]',  -- a JSON list: labels that were crossed out
    complete INTEGER NOT NULL DEFAULT 1,  -- whether all other labels are wrong; 0: they were not judged
    person TEXT NOT NULL DEFAULT '',  -- who judged
    vector TEXT NOT NULL DEFAULT '',  -- that of the text (documents.py)
    fields INTEGER NOT NULL DEFAULT 0,  -- whether the text is an object of fields (documents.py)
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
PROBLEMS = (sqlite3.Error, UnicodeDecodeError)  # the latter where SQLite's sentence quotes damaged letters
DAMAGED = ("not a database", "malformed", "no such", "decode", "already exists", "duplicate", "file is encrypted")
AFRESH = "To start afresh from a model or a snapshot, serve that file with another --state"
WINDOW = 200  # examples that the rolling measures look back on
ALONE = "(decided alone)"  # behind the name of who had the model decide, or in its place
BY_PEOPLE = f"person NOT LIKE '%{ALONE}'"  # what the model decided says nothing of how good it is
KEPT = "NOT EXISTS (SELECT 1 FROM undos WHERE example = examples.number)"
MEASURED = f"{KEPT} AND {BY_PEOPLE} AND labels LIKE '[_%]'"  # what the quality of a model is told by
ALL = 2**62  # more than any number
MOST = 64  # requests in one commit


class JournalError(ShortlistError):
    """The journal cannot be opened, read or written."""


class DiskFull(JournalError):
    """The disk has no room; nothing was changed."""


class KeyUsed(InputError):
    """An idempotency key came a second time, with something else to learn."""


class Moved(InputError):
    """Labels were changed, something was taken back or another model was promoted since a request was checked."""


class MustTry(InputError):
    """A change of labels may need what is to be taken back: only a model that does without it can tell."""


@dataclass(frozen=True)
class Example:
    """Something to learn."""

    text: Document
    labels: Sequence[Any] | dict[str, Any]  # or a change of labels, which has no text
    key: str | None = None
    place: int | None = None
    wrong: Sequence[Any] = ()  # labels that were crossed out
    complete: bool = True  # whether all other labels are wrong; False: they were not judged
    person: str = ""  # who judged, where the server knows people
    vector: Vectors | None = None  # that of the text, where texts have any


class Entry(NamedTuple):
    """An example as the journal holds it."""

    number: int
    text: Document
    labels: list[Any] | dict[str, Any]  # or a change of labels (relabelling.py)
    wrong: list[Any]
    complete: bool
    person: str
    vector: str  # as it is written (documents.py)
    time: float = 0.0
    key: str | None = None
    place: int | None = None
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
    """Where an example stands in the journal, and whether it was put there just now."""

    number: int
    new: bool


# The checksum from row to row, and its end, written down beside the journal.


SIZE = 16  # bytes
START = (0, bytes(SIZE))  # before the first row
sync = getattr(os, "fdatasync", os.fsync)  # the length never changes, so the content alone need be on disk


def link(before: bytes, row: Sequence[Any]) -> bytes:
    """The checksum of a row, its number first, and of all rows before it."""
    return blake2b(before + json.dumps(list(row)).encode(), digest_size=SIZE).digest()


class End(NamedTuple):
    """The numbers of the last example and of the last undo, and their checksums."""

    examples: tuple[int, bytes] = START
    undos: tuple[int, bytes] = START

    def line(self) -> bytes:
        (examples, example_chain), (undos, undo_chain) = self
        said = f"{examples:015} {undos:015} {example_chain.hex()} {undo_chain.hex()}".encode()
        return said + b" " + blake2b(said, digest_size=8).hexdigest().encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> End | None:
        """What a line says; None if it is damaged."""
        try:
            examples, undos, *chains = line.decode().split()[:4]
            end = cls(*zip(map(int, (examples, undos)), map(bytes.fromhex, chains), strict=True))
        except ValueError:
            return None
        return end if end.line() == line else None


class EndRecord:
    """The file that holds the end of the journal in a folder; whoever writes to the journal holds it alone."""

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
        """Nobody writes meanwhile; ``alone``: nobody reads either."""
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
        """What is written, to whoever holds the record; nothing if there is no record."""
        return b"" if self._file == -1 else os.pread(self._file, 200, 0)  # more than a line is long

    def write(self, end: End) -> None:
        """Returns when the disk has it."""
        os.pwrite(self._file, end.line(), 0)
        sync(self._file)


class Journal:
    """The journal in a folder. Each thread and each process opens its own.

    Examples that are ``hidden`` are not learned, as if they had been taken back.
    """

    hidden: Collection[int] = ()

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder / FILE
        self._log = folder / f"{FILE}-wal"
        self._read_only = read_only
        self._untouched = False
        if not self.path.exists():
            raise JournalError(f"the journal {self.path} is gone; bring back a copy of it. {AFRESH}")
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
        """Make a journal with nothing in it, unless there is one."""
        try:
            (folder / FILE).touch()
        except OSError as problem:
            raise explained(folder / FILE, problem) from None
        cls(folder).close()

    def close(self) -> None:
        self._db.close()
        self._record.close()

    def version(self) -> Version:
        """The newest moment."""
        select = "SELECT coalesce(max(number), 0) FROM"
        return Version(*self._row(f"SELECT ({select} examples), ({select} undos)"))

    # Writing.

    def append(
        self, requests: Sequence[Sequence[Example]], seen: Iterable[Seen | None] = repeat(None)
    ) -> list[list[Receipt] | InputError]:
        """Write the examples of some requests in one commit. A request whose key is taken fails alone and whole.

        So does one that was checked against what is no longer so, where it says what it has ``seen``.
        """
        with self.held():
            return [self._append(request, own) for request, own in zip(requests, seen)]  # noqa: B905  repeat has no end

    def undo(self, number: int, person: str = "") -> bool:
        """Take an example back. Gives whether that changed anything; it may have been taken back before."""
        return self.undo_all([number], person) == 1

    def undo_all(self, numbers: Sequence[int], person: str = "", check: Check | None = None) -> int:
        """Take examples back in one commit, all or none. Gives how many of them had not been taken back before.

        ``check`` may refuse that; nobody writes between its answer and the commit.
        """
        with self.held():
            if check is not None:
                check(self)
            return sum(self._undo_one(number, person) for number in numbers)

    def replace(
        self, number: int, example: Example, seen: Seen | None = None, check: Check | None = None
    ) -> Receipt:  # fmt: skip
        """Take an example back and learn another in its place, in one commit: never the one without the other.

        Asked again with the same key, it changes nothing.
        """
        with self.held():
            if check is not None:
                check(self)
            receipt = self._append_one(example, seen)
            if receipt.new != self._undo_one(number, example.person):
                raise KeyUsed(f"example {number} was taken back already")
            if not receipt.new and self._is_undone(receipt.number):
                raise KeyUsed(f"example {receipt.number}, learned in its place, was taken back; learn the text anew")
            return receipt

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """One commit, to the file and to the record of its end; nobody else writes meanwhile."""
        with self._explaining(), self._record.held():
            self._must_be_there()
            line = self._record.line()
            try:
                self._db.execute("BEGIN IMMEDIATE")
                if missing := self._missing(line):
                    raise JournalError(f"the journal {self.path} {missing}; stop the server and start it again")
                self._end = self._newest()
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            self._must_be_there()
            if self._end.line() != line:
                self._record.write(self._end)

    def _append(self, request: Sequence[Example], seen: Seen | None) -> list[Receipt] | InputError:
        before = self._end
        self._db.execute("SAVEPOINT request")
        try:
            answer: list[Receipt] | InputError = [self._append_one(example, seen) for example in request]
        except (KeyUsed, Moved) as problem:
            self._db.execute("ROLLBACK TO request")
            self._end, answer = before, problem
        self._db.execute("RELEASE request")
        return answer

    def _append_one(self, example: Example, seen: Seen | None) -> Receipt:
        given = example.labels if isinstance(example.labels, dict) else list(example.labels)
        labels = json.dumps(given, ensure_ascii=False)
        wrong = json.dumps(list(example.wrong), ensure_ascii=False)
        text, fields = kept(example.text)
        judged = (wrong, int(example.complete), example.person, written_vector(example.vector), fields)
        if example.key is not None:
            query = "SELECT number, text, labels, wrong, complete, person, vector, fields FROM examples WHERE key = ?"
            known = self._db.execute(query, (example.key,)).fetchone()
            if known is not None and known[1:] != (text, labels, *judged):
                raise KeyUsed(f"the key {example.key!r} was used for another example, number {known[0]}")
            if known is not None:
                return Receipt(known[0], new=False)
        if seen is not None:
            self._must_be(seen)
        return Receipt(self._add("examples", time.time(), example.key, text, labels, example.place, *judged), new=True)

    def _must_be(self, seen: Seen) -> None:
        """Refuse what was checked against labels, or a base, that may have changed since."""
        query = (
            "SELECT EXISTS (SELECT 1 FROM examples WHERE number > ? AND labels LIKE '{%') "
            "OR EXISTS (SELECT 1 FROM undos WHERE number > ?)"
        )
        if self._db.execute(query, seen.version).fetchone()[0] or identity(self.path.parent) != seen.base:
            raise Moved("labels were changed meanwhile; try again")

    def _undo_one(self, number: int, person: str) -> bool:
        if number < 1 or self._at("examples", number) is None:
            raise InputError(f"there is no example {number}")
        return not self._is_undone(number) and self._add("undos", time.time(), number, person) > 0

    def _is_undone(self, number: int) -> bool:
        return self._db.execute("SELECT 1 FROM undos WHERE example = ?", (number,)).fetchone() is not None

    def _add(self, table: str, *values: Any) -> int:
        """Put in the next row of a table, with its checksum behind it; gives its number."""
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

    def after(self, number: int, last: int, limit: int = 256) -> list[Entry]:
        """The next examples to learn, up to the last: none that was taken back."""
        others = f"AND number NOT IN ({', '.join(map(str, map(int, self.hidden)))})" if self.hidden else ""
        return self._entries(f"number > ? AND number <= ? AND {KEPT} {others} ORDER BY number", number, last, limit)

    def each(self, after: int = 0, last: int = ALL) -> Iterator[Entry]:
        """All examples to learn after a number and up to another, read some at a time."""
        while some := self.after(after, last):
            yield from some
            after = some[-1].number

    def entries(self, before: int | None = None, limit: int = 20, prefix: str = "") -> list[Entry]:
        """The newest examples, newest first; those before a number, or with keys that begin so, if any is given."""
        of_key, given = ("key >= ? AND key < ? AND", _span(prefix)) if prefix else ("", ())
        return self._entries(f"{of_key} number < ? ORDER BY number DESC", *given, before or ALL, limit)

    def example(self, number: int) -> Example | None:
        """What was learned under a number, taken back or not; None if there is none."""
        for one in self._entries("number = ?", number, 1):
            judged = one.wrong, one.complete, one.person, read_vector(one.vector)
            return Example(one.text, one.labels, one.key, one.place, *judged)
        return None

    def _entries(self, where: str, *values: Any) -> list[Entry]:
        """Examples; the last of the values is how many."""
        query = (
            "SELECT number, text, fields, labels, wrong, complete, person, vector, time, key, place, "
            f"NOT {KEPT} FROM examples WHERE {where} LIMIT ?"
        )
        return [
            Entry(
                n, read_back(text, fields), json.loads(labels), json.loads(wrong), bool(complete), person, vector, at,
                key, place, bool(undone),
            )
            for n, text, fields, labels, wrong, complete, person, vector, at, key, place, undone
            in self._rows(query, values)
        ]  # fmt: skip

    def nearest(self, vector: Vectors, n: int = 3, looked_at: int = 1000) -> list[tuple[float, Document, list[Any]]]:
        """Of the newest examples with labels and a vector the n nearest ones: cosine, text, labels."""
        known, asked = [], unit(vector[np.newaxis])[0]
        where = f"vector != '' AND labels LIKE '[_%]' AND {KEPT} ORDER BY number DESC"
        for one in self._entries(where, looked_at):
            own = read_vector(one.vector)
            if own is not None and own.shape == vector.shape:
                known.append((float((unit(own[np.newaxis]) @ asked)[0]), one.text, list(one.labels)))
        return sorted(known, key=lambda one: -one[0])[:n]

    def places(self) -> list[int | None]:
        """Where the best right label of each of the last examples stood before it was learned, oldest first."""
        query = f"SELECT place FROM examples WHERE {MEASURED} ORDER BY number DESC LIMIT ?"
        return [place for (place,) in self._rows(query, (WINDOW,))][::-1]

    def counts(self) -> tuple[int, int]:
        """How many examples there are, and how many of them were taken back."""
        examples, undone = self._row("SELECT (SELECT count(*) FROM examples), (SELECT count(*) FROM undos)")
        return examples, undone

    def undone_since(self, version: Version) -> int | None:
        """The first of the examples that a model of that version has learned and that were taken back since."""
        query = "SELECT min(example) FROM undos WHERE number > ? AND example <= ?"
        found: int | None = self._row(query, (version.undos, version.examples))[0]
        return found

    def undone_between(self, after: int, last: int) -> list[int]:
        """The examples that were taken back by the undos in between."""
        query = "SELECT example FROM undos WHERE number > ? AND number <= ? ORDER BY number"
        return [example for (example,) in self._rows(query, (after, last))]

    def has_change_from(self, number: int) -> bool:
        """Whether there is a change of labels from this number on that was not taken back."""
        query = f"SELECT EXISTS (SELECT 1 FROM examples WHERE number >= ? AND labels LIKE '{{%' AND {KEPT})"
        return bool(self._row(query, (number,))[0])

    def has_key(self, key: str | None) -> bool:
        """Whether something was learned under a key, taken back or not."""
        return key is not None and any(self._rows("SELECT 1 FROM examples WHERE key = ?", (key,)))

    def keyed(self, prefix: str, after: int, last: int) -> list[tuple[int, str]]:
        """Number and key of the examples in between whose keys begin so, taken back or not."""
        key = "+key" if after else "key"  # the last few are found by number, all of them by key
        where = f"{key} >= ? AND {key} < ? AND number > ? AND number <= ? ORDER BY number"
        return list(self._rows(f"SELECT number, key FROM examples WHERE {where}", (*_span(prefix), after, last)))

    def field_names(self) -> list[str]:
        """The names of all fields of documents that were learned and not taken back, in alphabetical order."""
        query = f"SELECT DISTINCT one.key FROM examples, json_each(text) AS one WHERE fields = 1 AND {KEPT} ORDER BY 1"
        return [name for (name,) in self._rows(query)]

    def has_in_a_list(self, letters: str) -> bool:
        """Whether these letters may stand in a label, right or wrong, or in a list that is a field of a document."""
        in_a_field = "SELECT 1 FROM json_each(text) AS one WHERE one.type = 'array' AND instr(one.value, ?1)"
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

    # Whether it is sound.

    def check(self) -> None:
        """Read the whole of it once; refuse it if any of it is damaged or lost."""
        with self._record.held(alone=False):
            line = self._record.line()  # first: what is committed meanwhile only adds to it
        problem = self._broken() or self._damage() or self._missing(line)
        if problem is not None:
            raise JournalError(f"the journal {self.path} {problem}. {self.way_out()}")

    def way_out(self) -> str:
        """What to do about damage."""
        examples, undos = (sum(1 for _ in self.sound_rows(table)) for table in COLUMNS)
        return (
            f"Bring back a copy of {self.path.parent}, or go on with what is sound, "
            f"{counted(examples, 'examples')} and "
            f"{counted(undos, 'undos')}, by shortlist serve --state {self.path.parent} --salvage"
        )

    def sound_rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows before the first that is damaged, in order, each with its checksum behind it."""
        number, before = START
        try:
            for *row, chain in self._db.execute(f"SELECT {COLUMNS[table]}, chain FROM {table} ORDER BY number"):
                if row[0] != number + 1 or chain != link(before, row):
                    return
                number, before = row[0], chain
                yield (*row, chain)
        except (*PROBLEMS, TypeError):  # a page that cannot be read; a text that has become bytes
            return

    def take_from(self, damaged: Journal) -> list[int]:
        """Fill an empty file with the sound rows of another; gives how many of each table."""
        taken: list[int] = []
        with self.held():
            for table in COLUMNS:
                number = 0
                for row in damaged.sound_rows(table):
                    if table == "undos" and row[2] > taken[0]:
                        break  # it takes back an example that is lost
                    self._insert(table, row)
                    number = row[0]
                taken.append(number)
            self._end = self._newest()
        return taken

    def seal(self, version: Version) -> str | None:
        """A checksum of all that the journal says up to a moment; None if it does not reach it."""
        with self._explaining():
            ends = [self._at(table, number) for table, number in zip(COLUMNS, version, strict=True)]
        known = [end for end in ends if end is not None]
        return blake2b(b"".join(known), digest_size=8).hexdigest() if len(known) == len(ends) else None

    def _at(self, table: str, number: int) -> bytes | None:
        """The checksum at a row; None if there is no such row."""
        if number == 0:
            return START[1]
        row = self._db.execute(f"SELECT chain FROM {table} WHERE number = ?", (number,)).fetchone()
        return None if row is None else row[0]

    def _newest(self) -> End:
        last = [f"SELECT number, chain FROM {table} ORDER BY number DESC LIMIT 1" for table in COLUMNS]
        return End(*(self._db.execute(query).fetchone() or START for query in last))

    def _damage(self) -> str | None:
        """What SQLite finds wrong, if anything: tables and indexes that do not agree, pages that cannot be read."""
        try:
            found: str = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        except PROBLEMS as problem:
            found = str(problem)
        return None if found == "ok" else f"is damaged ({found})"

    def _broken(self) -> str | None:
        """Where the chain breaks, if anywhere."""
        for table, there in zip(COLUMNS, self.version(), strict=True):
            number = sum(1 for _ in self.sound_rows(table))
            if number < there:
                return f"is damaged from number {number + 1} of its {table} on: that is not what was written"
        return None

    def _missing(self, line: bytes) -> str | None:
        """What was acknowledged, by the record of the end, and is not there."""
        end = End.of(line)
        if end is None:
            return f"may have lost its end: the record of it, {self._record.path}, is {'damaged' if line else 'gone'}"
        for table, (number, chain) in zip(COLUMNS, end, strict=True):
            if self._at(table, number) != chain:
                first = min(getattr(self._newest(), table)[0] + 1, number)
                return f"is damaged from number {first} of its {table} on: {number:,} were acknowledged"
        return None

    # The file.

    def _connected(self) -> sqlite3.Connection:
        where = self.path.resolve().as_uri()
        if not self._read_only:
            return _connect(where + "?mode=rw")
        try:
            return _connect(where + "?mode=ro")
        except sqlite3.OperationalError:
            # Where nothing may be written, SQLite cannot follow others and must be told that there are none.
            if self._log.exists():
                raise JournalError(
                    f"the journal {self.path} was not closed, and its log {self._log.name} can be read only where "
                    "files may be written; copy the folder to such a place"
                ) from None
            self._untouched = True
            return _connect(where + "?mode=ro&immutable=1")

    def _prepare(self) -> None:
        found = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, VERSION):
            raise JournalError(f"the journal {self.path} has version {found}; this shortlist reads {VERSION}")
        if not self._read_only:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA foreign_keys=ON")
            if found != VERSION:
                self._make_tables()

    def _make_tables(self) -> None:
        """Make the tables, unless another process has."""
        with self._record.held():
            self._db.execute("BEGIN IMMEDIATE")
            if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
                if self._record.line() not in (b"", End().line()):
                    raise JournalError(
                        f"the journal {self.path} is empty, and was not; bring back a copy of it. {AFRESH}"
                    )
                for statement in TABLES.split(";\n")[:-1]:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={VERSION}")
                self._record.write(End())
            self._db.execute("COMMIT")

    def _files(self) -> list[tuple[int, int] | None]:
        """Which files these are, and not others of the same names."""
        if self._read_only and not self._untouched:
            return [_inode(self.path)]  # the log comes and goes with whoever writes
        return [_inode(path) for path in (self.path, self._log, self._record.path)]

    def _must_be_there(self) -> None:
        if self._files() != self._opened:
            raise JournalError(
                f"the journal {self.path} was deleted or replaced while the server worked with it, and nothing more is "
                "learned; stop the server, bring back a copy of the journal, and start it again"
            )

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (*PROBLEMS, OSError) as problem:
            raise explained(self.path, problem) from None


def check_journal(folder: Path) -> None:
    """Refuse a journal that is damaged, and leave it as it is: opened for writing, SQLite would tidy up."""
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        journal.check()


Check = Callable[[Journal], None]  # refuses what is about to be written


def nothing_needs(numbers: Sequence[int], journal: Journal) -> None:
    """Refuse to take examples back where a change of labels may need one of them."""
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
    """Which file this is: another one, once it was replaced or written to."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def identity(folder: Path) -> tuple[int, ...]:
    """Which file the base is: another one, once something was promoted."""
    return identity_of(folder / BASE)


def _span(prefix: str) -> tuple[str, str]:
    """The first of the keys that begin so, and the first behind them."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def explained(path: Path, problem: Exception) -> JournalError:
    """SQLite's error, or the system's, in our words."""
    said = str(problem)
    if "disk is full" in said or "disk I/O error" in said:
        return DiskFull(f"the disk did not take it ({said}): nothing was changed; make room and try again")
    if any(words in said for words in DAMAGED):
        return JournalError(f"the journal {path} is damaged ({said}); bring back a copy of it. {AFRESH}")
    if "readonly" in said or "unable to open" in said or isinstance(problem, PermissionError):
        return JournalError(f"cannot write the journal {path}; may this user write to the folder?")
    return JournalError(f"the journal {path} cannot be used: {said}")


# Group commit: while the disk is busy with one commit, requests queue up, and the next commit takes them all.


class Writer:
    """A thread that writes to the journal, so that nobody else waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder)
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    async def append(self, examples: Sequence[Example], seen: Seen | None = None) -> list[Receipt]:
        """Write some examples, all or none. Returns when they are on disk."""
        receipts: list[Receipt] = await self._ask((examples, seen))
        return receipts

    async def undo_all(self, numbers: Sequence[int], person: str, check: Check) -> int:
        """Take examples back, all or none. Returns when that is on disk."""
        undone: int = await self._ask(lambda journal: journal.undo_all(numbers, person, check))
        return undone

    async def replace(self, number: int, example: Example, seen: Seen, check: Check) -> Receipt:
        """Take an example back and learn another in its place. Returns when both are on disk."""
        receipt: Receipt = await self._ask(lambda journal: journal.replace(number, example, seen, check))
        return receipt

    def close(self) -> None:
        """Finish what was asked for."""
        self._queue.put(None)
        self._thread.join()

    async def _ask(self, work: tuple[Sequence[Example], Seen | None] | Callable[[Journal], Any]) -> Any:
        answer: Future[Any] = Future()
        self._queue.put((work, answer))
        # Whoever gives up waiting does not take back what is already on its way to the disk.
        return await asyncio.shield(asyncio.wrap_future(answer))

    def _run(self) -> None:
        going_on = True
        while going_on:
            jobs = [self._queue.get()]
            while len(jobs) < MOST and not self._queue.empty():
                jobs.append(self._queue.get())
            going_on = None not in jobs
            self._carry_out([job for job in jobs if job is not None])
        self._journal.close()

    def _carry_out(self, jobs: list[tuple[Any, Future[Any]]]) -> None:
        """All examples in one commit; then what takes examples back, each in its own."""
        appends = [(work, answer) for work, answer in jobs if not callable(work)]
        if appends:
            requests = [work for work, _ in appends]
            results: Sequence[Any]
            try:
                results = self._journal.append([own for own, _ in requests], [own for _, own in requests])
            except Exception as problem:
                results = [problem] * len(appends)
            for (_, answer), result in zip(appends, results, strict=True):
                if isinstance(result, Exception):
                    answer.set_exception(result)
                else:
                    answer.set_result(result)
        for work, answer in jobs:
            if callable(work):
                try:
                    answer.set_result(work(self._journal))
                except Exception as problem:
                    answer.set_exception(problem)
