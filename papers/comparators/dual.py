"""Kernels: learning with w = Σ_s α_s·φ(x_s), where only inner products k(x, x') = φ(x)·φ(x') are
ever computed.

Then w·φ(x) = Σ_s α_s·k(x_s, x) reads the Gram row of x, and w += τ·φ(x) writes τ to the coefficient
of x. So each learner's one loop serves the dual form too: it is given Gram rows to read, unit rows
to write, and the coefficients α in place of the weights. Rows are taken in blocks, whose Gram
matrix is computed at once.

The budget bounds the support vectors kept. At the end of each block, counted in examples seen so
that the cut of a stream into calls changes nothing, the lightest ones (smallest ‖α_s‖·√k(x_s, x_s),
which move w least) are dropped to make room for the next block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.rows import Rows
from shortlist.data.validation import as_choice, as_real, as_rows, as_whole
from shortlist.errors import InputError
from shortlist.files.store import State

KERNELS = ("polynomial", "rbf")
BLOCK = 256
Matrix: TypeAlias = scipy.sparse.csr_array | Floats
# of two matrices, the kernel's value for each pair of their rows
Function = Callable[[Matrix, Matrix], ArrayLike]


def kernel_function(
    kernel: str | Function | None, degree: int, gamma: float, coef0: float
) -> Function:
    """The function that gives k(a, b) for all rows a of one matrix and b of another."""
    if callable(kernel):
        return kernel
    # which load much beside them
    from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

    gamma = as_real(gamma, "gamma", least=0.0)
    if as_choice(kernel, "kernel", KERNELS) == "rbf":
        return lambda A, B: rbf_kernel(A, B, gamma=gamma)
    degree, coef0 = as_whole(degree, "degree", least=1), as_real(coef0, "coef0", least=0.0)
    return lambda A, B: polynomial_kernel(A, B, degree=degree, gamma=gamma, coef0=coef0)


def gram(function: Function, A: scipy.sparse.csr_array, B: scipy.sparse.csr_array) -> Floats:
    """The checked Gram matrix of two sets of sparse rows; rows that are mostly full are
    multiplied as dense ones.
    """
    shape = A.shape[0], B.shape[0]
    if 0 in shape:
        return np.zeros(shape)
    values = np.asarray(function(*_as_dense(A, B)), dtype=np.float64)
    if values.shape != shape or not np.isfinite(values).all():
        raise InputError(
            f"the kernel gave an array of shape {values.shape} where {shape} finite numbers are "
            "needed, "
            "one for each pair of rows"
        )
    return np.ascontiguousarray(values)


def _as_dense(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array) -> tuple[Matrix, Matrix]:
    return (A.toarray(), B.toarray()) if 4 * A.nnz >= A.shape[0] * A.shape[1] else (A, B)


class Supports:
    """The support vectors: their rows; which row of the X being learned each is (−1: of an
    older X); √k(x_s, x_s).
    """

    def __init__(self, rows: scipy.sparse.csr_array, norms: Floats | None = None) -> None:
        self.rows = rows
        self.origin = np.full(rows.shape[0], -1, dtype=np.int64)
        self.norms = np.zeros(rows.shape[0]) if norms is None else norms

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """For the model file."""
        rows = self.rows
        indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        arrays = {"indptr": indptr, "indices": indices, "data": rows.data, "norms": self.norms}
        return {f"supports_{name}": array for name, array in arrays.items()}

    @classmethod
    def from_arrays(cls, state: State, n_features: int) -> Supports:
        """Read support vectors from a model file, refusing what are none."""
        indices = state.array("supports_indices", np.int32)
        data, norms = (
            state.array("supports_data", np.float64),
            state.array("supports_norms", np.float64),
        )
        indptr = state.offsets("supports_indptr", norms.size, data.size)
        state.require(
            np.isfinite(norms).all() and (norms >= 0).all(),
            "a norm is not a finite positive number",
        )
        try:
            rows = scipy.sparse.csr_array((data, indices, indptr), shape=(norms.size, n_features))
            as_rows(rows)
        except ValueError as problem:
            state.require(False, f"its support vectors cannot be read: {problem}")
        return cls(rows, norms)

    def add(self, X: scipy.sparse.csr_array, block: Longs) -> Longs:
        """Add the rows of the block that are not here yet; gives the place of each row of the
        block.
        """
        newcomers = block[~np.isin(block, self.origin)]
        self.rows = scipy.sparse.vstack([self.rows, X[newcomers]], format="csr")
        self.origin = np.concatenate([self.origin, newcomers])
        self.norms = np.concatenate([self.norms, np.zeros(newcomers.size)])
        sorter = np.argsort(self.origin, kind="stable")
        return sorter[np.searchsorted(self.origin, block, sorter=sorter)]

    def drop(self, used: NDArray[np.bool_], coefficients: Floats, most: int | None) -> Longs:
        """Drop the rows that are not used, then those that move w least beyond ``most``; gives the
        places kept.

        used: bool[m]; coefficients: float64[m], ‖α_s‖ of each row.
        """
        kept = np.flatnonzero(used)
        if most is not None and kept.size > most:
            size = coefficients[kept] * self.norms[kept]
            lightest_first = np.lexsort((kept, size))  # of equal ones the oldest goes
            kept = np.sort(kept[lightest_first[kept.size - most :]])
        self.rows, self.origin, self.norms = self.rows[kept], self.origin[kept], self.norms[kept]
        return kept


class Turn(NamedTuple):
    """Some examples to be learned in the dual form, in their order."""

    block: slice  # of the order
    members: Longs  # the rows of X that they are
    read: Rows  # their Gram rows
    write: Rows  # unit rows: the place of each among the support vectors
    square: Floats  # k(x, x) of each
    most: int | None  # how many support vectors may stay once they are learned; None for all


def turns(
    supports: Supports, function: Function, rows: Rows, order: Longs, clock: int, budget: int | None
) -> Iterator[Turn]:
    """Go through the rows in blocks. After each, the learner must ``drop`` support vectors."""
    size = BLOCK if budget is None else max(1, min(BLOCK, budget // 4))
    X = rows.to_matrix()
    for block in blocks(order.size, clock, size):
        members = order[block]
        places = supports.add(X, members)
        values = gram(function, X[members], supports.rows)
        square = np.maximum(values[np.arange(members.size), places], 0.0)
        supports.norms[places] = np.sqrt(square)
        most = None if budget is None or (clock + block.stop) % size else budget - size + 1
        yield Turn(
            block, members, full_rows(values), unit_rows(places, len(supports)), square, most
        )


def blocks(n_rows: int, clock: int, size: int) -> Iterator[slice]:
    """Cut n_rows into blocks that end where the number of examples seen, now ``clock``, is a
    multiple of ``size``.
    """
    first = 0
    while first < n_rows:
        last = min(n_rows, first + size - (clock + first) % size)
        yield slice(first, last)
        first = last


def full_rows(values: Floats) -> Rows:
    """A dense matrix in the kernels' layout, sharing its memory."""
    n_rows, n_columns = values.shape
    indices = np.tile(np.arange(n_columns, dtype=np.int32), n_rows)
    return Rows(
        np.arange(n_rows + 1, dtype=np.int64) * n_columns, indices, values.reshape(-1), n_columns
    )


def unit_rows(columns: Longs, n_columns: int) -> Rows:
    """Rows with a single 1 each, in the given column."""
    n_rows = columns.size
    return Rows(
        np.arange(n_rows + 1, dtype=np.int64), columns.astype(np.int32), np.ones(n_rows), n_columns
    )
