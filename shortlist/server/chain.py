"""A checksum chained from row to row, so that a journal that was changed from outside is known, and from where on.

Each row keeps the checksum of the row before it and of all that it says itself. One table's rows are numbered 1, 2, 3
and so on: a row that was changed, taken out, put in or moved breaks the chain at its number.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

SIZE = 16  # bytes
START = bytes(SIZE)  # before the first row
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
    except (sqlite3.Error, TypeError):  # a page that cannot be read; a text that has become bytes
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
