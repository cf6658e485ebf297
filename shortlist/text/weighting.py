"""Features of texts -> counted and weighted rows.

Notation (Singhal et al.'s pivoted length normalisation, as papers 000/001 use it): d_i[l] is the count of feature l in
document i, m_i the number of different features in i, avg_i = Σ_l d_i[l] / m_i, u_l the number of documents with l, m
the number of documents, and pivot the mean of m_i over the documents learned from.

    tf       "count"    d              "log"     1 + log d                     "boolean"  1
    idf      "plain"    log(m / u)     "smooth"  log((1 + m) / (1 + u)) + 1
    norm     "l2"       x / ‖x‖        "pivoted" x / (tf(avg_i) · [(1 − slope) + slope · m_i / pivot])

so that tf="log", idf="plain", norm="pivoted" is
    x_i[l] = log(m/u_l) · [(1 + log d_i[l]) / (1 + log avg_i)] / [(1 − slope) + slope · m_i/pivot].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.door import Rows
from shortlist.kernels import kernel

TF = ("count", "log", "boolean")
IDF = (None, "plain", "smooth")
NORM = (None, "l2", "pivoted")


class DocumentCounts:
    """How many documents there were (m), and how many of them had each feature (u).

    Features in fewer than ``min_df`` documents give nothing. ``total`` is the sum of u over the others, so that
    total / m is the mean of m_i over all documents so far, in the features of today.
    """

    def __init__(self, min_df: int) -> None:
        self.min_df = min_df
        self.documents = 0
        self.total = 0
        self.counts = np.zeros(1024, dtype=np.int64)

    def learn(self, rows: Rows) -> None:
        """Take up some documents."""
        self.make_room(rows.n_features)
        self.documents += rows.n_rows
        self.total += _take_up(rows.indices, self.counts, self.min_df)

    def make_room(self, n_features: int) -> None:
        if n_features > self.counts.size:
            room = max(n_features, 2 * self.counts.size)
            self.counts = np.concatenate([self.counts, np.zeros(room - self.counts.size, dtype=np.int64)])

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Forget the other features."""
        self.counts = self.counts[: kept.size][kept]

    def restore(self, counts: NDArray[np.int64], documents: int) -> None:
        """Go on from saved counts."""
        self.counts, self.documents = counts, documents
        self.total = int(counts[counts >= self.min_df].sum())


def count(numbers: NDArray[np.int32], indptr: NDArray[np.int64], n_features: int) -> Rows:
    """Rows of feature counts from the feature numbers of texts, columns ascending; −1 counts as nothing."""
    new_indptr, indices, data = _count(numbers, indptr, n_features)
    return Rows(new_indptr, indices, data, n_features)


def keep(rows: Rows, kept: NDArray[np.bool_]) -> Rows:
    """Only some of the entries."""
    before = np.zeros(kept.size + 1, dtype=np.int64)
    np.cumsum(kept, out=before[1:])
    return Rows(before[rows.indptr], rows.indices[kept], rows.data[kept], rows.n_features)


def weigh(
    rows: Rows, counts: DocumentCounts | None, tf: str, idf: str | None, norm: str | None, slope: float
) -> Rows:
    """Weigh rows of counts; what would weigh 0 is dropped. ``counts`` may be None where nothing asks for them."""
    if counts is not None:
        u = counts.counts[rows.indices]
        if counts.min_df > 1 or (u.size and u.min() == 0):
            seen = u >= counts.min_df
            rows, u = keep(rows, seen), u[seen]
    data = rows.data
    if norm == "pivoted" and counts is not None:
        scale = _pivoted(rows.indptr, data, tf == "log", tf == "count", slope, counts.total / max(counts.documents, 1))
    if tf == "log":
        data = 1 + np.log(data)
    elif tf == "boolean":
        data = np.ones_like(data)
    if norm == "pivoted":
        data = data * scale
    if idf == "plain" and counts is not None:
        data = data * np.log(counts.documents / u)
        if u.size and u.max() == counts.documents:
            rows, data = keep(rows, data > 0), data[data > 0]
    elif idf == "smooth" and counts is not None:
        data = data * (np.log((1 + counts.documents) / (1 + u)) + 1)
    rows = rows._replace(data=data)
    if norm == "l2":
        _scale_to_unit_length(rows.indptr, rows.data)
    return rows


@kernel
def _count(
    numbers: NDArray[np.int32], indptr: NDArray[np.int64], n_features: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
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
        if size > 64:
            here, there = _radix_sort(here, there, size, n_features)
        else:
            _insertion_sort(here, size)
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
def _insertion_sort(values: NDArray[np.int32], size: int) -> None:
    for j in range(1, size):
        value = values[j]
        i = j
        while i > 0 and values[i - 1] > value:
            values[i] = values[i - 1]
            i -= 1
        values[i] = value


@kernel
def _radix_sort(
    here: NDArray[np.int32], there: NDArray[np.int32], size: int, above: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sort ``size`` numbers in 0..above-1 by their bytes, lowest first. Gives the sorted array and the spare one."""
    starts = np.empty(256, np.int64)
    shift = 0
    while (above - 1) >> shift > 0:
        starts[:] = 0
        for j in range(size):
            starts[(here[j] >> shift) & 255] += 1
        total = 0
        for digit in range(256):
            total += starts[digit]
            starts[digit] = total - starts[digit]
        for j in range(size):
            digit = (here[j] >> shift) & 255
            there[starts[digit]] = here[j]
            starts[digit] += 1
        here, there = there, here
        shift += 8
    return here, there


@kernel
def _take_up(indices: NDArray[np.int32], u: NDArray[np.int64], min_df: int) -> int:
    """Count each entry's feature once more; gives by how much the sum of all u ≥ min_df rose."""
    rise = 0
    for l in indices:  # noqa: E741
        u[l] += 1
        if u[l] == min_df:
            rise += min_df
        elif u[l] > min_df:
            rise += 1
    return rise


@kernel
def _pivoted(
    indptr: NDArray[np.int64], d: NDArray[np.float64], log_tf: bool, count_tf: bool, slope: float, pivot: float
) -> NDArray[np.float64]:
    """1 / (tf(avg_i) · [(1 − slope) + slope · m_i / pivot]), for each entry of row i."""
    scale = np.empty(d.size, np.float64)
    for i in range(indptr.size - 1):
        m_i = indptr[i + 1] - indptr[i]
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += d[j]
        average = total / max(m_i, 1)
        tf_average = 1.0
        if log_tf:
            tf_average = 1.0 + np.log(average)
        elif count_tf:
            tf_average = average
        for j in range(indptr[i], indptr[i + 1]):
            scale[j] = 1.0 / (tf_average * ((1.0 - slope) + slope * m_i / pivot))
    return scale


@kernel
def _scale_to_unit_length(indptr: NDArray[np.int64], x: NDArray[np.float64]) -> None:
    """Divide each row by its Euclidean norm, in place."""
    for i in range(indptr.size - 1):
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += x[j] * x[j]
        for j in range(indptr[i], indptr[i + 1]):
            x[j] /= np.sqrt(total)
