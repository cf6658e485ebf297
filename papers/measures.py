"""Measures that only the papers' tables use, added to those that ``shortlist.measures`` knows.

The error set of an example is E = {(r, q) : r ∈ y, q ∈ Y − y, s_r ≤ s_q}, with Y the set of all
items and s_r the score of item r. A tie is an error, so it does not matter how ties are broken.
With a complete ranking these are the papers' numbers exactly. In a ranking that was cut, items that
were not retrieved tie with each other below all that are listed: a missing relevant item loses
against every non-relevant one, and has rank |Y|.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from shortlist.measures.positions import Positions
from shortlist.measures.rankings import among_first, reciprocal_rank
from shortlist.measures.registry import Values, registered

# Paper 001


@registered("one-error", "lower", "[the first item is not relevant] = 1 − R1", paper="001")
def one_error(positions: Positions) -> Values:
    """Share of examples whose first item is not relevant."""
    return 1 - among_first(positions, 1)


@registered("loss1", "lower", "[E ≠ ∅]", paper="001", needs=["complete rankings"])
def imperfect(positions: Positions) -> Values:
    """Share of examples that are not ranked perfectly, every relevant item strictly above every
    other one.
    """
    return (wrong_pairs(positions) > 0).astype(np.float64)


@registered("loss2", "lower", "|E|", paper="001", needs=["complete rankings"])
def wrong_pairs(positions: Positions) -> Values:
    """Number of pairs of a relevant and a non-relevant item that are in the wrong order or tie."""
    errors, _ = positions.rivals
    return positions.total(errors)


@registered(
    "loss3", "lower", "|E| / (|y|·|Y − y|), 0 if y = Y", paper="001", needs=["complete rankings"]
)
def share_of_wrong_pairs(positions: Positions) -> Values:
    """Share of the pairs of a relevant and a non-relevant item that are in the wrong order or
    tie.
    """
    return wrong_pairs(positions) / np.maximum(positions.size * positions.n_irrelevant, 1)


@registered(
    "coverage",
    "lower",
    "max_{r∈y} rank(r) − 1; rank |Y| if r is missing",
    paper="001",
    needs=["complete rankings"],
)
def coverage(positions: Positions) -> Values:
    """How far down the ranking the last relevant item stands; 0 where one relevant item comes
    first.
    """
    last = np.zeros(positions.n)
    ends = positions.nth == positions.size[positions.row]
    last[positions.row[ends]] = positions.rank[ends]
    return np.minimum(last, positions.size + positions.n_irrelevant) - 1


def _largest_f1(sums: Values, count: float) -> float:
    hits, recalled = np.split(sums, 2)
    precision = np.cumsum(hits) / np.arange(1, hits.size + 1) / count
    recall = np.cumsum(recalled) / count
    f1 = 2 * precision * recall / (precision + recall)
    return float(np.max(f1[~np.isnan(f1)], initial=0)) if count else np.nan


@registered(
    "maxF1",
    "higher",
    "max_r 2·P_r·R_r / (P_r + R_r), P_r = mean P@r, R_r = mean recall@r",
    paper="001",
    total=_largest_f1,
)
def max_f1(positions: Positions) -> scipy.sparse.csr_array:
    """The largest F1, over cuts r, of average precision at r and average recall at r."""
    found = np.isfinite(positions.rank)
    row, place = positions.row[found], positions.rank[found].astype(np.int64) - 1
    width = int(place.max(initial=0)) + 1
    shape = (positions.n, width)
    hits = scipy.sparse.csr_array((np.ones(row.size), (row, place)), shape=shape)
    recalled = scipy.sparse.csr_array((1 / positions.size[row], (row, place)), shape=shape)
    return scipy.sparse.hstack([hits, recalled], format="csr")


def document_margins(scores: ArrayLike, relevant: ArrayLike) -> NDArray[np.float64]:
    """The margin of each row of scores: the lowest of a relevant item less the highest of another.

    Above 0 where the ranking is perfect, otherwise not; NaN where all items are relevant, or none.

    Examples
    --------
    >>> from papers.measures import document_margins
    >>> document_margins([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]], [[1, 0, 0], [0, 1, 0]]).tolist()
    [1.0, -2.0]
    """
    values, true = np.asarray(scores, dtype=np.float64), np.asarray(relevant) > 0
    lowest = np.where(true, values, np.inf).min(axis=1, initial=np.inf)
    highest = np.where(true, -np.inf, values).max(axis=1, initial=-np.inf)
    margins = lowest - highest
    return np.where(np.isfinite(margins), margins, np.nan)


# Papers 003 and 004


@registered(
    "best-accuracy",
    "higher",
    "the largest |{d : [d above the cut] = [d relevant]}| / number of documents",
    families=["documents"],
    paper="003",
)
def best_accuracy(positions: Positions) -> Values:
    """Share of a query's documents on the right side of the best cut of its ranking."""
    best = positions.n_irrelevant.astype(np.float64)  # every item that was cut off
    np.maximum.at(
        best,
        positions.row,
        2 * positions.nth - positions.rank + positions.n_irrelevant[positions.row],
    )
    return best / positions.length


@registered("HR", "lower", "1 / MRR", paper="004", total=lambda sums, count: count / sums[0])
def harmonic_rank(positions: Positions) -> Values:
    """Harmonic mean of the best relevant item's rank: the reciprocal of MRR. 1 is perfect."""
    return reciprocal_rank(positions)[:, None]
