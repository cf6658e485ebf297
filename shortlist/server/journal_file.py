"""The SQLite file of the journal: opening it, its tables, and its earlier version.

The file is made once, with the state directory. A missing one is never replaced by a new one.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from shortlist.server.checksums import End, EndRecord
from shortlist.server.entries import ENTRY_COLUMNS
from shortlist.server.journal_errors import (
    SQLITE_ERRORS,
    START_AFRESH,
    JournalError,
    explained,
)

JOURNAL_FILE = "journal.sqlite"
JOURNAL_VERSION = 3
LOCK_SECONDS = 30.0  # to wait for another process's commit
# Examples and changes of labels share their numbers. Columns:
# time      the same for all entries of one request
# text      a text, or a JSON object of fields if ``fields`` is 1
# labels    a JSON list of the right labels
# wrong     a JSON list of the labels that were crossed out
# complete  whether all other labels are wrong; 0: they were not judged
# place     the rank of the best label before it was learned; NULL if not among the first
# vector    the vector of the text, in base64
# change    a change of labels as a JSON object; NULL for an example
# person    the name of the person who judged, or let the model decide
# judge     person, model or import: who or what judged
# because   a JSON list of the words of the text that decide
# chain     the checksum of this row and of all before it
JOURNAL_TABLES = (
    """CREATE TABLE main.entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    key TEXT UNIQUE,
    text TEXT NOT NULL,
    fields INTEGER NOT NULL DEFAULT 0,
    labels TEXT NOT NULL,
    wrong TEXT NOT NULL DEFAULT '[]',
    complete INTEGER NOT NULL DEFAULT 1,
    place INTEGER,
    vector TEXT NOT NULL DEFAULT '',
    change TEXT,
    person TEXT NOT NULL DEFAULT '',
    judge TEXT NOT NULL DEFAULT 'person',
    because TEXT NOT NULL DEFAULT '[]',
    chain BLOB
)""",
    """CREATE TABLE undos (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    example INTEGER NOT NULL UNIQUE REFERENCES entries,
    person TEXT NOT NULL DEFAULT '',
    chain BLOB
)""",
)
# The entries of a journal of version 2, which had no marked words.
COLUMNS_OF_VERSION_2 = ENTRY_COLUMNS.removesuffix(", because")
VERSION_2_ENTRIES = f"""CREATE TEMP VIEW entries AS
    SELECT {COLUMNS_OF_VERSION_2}, '[]' AS because, chain FROM main.entries"""
MIGRATION_OF_VERSION_2 = ("ALTER TABLE main.entries ADD COLUMN because TEXT NOT NULL DEFAULT '[]'",)
# The entries of a journal of version 1, where a change of labels was a JSON object among the
# labels, and "(decided alone)" followed the name of the person who let the model decide.
VERSION_1_ENTRIES = f"""CREATE TEMP VIEW entries AS SELECT {ENTRY_COLUMNS}, chain FROM (
    SELECT number, time, key, text, fields, wrong, complete, place, vector, chain,
    CASE WHEN labels LIKE '{{%' THEN '[]' ELSE labels END AS labels,
    CASE WHEN labels LIKE '{{%' THEN labels END AS change,
    CASE WHEN person LIKE '%(decided alone)'
        THEN rtrim(substr(person, 1, length(person) - 15)) ELSE person END AS person,
    CASE WHEN person LIKE '%(decided alone)' THEN 'model' ELSE 'person' END AS judge,
    '[]' AS because
    FROM main.examples
)"""
MIGRATION_OF_VERSION_1 = (
    VERSION_1_ENTRIES,
    JOURNAL_TABLES[0],
    f"INSERT INTO main.entries ({ENTRY_COLUMNS}, chain) SELECT * FROM temp.entries",
    "DROP VIEW temp.entries",
    "ALTER TABLE undos RENAME TO old_undos",
    JOURNAL_TABLES[1],
    "INSERT INTO undos SELECT number, time, example, person, chain FROM old_undos",
    "DROP TABLE old_undos",
    "DROP TABLE examples",
)

VIEWS_OF_EARLIER = {1: VERSION_1_ENTRIES, 2: VERSION_2_ENTRIES}
MIGRATIONS = {1: MIGRATION_OF_VERSION_1, 2: MIGRATION_OF_VERSION_2}


class JournalFile:
    """The open file of a journal, with the record of its end."""

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder / JOURNAL_FILE
        self._log = folder / f"{JOURNAL_FILE}-wal"
        self._read_only = read_only
        self._is_immutable = False
        self._earlier_version = 0  # of a read-only one, until another process migrates it
        if not self.path.exists():
            raise JournalError(
                f"the journal {self.path} is gone; bring back a copy of it. {START_AFRESH}"
            )
        with self.explaining(), contextlib.ExitStack() as on_failure:
            self.record = EndRecord(folder, read_only)
            on_failure.callback(self.record.close)
            self.db = self._connected()
            on_failure.callback(self.db.close)
            self._prepare()
            self._opened_files = self._files()
            on_failure.pop_all()

    def close(self) -> None:
        self.db.close()
        self.record.close()

    def row(self, query: str, values: Sequence[Any] = ()) -> Any:
        return next(self.rows(query, values))

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        with self.explaining():
            self.check_there()
            rows = self.db.execute(query, values).fetchall()
        yield from rows

    def check_there(self) -> None:
        """Refuse to go on if the files were deleted or replaced."""
        if self._files() != self._opened_files:
            raise JournalError(
                f"the journal {self.path} was deleted or replaced while the server worked with "
                "it, and nothing more is learned; stop the server, bring back a copy of the "
                "journal, and start it again"
            )
        if self._earlier_version and self._version() != self._earlier_version:
            self.db.execute("DROP VIEW temp.entries")
            self._earlier_version = 0

    def damage(self) -> str | None:
        """Return what SQLite finds wrong: tables and indexes that do not agree, pages that
        cannot be read.
        """
        try:
            verdict: str = self.db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        except SQLITE_ERRORS as problem:
            verdict = str(problem)
        return None if verdict == "ok" else f"is damaged ({verdict})"

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        """Raise errors of SQLite and the system as ours."""
        try:
            yield
        except (*SQLITE_ERRORS, OSError) as problem:
            raise explained(self.path, problem) from None

    def _connected(self) -> sqlite3.Connection:
        address = self.path.resolve().as_uri()
        if not self._read_only:
            return _connect(address + "?mode=rw")
        try:
            return _connect(address + "?mode=ro")
        except sqlite3.OperationalError:
            # In a folder that cannot be written, SQLite must be told that there are no other
            # processes.
            if self._log.exists():
                raise JournalError(
                    f"the journal {self.path} was not closed, and its log {self._log.name} can be "
                    "read only where files may be written; copy the folder to such a place"
                ) from None
            self._is_immutable = True
            return _connect(address + "?mode=ro&immutable=1")

    def _version(self) -> int:
        version: int = self.db.execute("PRAGMA user_version").fetchone()[0]
        return version

    def _prepare(self) -> None:
        version = self._version()
        if version not in range(JOURNAL_VERSION + 1):
            raise JournalError(
                f"the journal {self.path} has version {version}; this shortlist reads "
                f"{JOURNAL_VERSION}"
            )
        if self._read_only:
            if version in VIEWS_OF_EARLIER:
                self.db.execute(VIEWS_OF_EARLIER[version])
                self._earlier_version = version
            return
        for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            self.db.execute(f"PRAGMA {setting}")
        if version != JOURNAL_VERSION:
            self._make_tables()

    def _make_tables(self) -> None:
        """Make the tables, or convert those of an earlier version, in one transaction, unless
        another process has.
        """
        with self.record.locked():
            self.db.execute("BEGIN IMMEDIATE")
            try:
                version = self._version()
                if version == 0:
                    self._check_new()
                    self._execute_all(JOURNAL_TABLES)
                    self.record.write(End())
                elif version in MIGRATIONS:
                    self._execute_all(MIGRATIONS[version])
                self.db.execute(f"PRAGMA user_version={JOURNAL_VERSION}")
                self.db.execute("COMMIT")
            finally:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")

    def _check_new(self) -> None:
        if self.record.line() not in (b"", End().line()):
            raise JournalError(
                f"the journal {self.path} is empty, and was not; bring back a copy of it. "
                f"{START_AFRESH}"
            )

    def _execute_all(self, statements: Sequence[str]) -> None:
        for statement in statements:
            self.db.execute(statement)

    def _files(self) -> list[tuple[int, int] | None]:
        """Return the identities of the files, to notice others of the same names."""
        if self._read_only and not self._is_immutable:
            return [_inode(self.path)]  # the log comes and goes with the writer
        return [_inode(path) for path in (self.path, self._log, self.record.path)]


def _connect(address: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        address, LOCK_SECONDS, isolation_level=None, check_same_thread=False, uri=True
    )
    try:
        db.execute("PRAGMA schema_version").fetchone()  # opens the file
    except SQLITE_ERRORS:
        db.close()
        raise
    return db


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
