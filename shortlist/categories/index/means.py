"""The means of few vectors: where ``fit`` has fewer than 4,000, a label also scores by how near its mean is.

What errors teach of a few vectors goes far beyond them: those that were learned lead by more than they must, and where
new ones lie is left to chance. The mean m_c of a label's vectors is surer. A vector x that is nearer to it than to the
mean m of all of them by ½·(|x − m|² − |x − m_c|²) = (m_c − m)·x − ½·(|m_c|² − |m|²) gains twice that. As this is a sum
over features and a bias, it is added to what was learned when the last pass is over, and is learned on from there:

    u_fc += 2·(m_c[f] − m[f]),    b_c −= |m_c|² − |m|².
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.arrays.rows import Rows, RowStore
from shortlist.categories.index import together
from shortlist.categories.index.vectors import Short, Weights
from shortlist.labels import LabelSets

FEW = 4000  # examples; so many are gone through twice
SHARE = 2.0  # of how near a mean is
BLOCK = 256  # rows that are taken apart at a time


def are_few(n_rows: int, passes: int) -> bool:
    """Whether so many rows are few, and ``fit`` goes through them often."""
    return n_rows < FEW and passes > 2


def add_means(rows: Rows | RowStore, n_vector: int, labels: LabelSets, weights: Weights, bias: Floats) -> None:
    """Add to weights and biases what the means say of the vectors, which are the first n_vector columns of the rows.

    Some rows are taken apart at a time, and sums have four bytes each: so they take no more room than the weights.
    """
    sums, counts = np.zeros((bias.size, n_vector), dtype=np.float32), np.zeros(bias.size)
    of_all, n = np.zeros(n_vector, dtype=np.float32), 0
    for first in range(0, rows.n_rows, BLOCK):
        which = np.arange(first, min(first + BLOCK, rows.n_rows))
        vectors = together.split(chosen(rows, which), n_vector)[0].of_unit_length()
        n += add_up(vectors, labels.chosen(which), sums, counts, of_all)
    of_all /= np.float32(max(1, n))
    add_mean_of_each(sums, counts, of_all, weights, bias)


def chosen(rows: Rows | RowStore, which: Longs) -> Rows:
    return rows.take(which) if isinstance(rows, Rows) else rows.chosen(which)


@kernel
def add_up(vectors: Rows, labels: LabelSets, sums: Short, counts: Floats, of_all: Short) -> int:
    """Add the vectors to the sums of their labels and of all; gives how many there are: an empty one says nothing."""
    n = 0
    for i in range(vectors.indptr.size - 1):
        first, last = vectors.indptr[i], vectors.indptr[i + 1]
        n += last > first
        for j in range(first, last):
            of_all[vectors.indices[j]] += np.float32(vectors.data[j])
        for c in labels.ids[labels.indptr[i] : labels.indptr[i + 1]]:
            counts[c] += last > first
            for j in range(first, last):
                sums[c, vectors.indices[j]] += np.float32(vectors.data[j])
    return n


@kernel
def add_mean_of_each(sums: Short, counts: Floats, of_all: Short, weights: Weights, bias: Floats) -> None:
    square = 0.0
    for mean in of_all:
        square += np.float64(mean) * np.float64(mean)
    for c in range(bias.size):
        if counts[c] > 0.0:
            own = 0.0
            for f in range(of_all.size):
                mean = np.float64(sums[c, f]) / counts[c]
                own += mean * mean
                weights[f, c] += np.float32(SHARE * (mean - np.float64(of_all[f])))
            bias[c] -= 0.5 * SHARE * (own - square)
