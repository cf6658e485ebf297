"""The tables of the journal's file."""

from __future__ import annotations

import sqlite3

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
    vector TEXT NOT NULL DEFAULT '',  -- that of the text (meaning.py)
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


def make(db: sqlite3.Connection) -> None:
    """Make the tables."""
    for statement in TABLES.split(";\n")[:-1]:
        db.execute(statement)
    db.execute(f"PRAGMA user_version={VERSION}")
