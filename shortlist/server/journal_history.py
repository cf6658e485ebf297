"""What the page and the queue ask of the journal: the history, search, fields and counts.

Nothing here is needed to rebuild a model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.data.label_input import Label
from shortlist.data.texts import Vectors
from shortlist.server.entries import Entry, Judge, Judgement
from shortlist.server.journal import BEYOND_ANY_NUMBER, NOT_UNDONE, Journal

RECENT_CHECKS = 100
EXAMPLES_BEFORE = 500  # to which they are compared
ROLLING_EXAMPLES = 200  # that the rolling measures look at
DECIDED = "judge IN ('decided', 'model')"
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
        learned, oldest first: of spot checks if there are any, else of all that people judged.
        """
        query = (
            f"SELECT place FROM entries WHERE {NOT_UNDONE} AND judge = ? AND {HAS_LABELS} "
            "ORDER BY number DESC LIMIT ?"
        )
        rows = list(self._rows(query, (Judge.CHECK, ROLLING_EXAMPLES)))
        if not rows:
            rows = list(self._rows(query, (Judge.PERSON, ROLLING_EXAMPLES)))
        return [place for (place,) in rows[::-1]]

    def checks_and_before(self) -> tuple[list[Judgement], list[Judgement]]:
        """Return the last spot checks, and what people judged before them."""
        where = (
            f"number < ? AND judge {{}} AND change IS NULL AND {NOT_UNDONE} ORDER BY number DESC"
        )
        checks = self._select_judgements(
            where.format("= 'check'"), BEYOND_ANY_NUMBER, RECENT_CHECKS
        )
        oldest = checks[-1].number if checks else BEYOND_ANY_NUMBER
        people = where.format("IN ('check', 'person', 'import')")
        return checks, self._select_judgements(people, oldest, EXAMPLES_BEFORE)

    def _select_judgements(self, where: str, *values: Any) -> list[Judgement]:
        entries = self._journal.select(where, *values)
        return [entry for entry in entries if isinstance(entry, Judgement)]

    def count_judged(self, judge: Judge) -> int:
        """Return how many labelled entries have this judge and were not undone."""
        query = f"SELECT count(*) FROM entries WHERE judge = ? AND labels != '[]' AND {NOT_UNDONE}"
        return int(self._journal.file.row(query, (judge,))[0])

    def decided_since_check(self) -> int:
        """Return how many texts the model has decided since the last spot check was judged."""
        last = "SELECT coalesce(max(number), 0) FROM entries WHERE judge = 'check'"
        query = (
            f"SELECT count(*) FROM entries WHERE number > ({last}) AND {DECIDED} AND {NOT_UNDONE}"
        )
        return int(self._journal.file.row(query, ())[0])

    def decisions(self, limit: int) -> list[dict[str, Any]]:
        """Return the newest decisions of the model, newest first: the number of the first example
        of each, its time, who let the model decide, and how many texts it decided and were undone.
        """
        query = (
            "SELECT min(number), time, person, count(*), "
            f"sum(NOT {NOT_UNDONE}) FROM entries WHERE {DECIDED} GROUP BY time, person "
            "ORDER BY min(number) DESC LIMIT ?"
        )
        return [
            {"decision": number, "time": time, "person": person, "decided": n, "undone": n_undone}
            for number, time, person, n, n_undone in self._rows(query, (limit,))
        ]

    def decided(
        self, first_second: float, last_second: float, label: Label | None = None
    ) -> list[int]:
        """Return the examples that the model decided in a span of time and that were not undone;
        only those with this label.
        """
        query = (
            f"SELECT number FROM entries WHERE {DECIDED} AND time >= ? AND time < ? "
            f"AND {NOT_UNDONE}"
        )
        values: list[Any] = [first_second, last_second]
        if label is not None:
            query += " AND EXISTS (SELECT 1 FROM json_each(labels) WHERE json_each.value = ?)"
            values.append(label)
        return [number for (number,) in self._rows(query, tuple(values))]

    def newest_decided(self, limit: int) -> list[Judgement]:
        """Return the newest examples that the model decided and that were not undone."""
        return self._select_judgements(f"{DECIDED} AND {NOT_UNDONE} ORDER BY number DESC", limit)

    def newest_without_labels(self, limit: int) -> list[Judgement]:
        """Return the newest examples that people judged to have none of the labels."""
        where = (
            "labels = '[]' AND complete = 1 AND judge IN ('check', 'person', 'import') "
            f"AND change IS NULL AND {NOT_UNDONE} ORDER BY number DESC"
        )
        return self._select_judgements(where, limit)

    def decision(self, number: int) -> list[int]:
        """Return the examples that the model decided in one commit, undone or not, by the
        number of the first.
        """
        query = (
            f"SELECT number FROM entries WHERE number >= ?1 AND {DECIDED} "
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

    def has_examples(self, condition: str) -> bool:
        """Return whether a condition in SQL holds for an example that was not undone."""
        where = f"change IS NULL AND {NOT_UNDONE} AND ({condition})"
        query = f"SELECT EXISTS (SELECT 1 FROM entries WHERE {where})"
        return bool(self._journal.file.row(query)[0])

    def has_in_a_list(self, letters: str) -> bool:
        """Return whether these letters may be in a label, or in a list that is a field of a
        document.
        """
        in_a_field = (
            "SELECT 1 FROM json_each(text) AS field "
            "WHERE field.type = 'array' AND instr(field.value, ?1)"
        )
        query = (
            "SELECT EXISTS (SELECT 1 FROM entries WHERE (instr(labels, ?1) OR instr(wrong, ?1) "
            f"OR instr(coalesce(change, ''), ?1) OR (fields = 1 AND EXISTS ({in_a_field}))))"
        )
        return bool(self._journal.file.row(query, (letters,))[0])


def _key_span(prefix: str) -> tuple[str, str]:
    """Return the first key with a prefix, and the first key behind them."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)
