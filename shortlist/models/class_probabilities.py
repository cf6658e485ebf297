"""Probabilities in the form that scikit-learn asks for: a column for each class.

Where each text has one label, a row sums to 1: the best label has the probability that it has in a ranking, and the
others share what is left, in proportion to theirs; a label that was not retrieved counts as the last one that was,
times its share of the examples. A text of which nothing is known has the shares of all labels. Where labels came as an
indicator matrix of several, each column holds the probability that its label is right, and nothing need sum to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs
from shortlist.errors import InputError
from shortlist.labels import sorting
from shortlist.ranking import Ranking

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
