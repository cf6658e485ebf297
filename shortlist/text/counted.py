"""Rows of counts that are kept until they are learned, in little room, and weighed a few at a time.

The columns of a row ascend, so that each is kept as its distance from the one before it, in as few bytes as that needs:
seven bits in each, of which the last says so. The lowest bit of the distance says whether the count is more than 1;
then it follows in the same way. Features that are new to a text stand side by side, and take one byte each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.growing import give_back, grown, wide_enough
from shortlist.arrays.kernels import Floats, Ints, Longs, kernel, step
from shortlist.arrays.rows import Rows
from shortlist.text.counting import keep

Bytes = NDArray[np.uint8]
Ends: TypeAlias = NDArray[np.uint32] | Longs

FEW = 1 << 23  # bytes to begin with: zeros take no memory until they are written to, and are not copied so often
MOST = 5 + 9  # bytes of an entry: a distance of 32 bits and its mark, a count of 63
SOME = 1 << 14  # rows that are made at a time where all have to be gone through


class CountedRows:
    """Rows of counts, which ``add`` appends and ``chosen`` gives back weighed.

    A weighted row has 12 bytes an entry; one that is kept has some 3, and 12 for itself.
    """

    def __init__(self, weigh: Callable[[Rows], Rows]) -> None:
        self._weigh = weigh
        self.n_rows = self.n_entries = self.n_features = 0
        self._ends: Ends = np.zeros(1024, dtype=np.uint32)  # row i is kept in _bytes[_ends[i]:_ends[i+1]]
        self._lengths = np.zeros(1024, dtype=np.int32)
        self._bytes = np.zeros(FEW, dtype=np.uint8)

    def add(self, rows: Rows) -> None:
        """Keep these rows of counts too."""
        n_rows, n_entries = self.n_rows + rows.n_rows, int(rows.indptr[-1] - rows.indptr[0])
        used = int(self._ends[self.n_rows])
        if used + MOST * n_entries > self._bytes.size:
            self._bytes = grown(self._bytes[:used], used + MOST * n_entries)
            if used:
                give_back()
        self._ends = wide_enough(grown(self._ends, n_rows + 1), used + MOST * n_entries)
        self._lengths = grown(self._lengths, n_rows)
        _write(rows.indptr, rows.indices, rows.data, self._bytes, self._ends[self.n_rows :])
        self._lengths[self.n_rows : n_rows] = rows.lengths()
        self.n_rows, self.n_entries = n_rows, self.n_entries + n_entries
        self.n_features = max(self.n_features, rows.n_features)

    def keep_columns(self, kept: NDArray[np.bool_]) -> None:
        """Only some columns, renumbered in their order."""
        others, numbers = CountedRows(self._weigh), np.cumsum(kept, dtype=np.int32) - np.int32(1)
        for first in range(0, self.n_rows, SOME):
            rows = self._counts(np.arange(first, min(first + SOME, self.n_rows)))
            rows = keep(rows, kept[rows.indices])
            others.add(rows._replace(indices=numbers[rows.indices]))
        others.n_features = int(kept.sum())
        self.__dict__ = others.__dict__

    def are_many(self) -> bool:
        """Whether it is worth while to give memory back that was needed to make them."""
        return bool(self._ends[self.n_rows] > FEW // 2)

    def lengths(self) -> Longs:
        """How many entries each row of counts has."""
        return self._lengths[: self.n_rows].astype(np.int64)

    def chosen(self, which: Longs) -> Rows:
        """The rows of those numbers, in that order, weighed."""
        return self._weigh(self._counts(which))

    def all(self) -> Rows:
        """All rows, weighed."""
        return self.chosen(np.arange(self.n_rows))

    def _counts(self, which: Longs) -> Rows:
        """The rows of those numbers as they were added."""
        indptr = np.zeros(which.size + 1, dtype=np.int64)
        np.cumsum(self._lengths[which], out=indptr[1:])
        indices, counts = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
        _read(self._bytes, self._ends, which, indptr, indices, counts)
        return Rows(indptr, indices, counts, self.n_features)


@step
def _put(number: int, data: Bytes, at: int) -> int:
    """Write a number to data[at:]; gives the place behind it."""
    while number > 127:
        data[at] = number & 127
        number >>= 7
        at += 1
    data[at] = number | 128
    return at + 1


@step
def _number(data: Bytes, at: int) -> tuple[int, int]:
    """The number that stands at data[at:], and the place behind it."""
    number, shift = 0, 0
    while data[at] < 128:
        number |= np.int64(data[at]) << shift  # type: ignore[assignment]
        shift += 7
        at += 1
    return number | np.int64(data[at] & 127) << shift, at + 1  # type: ignore[return-value]


@kernel
def _write(indptr: Longs, indices: Ints, counts: Floats, data: Bytes, ends: Ends) -> None:
    """Write the rows to data (uint8[...]) from ends[0] on, and where each ends to ends[1:]."""
    at: int = np.int64(ends[0])  # type: ignore[assignment]
    for row in range(indptr.size - 1):
        before = -1
        for j in range(indptr[row], indptr[row + 1]):
            several = counts[j] != 1.0
            at = _put(2 * (indices[j] - before) + several, data, at)
            if several:
                at = _put(int(counts[j]), data, at)
            before = indices[j]
        ends[row + 1] = at


@kernel
def _read(data: Bytes, ends: Ends, which: Longs, indptr: Longs, indices: Ints, counts: Floats) -> None:
    """The rows of those numbers, one after the other: row k goes to indices and counts[indptr[k]:indptr[k+1]]."""
    for k in range(which.size):
        at: int = np.int64(ends[which[k]])  # type: ignore[assignment]
        column = -1
        for j in range(indptr[k], indptr[k + 1]):
            number, at = _number(data, at)
            column += number >> 1
            indices[j], counts[j] = column, 1.0
            if number & 1:
                several, at = _number(data, at)
                counts[j] = several
