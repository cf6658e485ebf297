"""The door: every array is checked here, so that the kernels, which check nothing, can trust it."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.rows import MatrixLike, Rows, as_plain
from shortlist.arrays.sparse import compressed, is_sparse
from shortlist.errors import InputError, counted

Choice = TypeVar("Choice")


def as_rows(X: MatrixLike) -> Rows:
    """Check a dense or sparse matrix and give its rows, columns ascending, without stored zeros or repeats.

    The caller's matrix is never modified.
    """
    matrix: Any = X if is_sparse(X) else _as_matrix(X)
    if not is_sparse(matrix):
        return _from_dense(matrix)
    rows = compressed(matrix)
    return Rows(
        as_plain(rows.indptr, np.int64),
        as_plain(rows.indices, np.int32),
        as_plain(rows.data, np.float64),
        int(matrix.shape[1]),
    )


def check_nonnegative(rows: Rows, called: Callable[[int], str] = "row {}".format) -> None:
    """Refuse rows that hold a negative value; ``called`` says what each is called."""
    if rows.data.size and rows.data.min() < 0:
        row = int(np.searchsorted(rows.indptr, int(np.argmin(rows.data)), side="right")) - 1
        raise InputError(
            f"Negative values in data: {called(row)} holds {rows.data.min():g}, and this learner takes values of "
            "at least 0; TunedIndex and MMP learn from dense vectors of either sign, and sparse features v can be "
            "replaced by pairs max(v, 0), max(0, -v)"
        )


class WrongType(InputError, TypeError):
    """Not numbers: scikit-learn's tools look for a TypeError, and all others for an InputError."""


def _as_matrix(X: MatrixLike) -> Any:
    """What is not a sparse matrix, as a dense one of finite numbers (or a sparse one, of a frame with such columns)."""
    if type(X) is np.ndarray and X.dtype in (np.float64, np.float32) and X.ndim == 2 and X.shape[1] > 0:
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        if np.isfinite(matrix).all():
            return matrix  # as vectors come: for one of them the other way takes longer than to learn it
    from sklearn.utils.validation import check_array

    try:
        return check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=0)
    except TypeError as problem:
        raise WrongType(" ".join(str(problem).split())[:300]) from None
    except (ValueError, OverflowError) as problem:
        raise InputError(" ".join(str(problem).split())[:300]) from None


def _from_dense(array: NDArray[np.float64]) -> Rows:
    """As SciPy would make it, several times faster. Without zeros it shares the memory of the array, if it may."""
    n_rows, width = array.shape
    columns = np.arange(width, dtype=np.int32)
    if array.all():
        indices = columns if n_rows == 1 else np.tile(columns, n_rows)
        return Rows(
            np.arange(0, array.size + 1, width, dtype=np.int64), indices, as_plain(array.ravel(), np.float64), width
        )
    stored = array != 0
    ends = np.cumsum(np.count_nonzero(stored, axis=1), dtype=np.int64)
    return Rows(np.append(0, ends), np.broadcast_to(columns, array.shape)[stored], array[stored], width)


def as_numbers(values: ArrayLike, name: str, *, length: int | None = None) -> NDArray[np.float64]:
    """Check a one-dimensional array of finite numbers."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError):
        raise InputError(f"{name} must hold numbers") from None
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension, not {array.ndim}")
    if length is not None and array.size != length:
        raise InputError(
            f"{name} has {counted(array.size, 'entries')} where {length} are needed, one for each row of X"
        )
    if not np.isfinite(array).all():
        raise InputError(f"{name}[{int(np.argmin(np.isfinite(array)))}] is not a finite number")
    return array


MOST = 2**31 - 1  # the usual upper bound of whole-number parameters, which kernels add and multiply
MOST_AMOUNT = 2**62  # the upper bound of amounts: bytes, edges, examples
MOST_SEED = 2**32 - 1  # the highest seed that every random generator takes


def as_whole(value: object, name: str, *, least: int = 0, most: int = MOST) -> int:
    """Check a whole-number parameter against its bounds."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name} must be a whole number, not {value!r}") from None
    if number < least:
        raise InputError(f"{name} must be at least {least}, not {number}")
    if number > most:
        raise InputError(f"{name} must be at most {most}, not {number}")
    return number


def as_jobs(value: object) -> int:
    """How many threads the user allows by ``n_jobs``: one for None, as many as there are processors for −1."""
    jobs = 1 if value is None else as_whole(value, "n_jobs", least=-1)
    if jobs == 0:
        raise InputError("n_jobs must be at least 1, or -1 for all processors, not 0")
    return jobs if jobs > 0 else os.cpu_count() or 1


def as_seed(value: object) -> int | None:
    """Check a ``random_state``: a whole number, or None."""
    return None if value is None else as_whole(value, "random_state", most=MOST_SEED)


def as_real(value: object, name: str, *, least: float = -np.inf, most: float = np.inf) -> float:
    """Check a real-number parameter, which is finite, against its bounds."""
    try:
        number = float(operator.pos(value))  # type: ignore[arg-type] # a text, which float would read, has no sign
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, not {value!r}") from None
    if np.isinf(number):
        raise InputError(f"{name} must be a finite number, not {number:g}")
    if not least <= number <= most:
        bounds = f"lie between {least:g} and {most:g}" if np.isfinite(most) else f"be at least {least:g}"
        raise InputError(f"{name} must {bounds if np.isfinite(least) else 'be a number'}, not {number:g}")
    return number


def as_choice(value: object, name: str, choices: Collection[Choice]) -> Choice:
    """Check a parameter that takes one of a few values."""
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return cast("Choice", value)


SIZES = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def as_size(value: object, name: str, *, least: int = 0) -> int:
    """Check an amount of memory: a number of bytes, or text such as "2GB" or "500 MB"."""
    number = value
    if isinstance(value, str):
        found = re.fullmatch(r"([0-9]*\.?[0-9]+) ?([kMGT]B)?", value.strip())
        if found is None:
            raise InputError(f"{name} must be a number of bytes, or one with kB, MB, GB or TB, not {value!r}")
        number = int(Decimal(found[1]) * SIZES.get(found[2], 1))
    number = as_whole(number, name, most=MOST_AMOUNT)
    if number < least:
        raise InputError(f"{name} must be at least {least // 10**6} MB, not {value!r}")
    return number
