"""Every array from outside is checked here, since kernels check nothing."""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Collection, Sequence
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from shortlist.data.rows import MatrixLike, Rows, as_plain
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Choice = TypeVar("Choice")


def as_rows(X: MatrixLike) -> Rows:
    """Check a dense or sparse matrix and give its rows, columns ascending, without stored zeros or
    repeats.

    The caller's matrix is never modified. ``Rows`` were checked before.
    """
    if isinstance(X, Rows):
        return X
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


class WrongType(InputError, TypeError):
    """Values of a wrong type: scikit-learn's tools expect a TypeError, all others an InputError."""


def _as_matrix(X: MatrixLike) -> Any:
    """A dense matrix of finite numbers (or a sparse one, from a frame of sparse columns)."""
    if (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.shape[1] > 0
    ):
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        if np.isfinite(matrix).all():
            return matrix  # the usual case; check_array takes longer than learning one row
    from sklearn.utils.validation import check_array

    try:
        return check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=0)
    except TypeError as problem:
        raise WrongType(" ".join(str(problem).split())[:300]) from None
    except (ValueError, OverflowError) as problem:
        raise InputError(" ".join(str(problem).split())[:300]) from None


def _from_dense(array: NDArray[np.float64]) -> Rows:
    """As SciPy would convert it, several times faster. Without zeros it shares the memory of
    the array if possible.
    """
    n_rows, width = array.shape
    columns = np.arange(width, dtype=np.int32)
    if array.all():
        indices = columns if n_rows == 1 else np.tile(columns, n_rows)
        return Rows(
            np.arange(0, array.size + 1, width, dtype=np.int64),
            indices,
            as_plain(array.ravel(), np.float64),
            width,
        )
    stored = array != 0
    ends = np.cumsum(np.count_nonzero(stored, axis=1), dtype=np.int64)
    return Rows(
        np.append(0, ends), np.broadcast_to(columns, array.shape)[stored], array[stored], width
    )


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
            f"{name} has {counted(array.size, 'entries')} where {length} are needed, one for each "
            "row of X"
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
    """How many threads the user allows by ``n_jobs``: one for None, as many as there are
    processors for −1.
    """
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
        number = float(operator.pos(value))  # type: ignore[arg-type] # refuses text, which float() would read
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, not {value!r}") from None
    if np.isinf(number):
        raise InputError(f"{name} must be a finite number, not {number:g}")
    if not least <= number <= most:
        bounds = (
            f"lie between {least:g} and {most:g}" if np.isfinite(most) else f"be at least {least:g}"
        )
        raise InputError(
            f"{name} must {bounds if np.isfinite(least) else 'be a number'}, not {number:g}"
        )
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
        match = re.fullmatch(r"([0-9]*\.?[0-9]+) ?([kMGT]B)?", value.strip())
        if match is None:
            raise InputError(
                f"{name} must be a number of bytes, or one with kB, MB, GB or TB, not {value!r}"
            )
        number = int(Decimal(match[1]) * SIZES.get(match[2], 1))
    number = as_whole(number, name, most=MOST_AMOUNT)
    if number < least:
        raise InputError(f"{name} must be at least {least // 10**6} MB, not {value!r}")
    return number


# A sparse matrix of any of SciPy's kinds -> the arrays of a CSR matrix, checked.
#
# SciPy's own conversions check no bounds, as little as our kernels do: an index out of range leads
# them out of their arrays. So the check comes before the first conversion. ``check_format`` is not
# used: it takes an empty matrix with any offsets, and it modifies what it checks.


MOST_COLUMNS = np.iinfo(np.int32).max


class Compressed(NamedTuple):
    """Row i has data[indptr[i]:indptr[i+1]], in the columns indices[indptr[i]:indptr[i+1]]:
    ascending, no zeros.
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[np.float64]


def is_sparse(X: object) -> bool:
    """Whether X is one of SciPy's matrices, without loading SciPy."""
    loaded = sys.modules.get("scipy.sparse")  # loaded if such a matrix exists
    return type(X) is not np.ndarray and loaded is not None and bool(loaded.issparse(X))


def compressed(X: scipy.sparse.sparray | scipy.sparse.spmatrix, name: str = "X") -> Compressed:
    """The rows of a sparse matrix of finite numbers. Arrays are shared if nothing had to be
    changed.
    """
    if X.ndim != 2:
        raise InputError(
            f"{name} must have two dimensions, not {X.ndim}; of one row, write {name}.reshape(1, "
            "-1)"
        )
    if X.shape[1] > MOST_COLUMNS:
        raise InputError(f"{name} has {X.shape[1]} columns; at most {MOST_COLUMNS} can be indexed")
    try:
        rows = _rows_of(X)
    except (ValueError, TypeError, IndexError, OverflowError) as problem:
        raise InputError(f"{name} is not a usable {X.format.upper()} matrix: {problem}") from None
    if not _is_canonical(rows) or not rows.data.all():
        matrix = _as_csr(rows, X.shape).copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        rows = Compressed(matrix.indptr, matrix.indices, matrix.data)
    finite = np.isfinite(rows.data)
    if not finite.all():
        at = int(np.argmin(finite))
        row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
        value = "NaN" if np.isnan(rows.data[at]) else "infinity or a sum that is too large"
        raise InputError(f"Input {name} contains {value}, in row {row}, column {rows.indices[at]}")
    return rows


def one_row(x: scipy.sparse.sparray, name: str = "x") -> scipy.sparse.coo_array:
    """A sparse array of one dimension as a matrix of one row."""
    columns = np.asarray(x.indices if x.format == "csr" else x.tocoo().coords[-1])
    try:
        return scipy.sparse.coo_array(
            (x.data, (np.zeros(columns.size, np.int64), columns)), shape=(1, x.shape[-1])
        )
    except (ValueError, TypeError, IndexError, OverflowError) as problem:
        raise InputError(f"{name} is not a sparse row that can be used: {problem}") from None


def _rows_of(X: Any) -> Compressed:
    """The rows of a matrix, their columns in any order."""
    n_rows, n_columns = X.shape
    if X.format == "csr":
        return _within(X, n_rows, n_columns)
    if X.format == "csc":
        matrix = scipy.sparse.csc_array(_within(X, n_columns, n_rows)[::-1], shape=X.shape).tocsr()
        return Compressed(matrix.indptr, matrix.indices, matrix.data)
    if X.format == "lil":
        entries = np.fromiter(chain.from_iterable(X.data), dtype=X.dtype)
        columns = np.fromiter(chain.from_iterable(X.rows), dtype=np.int64)
        coords = (
            np.repeat(np.arange(len(X.rows)), [len(row_columns) for row_columns in X.rows]),
            columns,
        )
    elif X.format == "dia":
        # refuses data that do not fit the offsets
        matrix = scipy.sparse.dia_array((X.data, X.offsets), shape=X.shape)
        inside = (matrix.offsets > -n_rows) & (matrix.offsets < n_columns)
        listed = scipy.sparse.dia_array(
            (matrix.data[inside], matrix.offsets[inside]), shape=X.shape
        ).tocoo()
        entries = listed.data
        coords = (listed.row, listed.col)
    else:
        listed = X.tocoo()  # SciPy makes this with NumPy, which checks bounds
        entries = listed.data
        coords = (listed.row, listed.col)
    for places, size in zip(coords, X.shape, strict=True):
        _check_places(places, size)
        if places.size != entries.size:
            raise ValueError(
                f"it has {counted(entries.size, 'values')} and {counted(places.size, 'places')} "
                "for them"
            )
    matrix = scipy.sparse.coo_array((_as_floats(entries), coords), shape=X.shape).tocsr()
    return Compressed(matrix.indptr, matrix.indices, matrix.data)


def _within(X: Any, n_lists: int, n_places: int) -> Compressed:
    """The arrays of a CSR matrix, or of a transposed CSC matrix, with all offsets and indices
    in range.
    """
    indptr = np.asarray(X.indptr)
    indices = np.asarray(X.indices)
    data = _as_floats(X.data)
    _check_whole(indptr)
    if indptr.shape != (n_lists + 1,) or indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"its indptr must be {n_lists + 1} numbers that ascend from 0")
    n = int(indptr[-1])
    if indices.ndim != 1 or data.ndim != 1 or n > indices.size or n > data.size:
        raise ValueError(
            f"its indptr ends at {n}, but has {indices.size} indices and "
            f"{counted(data.size, 'values')}"
        )
    _check_places(indices[:n], n_places)
    return Compressed(indptr, indices[:n], data[:n])


def _check_places(places: NDArray[Any], size: int) -> None:
    _check_whole(places)
    if places.size and (places.min() < 0 or places.max() >= size):
        wrong = places.min() if places.min() < 0 else places.max()
        raise ValueError(
            f"it has the index {wrong}, and indices must be at least 0 and below {size}"
        )


def _check_whole(array: NDArray[Any]) -> None:
    if array.dtype.kind not in "iu":
        raise TypeError(f"its indices must be whole numbers, not {array.dtype}")


def _as_floats(data: Any) -> NDArray[np.float64]:
    data = np.asarray(data)
    if data.dtype.kind not in "biuf":
        raise TypeError(f"its values must be real numbers, not {data.dtype}")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is then refused
        return data.astype(np.float64, copy=False)


def _is_canonical(rows: Compressed) -> bool:
    """Whether columns ascend strictly within each row; a cached flag of SciPy's can be stale."""
    ascends = rows.indices[1:] > rows.indices[:-1]
    starts = rows.indptr[1:-1]
    starts = starts[(starts > 0) & (starts <= ascends.size)]
    ascends[starts - 1] = True  # the step from one row's last column to the next row's first
    return bool(ascends.all())


def _as_csr(rows: Compressed, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    """As a SciPy matrix, with offsets and columns of the types that its loops take."""
    kind = np.int32 if max(rows.data.size, *shape) <= np.iinfo(np.int32).max else np.int64
    return scipy.sparse.csr_array(
        (rows.data, rows.indices.astype(kind), rows.indptr.astype(kind)), shape=shape
    )


# The names of a table's columns, kept and checked as scikit-learn does.


Names = NDArray[np.object_]


def column_names(X: object) -> Names | None:
    """The names of the columns of a data frame; None if there are none."""
    if _is_nameless(X):
        return None
    from sklearn.base import BaseEstimator

    table = BaseEstimator()  # takes the names of columns, as any estimator does
    look_at(table, X, reset=True)
    return getattr(table, "feature_names_in_", None)


def note_names(estimator: BaseEstimator, names: Names | None) -> None:
    """Keep the names of the columns that an estimator learned from, if any."""
    if names is not None:
        estimator.feature_names_in_ = names
    else:
        estimator.__dict__.pop("feature_names_in_", None)


def check_columns(estimator: BaseEstimator, X: object) -> None:
    """Refuse columns whose names, or whose order, changed since the estimator learned."""
    if hasattr(estimator, "feature_names_in_") or not _is_nameless(X):
        look_at(estimator, X, reset=False)


def check_names(learned_names: Sequence[str] | None, names: Sequence[str] | None) -> None:
    """Refuse columns of a file whose names or order differ from those learned, if both are
    known.
    """
    if learned_names is not None and names is not None and list(learned_names) != list(names):
        raise InputError(
            f"the columns are {', '.join(names)}, and the model learned from "
            f"{', '.join(learned_names)}; "
            "they must be the same, in the same order"
        )


def grown_names(estimator: BaseEstimator, X: object) -> Names | None:
    """The names of the columns including those of X: columns may be added at the end, but none
    may change.
    """
    learned_names: Names | None = getattr(estimator, "feature_names_in_", None)
    if learned_names is None and _is_nameless(X):
        return None
    names = column_names(X)
    if (
        learned_names is None
        or names is None
        or names.size <= learned_names.size
        or list(names[: learned_names.size]) != list(learned_names)
    ):
        check_columns(estimator, X)
        return learned_names
    return names


def _is_nameless(X: object) -> bool:
    return isinstance(X, (np.ndarray, list, tuple)) or is_sparse(X)


def look_at(estimator: BaseEstimator, X: object, *, reset: bool, width: bool = False) -> None:
    """Remember the names of the columns or check them, and with ``width`` their number, as
    scikit-learn does.
    """
    from sklearn.utils.validation import validate_data

    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True, ensure_2d=width)
    except (ValueError, TypeError) as problem:
        raise InputError(str(problem)) from None
