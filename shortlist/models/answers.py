"""What a model of categories answers: rankings, and labels assigned, as lines for people and records for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs
from shortlist.errors import InputError
from shortlist.labels import sorting
from shortlist.models.confidence import Reason
from shortlist.ranking import Ranking


class JudgedRanking(NamedTuple):
    """Rankings of some examples, and the labels that they have."""

    ranking: Ranking
    labels: Sequence[list[Any]]


class RankedLabels:
    """The best labels of some examples, as answers."""

    def __init__(self, ranking: Iterable[Ranking], ids: Sequence[str] | None) -> None:
        self.ranking, self.ids = ranking, ids

    def lines(self) -> Iterator[str]:
        """Label, score, label, score, … of each example, separated by tabs."""
        for one in self.ranking:
            yield "\t".join(f"{_on_one_line(label)}\t{score:.6g}" for label, score in one)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.ranking):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": [label for label, _ in one], "scores": [score for _, score in one]}
            chances = one.probabilities[one.ids >= 0].tolist()
            known = chances and chances[0] == chances[0]
            yield named | found | ({"probabilities": chances} if known else {})


class Assigned(list[Any]):
    """The labels assigned to an example, best first; empty where it abstains, and ``reason`` says why."""

    def __init__(self, ranking: Ranking, reason: Reason) -> None:
        super().__init__(label for label, _ in ranking)
        self.reason = reason
        self.probabilities: Floats = ranking.probabilities


class AssignedLabels(RankedLabels):
    """Labels assigned to some examples, as answers."""

    def __init__(self, assigned: list[Assigned], ids: Sequence[str] | None) -> None:
        self.assigned, self.ids = assigned, ids

    def lines(self) -> Iterator[str]:
        """The labels of each example and their probabilities, separated by tabs; nothing where it abstains."""
        for one in self.assigned:
            pairs = zip(one, one.probabilities.tolist(), strict=True)
            yield "\t".join(f"{' '.join(str(label).split())}\t{p:.4f}" for label, p in pairs)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.assigned):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": list(one), "probabilities": one.probabilities.tolist()}
            yield named | found | ({} if one else {"reason": str(one.reason)})


def _on_one_line(label: Any) -> str:
    """A label that can stand between tabs."""
    return str(label).replace("\t", " ").replace("\n", " ").replace("\r", " ")


# Probabilities in the form that scikit-learn asks for: a column for each class.


MOST = 10**8  # numbers of a table: nearly a gigabyte


def check_table(n_rows: int, n_classes: int) -> None:
    """Refuse a table that nobody has the memory for."""
    if n_rows * n_classes > MOST:
        raise InputError(
            f"predict_proba gives a number for each text and label, and {n_rows:,} × {n_classes:,} are too many; "
            "rank(texts, k).probabilities gives those of the best labels"
        )


def check_order(classes: NDArray[Any]) -> None:
    """Refuse labels whose columns scikit-learn would take for those of others."""
    names = classes.tolist()
    if names != sorted(names, key=sorting):
        raise InputError(
            "scikit-learn takes the columns of predict_proba in the sorted order of the labels, as fit numbers them, "
            "and this model has learned them from a stream, in the order in which they came; use fit, name all labels "
            "first (partial_fit with classes), or use rank(texts).probabilities"
        )


def of_columns(ranking: Ranking, column: Longs, n_columns: int) -> Floats:
    """The probability of each label of an indicator matrix; label i has column[i], −1 if none (and for label −1)."""
    table = np.zeros((ranking.ids.shape[0], n_columns))
    row, place = np.nonzero(column[ranking.ids] >= 0)
    table[row, column[ranking.ids[row, place]]] = ranking.probabilities[row, place]
    return table


def summing_to_one(ranking: Ranking, counts: Longs) -> Floats:
    """The probabilities of all labels, seen so often each, that are one text's only label."""
    shares: Floats = counts / max(1, int(counts.sum()))
    table = np.tile(shares, (ranking.ids.shape[0], 1))
    for row, ids, chances in zip(table, ranking.ids, ranking.probabilities, strict=True):
        known = ids[ids >= 0]
        if known.size == 0:
            continue
        row *= chances[known.size - 1]
        row[known] = chances[: known.size]
        best, others = known[0], row.sum() - row[known[0]]
        if others > 0:
            left = (1.0 - row[best]) / others
            kept = row[best]
            row *= left
            row[best] = kept
        row /= row.sum()
    return table
