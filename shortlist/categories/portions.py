"""Rows and their labels a run at a time, so that learning can stop between two runs (interrupts.py); or one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from shortlist.arrays.kernels import Longs
from shortlist.arrays.rows import MatrixLike, Rows, RowStore
from shortlist.arrays.sparse import one_row
from shortlist.concurrency import interrupts
from shortlist.concurrency.interrupts import runs
from shortlist.errors import InputError
from shortlist.labels import LabelSets, NumberedLabels

# Sees a learner about to learn rows and their labels in an order, and gives that order back, in pieces if the learner
# takes them: before each, the learner can be asked what it makes of rows that it has not learned.
Watch = Callable[[Any, Rows | RowStore, LabelSets, Longs], Iterator[Longs]]


def at_once(learner: object, rows: Rows | RowStore, labels: LabelSets, order: Longs) -> Iterator[Longs]:
    """Nobody watches."""
    yield order


def portions(rows: Rows, labels: NumberedLabels) -> Iterator[tuple[Rows, NumberedLabels]]:
    """The rows and their labels in runs, which share memory with them."""
    if rows.n_rows <= interrupts.RUN:
        yield rows, labels
        return
    for run in runs(rows.n_rows):
        indptr = rows.indptr[run.start : run.stop + 1]
        inside = slice(indptr[0], indptr[-1])
        indices, width = rows.indices[inside], rows.n_features
        if run.stop < rows.n_rows:  # learning may stop behind this run, and then knows no columns of later ones
            width = int(indices.max(initial=-1)) + 1
        yield Rows(indptr - indptr[0], indices, rows.data[inside], width), labels[run]


def as_one_row(x: MatrixLike) -> MatrixLike:
    """A vector as a matrix of one row."""
    if scipy.sparse.issparse(x):
        return one_row(x)
    try:
        array = np.asarray(x)
    except ValueError as problem:
        raise InputError(" ".join(str(problem).split())) from None
    return array.reshape(1, -1) if array.ndim == 1 else array
