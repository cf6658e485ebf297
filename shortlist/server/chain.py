"""A checksum chained from row to row, so that a journal that was changed from outside is known, and from where on.

Each row keeps the checksum of the row before it and of all that it says itself. One table's rows are numbered 1, 2, 3
and so on: a row that was changed, taken out, put in or moved breaks the chain at its number.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

SIZE = 16  # bytes
START = bytes(SIZE)  # before the first row
PROBLEMS = (sqlite3.Error, UnicodeDecodeError)  # the latter where SQLite's sentence quotes damaged letters
COLUMNS = {
    "examples": "number, time, key, text, labels, place, wrong, complete, person, vector, fields",
    "undos": "number, time, example, person",
}


def link(before: bytes, row: Sequence[Any]) -> bytes:
    """The checksum of a row, its number first, and of all rows before it."""
    return blake2b(before + json.dumps(list(row)).encode(), digest_size=SIZE).digest()


def sound(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a table in order, each with its checksum behind it, up to the first that is damaged."""
    number, before = 0, START
    try:
        for *row, chain in db.execute(f"SELECT {COLUMNS[table]}, chain FROM {table} ORDER BY number"):
            if row[0] != number + 1 or chain != link(before, row):
                return
            number, before = row[0], chain
            yield (*row, chain)
    except (*PROBLEMS, TypeError):  # a page that cannot be read; a text that has become bytes
        return


def tail(db: sqlite3.Connection, table: str) -> tuple[int, bytes]:
    """The number and the checksum of the last row."""
    row = db.execute(f"SELECT number, chain FROM {table} ORDER BY number DESC LIMIT 1").fetchone()
    return (0, START) if row is None else (row[0], row[1])


def at(db: sqlite3.Connection, table: str, number: int) -> bytes | None:
    """The checksum at a row; None if there is no such row."""
    if number == 0:
        return START
    row = db.execute(f"SELECT chain FROM {table} WHERE number = ?", (number,)).fetchone()
    return None if row is None else row[0]


# The journal's end, written down beside the journal after each commit and before anything is acknowledged.


END_FILE = "journal.end"
LENGTH = 200  # more than a line is long
sync = getattr(os, "fdatasync", os.fsync)  # the length never changes, so the content alone need be on disk


class End(NamedTuple):
    """The numbers of the last example and of the last undo, and their checksums."""

    examples: int = 0
    undos: int = 0
    example_chain: bytes = START
    undo_chain: bytes = START

    def line(self) -> bytes:
        said = f"{self.examples:015} {self.undos:015} {self.example_chain.hex()} {self.undo_chain.hex()}".encode()
        return said + b" " + _checksum(said) + b"\n"

    @classmethod
    def of(cls, line: bytes) -> End | None:
        """What a line says; None if it is damaged."""
        said, _, check = line.rstrip(b"\n").rpartition(b" ")
        if check != _checksum(said):
            return None
        examples, undos, *chains = said.decode().split()
        return cls(int(examples), int(undos), *map(bytes.fromhex, chains))


def _checksum(said: bytes) -> bytes:
    return blake2b(said, digest_size=8).hexdigest().encode()


class EndRecord:
    """The file that holds the end of the journal in a folder."""

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder / END_FILE
        if read_only and not self.path.exists():
            self._file = -1
        else:
            flags = os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT
            self._file = os.open(self.path, flags | os.O_CLOEXEC, 0o644)

    def close(self) -> None:
        if self._file != -1:
            os.close(self._file)
            self._file = -1

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Alone among all processes."""
        import fcntl

        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def line(self) -> bytes:
        """What is written, to whoever holds the record; nothing if there is no record yet."""
        return os.pread(self._file, LENGTH, 0)

    def line_beside(self) -> bytes:
        """What is written, to whoever only reads."""
        import fcntl

        if self._file == -1:
            return b""
        fcntl.flock(self._file, fcntl.LOCK_SH)
        try:
            return self.line()
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def write(self, end: End) -> None:
        """Returns when the disk has it."""
        os.pwrite(self._file, end.line(), 0)
        sync(self._file)
