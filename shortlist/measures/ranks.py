"""Measures that look at the ranks of the relevant items only (papers 001, 003, 004, and everyday retrieval).

y is the set of relevant items of one instance and rank(r) ≥ 1 the rank of item r, ∞ if it was not retrieved.
Averages are over instances. For labels y is a text's true labels; for documents those relevant to a query.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.measures.places import Places
from shortlist.measures.registry import registered

Values = NDArray[np.float64]


@registered("Rk", "higher", "[min_{r∈y} rank(r) ≤ k]", paper="004")
def among_first(places: Places, k: int) -> Values:
    """Share of instances with a relevant item among the first k; the best-ranked relevant item counts."""
    return (places.best <= k).astype(np.float64)


@registered("MRR", "higher", "1 / min_{r∈y} rank(r)", paper="004")
def reciprocal_rank(places: Places) -> Values:
    """Mean reciprocal rank of the best relevant item; 0 where none was retrieved."""
    return 1 / places.best


@registered("HR", "lower", "1 / MRR", paper="004", total=lambda sums, count: count / sums[0])
def harmonic_rank(places: Places) -> Values:
    """Harmonic mean of the best relevant item's rank: the reciprocal of MRR. 1 is perfect."""
    return reciprocal_rank(places)[:, None]


@registered("P@k", "higher", "|{r∈y : rank(r) ≤ k}| / k", paper="001, XMC")
def precision(places: Places, k: int) -> Values:
    """Precision at k: the share of the first k places that hold a relevant item. An empty place holds none."""
    return places.total(places.rank <= k) / k


@registered("recall@k", "higher", "|{r∈y : rank(r) ≤ k}| / |y|", paper="001")
def recall(places: Places, k: int) -> Values:
    """Recall at k: the share of the relevant items that are among the first k."""
    return places.total(places.rank <= k) / places.size


@registered("one-error", "lower", "[the first item is not relevant] = 1 − R1", paper="001")
def one_error(places: Places) -> Values:
    """Share of instances whose first item is not relevant."""
    return 1 - among_first(places, 1)


@registered("AP", "higher", "1/|y| · Σ_{r∈y} |{r'∈y : rank(r') ≤ rank(r)}| / rank(r)", paper="001, 003")
def average_precision(places: Places) -> Values:
    """Average precision: the mean, over relevant items, of the precision at their rank. What was not retrieved adds 0,
    so that a ranking cut short can only lose. Its mean over queries is known as MAP."""
    return places.total(places.nth / places.rank) / places.size


@registered("MAP", "higher", "the mean of AP over queries", families=["documents"], paper="003")
def mean_average_precision(places: Places) -> Values:
    """Mean average precision: another name of AP."""
    return average_precision(places)


@registered("nDCG", "higher", "nDCG@k with k = ∞")
def ndcg(places: Places) -> Values:
    """Normalised discounted cumulative gain of the whole ranking."""
    return ndcg_at(places, np.inf)


@registered(
    "nDCG@k", "higher",
    "Σ_{r∈y, rank(r)≤k} g(r)/log2(1+rank(r)), over the same sum for the best possible ranking", paper="003, XMC",
)  # fmt: skip
def ndcg_at(places: Places, k: float) -> Values:
    """Normalised discounted cumulative gain of the first k. The gain g is the grade of relevance, 1 for a label."""
    return _discounted(places, places.gain, places.ideal_gain, k)


@registered("nDCGexp@k", "higher", "nDCG@k with the gain 2^g − 1", families=["documents"], paper="003")
def ndcg_exponential(places: Places, k: float) -> Values:
    """Normalised discounted cumulative gain with exponential gains, as learning-to-rank collections report it."""
    return _discounted(places, 2**places.gain - 1, 2**places.ideal_gain - 1, k)


def _discounted(places: Places, gain: Values, ideal: Values, k: float) -> Values:
    reached = places.total(np.where(places.rank <= k, gain / np.log2(1 + places.rank), 0))
    return reached / places.total(np.where(places.nth <= k, ideal / np.log2(1 + places.nth), 0))
