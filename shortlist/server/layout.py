"""The tables of the journal's file, and how those of earlier versions become them.

Version 1 had no chain. Version 2 knew only what was right, and nobody's name; changes of labels came while it was the
newest, so its first readers do not know them. Version 3 had no documents of fields. A column that came later has a
value that says nothing, and a row whose later columns say nothing has the checksum that it had without them (chain.py):
so a journal that goes on keeps its chain, and the snapshots that are named after it.
"""

from __future__ import annotations

import sqlite3

from shortlist.server import chain

VERSION = 4

TABLES = """
CREATE TABLE examples (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    key TEXT UNIQUE,
    text TEXT NOT NULL,
    labels TEXT NOT NULL,  -- a JSON list: those that are right; or an object, which is a change of labels
    place INTEGER,         -- where the best of its labels stood before it was learned; NULL if not among the first
    chain BLOB             -- the checksum of this row and of all before it
);
CREATE TABLE undos (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    example INTEGER NOT NULL UNIQUE REFERENCES examples,
    chain BLOB
);
"""
LATER = {  # by the version that they came with
    "examples": {
        "wrong": (3, "TEXT NOT NULL DEFAULT '[]'"),  # a JSON list: labels that were crossed out
        "complete": (3, "INTEGER NOT NULL DEFAULT 1"),  # whether all other labels are wrong; 0: they were not judged
        "person": (3, "TEXT NOT NULL DEFAULT ''"),  # who judged
        "vector": (3, "TEXT NOT NULL DEFAULT ''"),  # that of the text (meaning.py)
        "fields": (4, "INTEGER NOT NULL DEFAULT 0"),  # whether the text is an object of fields (documents.py)
    },
    "undos": {"person": (3, "TEXT NOT NULL DEFAULT ''")},
}


def missing(table: str, found: int) -> dict[str, str]:
    """The columns that a table of an earlier version has not."""
    return {name: kind for name, (since, kind) in LATER[table].items() if since > found}


def make(db: sqlite3.Connection, found: int) -> None:
    """Make the tables, or of those of an earlier version what they are now."""
    if found == 0:
        for statement in TABLES.split(";\n")[:-1]:
            db.execute(statement)
    for table in LATER:
        for name, kind in missing(table, found).items():
            db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")
        if found == 1:
            chain.add_chain(db, table)
    db.execute(f"PRAGMA user_version={VERSION}")


def look_like_now(db: sqlite3.Connection, found: int) -> None:
    """Let the tables of an earlier version, in a file that must not be changed, be read as if they were today's.

    Whoever may write can bring the file up to date meanwhile: then its own columns come first, and are the ones read.
    """
    db.execute("PRAGMA temp_store=MEMORY")
    for table in LATER:
        silent = [f"{kind.rpartition(' ')[2]} AS {name}" for name, kind in missing(table, found).items()]
        silent += ["NULL AS chain"] * (found == 1)
        if silent:
            db.execute(f"CREATE TEMP VIEW {table} AS SELECT *, {', '.join(silent)} FROM main.{table}")
