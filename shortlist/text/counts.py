"""Rows of counts: counting, compact storage until they are learned, and weighting."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs, kernel, part, scale_to_unit_length
from shortlist.compiled.logarithms import log, logs
from shortlist.data.rows import Rows, Vectors, beside, grown, offsets_of

# Numbered features of texts -> rows of counts, columns ascending.


def count(numbers: Ints, indptr: Longs, n_features: int) -> Rows:
    """Count the feature numbers of each text; text i has numbers[indptr[i]:indptr[i+1]], and −1
    is ignored.
    """
    return Rows(*_count(numbers, indptr, n_features), n_features)


@kernel
def _count(numbers: Ints, indptr: Longs, n_features: int) -> tuple[Longs, Ints, Floats]:
    """Sort the numbers of each text (int32, −1 to n_features − 1) and count the runs of equal
    ones.
    """
    longest = 0
    for text in range(indptr.size - 1):
        longest = max(longest, indptr[text + 1] - indptr[text])
    values = np.empty(longest, np.int32)
    spare = np.empty(longest, np.int32)
    starts = np.empty(256, np.int64)
    new_indptr = np.zeros(indptr.size, np.int64)
    indices = np.empty(numbers.size, np.int32)
    data = np.empty(numbers.size, np.float64)
    n = 0
    for text in range(indptr.size - 1):
        size = 0
        for j in range(indptr[text], indptr[text + 1]):
            if numbers[j] >= 0:
                values[size] = numbers[j]
                size += 1
        if _sort_by_bytes(values, spare, size, n_features, starts):
            values, spare = spare, values
        first = n
        for j in range(size):
            if n > first and indices[n - 1] == values[j]:
                data[n - 1] += 1.0
            else:
                indices[n] = values[j]
                data[n] = 1.0
                n += 1
        new_indptr[text + 1] = n
    return new_indptr, indices[:n], data[:n]


@part
def _sort_by_bytes(values: Ints, spare: Ints, size: int, above: int, starts: Longs) -> bool:
    """Sort the first ``size`` values, all in 0..above−1, lowest byte first.

    Several times faster than a comparing sort on texts of a few hundred words. Gives whether they
    are in ``spare`` then. starts: room for 256 numbers.
    """
    shift = 0
    in_spare = False
    while (above - 1) >> shift > 0:
        starts[:] = 0
        for j in range(size):
            starts[(values[j] >> shift) & 255] += 1
        total = 0
        for byte in range(256):
            total += starts[byte]
            starts[byte] = total - starts[byte]
        for j in range(size):
            byte = (values[j] >> shift) & 255
            spare[starts[byte]] = values[j]
            starts[byte] += 1
        values, spare = spare, values
        shift += 8
        in_spare = not in_spare
    return in_spare


class CountedRows:
    """Rows of counts, in five bytes an entry, six if a count exceeds 255; ``chosen`` returns them
    weighted.

    ``vectors``: one for each row, or None; its numbers come before the words.
    """

    def __init__(self, weigh: Callable[[Rows], Rows]) -> None:
        self._weigh = weigh
        self.vectors: Vectors | None = None
        self.n_rows = self.n_entries = self.n_words = 0
        self._indptr = np.zeros(1024, dtype=np.int64)
        self._columns = np.zeros(1 << 20, dtype=np.int32)
        self._counts: NDArray[Any] = np.zeros(1 << 20, dtype=np.uint8)

    def add(self, rows: Rows) -> None:
        """Append rows of counts."""
        entries = slice(rows.indptr[0], rows.indptr[-1])
        counts = rows.data[entries]
        first_row = self.n_rows
        first = self.n_entries
        self.n_rows += rows.n_rows
        self.n_entries += counts.size
        self._indptr = grown(self._indptr, self.n_rows + 1)
        self._indptr[first_row : self.n_rows + 1] = rows.indptr - entries.start + first
        self._columns = grown(self._columns, self.n_entries)
        self._columns[first : self.n_entries] = rows.indices[entries]
        wide = np.promote_types(self._counts.dtype, np.min_scalar_type(int(counts.max(initial=0))))
        self._counts = grown(self._counts.astype(wide, copy=False), self.n_entries)
        self._counts[first : self.n_entries] = counts
        self.n_words = max(self.n_words, rows.n_features)

    def keep_columns(self, marks: NDArray[np.bool_]) -> None:
        """Keep the marked columns, renumbered in their order."""
        numbers = (np.cumsum(marks) - 1).astype(np.int32)
        columns = self._columns[: self.n_entries]
        counts = self._counts[: self.n_entries]
        rows = Rows(self._indptr[: self.n_rows + 1], columns, counts, int(marks.sum()))
        self._indptr, columns, self._counts, self.n_words = rows.only(marks[columns])
        self._columns = numbers[columns]
        self.n_entries = columns.size

    @property
    def n_features(self) -> int:
        """How many columns there are: those of the vectors, and the words."""
        if self.vectors is None:
            return self.n_words
        return self.vectors.shape[1] + self.n_words

    def lengths(self) -> Longs:
        """How many entries each row has beside its vector."""
        return np.diff(self._indptr[: self.n_rows + 1])

    def chosen(self, which: Longs) -> Rows:
        """The rows of those numbers, in that order, weighed."""
        indptr = offsets_of(self._indptr, which)
        at = np.arange(indptr[-1]) + np.repeat(self._indptr[which] - indptr[:-1], np.diff(indptr))
        counts = self._counts[at].astype(np.float64)
        rows = self._weigh(Rows(indptr, self._columns[at], counts, self.n_words))
        return rows if self.vectors is None else beside(self.vectors[which], rows)

    def all(self) -> Rows:
        """All rows, weighed."""
        return self.chosen(np.arange(self.n_rows))


# Rows of counts -> weighted rows, by document counts learned online.
#
# Notation (Singhal et al.'s pivoted length normalisation, as papers 000/001 use it): d_i[l] is the
# count of feature l in document i, m_i the number of different features in i, avg_i = Σ_l d_i[l] /
# m_i, u_l the number of documents with l, m the number of documents, and pivot the mean of m_i over
# the documents learned from.
#
#     tf       "count"    d
#              "log"      1 + log d
#              "boolean"  1
#     idf      "plain"    log(m / u)
#              "smooth"   log((1 + m) / (1 + u)) + 1
#     norm     "l2"       x / ‖x‖
#              "pivoted"  x / (tf(avg_i) · [(1 − slope) + slope · m_i / pivot])
#
# so that tf="log", idf="plain", norm="pivoted" is
#     x_i[l] = log(m/u_l) · [(1 + log d_i[l]) / (1 + log avg_i)] / [(1 − slope) + slope ·
#     m_i/pivot].
# Runs of characters may weigh more or less than words: x is multiplied by their weight before "l2"
# scales it.


SMOOTH = {"plain": 0, "smooth": 1}  # the forms of idf
NORM = ("l2", "pivoted")
MOST_DOCUMENTS = np.iinfo(np.int64).max


def needs_counts(idf: str | None, norm: str | None, min_df: int) -> bool:
    """Whether a weighting learns counts of documents."""
    return idf is not None or norm == "pivoted" or min_df > 1


class Weighting:
    """A weighting and its counts: how many documents there were (m), and how many had each feature
    (u).

    Features in fewer than ``min_df`` documents are left out.
    """

    def __init__(
        self, tf: str, idf: str | None, norm: str | None, slope: float, min_df: int
    ) -> None:
        self.tf = tf
        self.idf = idf
        self.norm = norm
        self.slope = slope
        self.min_df = min_df
        self.needs_counts = needs_counts(idf, norm, min_df)
        self.m = 0
        self.u = np.zeros(1024 if self.needs_counts else 0, dtype=np.int64)
        # Σ u_l over the features with u_l ≥ min_df, so that total / m is the mean of m_i
        self.total = 0

    def learn(self, rows: Rows) -> None:
        """Learn from documents, as rows of counts."""
        self.m += rows.n_rows
        if self.needs_counts:
            self.total += _take_up(rows.indices, self.counts(rows.n_features), self.min_df)

    def unlearn(self, n_documents: int, indices: Ints) -> None:
        """Undo ``learn`` for documents whose entries have these columns."""
        if self.needs_counts:
            self.u -= np.bincount(indices, minlength=self.u.size)
        self.restore(self.m - n_documents, self.u)

    def merge(self, other: Weighting, numbers: Ints, n_features: int) -> None:
        """Add the counts of another weighting, whose features have these numbers here, of
        n_features.
        """
        if self.needs_counts:
            self.counts(n_features)[numbers[: other.u.size]] += other.u[: numbers.size]
        self.restore(self.m + other.m, self.u)

    def counts(self, n_features: int) -> Longs:
        """How many documents had each feature; 0 for new ones."""
        self.u = grown(self.u, n_features)
        return self.u[:n_features]

    def keep(self, marks: NDArray[np.bool_]) -> None:
        """Forget the features that are not marked."""
        if self.needs_counts:
            self.restore(self.m, self.counts(marks.size)[marks])

    def restore(self, m: int, u: Longs) -> None:
        """Set the counts."""
        self.m = m
        self.u = u
        self.total = int(u[u >= self.min_df].sum())

    def weigh(self, rows: Rows, run_weight: float, is_run: Callable[[], NDArray[np.bool_]]) -> Rows:
        """Return weighted rows from rows of counts, which may be overwritten. Weights of 0 are left
        out.

        ``run_weight``: the weight of runs of characters; ``is_run`` returns which columns are runs.
        """
        if self.needs_counts:
            u = np.empty(rows.indices.size, dtype=np.int64)
            fewest, most = _look_up(rows.indices, self.counts(rows.n_features), u)
            # interrupted learning may leave features without counts
            if fewest < self.min_df:
                enough = u >= self.min_df
                rows = rows.only(enough)
                u = u[enough]
        x = TF[self.tf](rows.data, known_logs())
        if self.norm == "pivoted":
            x = x / self._pivoted(rows)
        if self.idf is not None:
            _times_idf(self.m, u, SMOOTH[self.idf], known_logs(), x)
        if run_weight != 1:
            _times_run_weight(rows.indices, is_run().view(np.uint8), np.array([1.0, run_weight]), x)
        rows = Rows(rows.indptr, rows.indices, x, rows.n_features)
        if self.idf == "plain" and u.size and most == self.m:
            rows = rows.only(x > 0)
        if self.norm == "l2":
            scale_to_unit_length(rows.indptr, rows.data)
        return rows

    def _pivoted(self, rows: Rows) -> Floats:
        """tf(avg_i) · [(1 − slope) + slope · m_i / pivot], for each entry of document i."""
        m_i = np.diff(rows.indptr)
        filled = m_i > 0
        if not filled.any():
            return np.empty(0)
        m_i = m_i[filled]
        pivot = self.total / max(self.m, 1)
        average = np.add.reduceat(rows.data, rows.indptr[:-1][filled]) / m_i
        length = (1 - self.slope) + self.slope * m_i / pivot
        return np.repeat(TF[self.tf](average, known_logs()) * length, m_i)


@cache
def known_logs() -> Floats:
    """The logarithms of small whole numbers; entry 0 is unused."""
    return logs(np.maximum(1, np.arange(1 << 14)))


@part
def known_log(number: float, known_logs: Floats) -> float:
    """The natural logarithm of a number above 0; small whole numbers are looked up."""
    whole = min(max(int(number), 0), known_logs.size - 1)
    return known_logs[whole] if whole == number else log(number)


@kernel
def _one_plus_log(numbers: Floats, known_logs: Floats) -> Floats:
    weights = np.empty(numbers.size)
    for k in range(numbers.size):
        weights[k] = 1 + known_log(numbers[k], known_logs)
    return weights


# of counts, with the logarithms of small ones
TF: dict[str, Callable[[Floats, Floats], Floats]] = {
    "count": lambda d, known_logs: d,
    "log": _one_plus_log,
    "boolean": lambda d, known_logs: np.ones_like(d),
}


@kernel
def _times_idf(m: int, u: Longs, smooth: int, known_logs: Floats, x: Floats) -> None:
    """x *= log((smooth + m) / (smooth + u)) + smooth. m goes through the same function as u:
    log m − log m is 0.
    """
    of_all = known_log(float(smooth + m), known_logs) + smooth
    for k in range(u.size):
        x[k] *= of_all - known_log(float(smooth + u[k]), known_logs)


@kernel
def _times_run_weight(indices: Ints, is_run: NDArray[np.uint8], weights: Floats, x: Floats) -> None:
    """x *= weights[0], or weights[1] of runs. A table, because branches on alternating kinds are
    slower.
    """
    for k in range(indices.size):
        x[k] *= weights[is_run[indices[k]]]


@kernel
def _look_up(indices: Ints, counts: Longs, u: Longs) -> tuple[int, int]:
    """Write the count of each entry's feature to u (int64[as many]); return the fewest and the
    most.
    """
    fewest = MOST_DOCUMENTS
    most = 0
    for j in range(indices.size):
        u[j] = counts[indices[j]]
        fewest = min(fewest, u[j])
        most = max(most, u[j])
    return fewest, most


@kernel
def _take_up(indices: Ints, u: Longs, min_df: int) -> int:
    """Count each entry's feature once more; return by how much the sum of all u ≥ min_df rose."""
    rise = 0
    for feature in indices:
        u[feature] += 1
        if u[feature] == min_df:
            rise += min_df
        elif u[feature] > min_df:
            rise += 1
    return rise
