"""How long rows may be that corrections are learned from as they are (values="raw").

A step corrects the score of its own row x by step·|x|² times its error, and those of its neighbours by nearly as much.
Where that is far above 1 each correction is a larger error than the one it was made for, until nothing is a finite
number any more. Rows of unit length, which "l2" makes, are safe; how much longer they may be depends on how alike they
are, so that what is surely too long is refused before it is learned, and what has grown without end afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.arrays.rows import Rows, RowStore
from shortlist.errors import InputError

MOST = 100.0  # step·|x|²; what was tried went wrong from 100 to 300 on
PIECE = 2048  # rows of a store that are looked at at a time
ROUNDED = 1.001  # times what the square of a length may be: values of files have fewer digits


def check_lengths(rows: Rows | RowStore, values: str, step: float, called: Callable[[int], str]) -> None:
    """Refuse rows that are too long to be learned as they are; ``called`` says what each is called.

    Rows of a store are made for it some at a time, once more than they are learned: few ask for rows as they are.
    """
    if values != "raw" or step <= 0:
        return
    if isinstance(rows, Rows):
        _check_some(rows, step, called)
        return
    for first in range(0, rows.n_rows, PIECE):
        some = rows.chosen(np.arange(first, min(first + PIECE, rows.n_rows)))
        _check_some(some, step, lambda n, first=first: called(first + n))  # type: ignore[misc]


def _check_some(rows: Rows, step: float, called: Callable[[int], str]) -> None:
    row = np.repeat(np.arange(rows.n_rows), rows.lengths())
    with np.errstate(over="ignore"):
        squares = np.bincount(row, np.square(rows.data[rows.indptr[0] : rows.indptr[-1]]), rows.n_rows)
    if squares.size and squares.max() > MOST / step:
        longest = int(np.argmax(squares))
        length, most = math.sqrt(squares[longest]), math.sqrt(MOST / step)
        raise InputError(
            f"{called(longest)} has the length {length:.4g}, and with step={step:g} corrections of rows longer "
            f"than {most:.4g} grow without end; learn with values='l2', which gives rows the length 1, or scale them"
        )


def are_counts(stats: Floats, n: int) -> bool:
    """Whether these n numbers of a model file can be what a learner has counted: finite, and at least 0."""
    return stats.size == n and bool((np.isfinite(stats) & (stats >= 0)).all())


def are_rows(values: str, step: float, squares: Floats, n_entries: Longs) -> bool:
    """Whether rows of a model file, of so many entries, can have been learned: by the squares of their lengths."""
    most = {"l2": ROUNDED, "raw": ROUNDED * MOST / step if step > 0 else math.inf}.get(values, n_entries)
    return bool((squares <= most).all())


def check_finite(values: str, bias: Floats) -> None:
    """Refuse to go on with corrections that have grown without end."""
    if not _all_finite(bias):
        how = "a smaller step"
        if values == "raw":
            how = "values='l2', which gives rows the length 1, with scaled rows or with a smaller step"
        raise InputError(
            "what was learned are no longer finite numbers, as corrections have grown without end; learn anew with "
            + how
        )


@kernel
def _all_finite(numbers: Floats) -> bool:
    """Whether all are: what is not stays so when it is multiplied by 0, and in a sum. There is no array of answers."""
    total = 0.0
    for number in numbers:
        total += number * 0.0
    return total == 0.0
