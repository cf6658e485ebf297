"""The file under the journal: a SQLite file whose rows are chained, with the record of its end beside it.

A checksum is chained from row to row (chain.py), and the end of the chain is written down after each commit
(chain.py): what is changed, lost or put in another's place from outside is noticed, when a server starts and before
each commit. The file is made once, with the state directory; where it is gone no other is made in its place.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.errors import InputError, ShortlistError, counted
from shortlist.server import chain
from shortlist.server.chain import End, EndRecord

# The state directory of a server: which file its base is, and the sentence about a folder that is none.


BASE = "base.shortlist"  # the model that serving began with, or what was promoted since


def identity(folder: Path) -> tuple[int, ...]:
    """Which file the base is: another one, once something was promoted."""
    return identity_of(folder / BASE)


def identity_of(path: Path) -> tuple[int, ...]:
    """Which file this is: another one, once it was replaced or written to."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def no_state(folder: Path) -> InputError:
    return InputError(f"{folder} is not a state directory yet: start shortlist serve MODEL --state {folder} once")


# The tables of the journal's file.


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
    vector TEXT NOT NULL DEFAULT '',  -- that of the text (journal.py)
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


def make_tables(db: sqlite3.Connection) -> None:
    """Make the tables."""
    for statement in TABLES.split(";\n")[:-1]:
        db.execute(statement)
    db.execute(f"PRAGMA user_version={VERSION}")


FILE = "journal.sqlite"
PATIENCE = 30.0  # seconds to wait for another process's commit
AFRESH = "To start afresh from a model or a snapshot, serve that file with another --state"
DAMAGED = ("not a database", "malformed", "no such", "decode", "already exists", "duplicate", "file is encrypted")


class JournalError(ShortlistError):
    """The journal cannot be opened, read or written."""


class DiskFull(JournalError):
    """The disk has no room; nothing was changed."""


class Version(NamedTuple):
    """A moment of the journal: all examples and all undos up to these numbers."""

    examples: int
    undos: int


class Ledger:
    """The file in a folder. Each thread and each process opens its own."""

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder / FILE
        self._read_only = read_only
        self._untouched = False
        if not self.path.exists():
            raise JournalError(f"the journal {self.path} is gone; bring back a copy of it. {AFRESH}")
        try:
            with contextlib.ExitStack() as failing:
                self._record = EndRecord(folder, read_only)
                failing.callback(self._record.close)
                self._db = self._connected()
                failing.callback(self._db.close)
                self._prepare()
                self._opened = self._files()
                failing.pop_all()
        except (*chain.PROBLEMS, OSError) as problem:
            raise explained(self.path, problem) from None

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

    # Whether it is sound.

    def check(self) -> None:
        """Read the whole of it once; refuse it if any of it is damaged or lost."""
        line = self._record.line_beside()  # first: what is committed meanwhile only adds to it
        problem = self._broken() or self._damage() or self._missing(line)
        if problem is not None:
            raise JournalError(f"the journal {self.path} {problem}. {self.way_out()}")

    def has_record(self) -> bool:
        """Whether its end was written down."""
        return self._record.line_beside() != b""

    def sound_rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows before the first that is damaged, each with its checksum behind it."""
        return chain.sound(self._db, table)

    def take_from(self, damaged: Ledger) -> list[int]:
        """Fill an empty file with the sound rows of another; gives how many of each table."""
        kept: list[int] = []
        with self._commit():
            for table in chain.COLUMNS:
                number = 0
                for row in damaged.sound_rows(table):
                    if table == "undos" and row[2] > kept[0]:
                        break  # it takes back an example that is lost
                    self._insert(table, row)
                    number = row[0]
                kept.append(number)
            self._end = self._newest()
        return kept

    def way_out(self) -> str:
        """What to do about damage."""
        examples, undos = (sum(1 for _ in self.sound_rows(table)) for table in chain.COLUMNS)
        return (
            f"Bring back a copy of {self.path.parent}, or go on with what is sound, "
            f"{counted(examples, 'examples')} and "
            f"{counted(undos, 'undos')}, by shortlist serve --state {self.path.parent} --salvage"
        )

    def seal(self, version: Version) -> str | None:
        """A checksum of all that the journal says up to a moment; None if it does not reach it."""
        with self._explaining():
            ends = [chain.at(self._db, table, number) for table, number in zip(chain.COLUMNS, version, strict=True)]
        known = [end for end in ends if end is not None]
        return blake2b(b"".join(known), digest_size=8).hexdigest() if len(known) == len(ends) else None

    def _damage(self) -> str | None:
        """What SQLite finds wrong, if anything: tables and indexes that do not agree, pages that cannot be read."""
        try:
            found: str = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        except chain.PROBLEMS as problem:
            found = str(problem)
        return None if found == "ok" else f"is damaged ({found})"

    def _broken(self) -> str | None:
        """Where the chain breaks, if anywhere."""
        now = self.version()
        for table, there in zip(chain.COLUMNS, now, strict=True):
            number = 0
            for row in self.sound_rows(table):
                number = row[0]
            if number < there:
                return f"is damaged from number {number + 1} of its {table} on: that is not what was written"
        return None

    def _missing(self, line: bytes) -> str | None:
        """What was acknowledged, by the record of the end, and is not there."""
        if not line:
            return None
        end = End.of(line)
        if end is None:
            return f"may have lost its end: the record of it, {self._record.path}, is damaged"
        for table, number, link in zip(chain.COLUMNS, end[:2], end[2:], strict=True):
            if chain.at(self._db, table, number) != link:
                first = min(chain.tail(self._db, table)[0] + 1, number)
                return f"is damaged from number {first} of its {table} on: {number:,} were acknowledged"
        return None

    # Opening.

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
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            if found == 0 and self._record.line() not in (b"", End().line()):
                raise JournalError(f"the journal {self.path} is empty, and was not; bring back a copy of it. {AFRESH}")
            if found == 0:
                make_tables(self._db)
            self._db.execute("COMMIT")
            if found == 0:
                self._record.write(self._newest())

    # Reading and writing.

    @property
    def _log(self) -> Path:
        return self.path.with_name(f"{FILE}-wal")

    def _files(self) -> list[tuple[int, int] | None]:
        """Which files these are, and not others of the same names."""
        if self._read_only and not self._untouched:
            return [_identity(self.path)]  # the log comes and goes with whoever writes
        return [_identity(path) for path in (self.path, self._log, self._record.path)]

    def _must_be_there(self) -> None:
        if self._files() != self._opened:
            raise JournalError(
                f"the journal {self.path} was deleted or replaced while the server worked with it, and nothing more is "
                "learned; stop the server, bring back a copy of the journal, and start it again"
            )

    @contextlib.contextmanager
    def _commit(self) -> Iterator[None]:
        """Write to the file and to the record of its end; nobody else writes meanwhile."""
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

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Nobody writes to it meanwhile."""
        with self._commit():
            yield

    def _insert(self, table: str, row: Sequence[Any]) -> None:
        """Put in a row with its checksum behind it."""
        places = ", ".join("?" * len(row))
        self._db.execute(f"INSERT INTO {table} ({chain.COLUMNS[table]}, chain) VALUES ({places})", row)

    def _newest(self) -> End:
        (examples, example_chain), (undos, undo_chain) = (chain.tail(self._db, table) for table in chain.COLUMNS)
        return End(examples, undos, example_chain, undo_chain)

    def _row(self, query: str, values: Sequence[Any] = ()) -> Any:
        return next(self._rows(query, values))

    def _rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        with self._explaining():
            self._must_be_there()
            rows = self._db.execute(query, values).fetchall()
        yield from rows

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (*chain.PROBLEMS, OSError) as problem:
            raise explained(self.path, problem) from None


def _connect(where: str) -> sqlite3.Connection:
    db = sqlite3.connect(where, PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
    try:
        db.execute("PRAGMA schema_version").fetchone()  # opens the file
    except chain.PROBLEMS:
        db.close()
        raise
    return db


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


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
