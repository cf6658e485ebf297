"""Measures that look at the ranks of the relevant items only (papers 001, 003, 004, and everyday retrieval).

y is the set of relevant items of one example and rank(r) ≥ 1 the rank of item r, ∞ if it was not retrieved.
Averages are over examples. For labels y is a text's true labels; for documents those relevant to a query.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.logarithms import binary_logs
from shortlist.measures.positions import Positions
from shortlist.measures.registry import registered

Values = NDArray[np.float64]


@registered("Rk", "higher", "[min_{r∈y} rank(r) ≤ k]", paper="004")
def among_first(positions: Positions, k: int) -> Values:
    """Share of examples with a relevant item among the first k; the best-ranked relevant item counts."""
    return (positions.best <= k).astype(np.float64)


@registered("MRR", "higher", "1 / min_{r∈y} rank(r)", paper="004")
def reciprocal_rank(positions: Positions) -> Values:
    """Mean reciprocal rank of the best relevant item; 0 where none was retrieved."""
    return 1 / positions.best


@registered("HR", "lower", "1 / MRR", paper="004", total=lambda sums, count: count / sums[0])
def harmonic_rank(positions: Positions) -> Values:
    """Harmonic mean of the best relevant item's rank: the reciprocal of MRR. 1 is perfect."""
    return reciprocal_rank(positions)[:, None]


@registered("P@k", "higher", "|{r∈y : rank(r) ≤ k}| / k", paper="001, XMC")
def precision(positions: Positions, k: int) -> Values:
    """Precision at k: the share of the first k positions that hold a relevant item. An empty place holds none."""
    return positions.total(positions.rank <= k) / k


@registered("recall@k", "higher", "|{r∈y : rank(r) ≤ k}| / |y|", paper="001")
def recall(positions: Positions, k: int) -> Values:
    """Recall at k: the share of the relevant items that are among the first k."""
    return positions.total(positions.rank <= k) / positions.size


@registered("one-error", "lower", "[the first item is not relevant] = 1 − R1", paper="001")
def one_error(positions: Positions) -> Values:
    """Share of examples whose first item is not relevant."""
    return 1 - among_first(positions, 1)


@registered("MAP", "higher", "the mean of AP over queries", families=["documents"], paper="003")
@registered("AP", "higher", "1/|y| · Σ_{r∈y} |{r'∈y : rank(r') ≤ rank(r)}| / rank(r)", paper="001, 003")
def average_precision(positions: Positions) -> Values:
    """Average precision: the mean, over relevant items, of the precision at their rank. What was not retrieved adds 0,
    so that a ranking cut short can only lose. Its mean over queries is known as MAP."""
    return positions.total(positions.nth / positions.rank) / positions.size


@registered("nDCG", "higher", "nDCG@k with k = ∞")
@registered(
    "nDCG@k", "higher",
    "Σ_{r∈y, rank(r)≤k} g(r)/log2(1+rank(r)), over the same sum for the best possible ranking", paper="003, XMC",
)  # fmt: skip
def ndcg(positions: Positions, k: float = np.inf) -> Values:
    """Normalised discounted cumulative gain of the first k, or of the whole ranking. The gain g is the grade of
    relevance, 1 for a label."""
    return _discounted(positions, positions.gain, positions.ideal_gain, k)


@registered("nDCGexp@k", "higher", "nDCG@k with the gain 2^g − 1", families=["documents"], paper="003")
def ndcg_exponential(positions: Positions, k: float) -> Values:
    """Normalised discounted cumulative gain with exponential gains, as learning-to-rank collections report it."""
    return _discounted(positions, 2**positions.gain - 1, 2**positions.ideal_gain - 1, k)


def _discounted(positions: Positions, gain: Values, ideal: Values, k: float) -> Values:
    return _gained(positions, positions.rank, gain, k) / _gained(positions, positions.nth, ideal, k)


def _gained(positions: Positions, rank: Values | NDArray[np.int64], gain: Values, k: float) -> Values:
    """The sum of the discounted gains of each example, where its items have these ranks; beyond k they have none."""
    within = (rank <= k) & (rank < np.inf)
    ranks = rank[within].astype(np.int64)
    discounts = binary_logs(np.arange(1, ranks.max(initial=0) + 2))  # of 1, then of each rank
    found = np.bincount(positions.row[within], weights=gain[within] / discounts[ranks], minlength=positions.n)
    return found.astype(np.float64, copy=False)
