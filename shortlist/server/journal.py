"""The journal: every judgement, change of labels and undo, in order, in one SQLite file. It is
the truth of a server.

A commit returns when it is on disk (write-ahead log, synchronous=FULL). Entries are numbered from
1; undos too, in a table of their own. A model is a function of the journal alone: the base model,
and then all entries that were not undone, one at a time, in order.

The end of the chain of checksums is written to a file beside the journal after each commit, before
anything is acknowledged. A server checks both when it starts, and the end before each commit. What
must never be lost is here; what the page asks is in ``journal_history``.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.errors import InputError, counted
from shortlist.server.checksums import ChainedTable, End
from shortlist.server.entries import (
    ENTRY_COLUMNS,
    Entry,
    EntryRow,
    Judgement,
    from_row,
    to_row,
)
from shortlist.server.journal_errors import (
    Conflict,
    JournalError,
    NeedsTrial,
    OutOfDate,
    explained,
)
from shortlist.server.journal_file import JOURNAL_FILE, JournalFile

BASE = "base.shortlist"  # the model that serving began with, or the promoted one
NOT_UNDONE = "NOT EXISTS (SELECT 1 FROM undos WHERE example = entries.number)"
NOT_LEARNED = "judge = 'decided'"  # what the model decided alone
BEYOND_ANY_NUMBER = 2**62


class Version(NamedTuple):
    """A moment of the journal: all entries and all undos up to these numbers."""

    examples: int
    undos: int


class Basis(NamedTuple):
    """What a request was checked against: a moment of the journal, and the base of the model."""

    version: Version
    base: tuple[int, ...]


class Receipt(NamedTuple):
    """The number of an entry, and whether it was written just now."""

    number: int
    new: bool


class Journal:
    """The journal of a folder. Each thread and each process opens its own.

    Entries that are ``hidden`` are not learned, as if they had been undone.
    """

    hidden: Collection[int] = ()

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.file = JournalFile(folder, read_only)
        self.path = self.file.path
        self._db = self.file.db
        self._entries = ChainedTable(
            self._db, "examples", "entries", ENTRY_COLUMNS, EntryRow.values_checked
        )
        self._undos = ChainedTable(
            self._db, "undos", "undos", "number, time, example, person", list
        )

    @classmethod
    def begin(cls, folder: Path) -> None:
        """Make an empty journal, unless there is one."""
        try:
            (folder / JOURNAL_FILE).touch()
        except OSError as problem:
            raise explained(folder / JOURNAL_FILE, problem) from None
        cls(folder).close()

    def close(self) -> None:
        self.file.close()

    # Writing.

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make one commit, to the file and to the record of its end, while others wait.

        Within another transaction: one part of it, which is rolled back alone if it fails.
        """
        if self._db.in_transaction:
            with self._part():
                yield
            return
        record = self.file.record
        with self.file.explaining(), record.locked():
            self.file.check_there()
            line = record.line()
            try:
                self._db.execute("BEGIN IMMEDIATE")
                missing = self._missing(line)
                if missing is not None:
                    raise JournalError(
                        f"the journal {self.path} {missing}; stop the server and start it again"
                    )
                self._time = time.time()
                yield
                end = self._newest()
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            self.file.check_there()
            if end.line() != line:
                record.write(end)

    @contextlib.contextmanager
    def _part(self) -> Iterator[None]:
        # no two parts have the same time
        self._time = max(time.time(), self._time + 1e-6)
        self._db.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # SQLite ends it by itself where the disk is full
                self._db.execute("ROLLBACK TO part")
            raise
        self._db.execute("RELEASE part")

    def append(self, entries: Sequence[Entry], basis: Basis | None = None) -> list[Receipt]:
        """Write entries in one commit, all or none.

        Refused if a key was used for another entry, or if the ``basis`` is no longer current.
        """
        with self.transaction():
            return [self._append_one(entry, basis) for entry in entries]

    def undo(
        self, numbers: Sequence[int], person: str = "", check: UndoCheck = lambda journal: None
    ) -> int:
        """Undo entries in one commit, all or none. Returns how many of them had not been undone
        yet.

        ``check`` may refuse that; nothing is written between the check and the commit.
        """
        with self.transaction():
            check(self)
            return sum(self._undo_one(number, person) for number in numbers)

    def replace(
        self,
        number: int,
        judgement: Judgement,
        basis: Basis | None = None,
        check: UndoCheck = lambda journal: None,
    ) -> Receipt:
        """Undo an entry and write a judgement in its place, in one commit. With the same key,
        again changes nothing.
        """
        with self.transaction():
            check(self)
            receipt = self._append_one(judgement, basis)
            was_undone_now = self._undo_one(number, judgement.person)
            if receipt.new != was_undone_now:
                raise Conflict(f"example {number} was taken back already")
            if not receipt.new and self._is_undone(receipt.number):
                raise Conflict(
                    f"example {receipt.number}, learned in its place, was taken back; learn the "
                    "text anew"
                )
            return receipt

    def _append_one(self, entry: Entry, basis: Basis | None) -> Receipt:
        row = to_row(entry, self._time)
        earlier = self._row_of_key(entry.key)
        if earlier is not None:
            if not row.is_same_request(earlier):
                raise Conflict(
                    f"the key {entry.key!r} was used for another example, number {earlier.number}"
                )
            return Receipt(earlier.number, new=False)
        if basis is not None:
            self._check_current(basis)
        return Receipt(self._entries.add(row[1:]), new=True)

    def _row_of_key(self, key: str | None) -> EntryRow | None:
        if key is None:
            return None
        query = f"SELECT {ENTRY_COLUMNS} FROM entries WHERE key = ?"
        values = self._db.execute(query, (key,)).fetchone()
        return None if values is None else EntryRow(*values)

    def _check_current(self, basis: Basis) -> None:
        """Refuse a request that was checked before labels changed, something was undone or a
        model was promoted.
        """
        query = (
            "SELECT EXISTS (SELECT 1 FROM entries WHERE number > ? AND change IS NOT NULL) "
            "OR EXISTS (SELECT 1 FROM undos WHERE number > ?)"
        )
        changed = self._db.execute(query, basis.version).fetchone()[0]
        if changed or base_identity(self.path.parent) != basis.base:
            raise OutOfDate("labels were changed meanwhile; try again")

    def _undo_one(self, example: int, person: str) -> bool:
        """Undo an entry; returns whether it had not been undone yet."""
        if example < 1 or self._entries.chain_at(example) is None:
            raise InputError(f"there is no example {example}")
        if self._is_undone(example):
            return False
        self._undos.add((self._time, example, person))
        return True

    def _is_undone(self, example: int) -> bool:
        query = "SELECT 1 FROM undos WHERE example = ?"
        return self._db.execute(query, (example,)).fetchone() is not None

    # Reading in order.

    def version(self) -> Version:
        """Return the newest moment, which counts all entries and all undos: their numbers have
        no gaps.
        """
        newest = "SELECT coalesce(max(number), 0) FROM"
        return Version(*self.file.row(f"SELECT ({newest} entries), ({newest} undos)"))

    def after(self, number: int, last: int, limit: int = 256) -> list[Entry]:
        """Return the next entries to learn, up to the last; no undone ones."""
        where = f"number > ? AND number <= ? AND {NOT_UNDONE}"
        if self.hidden:
            where += f" AND number NOT IN ({', '.join(map(str, map(int, self.hidden)))})"
        return self.select(f"{where} ORDER BY number", number, last, limit)

    def each(self, number: int = 0, last: int = BEYOND_ANY_NUMBER) -> Iterator[Entry]:
        """Yield all entries to learn after a number and up to another, read in batches."""
        while batch := self.after(number, last):
            yield from batch
            number = batch[-1].number

    def entry(self, number: int) -> Entry | None:
        """Return the entry of a number, undone or not; None if there is none."""
        return next(iter(self.select("number = ?", number, 1)), None)

    def select(self, where: str, *values: Any) -> list[Entry]:
        """Return entries by a condition in SQL; the last value is how many, at most."""
        query = f"SELECT {ENTRY_COLUMNS}, NOT {NOT_UNDONE} FROM entries WHERE {where} LIMIT ?"
        return [from_row(row) for row in self.file.rows(query, values)]

    def has_key(self, key: str | None) -> bool:
        """Return whether an entry has this key, undone or not."""
        query = "SELECT EXISTS (SELECT 1 FROM entries WHERE key = ?)"
        return bool(self.file.row(query, (key,))[0])

    def undone_since(self, version: Version) -> int | None:
        """Return the first entry that a model of that version has learned and that was undone
        since.
        """
        query = (
            "SELECT min(example) FROM undos WHERE number > ? AND example <= ? AND "
            f"example NOT IN (SELECT number FROM entries WHERE number = example AND {NOT_LEARNED})"
        )
        example: int | None = self.file.row(query, (version.undos, version.examples))[0]
        return example

    def learned_of(self, numbers: Sequence[int]) -> list[int]:
        """Return those of some entries that a model learns: not what it decided alone."""
        query = f"SELECT 1 FROM entries WHERE number = ? AND NOT {NOT_LEARNED}"
        return [number for number in numbers if list(self.file.rows(query, (number,)))]

    def has_change_from(self, number: int) -> bool:
        """Return whether a change of labels from this number on was not undone."""
        query = (
            "SELECT EXISTS (SELECT 1 FROM entries WHERE number >= ? AND change IS NOT NULL "
            f"AND {NOT_UNDONE})"
        )
        return bool(self.file.row(query, (number,))[0])

    # Verifying.

    def check(self) -> None:
        """Read all of it; refuse it if any row is damaged or lost."""
        with self.file.record.locked(exclusive=False):
            line = self.file.record.line()  # first: later commits only add to it
        problem = self._broken() or self.file.damage() or self._missing(line)
        if problem is not None:
            raise JournalError(f"the journal {self.path} {problem}. {self.way_out()}")

    def way_out(self) -> str:
        """Return what to do about damage."""
        examples = counted(self._entries.count_sound(), "examples")
        undos = counted(self._undos.count_sound(), "undos")
        folder = self.path.parent
        return (
            f"Bring back a copy of {folder}, or go on with what is sound, {examples} and {undos}, "
            f"by shortlist serve --state {folder} --salvage"
        )

    def take_from(self, damaged: Journal) -> Version:
        """Fill an empty journal with the sound rows of another."""
        examples = 0
        undos = 0
        with self.transaction():
            for row in damaged._entries.sound_rows():
                self._entries.insert(row)
                examples += 1
            for row in damaged._undos.sound_rows():
                if row[2] > examples:
                    break  # its example is lost
                self._undos.insert(row)
                undos += 1
        return Version(examples, undos)

    def seal(self, version: Version) -> str | None:
        """Return a checksum of the journal up to a moment; None if it ends before that."""
        with self.file.explaining():
            entries = self._entries.chain_at(version.examples)
            undos = self._undos.chain_at(version.undos)
        if entries is None or undos is None:
            return None
        return blake2b(entries + undos, digest_size=8).hexdigest()

    def _newest(self) -> End:
        return End(self._entries.newest(), self._undos.newest())

    def _broken(self) -> str | None:
        """Return where the chain of checksums breaks."""
        for table, last in zip((self._entries, self._undos), self.version(), strict=True):
            number = table.count_sound()
            if number < last:
                return (
                    f"is damaged from number {number + 1} of its {table.name} on: that is not "
                    "what was written"
                )
        return None

    def _missing(self, line: bytes) -> str | None:
        """Return which acknowledged rows are missing, by the record of the end."""
        end = End.of(line)
        if end is None:
            return (
                f"may have lost its end: the record of it, {self.file.record.path}, is "
                f"{'damaged' if line else 'gone'}"
            )
        for table, acknowledged in zip((self._entries, self._undos), end, strict=True):
            number, chain = acknowledged
            if table.chain_at(number) != chain:
                last, _ = table.newest()
                return (
                    f"is damaged from number {min(last + 1, number)} of its {table.name} on: "
                    f"{number:,} were acknowledged"
                )
        return None


UndoCheck = Callable[[Journal], None]  # may refuse what is about to be written


def check_journal(folder: Path) -> None:
    """Refuse a damaged journal without changing it: SQLite would tidy up what it opens for
    writing.
    """
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        journal.check()


def check_no_change_needs(numbers: Sequence[int], journal: Journal) -> None:
    """Refuse to undo entries that a later change of labels may need."""
    if journal.has_change_from(min(journal.learned_of(numbers), default=BEYOND_ANY_NUMBER)):
        raise NeedsTrial("a change of labels may need it")


def file_identity(path: Path) -> tuple[int, ...]:
    """Return the identity of a file, which changes when it is replaced or written to."""
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def base_identity(folder: Path) -> tuple[int, ...]:
    """Return the identity of the base, which changes when a model is promoted."""
    return file_identity(folder / BASE)
