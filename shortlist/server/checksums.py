"""The chain of checksums of the journal, and the file beside it that records its end.

Each row keeps a checksum of the row before it and of its own values. A row that was changed,
removed or moved breaks the chain at its number. A journal that was cut off ends before its record.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.server.journal_errors import SQLITE_ERRORS

END_FILE = "journal.end"
CHECKSUM_BYTES = 16
START = (0, bytes(CHECKSUM_BYTES))  # before the first row
LONGEST_LINE = 200
# the length of the record never changes, so its content is enough
sync = getattr(os, "fdatasync", os.fsync)


def chained(previous: bytes, values: Sequence[Any]) -> bytes:
    """Return the checksum of a row and of all rows before it."""
    content = previous + json.dumps(list(values)).encode()
    return blake2b(content, digest_size=CHECKSUM_BYTES).digest()


@dataclass(frozen=True)
class ChainedTable:
    """A table of the journal, each of whose rows has a checksum."""

    db: sqlite3.Connection
    name: str  # what errors call its rows
    table: str
    columns: str
    checked_values: Callable[[Sequence[Any]], Sequence[Any]]  # what the checksum of a row covers

    def newest(self) -> tuple[int, bytes]:
        """Return the number and checksum of the last row."""
        query = f"SELECT number, chain FROM {self.table} ORDER BY number DESC LIMIT 1"
        return self.db.execute(query).fetchone() or START

    def chain_at(self, number: int) -> bytes | None:
        """Return the checksum of a row; None if there is no such row."""
        if number == 0:
            return START[1]
        query = f"SELECT chain FROM {self.table} WHERE number = ?"
        row = self.db.execute(query, (number,)).fetchone()
        return None if row is None else row[0]

    def add(self, values: Sequence[Any]) -> int:
        """Add a row behind the last one, with its checksum; returns its number."""
        number, previous = self.newest()
        row = (number + 1, *values)
        self.insert((*row, chained(previous, self.checked_values(row))))
        return number + 1

    def insert(self, row: Sequence[Any]) -> None:
        """Insert a row as it is, with the checksum at its end."""
        places = ", ".join("?" * len(row))
        self.db.execute(f"INSERT INTO {self.table} ({self.columns}, chain) VALUES ({places})", row)

    def sound_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows in front of the first damaged one, in order, each with its checksum at
        the end.
        """
        number, chain = START
        query = f"SELECT {self.columns}, chain FROM {self.table} ORDER BY number"
        try:
            for row in self.db.execute(query):
                chain = chained(chain, self.checked_values(row[:-1]))
                number += 1
                if row[0] != number or row[-1] != chain:
                    return
                yield row
        except (*SQLITE_ERRORS, TypeError):  # an unreadable page; a text that has become bytes
            return

    def count_sound(self) -> int:
        return sum(1 for _ in self.sound_rows())


class End(NamedTuple):
    """The numbers and checksums of the last example and of the last undo."""

    examples: tuple[int, bytes] = START
    undos: tuple[int, bytes] = START

    def line(self) -> bytes:
        examples, example_chain = self.examples
        undos, undo_chain = self.undos
        values = f"{examples:015} {undos:015} {example_chain.hex()} {undo_chain.hex()}".encode()
        return values + b" " + blake2b(values, digest_size=8).hexdigest().encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> End | None:
        """Return the end that a line records; None if the line is damaged."""
        try:
            examples, undos, example_chain, undo_chain = line.decode().split()[:4]
            end = cls(
                (int(examples), bytes.fromhex(example_chain)),
                (int(undos), bytes.fromhex(undo_chain)),
            )
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
    def locked(self, exclusive: bool = True) -> Iterator[None]:
        """Lock the journal against writers; if ``exclusive``, also against readers of the
        record.
        """
        import fcntl

        if self._file == -1:
            yield
            return
        fcntl.flock(self._file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def line(self) -> bytes:
        """Return the recorded line, while the lock is held; empty if there is no record."""
        return b"" if self._file == -1 else os.pread(self._file, LONGEST_LINE, 0)

    def write(self, end: End) -> None:
        """Record an end; returns when it is on disk."""
        os.pwrite(self._file, end.line(), 0)
        sync(self._file)
