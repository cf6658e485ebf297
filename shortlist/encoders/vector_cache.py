"""Vectors that were made before: one SQLite file for each encoder, bounded in size.

A vector is found by the digest of its text, so that no text is in the file. Losing the file costs
time and nothing else: a file that cannot be read or written is passed over.

    SHORTLIST_CACHE       the folder of these files, or ``off``
    SHORTLIST_CACHE_SIZE  the bytes of a file, such as 500MB; 1GB if not set
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shortlist.data.validation import as_size
from shortlist.encoders.fingerprint import agree

FOLDER_VARIABLE = "SHORTLIST_CACHE"
SIZE_VARIABLE = "SHORTLIST_CACHE_SIZE"
CACHE_OFF = "off"
DEFAULT_SIZE = "1GB"
LEAST_SIZE = 1_000_000  # bytes
ROW_OVERHEAD = 64  # bytes of a row beside its numbers
KEYS_AT_ONCE = 500  # in one query
SECONDS_TO_WAIT = 5.0  # for another process that writes
SQL_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = CACHE_OFF;
CREATE TABLE IF NOT EXISTS encoder (identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, text BLOB UNIQUE, vector BLOB);
"""

Vectors = NDArray[np.float32]


def cache_folder() -> Path | None:
    """The folder of the cache; None if it is turned off."""
    named = os.environ.get(FOLDER_VARIABLE, "")
    if named == CACHE_OFF:
        return None
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "shortlist" / "vectors"


class VectorCache:
    """The vectors of one encoder.

    ``name`` chooses the file. ``identity`` is the digest or fingerprint of the encoder: a file of
    another encoder is emptied.
    """

    def __init__(self, folder: Path, name: str, identity: str, dimension: int) -> None:
        self._path = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.sqlite"
        self._identity = identity
        self._dimension = dimension
        size = as_size(os.environ.get(SIZE_VARIABLE, DEFAULT_SIZE), SIZE_VARIABLE, least=LEAST_SIZE)
        self._most_rows = size // (4 * dimension + ROW_OVERHEAD)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0  # the one that opened the connection

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The vectors that are there, by the digests of their texts."""
        rows: dict[bytes, Vectors] = {}

        def select(connection: sqlite3.Connection) -> None:
            for first in range(0, len(keys), KEYS_AT_ONCE):
                some = keys[first : first + KEYS_AT_ONCE]
                marks = ",".join("?" * len(some))
                query = f"SELECT text, vector FROM vectors WHERE text IN ({marks})"
                for key, stored in connection.execute(query, some):
                    vector = np.frombuffer(stored, dtype="<f4")
                    if vector.size == self._dimension and np.isfinite(vector).all():
                        rows[key] = vector.astype(np.float32)

        self._attempt(select)
        return rows

    def add(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep vectors; the oldest make room."""
        rows = zip(keys, (row.astype("<f4").tobytes() for row in vectors), strict=True)

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO vectors (text, vector) VALUES (?, ?)", rows
                )
                connection.execute(
                    "DELETE FROM vectors WHERE number <= (SELECT max(number) FROM vectors) - ?",
                    [self._most_rows],
                )

        self._attempt(insert)

    def _attempt(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Work with the file. After a problem it is closed, and removed if it is damaged."""
        with self._lock:
            try:
                work(self._opened())
            except (OSError, sqlite3.Error, ValueError, TypeError) as problem:
                self._close()
                if type(problem) is sqlite3.DatabaseError:
                    with suppress(OSError):
                        self._path.unlink()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None and self._process == os.getpid():
            self._close()

    def _opened(self) -> sqlite3.Connection:
        """The connection of this process."""
        if self._connection is None or self._process != os.getpid():
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(
                self._path, timeout=SECONDS_TO_WAIT, check_same_thread=False
            )
            self._process = os.getpid()
            self._connection.executescript(SQL_TABLES)
            self._check_identity(self._connection)
        return self._connection

    def _check_identity(self, connection: sqlite3.Connection) -> None:
        """Empty a file whose vectors are of another encoder."""
        with connection:
            known = connection.execute("SELECT identity FROM encoder").fetchone()
            if known is not None and agree(str(known[0]), self._identity):
                return
            connection.execute("DELETE FROM vectors")
            connection.execute("DELETE FROM encoder")
            connection.execute("INSERT INTO encoder VALUES (?)", [self._identity])
