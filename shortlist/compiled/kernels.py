"""How a hot loop is compiled, and the steps that several algorithms share."""

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.numba_internals import compiled_loop, compiled_part, fetch

__all__ = [
    "Floats",
    "Ints",
    "Longs",
    "count_up",
    "dot",
    "fetch",
    "hashing",
    "kernel",
    "loop",
    "part",
    "scale_to_unit_length",
    "step",
]

Function = TypeVar("Function", bound=Callable[..., Any])

Ints = NDArray[np.int32]  # indices, label numbers
Longs = NDArray[np.int64]  # offsets, counts
Floats = NDArray[np.float64]  # values, weights, scores

# a sum of squares below this has lost some or all of its digits
LEAST_SQUARE = np.finfo(np.float64).tiny


def kernel(function: Function) -> Function:
    """Compile once per machine, release the interpreter lock while running, divide as NumPy
    does.
    """
    return compiled_loop(function, counts_references=True)


def loop(function: Function) -> Function:
    """As ``kernel``, for a loop that makes no array, and gives none back.

    Numba counts the references to an array at each call that it is given to, and to each slice: so
    that threads count rightly, one reference takes as long as twenty additions. Here nobody counts:
    whoever called the loop from Python holds its arrays.
    """
    return compiled_loop(function, counts_references=False)


def part(function: Function) -> Function:
    """As ``loop``, for what only loops call: Python cannot, and so much less is compiled. It is
    kept with its loops.
    """
    return compiled_part(function)


def step(function: Function) -> Function:
    """As ``part``, for a loop cut into small steps.

    The compiler would leave the longer of the steps outside the loop; they are written into it.
    """
    return compiled_part(function, is_written_into_loops=True)


NOTHING = contextlib.nullcontext()


def hashing() -> contextlib.AbstractContextManager[Any]:
    """Hashes overflow on purpose; where kernels run uncompiled, NumPy would warn of it."""
    return np.errstate(over="ignore") if numba.config.DISABLE_JIT else NOTHING


@part
def dot(indices: Ints, data: Floats, dense: Floats) -> float:
    """Inner product of a sparse row (indices int32[m], data float64[m]) with a dense vector
    float64[n].
    """
    total = 0.0
    for j in range(indices.size):
        total += data[j] * dense[indices[j]]
    return total


@kernel
def count_up(numbers: Ints, counts: Longs) -> None:
    """Count each of the numbers once more."""
    for number in numbers:
        counts[number] += 1


@kernel
def scale_to_unit_length(indptr: Longs, data: Floats) -> None:
    """Divide each sparse row (data float64[m], row i at indptr[i]:indptr[i+1]) by its Euclidean
    length, in place.
    """
    for i in range(indptr.size - 1):
        square = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            square += data[j] * data[j]
        if not LEAST_SQUARE <= square < np.inf:  # squares of such values underflow or overflow
            largest = 0.0
            for j in range(indptr[i], indptr[i + 1]):
                largest = max(largest, abs(data[j]))
            square = 0.0
            for j in range(indptr[i], indptr[i + 1] if largest > 0.0 else indptr[i]):
                data[j] /= largest
                square += data[j] * data[j]
            if not square > 0.0:  # a row of nothing
                square = 1.0
        length = np.sqrt(square)
        for j in range(indptr[i], indptr[i + 1]):
            data[j] /= length
