"""How a hot loop is compiled, and the sparse-row steps that several algorithms share.

This file is frozen: Numba's cache notices an edit of the file a kernel stands in, not of a helper it calls
from elsewhere. After a change here, run ``make clean``.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])

Ints = NDArray[np.int32]  # indices, label numbers
Longs = NDArray[np.int64]  # offsets, counts
Floats = NDArray[np.float64]  # values, weights, scores

LEAST_SQUARE = np.finfo(np.float64).tiny  # a smaller sum of squares has lost digits, or all


def kernel(function: Function) -> Function:
    """Compile once per machine, release the interpreter lock while running, divide as NumPy does."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


@kernel
def dot(indices: Ints, data: Floats, dense: Floats) -> float:
    """Inner product of a sparse row (indices int32[m], data float64[m]) with a dense vector float64[n]."""
    total = 0.0
    for j in range(indices.size):
        total += data[j] * dense[indices[j]]
    return total


@kernel
def add(indices: Ints, data: Floats, scale: float, dense: Floats) -> None:
    """Add ``scale`` times a sparse row (indices int32[m], data float64[m]) to a dense vector, in place."""
    for j in range(indices.size):
        dense[indices[j]] += scale * data[j]


@kernel
def _square_of_scaled(data: Floats) -> float:
    """Divide a row by its largest value, in place, and give the sum of squares; 1 for a row of nothing."""
    largest = 0.0
    for value in data:
        largest = max(largest, abs(value))
    square = 0.0
    for j in range(data.size if largest > 0.0 else 0):
        data[j] /= largest
        square += data[j] * data[j]
    return square if square > 0.0 else 1.0


@kernel
def scale_to_unit_length(indptr: Longs, data: Floats) -> None:
    """Divide each sparse row (data float64[m], row i at indptr[i]:indptr[i+1]) by its Euclidean length, in place."""
    for i in range(indptr.size - 1):
        square = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            square += data[j] * data[j]
        if not LEAST_SQUARE <= square < np.inf:  # values so small, or so large, that their squares are no measure
            square = _square_of_scaled(data[indptr[i] : indptr[i + 1]])
        length = np.sqrt(square)
        for j in range(indptr[i], indptr[i + 1]):
            data[j] /= length
