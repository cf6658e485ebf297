"""Where the relevant items came out: the one step that all measures of rankings share.

An example is a text and its items are labels, or an example is a query and its items are documents. The relevant
items of all examples are found in their rankings once, in time proportional to what was retrieved, and everything
else is arithmetic on their ranks. Nothing here has the size of examples × labels.

What was not retrieved has rank ∞. It ties, in the losses, with everything else that was not retrieved, below
everything that was: in a ranking cut at k a relevant item that was cut off loses against all non-relevant ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.given_labels import LabelsLike
from shortlist.arrays.kernels import kernel
from shortlist.arrays.validation import as_jobs, as_numbers, as_whole
from shortlist.concurrency import by_threads
from shortlist.errors import InputError, counted
from shortlist.labels import LabelIndex, LabelSets
from shortlist.ranking import Ranking

Found = TypeVar("Found")
ENOUGH = 2000  # rows are worth a thread
FINE, UNKNOWN, GAP, NO_SCORE, ASCENDS, TWICE = range(6)
FAULTS = {
    UNKNOWN: "holds a label number that is not below the number of labels",
    GAP: "holds a label after an empty place",
    NO_SCORE: "holds a label without a score",
    ASCENDS: "is not in descending order of scores",
    TWICE: "holds a label twice",
}


@dataclass(frozen=True)
class Positions:
    """Rankings of n examples and the positions of their m relevant items, best first within an example.

    ``row``    int64[m]    the example             ``size``     int64[n]   relevant items, |y|
    ``item``   int32[m]    the relevant item       ``others``   int64[n]   non-relevant items, |Y − y|
    ``rank``   float64[m]  its rank from 1, or ∞   ``begin``    int64[n]   first retrieved item of an example
    ``nth``    int64[m]    1 for the best, 2, …    ``length``   int64[n]   how many were retrieved
    ``errors`` int64[m]    non-relevant items      ``items``    int32[·]   the retrieved items, best first
                           with at least its score ``scores``   float64[·] their scores
    ``ties``   int64[m]    those with its score    ``width``    the most that could be retrieved
    ``gain``   float64[m]  its grade of relevance  ``ideal_gain`` float64[m] the same, highest first
    """

    row: NDArray[np.int64]
    item: NDArray[np.int32]
    rank: NDArray[np.float64]
    nth: NDArray[np.int64]
    errors: NDArray[np.int64]
    ties: NDArray[np.int64]
    gain: NDArray[np.float64]
    ideal_gain: NDArray[np.float64]
    size: NDArray[np.int64]
    others: NDArray[np.int64]
    begin: NDArray[np.int64]
    length: NDArray[np.int64]
    items: NDArray[np.int32]
    scores: NDArray[np.float64]
    width: float

    @property
    def n(self) -> int:
        return self.size.size

    def total(self, values: ArrayLike) -> NDArray[np.float64]:
        """Add up one number for each relevant item within its example: float64[n]."""
        return np.bincount(self.row, weights=values, minlength=self.n).astype(np.float64, copy=False)

    @cached_property
    def best(self) -> NDArray[np.float64]:
        """The rank of the best relevant item of each example, ∞ where none was retrieved."""
        best = np.full(self.n, np.inf)
        first = self.nth == 1
        best[self.row[first]] = self.rank[first]
        return best

    def above(self, t: float) -> NDArray[np.int64]:
        """How many retrieved items of each example score above t: int64[n]."""
        so_far = np.concatenate([[0], np.cumsum(self.scores > t)])
        return so_far[self.begin + self.length] - so_far[self.begin]

    def first(self, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The first counts[i] retrieved items of each example i: their examples, and the items."""
        row = np.repeat(np.arange(self.n), counts)
        place = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return row, self.items[self.begin[row] + place]


def place_labels(
    ranking: Ranking, truth: LabelSets | LabelsLike, n_labels: int | None = None, n_jobs: int | None = 1
) -> Positions:
    """Find the true labels in rankings of labels; ``n_labels`` is how many labels could have been ranked."""
    if not isinstance(ranking, Ranking):
        raise InputError(
            "evaluate takes a ranking, as model.rank(texts, k=10) gives it, and the true labels of each text; "
            f"this is a {type(ranking).__name__}"
        )
    ids, scores, names = np.asarray(ranking.ids), np.asarray(ranking.scores), ranking._names
    if ids.ndim != 2 or scores.shape != ids.shape or ids.dtype.kind not in "iu" or scores.dtype.kind != "f":
        raise InputError(
            "measures take a ranking of many rows: label numbers and scores, both n × k; "
            f"this one has {ids.shape} {ids.dtype} and {scores.shape} {scores.dtype}"
        )
    n, k = ids.shape
    n_labels = len(names) if n_labels is None else as_whole(n_labels, "n_labels")
    if not isinstance(truth, LabelSets):
        truth = LabelIndex(names).look_up(truth, n)
    starts, true = _check_truth(truth, n)
    if ids.dtype != np.int32:
        ids = np.clip(ids, -1, n_labels).astype(np.int32)
    scores = scores.astype(np.float64, copy=False)
    length = np.empty(n, dtype=np.int64)

    def counted(rows: slice) -> tuple[int, int]:
        return count_found(ids[rows], scores[rows], np.full(n_labels, -1, dtype=np.int32), length[rows])

    for rows, (row, fault) in zip(parts_of(n, n_jobs), _by_parts(counted, n, n_jobs), strict=True):
        if fault:
            raise InputError(f"row {rows.start + row} of the ranking {FAULTS[fault]}")
    known = np.bincount(np.repeat(np.arange(n), np.diff(starts))[true < n_labels], minlength=n)
    width = np.inf if k >= n_labels else k
    return _place(
        np.arange(n, dtype=np.int64) * k, length, ids.ravel(), scores.ravel(), starts, true, n_labels - known, width,
        n_jobs=n_jobs,
    )  # fmt: skip


def place_documents(scores: ArrayLike, relevance: ArrayLike, query: ArrayLike) -> Positions:
    """Rank the documents of each query by score (ties in the order given) and find those with relevance above 0.

    The queries come in the order in which they first appear; the documents of one query need not stand together.
    """
    s = as_numbers(scores, "scores")
    grade = as_numbers(relevance, "relevance", length=s.size)
    if grade.size and not 0 <= grade.min() <= grade.max() <= 1000:
        raise InputError(f"relevance must lie between 0 and 1000, not reach from {grade.min():g} to {grade.max():g}")
    queries = np.asarray(query)
    if queries.shape != s.shape:
        raise InputError(f"query has shape {queries.shape} where {s.shape} is needed, one for each score")
    _, first, of = np.unique(queries, return_index=True, return_inverse=True)
    row = np.argsort(np.argsort(first))[of]
    n = first.size
    order = np.lexsort((-s, row))  # stable: ties stay in the order given
    relevant = np.flatnonzero(grade > 0)
    relevant = relevant[np.argsort(row[relevant], kind="stable")]
    size, length = np.bincount(row[relevant], minlength=n), np.bincount(row, minlength=n)
    begin = np.cumsum(length) - length
    starts = np.concatenate([[0], np.cumsum(size)])
    return _place(
        begin, length, order.astype(np.int32), s[order], starts, relevant.astype(np.int32), length - size, np.inf, grade
    )


def _check_truth(truth: LabelSets, n: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The offsets and the labels, ascending within each example."""
    starts, ids = np.asarray(truth.indptr, dtype=np.int64), np.asarray(truth.ids)
    if starts.shape != (n + 1,):
        raise InputError(
            f"the ranking has {counted(n, 'rows')} but the truth has {starts.size - 1}; each row needs its own"
        )
    if starts[0] != 0 or starts[-1] != ids.size or np.any(np.diff(starts) < 0):
        raise InputError("the truth's offsets do not ascend from 0 to its number of labels")
    if ids.size and not 0 <= ids.min() <= ids.max() <= np.iinfo(np.int32).max:
        raise InputError("the truth holds a label number that is negative or too large")
    key = np.sort((np.repeat(np.arange(n, dtype=np.int64), np.diff(starts)) << 32) + ids)
    if np.any(np.diff(key) == 0):
        raise InputError(f"the truth of row {int(key[:-1][np.diff(key) == 0][0] >> 32)} holds a label twice")
    return starts, (key & 0xFFFFFFFF).astype(np.int32)


def _place(
    begin: NDArray[np.int64],
    length: NDArray[np.int64],
    items: NDArray[np.int32],
    scores: NDArray[np.float64],
    starts: NDArray[np.int64],
    relevant: NDArray[np.int32],
    others: NDArray[np.int64],
    width: float,
    grade: NDArray[np.float64] | None = None,
    n_jobs: int | None = 1,
) -> Positions:
    m, size = relevant.size, np.diff(starts)
    row = np.repeat(np.arange(size.size), size)
    item, rank = np.empty(m, dtype=np.int32), np.full(m, np.inf)
    errors, ties = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)

    def found(rows: slice) -> None:
        own = starts[rows.start : rows.stop + 1]
        find(begin[rows], length[rows], items, scores, own, relevant, others[rows], item, rank, errors, ties)

    list(_by_parts(found, size.size, n_jobs))
    gain = np.ones(m) if grade is None else grade[item]
    ideal = gain if grade is None else gain[np.lexsort((-gain, row))]
    nth = np.arange(m) - starts[row] + 1
    return Positions(row, item, rank, nth, errors, ties, gain, ideal, size, others, begin, length, items, scores, width)


def parts_of(n_rows: int, n_jobs: int | None) -> list[slice]:
    """The rows in as many parts as there are threads for, all of them in one if they are few."""
    n_parts = max(1, min(as_jobs(n_jobs), n_rows // ENOUGH))
    ends = np.linspace(0, n_rows, n_parts + 1).astype(int).tolist()
    return [slice(first, last) for first, last in pairwise(ends)]


def _by_parts(function: Callable[[slice], Found], n_rows: int, n_jobs: int | None) -> Iterable[Found]:
    """What the function makes of each part, in their order."""
    parts = parts_of(n_rows, n_jobs)
    return map(function, parts) if len(parts) == 1 else by_threads(function, parts, len(parts))


@kernel
def count_found(
    ids: NDArray[np.int32], scores: NDArray[np.float64], last: NDArray[np.int32], length: NDArray[np.int64]
) -> tuple[int, int]:
    """How many labels each ranking holds, into length; gives the first row at fault and its fault, or FINE.

    ids: label numbers, negative where there is none; last: for each label the last row that held it, all −1.
    """
    for i in range(ids.shape[0]):
        n, before = 0, np.inf
        for p in range(ids.shape[1]):
            c, score = ids[i, p], scores[i, p]
            if c < 0:
                continue
            if c >= last.size:
                return i, UNKNOWN
            if p > n:
                return i, GAP
            if not score <= before:
                return i, NO_SCORE if np.isnan(score) else ASCENDS
            if last[c] == i:
                return i, TWICE
            last[c] = i
            before = score
            n += 1
        length[i] = n
    return 0, FINE


# The search


@kernel
def find(
    begin: NDArray[np.int64],
    length: NDArray[np.int64],
    items: NDArray[np.int32],
    scores: NDArray[np.float64],
    starts: NDArray[np.int64],
    relevant: NDArray[np.int32],
    others: NDArray[np.int64],
    item: NDArray[np.int32],
    rank: NDArray[np.float64],
    errors: NDArray[np.int64],
    ties: NDArray[np.int64],
) -> None:
    """Walk down each ranking, one group of tied scores after the other, and note each relevant item met.

    Example i retrieved items[begin[i] : begin[i]+length[i]], scores descending and never NaN; relevant to it are
    relevant[starts[i] : starts[i+1]], ascending. The last four arrays, as long as ``relevant``, are filled.
    """
    met = np.zeros(starts[-1] - starts[0], dtype=np.bool_)
    for i in range(begin.size):
        first = starts[i]
        end = first  # item[first:end] have been met
        p = 0
        while p < length[i] and end < starts[i + 1]:  # until all have been met
            before = end
            q = p
            while q < length[i] and scores[begin[i] + q] == scores[begin[i] + p]:
                low, high = first, starts[i + 1]
                while low < high:  # binary search of the item among the relevant ones
                    middle = (low + high) // 2
                    if relevant[middle] < items[begin[i] + q]:
                        low = middle + 1
                    else:
                        high = middle
                if low < starts[i + 1] and relevant[low] == items[begin[i] + q]:
                    met[low - starts[0]] = True
                    item[end] = relevant[low]
                    rank[end] = q + 1
                    end += 1
                q += 1
            for j in range(before, end):
                errors[j] = q - (end - first)
                ties[j] = (q - p) - (end - before)
            p = q
        retrieved_others = length[i] - (end - first)
        for j in range(first, starts[i + 1]):
            if not met[j - starts[0]]:
                item[end] = relevant[j]
                errors[end] = others[i]
                ties[end] = others[i] - retrieved_others
                end += 1
