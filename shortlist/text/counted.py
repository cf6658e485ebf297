"""Rows of counts that are kept until they are learned, in little room, and weighed a few at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Longs
from shortlist.arrays.rows import Rows, copy_rows, offsets_of
from shortlist.text.counting import keep

FEW = 1 << 22  # entries to begin with: zeros take no memory until they are written to, and are not copied so often


class CountedRows:
    """Rows of counts, which ``add`` appends and ``chosen`` gives back weighed.

    A weighted row has 12 bytes an entry, one of counts has 5: a count has as many bytes as the largest needs.
    """

    def __init__(self, weigh: Callable[[Rows], Rows]) -> None:
        self._weigh = weigh
        self.n_rows = self.n_entries = self.n_features = 0
        self._indptr = np.zeros(1024, dtype=np.int64)
        self._indices = np.zeros(FEW, dtype=np.int32)
        self._counts: NDArray[Any] = np.zeros(FEW, dtype=np.uint8)

    def add(self, rows: Rows) -> None:
        """Keep these rows of counts too."""
        n_rows, n_entries = self.n_rows + rows.n_rows, self.n_entries + rows.indices.size
        wide_enough = np.min_scalar_type(int(rows.data.max(initial=0)))
        self._counts = self._counts.astype(np.promote_types(self._counts.dtype, wide_enough), copy=False)
        self._indptr = grown(self._indptr, n_rows + 1)
        self._indices, self._counts = grown(self._indices, n_entries), grown(self._counts, n_entries)
        self._indptr[self.n_rows : n_rows + 1] = self.n_entries + rows.indptr
        self._indices[self.n_entries : n_entries] = rows.indices
        self._counts[self.n_entries : n_entries] = rows.data
        self.n_rows, self.n_entries = n_rows, n_entries
        self.n_features = max(self.n_features, rows.n_features)

    def keep_columns(self, kept: NDArray[np.bool_]) -> None:
        """Only some columns, renumbered in their order."""
        rows = self._counted()
        rows = keep(rows, kept[rows.indices])
        self._indptr, self._indices, self._counts = rows.indptr, rows.indices, rows.data
        self._indices = (np.cumsum(kept, dtype=np.int32) - 1)[rows.indices]
        self.n_entries, self.n_features = rows.indices.size, int(kept.sum())

    def lengths(self) -> Longs:
        """How many entries each row of counts has."""
        return np.diff(self._counted().indptr)

    def chosen(self, which: Longs) -> Rows:
        """The rows of those numbers, in that order, weighed."""
        indptr = offsets_of(self._indptr, which)
        indices, counts = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
        copy_rows(self._indptr, self._indices, which, indptr, indices)
        copy_rows(self._indptr, self._counts, which, indptr, counts)
        return self._weigh(Rows(indptr, indices, counts, self.n_features))

    def all(self) -> Rows:
        """All rows, weighed."""
        rows = self._counted()
        return self._weigh(rows._replace(data=rows.data.astype(np.float64)))

    def _counted(self) -> Rows:
        """The rows as they are kept: shared memory, and not the data type that kernels take."""
        return Rows(
            self._indptr[: self.n_rows + 1], self._indices[: self.n_entries], self._counts[: self.n_entries],
            self.n_features,
        )  # fmt: skip
