"""The columns that were kept of the rows of users' tables, for exports.

The journal has no such columns: exports join it with the queue by the keys of judgements. A text's
id is made from the text, so adding the same file to a new queue brings a lost queue's columns back.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shortlist.server.journal_errors import SQLITE_ERRORS, JournalError
from shortlist.server.journal_file import LOCK_SECONDS
from shortlist.server.review_queue import QUEUE_FILE, QUEUE_VERSION, judgement_of


class KeptRows:
    """The kept columns of the texts of a queue, for reading alone: nothing is migrated or made."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / QUEUE_FILE

    def of(self, keys: Iterable[str | None]) -> dict[str | None, list[dict[str, Any]]]:
        """Return the rows of judged texts by the keys of their judgements."""
        ids: dict[str, list[str]] = {}
        for key in keys:
            id_and_attempt = None if key is None else judgement_of(key)
            if key is not None and id_and_attempt is not None:
                ids.setdefault(id_and_attempt[0], []).append(key)
        places = ", ".join("?" * len(ids))
        query = f"SELECT id, rows FROM items WHERE id IN ({places}) AND rows != '[]'"
        return {key: json.loads(rows) for id, rows in self._all(query, *ids) for key in ids[id]}

    def names(self) -> list[str]:
        """Return the names of all kept columns, in the order in which they came."""
        query = (
            "SELECT cell.key FROM items, json_each(items.rows) AS row, "
            "json_each(row.value) AS cell WHERE items.rows != '[]' "
            "GROUP BY cell.key ORDER BY min(items.number), min(cell.id)"
        )
        return [name for (name,) in self._all(query)]

    def _all(self, query: str, *values: Any) -> list[Any]:
        if not self.path.exists():
            return []
        address = f"{self.path.resolve().as_uri()}?mode=ro"
        if not os.access(self.path.parent, os.W_OK) and not self._log.exists():
            address += "&immutable=1"  # SQLite may not make its files there
        try:
            with contextlib.closing(sqlite3.connect(address, LOCK_SECONDS, uri=True)) as db:
                (version,) = db.execute("PRAGMA user_version").fetchone()
                return db.execute(query, values).fetchall() if version == QUEUE_VERSION else []
        except SQLITE_ERRORS as problem:
            raise JournalError(f"the queue {self.path} cannot be read ({problem})") from None

    @property
    def _log(self) -> Path:
        return self.path.with_name(f"{QUEUE_FILE}-wal")
