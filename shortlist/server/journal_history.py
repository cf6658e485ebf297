"""What the page and the queue ask of the journal: the history, search, fields and counts.

Nothing here is needed to rebuild a model.
"""

from __future__ import annotations

import numpy as np

from shortlist.data.texts import Vectors
from shortlist.server.entries import Entry, Judgement
from shortlist.server.journal import BEYOND_ANY_NUMBER, NOT_UNDONE, Journal

ROLLING_EXAMPLES = 200  # that the rolling measures look at
HAS_LABELS = "change IS NULL AND labels != '[]'"


class History:
    """The history of a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._rows = journal.file.rows

    def newest(
        self, before: int | None = None, limit: int = 20, key_prefix: str = ""
    ) -> list[Entry]:
        """Return the newest entries, newest first: in front of a number, or with this prefix of
        their keys.
        """
        where = "number < ? ORDER BY number DESC"
        number = before or BEYOND_ANY_NUMBER
        if not key_prefix:
            return self._journal.select(where, number, limit)
        span = _key_span(key_prefix)
        return self._journal.select(f"key >= ? AND key < ? AND {where}", *span, number, limit)

    def nearest(
        self, vector: Vectors, n: int = 3, looked_at: int = 1000
    ) -> list[tuple[float, Judgement]]:
        """Return the n nearest of the newest labelled examples that have a vector, with the
        cosine of each.
        """
        where = f"vector != '' AND {HAS_LABELS} AND {NOT_UNDONE} ORDER BY number DESC"
        judgements: list[Judgement] = []
        vectors: list[Vectors] = []
        for entry in self._journal.select(where, looked_at):
            assert isinstance(entry, Judgement)
            assert entry.vector is not None
            if entry.vector.shape == vector.shape:
                judgements.append(entry)
                vectors.append(entry.vector)
        if not vectors:
            return []
        matrix = np.array(vectors)
        lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
        cosines = (matrix @ vector) / np.maximum(lengths, np.finfo(np.float32).tiny)
        best = np.argsort(-cosines, kind="stable")[:n]
        return [(float(cosines[i]), judgements[i]) for i in best]

    def places(self) -> list[int | None]:
        """Return the rank of the best right label of each of the last examples before it was
        learned, oldest first. What a model decided does not count.
        """
        query = (
            f"SELECT place FROM entries WHERE {NOT_UNDONE} AND judge = 'person' AND {HAS_LABELS} "
            "ORDER BY number DESC LIMIT ?"
        )
        places = [place for (place,) in self._rows(query, (ROLLING_EXAMPLES,))]
        return places[::-1]

    def decided(self, limit: int) -> list[Judgement]:
        """Return the newest examples that the model decided and that were not undone."""
        where = f"judge = 'model' AND {NOT_UNDONE} ORDER BY number DESC"
        return [
            entry for entry in self._journal.select(where, limit) if isinstance(entry, Judgement)
        ]

    def decision(self, number: int) -> list[int]:
        """Return the examples that the model decided in one commit, undone or not, by the
        number of the first.
        """
        query = (
            "SELECT number FROM entries WHERE number >= ?1 AND judge = 'model' "
            "AND time = (SELECT time FROM entries WHERE number = ?1)"
        )
        return [number for (number,) in self._rows(query, (number,))]

    def keyed(self, key_prefix: str, first: int, last: int) -> list[tuple[int, str]]:
        """Return number and key of the entries from one number to another whose keys have this
        prefix, undone or not.
        """
        # a few new ones are found by number, all of them by key
        key = "+key" if first > 1 else "key"
        query = (
            f"SELECT number, key FROM entries WHERE {key} >= ? AND {key} < ? AND number >= ? "
            "AND number <= ? ORDER BY number"
        )
        return list(self._rows(query, (*_key_span(key_prefix), first, last)))

    def undone_between(self, first: int, last: int) -> list[int]:
        """Return the entries that the undos from one number to another have undone."""
        query = "SELECT example FROM undos WHERE number >= ? AND number <= ? ORDER BY number"
        return [example for (example,) in self._rows(query, (first, last))]

    def field_names(self) -> list[str]:
        """Return the names of the fields of all examples that were not undone, in alphabetical
        order.
        """
        query = (
            "SELECT DISTINCT field.key FROM entries, json_each(text) AS field WHERE fields = 1 "
            f"AND {NOT_UNDONE} ORDER BY 1"
        )
        return [name for (name,) in self._rows(query)]

    def has_in_a_list(self, letters: str) -> bool:
        """Return whether these letters may be in a label, or in a list that is a field of a
        document.
        """
        in_a_field = (
            "SELECT 1 FROM json_each(text) AS field "
            "WHERE field.type = 'array' AND instr(field.value, ?1)"
        )
        query = (
            "SELECT EXISTS (SELECT 1 FROM entries WHERE change IS NULL AND (instr(labels, ?1) "
            f"OR instr(wrong, ?1) OR (fields = 1 AND EXISTS ({in_a_field}))))"
        )
        return bool(self._journal.file.row(query, (letters,))[0])


def _key_span(prefix: str) -> tuple[str, str]:
    """Return the first key with a prefix, and the first key behind them."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)
