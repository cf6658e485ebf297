"""The ranks of the relevant items: the step that all measures of rankings share.

An example is a text whose items are labels, or a query whose items are documents. The relevant
items of all examples are found in their rankings once; everything else is arithmetic on their
ranks. No array has the size of examples × labels. An item that was not retrieved has rank ∞ and
ties with all others that were not retrieved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.label_input import LabelsLike
from shortlist.data.labels import LabelIndex, LabelSets
from shortlist.data.ranking import Ranking, places_of
from shortlist.data.validation import as_numbers, as_whole
from shortlist.errors import InputError, counted

PLACES_CHECKED = 2**18  # of rankings, at a time


@dataclass(frozen=True)
class Positions:
    """Rankings of n examples and the positions of their m relevant items, best first within an
    example.

    ``row``         int64[m]    the example
    ``item``        int32[m]    the relevant item
    ``rank``        float64[m]  its rank from 1, or ∞
    ``nth``         int64[m]    1 for the best, 2, …
    ``gain``        float64[m]  its grade of relevance
    ``ideal_gain``  float64[m]  the same, highest first
    ``size``        int64[n]    relevant items, |y|
    ``n_irrelevant`` int64[n]    non-relevant items, |Y − y|
    ``begin``       int64[n]    first retrieved item of an example
    ``length``      int64[n]    how many were retrieved
    ``items``       int32[·]    the retrieved items, best first
    ``scores``      float64[·]  their scores
    ``width``                   the most that could be retrieved
    """

    row: Longs
    item: Ints
    rank: Floats
    nth: Longs
    gain: Floats
    ideal_gain: Floats
    size: Longs
    n_irrelevant: Longs
    begin: Longs
    length: Longs
    items: Ints
    scores: Floats
    width: float

    @property
    def n(self) -> int:
        return self.size.size

    def total(self, values: ArrayLike) -> Floats:
        """Add up one number for each relevant item within its example: float64[n]."""
        return np.bincount(self.row, weights=values, minlength=self.n).astype(
            np.float64, copy=False
        )

    @cached_property
    def best(self) -> Floats:
        """The rank of the best relevant item of each example, ∞ where none was retrieved."""
        best = np.full(self.n, np.inf)
        first = self.nth == 1
        best[self.row[first]] = self.rank[first]
        return best

    def first(self, counts: Longs) -> tuple[Longs, Ints]:
        """The first counts[i] retrieved items of each example i: their examples, and the items."""
        row = np.repeat(np.arange(self.n), counts)
        place = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return row, self.items[self.begin[row] + place]

    @cached_property
    def rivals(self) -> tuple[Longs, Longs]:
        """The non-relevant items with at least the score of each relevant one, and those with
        exactly its score.
        """
        errors = self.n_irrelevant[self.row]
        is_ranked = self.rank < np.inf
        n_ranked = self.total(is_ranked).astype(np.int64)
        ties = errors - (self.length - n_ranked)[self.row]
        ranked = np.flatnonzero(is_ranked)
        begin = self.begin[self.row[ranked]]
        end = begin + self.length[self.row[ranked]]
        changes = np.flatnonzero(self.scores[1:] != self.scores[:-1]) + 1
        bounds = np.concatenate([[0], changes, [self.scores.size]])
        place = begin + self.rank[ranked].astype(np.int64) - 1
        group = np.searchsorted(bounds, place, side="right")
        # of those with its score
        first = np.maximum(bounds[group - 1], begin)
        last = np.minimum(bounds[group], end)
        relevant_before = np.searchsorted(last, last)
        relevant_so_far = np.searchsorted(last, last, side="right")
        errors[ranked] = last - begin - self.nth[ranked][relevant_so_far - 1]
        ties[ranked] = last - first - (relevant_so_far - relevant_before)
        return errors, ties


def place_labels(
    ranking: Ranking, truth: LabelSets | LabelsLike, n_labels: int | None = None
) -> Positions:
    """Find the true labels in rankings of labels; ``n_labels`` is how many labels could have
    been ranked.
    """
    if not isinstance(ranking, Ranking):
        raise InputError(
            "evaluate takes a ranking, as model.rank(texts, k=10) gives it, and the true labels of "
            "each text; "
            f"this is a {type(ranking).__name__}"
        )
    ids = np.asarray(ranking.ids)
    scores = np.asarray(ranking.scores)
    names = ranking.label_names
    is_matrix = ids.ndim == 2 and scores.shape == ids.shape
    if not is_matrix or ids.dtype.kind not in "iu" or scores.dtype.kind != "f":
        raise InputError(
            "measures take a ranking of many rows: label numbers and scores, both n × k; "
            f"this one has {ids.shape} {ids.dtype} and {scores.shape} {scores.dtype}"
        )
    n, k = ids.shape
    n_labels = len(names) if n_labels is None else as_whole(n_labels, "n_labels")
    if not isinstance(truth, LabelSets):
        truth = LabelIndex(names).look_up(truth, n)
    row, item = _true_labels(truth, n)
    if ids.dtype != np.int32:
        ids = np.clip(ids, -1, n_labels).astype(np.int32)
    scores = scores.astype(np.float64, copy=False)
    length = np.empty(n, dtype=np.int64)
    rows_at_once = max(1, PLACES_CHECKED // max(k, 1))
    for first in range(0, n, rows_at_once):
        block = slice(first, first + rows_at_once)
        length[block] = _check(ids[block], scores[block], n_labels, first)
    place = places_of(item, row, ids)
    return _place(
        row,
        item,
        rank=np.where(place < k, place + 1.0, np.inf),
        starts=truth.indptr,
        n_irrelevant=n_labels - np.bincount(row[item < n_labels], minlength=n),
        begin=np.arange(n, dtype=np.int64) * k,
        length=length,
        items=ids.ravel(),
        scores=scores.ravel(),
        width=np.inf if k >= n_labels else k,
    )


def _check(ids: Ints, scores: Floats, n_labels: int, first: int) -> Longs:
    """Return how many labels each ranking holds, or raise; ``first`` is the number of the first
    ranking.
    """
    holds = ids >= 0
    by_number = np.sort(ids, axis=1)
    faults = {
        "holds a label number that is not below the number of labels": ids >= n_labels,
        "holds a label after an empty place": holds[:, 1:] & ~holds[:, :-1],
        "holds a label without a score": holds & np.isnan(scores),
        "is not in descending order of scores": holds[:, 1:] & (scores[:, 1:] > scores[:, :-1]),
        "holds a label twice": (by_number[:, 1:] >= 0) & (by_number[:, 1:] == by_number[:, :-1]),
    }
    at_fault = np.array([places.any(axis=1) for places in faults.values()])
    if at_fault.any():
        row = int(at_fault.any(axis=0).argmax())
        fault = list(faults)[at_fault[:, row].argmax()]
        raise InputError(f"row {first + row} of the ranking {fault}")
    return holds.sum(axis=1)


def place_documents(scores: ArrayLike, relevance: ArrayLike, query: ArrayLike) -> Positions:
    """Rank the documents of each query by score (ties in the order given) and find those with
    relevance above 0.

    The queries come in the order in which they first appear; the documents of one query need not
    stand together.
    """
    s = as_numbers(scores, "scores")
    grade = as_numbers(relevance, "relevance", length=s.size)
    if grade.size and not 0 <= grade.min() <= grade.max() <= 1000:
        raise InputError(
            f"relevance must lie between 0 and 1000, not reach from {grade.min():g} to "
            f"{grade.max():g}"
        )
    queries = np.asarray(query)
    if queries.shape != s.shape:
        raise InputError(
            f"query has shape {queries.shape} where {s.shape} is needed, one for each score"
        )
    _, first, of = np.unique(queries, return_index=True, return_inverse=True)
    row = np.argsort(np.argsort(first))[of]
    n = first.size
    order = np.lexsort((-s, row))  # stable: ties stay in the order given
    length = np.bincount(row, minlength=n)
    begin = np.cumsum(length) - length
    rank = np.empty(s.size)
    rank[order] = np.arange(1, s.size + 1) - begin[row[order]]
    relevant = np.flatnonzero(grade > 0)
    relevant = relevant[np.argsort(row[relevant], kind="stable")]
    size = np.bincount(row[relevant], minlength=n)
    return _place(
        row[relevant],
        relevant.astype(np.int32),
        rank=rank[relevant],
        starts=np.append(0, np.cumsum(size)),
        n_irrelevant=length - size,
        begin=begin,
        length=length,
        items=order.astype(np.int32),
        scores=s[order],
        width=np.inf,
        grade=grade,
    )


def _true_labels(truth: LabelSets, n: int) -> tuple[Longs, Ints]:
    """The row and the number of each true label, ascending."""
    if truth.n_rows != n:
        raise InputError(
            f"the ranking has {counted(n, 'rows')} but the truth has {truth.n_rows}; each row "
            "needs its true labels"
        )
    row = np.repeat(np.arange(n, dtype=np.int64), np.diff(truth.indptr))
    row_and_label = np.sort((row << 32) + truth.ids)
    again = np.flatnonzero(np.diff(row_and_label) == 0)
    if again.size:
        raise InputError(f"the truth of row {row[again[0]]} holds a label twice")
    return row, (row_and_label & 0xFFFFFFFF).astype(np.int32)


def _place(
    row: Longs,
    item: Ints,
    *,
    rank: Floats,
    starts: Longs,
    length: Longs,
    grade: Floats | None = None,
    **retrieved: Any,
) -> Positions:
    """Bring the relevant items of each example into the order of their ranks; those not
    retrieved keep theirs.
    """
    longest = length.max(initial=0)
    order = np.argsort(row * (longest + 2) + np.minimum(rank, longest + 1), kind="stable")
    item = item[order]
    gain = ideal_gain = np.ones(item.size)
    if grade is not None:
        gain = grade[item]
        ideal_gain = gain[np.lexsort((-gain, row))]
    return Positions(
        row=row,
        item=item,
        rank=rank[order],
        nth=np.arange(item.size) - starts[row] + 1,
        gain=gain,
        ideal_gain=ideal_gain,
        size=np.diff(starts),
        length=length,
        **retrieved,
    )
