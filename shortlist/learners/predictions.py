"""What scikit-learn asks of a ranking of labels: one label for each row, or an indicator matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.label_input import Columns, Label
from shortlist.data.labels import LabelSets
from shortlist.data.validation import as_numbers


def best_or_most_frequent(ids: Ints, classes: NDArray[Any], counts: Longs) -> NDArray[Any]:
    """The best label of each row (ids int32[n], −1 for none), or else the most frequent one."""
    most_frequent = int(np.argmax(counts))
    predicted: NDArray[Any] = classes[np.where(ids < 0, most_frequent, ids)]
    return predicted


def mean_number_of_labels(counts: Longs, n_examples: int) -> int:
    """How many labels an example has on average, rounded; at least one."""
    return max(1, int(counts.sum() / max(n_examples, 1) + 0.5))


def columns_of_labels(names: Sequence[Label], columns: Columns) -> Longs:
    """The column of each label in an indicator matrix, −1 for none.

    The last entry, −1, stands for no label, whose id is −1.
    """
    place = {name: at for at, name in enumerate(columns)}
    return np.array([*(place.get(name, -1) for name in names), -1], dtype=np.int64)


def indicator_matrix(ids: Ints, names: Sequence[Label], columns: Columns) -> Longs:
    """Labels (ids n × k, −1 for none) as an indicator matrix with these columns."""
    column = columns_of_labels(names, columns)[ids]
    row, place = np.nonzero(column >= 0)
    matrix = np.zeros((ids.shape[0], len(columns)), dtype=np.int64)
    matrix[row, column[row, place]] = 1
    return matrix


def are_hits(best: Ints, truth: LabelSets) -> NDArray[np.bool_]:
    """Whether the best label of each row is one of its true labels."""
    row = np.repeat(np.arange(best.size), np.diff(truth.indptr))
    hits = np.zeros(best.size, dtype=np.bool_)
    hits[row[best[row] == truth.ids]] = True
    return hits


def share_of_hits(best: Ints, truth: LabelSets, sample_weight: ArrayLike | None) -> float:
    """R1: the share of rows whose best label is one of their true labels."""
    weights = None
    if sample_weight is not None:
        weights = as_numbers(sample_weight, "sample_weight", length=best.size)
    return float(np.average(are_hits(best, truth).astype(np.float64), weights=weights))


def probabilities_by_column(
    ids: Ints, probabilities: Floats, names: Sequence[Label], columns: Columns
) -> Floats:
    """The probability of each label of an indicator matrix, dense."""
    column = columns_of_labels(names, columns)[ids]
    row, place = np.nonzero(column >= 0)
    table = np.zeros((ids.shape[0], len(columns)))
    table[row, column[row, place]] = probabilities[row, place]
    return table


def probabilities_summing_to_one(ids: Ints, probabilities: Floats, counts: Longs) -> Floats:
    """The probabilities of all labels, dense, where each row has one label.

    Labels that are not ranked share what the others leave by how many examples they have.
    """
    prior: Floats = counts / max(1, int(counts.sum()))
    table = np.tile(prior, (ids.shape[0], 1))
    for row, row_ids, row_probabilities in zip(table, ids, probabilities, strict=True):
        ranked = row_ids[row_ids >= 0]
        if ranked.size == 0:
            continue
        row *= row_probabilities[ranked.size - 1]
        row[ranked] = row_probabilities[: ranked.size]
        best = ranked[0]
        best_probability = row[best]
        others = row.sum() - best_probability
        if others > 0:
            row *= (1.0 - best_probability) / others
            row[best] = best_probability
        row /= row.sum()
    return table
