"""A sparse matrix of any of SciPy's kinds -> the arrays of a CSR matrix, checked.

SciPy's own conversions check no bounds, as little as our kernels do: an index that is out of range leads them out of
their arrays. So the check comes before the first conversion. ``check_format`` is not used: it takes an empty matrix
with any offsets, and it modifies what it checks.
"""

from __future__ import annotations

import sys
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from shortlist.errors import InputError, counted

MOST_COLUMNS = np.iinfo(np.int32).max


class Compressed(NamedTuple):
    """Row i has data[indptr[i]:indptr[i+1]], in the columns indices[indptr[i]:indptr[i+1]]: ascending, no zeros."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[np.float64]


def is_sparse(X: object) -> bool:
    """Whether X is one of SciPy's matrices; of an array, as most are, that is known sooner than SciPy can tell."""
    loaded = sys.modules.get("scipy.sparse")  # whoever has such a matrix has loaded it
    return type(X) is not np.ndarray and loaded is not None and bool(loaded.issparse(X))


def compressed(X: scipy.sparse.sparray | scipy.sparse.spmatrix, name: str = "X") -> Compressed:
    """The rows of a sparse matrix of finite numbers. Arrays are shared where nothing had to be changed."""
    if X.ndim != 2:
        raise InputError(f"{name} must have two dimensions, not {X.ndim}; of one row, write {name}.reshape(1, -1)")
    if X.shape[1] > MOST_COLUMNS:
        raise InputError(f"{name} has {X.shape[1]} columns; at most {MOST_COLUMNS} can be indexed")
    try:
        found = _rows_of(X)
    except (ValueError, TypeError, IndexError, OverflowError) as problem:
        raise InputError(f"{name} is no {X.format.upper()} matrix that can be used: {problem}") from None
    if not _is_canonical(found) or not found.data.all():
        matrix = _as_matrix(found, X.shape).copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        found = Compressed(matrix.indptr, matrix.indices, matrix.data)
    finite = np.isfinite(found.data)
    if not finite.all():
        at = int(np.argmin(finite))
        row = int(np.searchsorted(found.indptr, at, side="right")) - 1
        value = "NaN" if np.isnan(found.data[at]) else "infinity or a sum that is too large"
        raise InputError(f"Input {name} contains {value}, in row {row}, column {found.indices[at]}")
    return found


def one_row(x: scipy.sparse.sparray, name: str = "x") -> scipy.sparse.coo_array:
    """A sparse array of one dimension as a matrix of one row."""
    columns = np.asarray(x.indices if x.format == "csr" else x.tocoo().coords[-1])
    try:
        return scipy.sparse.coo_array((x.data, (np.zeros(columns.size, np.int64), columns)), shape=(1, x.shape[-1]))
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
        coords = np.repeat(np.arange(len(X.rows)), [len(own) for own in X.rows]), columns
    elif X.format == "dia":
        matrix = scipy.sparse.dia_array((X.data, X.offsets), shape=X.shape)  # refuses data that do not fit the offsets
        inside = (matrix.offsets > -n_rows) & (matrix.offsets < n_columns)
        listed = scipy.sparse.dia_array((matrix.data[inside], matrix.offsets[inside]), shape=X.shape).tocoo()
        entries, coords = listed.data, (listed.row, listed.col)
    else:
        listed = X.tocoo()  # SciPy makes this with NumPy, which checks bounds
        entries, coords = listed.data, (listed.row, listed.col)
    for places, size in zip(coords, X.shape, strict=True):
        _check_places(places, size)
        if places.size != entries.size:
            raise ValueError(f"it has {counted(entries.size, 'values')} and {counted(places.size, 'places')} for them")
    matrix = scipy.sparse.coo_array((_as_floats(entries), coords), shape=X.shape).tocsr()
    return Compressed(matrix.indptr, matrix.indices, matrix.data)


def _within(X: Any, n_lists: int, n_places: int) -> Compressed:
    """The arrays of a CSR matrix, or of a CSC matrix seen sideways, whose offsets and places are all in range."""
    indptr, indices, data = np.asarray(X.indptr), np.asarray(X.indices), _as_floats(X.data)
    _check_whole(indptr)
    if indptr.shape != (n_lists + 1,) or indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"its indptr must be {n_lists + 1} numbers that ascend from 0")
    n = int(indptr[-1])
    if indices.ndim != 1 or data.ndim != 1 or n > indices.size or n > data.size:
        raise ValueError(f"its indptr ends at {n}, but has {indices.size} indices and {counted(data.size, 'values')}")
    _check_places(indices[:n], n_places)
    return Compressed(indptr, indices[:n], data[:n])


def _check_places(places: NDArray[Any], size: int) -> None:
    _check_whole(places)
    if places.size and (places.min() < 0 or places.max() >= size):
        wrong = places.min() if places.min() < 0 else places.max()
        raise ValueError(f"it has the index {wrong}, and indices must be at least 0 and below {size}")


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
    """Whether columns ascend strictly within each row, looked up afresh: a cached flag of SciPy's can be stale."""
    ascends = rows.indices[1:] > rows.indices[:-1]
    starts = rows.indptr[1:-1]
    starts = starts[(starts > 0) & (starts <= ascends.size)]
    ascends[starts - 1] = True  # the step from one row's last column to the next row's first
    return bool(ascends.all())


def _as_matrix(rows: Compressed, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    """As a SciPy matrix, with offsets and columns of the types that its loops are made for."""
    kind = np.int32 if max(rows.data.size, *shape) <= np.iinfo(np.int32).max else np.int64
    return scipy.sparse.csr_array((rows.data, rows.indices.astype(kind), rows.indptr.astype(kind)), shape=shape)
