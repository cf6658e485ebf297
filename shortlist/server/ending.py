"""The journal's end, written down beside the journal after each commit and before anything is acknowledged.

What SQLite cannot read of its write-ahead log it drops without a word, as if it had never been committed. The record
of the end says what was, so that a lost end is known. It is one line, rewritten in place and on disk before the
commit is answered; while it is held, no other process commits.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from shortlist.server import chain

FILE = "journal.end"
LENGTH = 200  # more than a line is long
sync = getattr(os, "fdatasync", os.fsync)  # the length never changes, so the content alone need be on disk


class End(NamedTuple):
    """The numbers of the last example and of the last undo, and their checksums."""

    examples: int = 0
    undos: int = 0
    example_chain: bytes = chain.START
    undo_chain: bytes = chain.START

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
        self.path = folder / FILE
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
