"""Numbered features of texts -> rows of counts, columns ascending."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel
from shortlist.arrays.rows import Rows

FEW = 48  # so many numbers are sorted faster by insertion than by their bytes


def count(numbers: Ints, indptr: Longs, n_features: int) -> Rows:
    """Count the feature numbers of each text; text i has numbers[indptr[i]:indptr[i+1]], and −1 counts as nothing."""
    return Rows(*_count(numbers, indptr, n_features), n_features)


def keep(rows: Rows, kept: NDArray[np.bool_]) -> Rows:
    """Only some of the entries."""
    return Rows(*_keep(rows.indptr, rows.indices, rows.data, kept), rows.n_features)


@kernel
def _keep(
    indptr: Longs, indices: Ints, data: NDArray[Any], kept: NDArray[np.bool_]
) -> tuple[Longs, Ints, NDArray[Any]]:
    """The entries j for which kept[j], row by row."""
    n = 0
    for j in range(indptr[0], indptr[-1]):
        n += kept[j]
    new_indptr, new_indices, new_data = np.zeros(indptr.size, np.int64), np.empty(n, np.int32), np.empty(n, data.dtype)
    n = 0
    for i in range(indptr.size - 1):
        for j in range(indptr[i], indptr[i + 1]):
            if kept[j]:
                new_indices[n], new_data[n] = indices[j], data[j]
                n += 1
        new_indptr[i + 1] = n
    return new_indptr, new_indices, new_data


@kernel
def _count(numbers: Ints, indptr: Longs, n_features: int) -> tuple[Longs, Ints, Floats]:
    """Sort the numbers of each text (int32, −1 to n_features − 1) and count the runs of equal ones."""
    longest = 0
    for text in range(indptr.size - 1):
        longest = max(longest, indptr[text + 1] - indptr[text])
    here = np.empty(longest, np.int32)
    there = np.empty(longest, np.int32)
    new_indptr = np.zeros(indptr.size, np.int64)
    indices = np.empty(numbers.size, np.int32)
    data = np.empty(numbers.size, np.float64)
    n = 0
    for text in range(indptr.size - 1):
        size = 0
        for j in range(indptr[text], indptr[text + 1]):
            if numbers[j] >= 0:
                here[size] = numbers[j]
                size += 1
        if size > FEW:
            here, there = _sort_by_bytes(here, there, size, n_features)
        else:
            _sort_by_insertion(here, size)
        first = n
        for j in range(size):
            if n > first and indices[n - 1] == here[j]:
                data[n - 1] += 1.0
            else:
                indices[n] = here[j]
                data[n] = 1.0
                n += 1
        new_indptr[text + 1] = n
    return new_indptr, indices[:n], data[:n]


@kernel
def _sort_by_insertion(values: Ints, size: int) -> None:
    """Sort the first ``size`` values in place."""
    for j in range(1, size):
        value = values[j]
        i = j
        while i > 0 and values[i - 1] > value:
            values[i] = values[i - 1]
            i -= 1
        values[i] = value


@kernel
def _sort_by_bytes(here: Ints, there: Ints, size: int, above: int) -> tuple[Ints, Ints]:
    """Sort the first ``size`` values of ``here``, all in 0..above−1, lowest byte first.

    Several times faster than a comparing sort on texts of a few hundred words. Gives the sorted array and the spare.
    """
    starts = np.empty(256, np.int64)
    shift = 0
    while (above - 1) >> shift > 0:
        starts[:] = 0
        for j in range(size):
            starts[(here[j] >> shift) & 255] += 1
        total = 0
        for byte in range(256):
            total += starts[byte]
            starts[byte] = total - starts[byte]
        for j in range(size):
            byte = (here[j] >> shift) & 255
            there[starts[byte]] = here[j]
            starts[byte] += 1
        here, there = there, here
        shift += 8
    return here, there
