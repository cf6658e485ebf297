"""Dense vectors and sparse rows side by side: the columns of the vector come first, then those of the row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel
from shortlist.arrays.rows import Rows, RowStore

Vectors = NDArray[np.float32]  # rows × numbers


def joined(vectors: Vectors, rows: Rows) -> Rows:
    """The rows behind their vectors, of which no zeros are kept."""
    indptr, indices, data = _join(np.ascontiguousarray(vectors), rows)
    return Rows(indptr, indices, data, vectors.shape[1] + rows.n_features)


def beside(vectors: Vectors | None, rows: Rows) -> Rows:
    """The rows, behind their vectors if they have any."""
    return rows if vectors is None else joined(vectors, rows)


class JoinedStore:
    """A store of rows, and their vectors beside them."""

    def __init__(self, vectors: Vectors, store: RowStore) -> None:
        self._vectors, self._store = vectors, store
        self.n_rows, self.n_features = store.n_rows, vectors.shape[1] + store.n_features
        self.n_entries = vectors.size + store.n_entries  # at most

    def lengths(self) -> Longs:
        """How many entries each row has beside its vector."""
        return self._store.lengths()

    def chosen(self, which: Longs) -> Rows:
        """The rows of those numbers, in that order."""
        return joined(self._vectors[which], self._store.chosen(which))

    def all(self) -> Rows:
        """All rows."""
        return joined(self._vectors, self._store.all())


@kernel
def _join(vectors: Vectors, rows: Rows) -> tuple[Longs, Ints, Floats]:
    """The offsets, columns and values of rows that have a vector (float32[rows, numbers]) before them."""
    n_rows, n_vector = vectors.shape
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        n = rows.indptr[i + 1] - rows.indptr[i]
        for f in range(n_vector):
            n += vectors[i, f] != 0.0
        indptr[i + 1] = indptr[i] + n
    indices, data = np.empty(indptr[n_rows], dtype=np.int32), np.empty(indptr[n_rows])
    for i in range(n_rows):
        at = indptr[i]
        for f in range(n_vector):
            if vectors[i, f] != 0.0:
                indices[at], data[at] = f, vectors[i, f]
                at += 1
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            indices[at], data[at] = n_vector + rows.indices[j], rows.data[j]
            at += 1
    return indptr, indices, data
