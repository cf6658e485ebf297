"""The scale: ordered ratings <-> step numbers 0, 1, …, k−1.

Ratings are numbers (1–5, half stars) or texts (A–D, "poor"…"excellent"). A given scale defines the
order and is closed: any other rating is an error. A learned scale contains the ratings so far in
their natural order (numbers by size, texts by code point), and a new rating is inserted in that
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from shortlist.compiled.kernels import Longs
from shortlist.errors import InputError, counted, there_are

Ratings = NDArray[Any]  # numbers or texts
Steps = NDArray[Any]  # the ratings of a scale, lowest first


def as_ratings(ratings: ArrayLike, n_rows: int) -> Ratings:
    """Check the ratings of n_rows examples: one each, all finite numbers or all texts."""
    if hasattr(ratings, "to_numpy"):
        ratings = ratings.to_numpy()  # a column of a pandas or polars frame
    try:
        array = column_or_1d(ratings, warn=True)
    except (ValueError, TypeError) as problem:
        raise InputError(" ".join(str(problem).split())[:300]) from None
    if array.size != n_rows:
        raise InputError(
            f"X has {counted(n_rows, 'rows')} but {there_are(array.size, 'ratings')}; each row "
            "needs one"
        )
    return _numbers_or_texts(array, "rating")


def as_steps(scale: ArrayLike, *, least: int = 2) -> Steps:
    """Check a scale, lowest rating first: at least ``least`` ratings, each once."""
    if isinstance(scale, str) or not hasattr(scale, "__len__"):
        raise InputError(f"scale must be a list of ratings, lowest first, not {scale!r}")
    steps = _numbers_or_texts(np.asarray(scale), "scale")
    if steps.ndim != 1 or steps.size < least:
        raise InputError(f"scale must list at least {least} ratings, lowest first")
    unique, times = np.unique(steps, return_counts=True)
    if unique.size < steps.size:
        raise InputError(f"scale lists the rating {unique[times > 1][0]!s} twice")
    return steps


def open_for(steps: Steps, ratings: Ratings) -> tuple[Steps, list[int]]:
    """The scale with new ratings inserted, and the step numbers of these, ascending."""
    if _is_text(steps) != _is_text(ratings):
        raise InputError(
            f"the scale so far holds {_kind(steps)}, but these ratings are {_kind(ratings)}"
        )
    wider = np.union1d(steps, ratings)
    return wider, np.flatnonzero(~np.isin(wider, steps)).tolist()


def step_numbers(steps: Steps, ratings: Ratings) -> Longs:
    """The step number of each rating; a rating outside the scale is an error."""
    if _is_text(steps) != _is_text(ratings):
        outside = np.ones(ratings.size, dtype=bool)
    else:
        sorter = np.argsort(steps, kind="stable")
        place = np.minimum(np.searchsorted(steps, ratings, sorter=sorter), steps.size - 1)
        numbers = sorter[place].astype(np.int64)
        outside = steps[numbers] != ratings
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            f"the rating {ratings[row]!s} of row {row} is outside the scale "
            f"{', '.join(map(str, steps))}; correct it, or give a scale that has it"
        )
    return numbers


def _numbers_or_texts(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype == object:
        values = array.reshape(-1).tolist()
        if all(isinstance(value, str) for value in values):
            return array.astype(str)
        kinds = set(map(type, values))
        if kinds <= {int, float, bool}:
            try:
                array = array.astype(np.float64 if float in kinds else np.int64)
            except OverflowError:
                raise InputError(
                    f"the {name} must hold numbers below 2**63, and one of these is larger"
                ) from None
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        number = int(np.argmin(np.isfinite(array.reshape(-1))))
        value = "NaN" if np.isnan(array.reshape(-1)[number]) else "infinity"
        raise InputError(f"{name} {number} is {value}, which has no place on a scale")
    if array.dtype.kind not in "biufU":
        raise InputError(
            f"the {name} must hold numbers only or text only, not {array.dtype} or a mixture"
        )
    if array.dtype.kind == "f":
        # −0 becomes 0: which of two equal ratings stays after sorting depends on the processor.
        array = array + 0.0
    return array


def _is_text(array: NDArray[Any]) -> bool:
    return array.dtype.kind == "U"


def _kind(array: NDArray[Any]) -> str:
    return "text" if _is_text(array) else "numbers"


def as_values(ratings: Sequence[str], scale: ArrayLike | None) -> Ratings:
    """Ratings read from a file as text, in the type of the scale: numbers if all are numbers,
    otherwise text.
    """
    if scale is not None:
        steps = np.asarray(scale, dtype=object).tolist()
        if not all(isinstance(step, (int, float, np.number)) for step in steps):
            return np.array(ratings, dtype=str if ratings else object)
    try:
        numbers = np.array(ratings, dtype=np.float64)
    except ValueError as problem:
        if scale is not None:
            raise InputError(f"the ratings of the model are numbers: {problem}") from None
        return np.array(ratings)
    if (numbers == np.round(numbers)).all():
        return numbers.astype(np.int64)
    return numbers
