"""Measures and curves of rankings: retrieval, the losses of paper 001, ROC area and accuracy of 003, HR of 004.

y is the set of relevant items of one example and rank(r) ≥ 1 the rank of item r, ∞ if it was not retrieved.
Averages are over examples. For labels y is a text's true labels; for documents those relevant to a query.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.logarithms import binary_logs
from shortlist.arrays.validation import as_whole
from shortlist.errors import InputError, counted
from shortlist.measures.positions import Positions
from shortlist.measures.registry import registered

Values = NDArray[np.float64]
Curve = tuple[Values, Values]


# Measures that look at the ranks of the relevant items only.


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


# Measures that look at the whole ranking. Y is the set of all items, s_r the score of item r, and the error set is
# E = {(r, q) : r ∈ y, q ∈ Y − y, s_r ≤ s_q}: a tie is an error, so that it does not matter how ties are broken.
#
# With a complete ranking these are the papers' numbers exactly. In a ranking that was cut, or that lists only what was
# retrieved at all, the other items tie with each other below all that are listed: a relevant item that is missing loses
# against every non-relevant one, and has rank |Y|. So cutting a ranking short never makes it look better. A true label
# that no ranking can hold because it was never learned counts as one more item of Y, for the example it belongs to.


@registered("loss1", "lower", "[E ≠ ∅]", paper="001", needs=["complete rankings"])
def imperfect(positions: Positions) -> Values:
    """Share of examples that are not ranked perfectly, every relevant item strictly above every other one."""
    return (positions.total(positions.errors) > 0).astype(np.float64)


@registered("loss2", "lower", "|E|", paper="001", needs=["complete rankings"])
def wrong_pairs(positions: Positions) -> Values:
    """Number of pairs of a relevant and a non-relevant item that are in the wrong order or tie."""
    return positions.total(positions.errors)


@registered("loss3", "lower", "|E| / (|y|·|Y − y|), 0 if y = Y", paper="001", needs=["complete rankings"])
def share_of_wrong_pairs(positions: Positions) -> Values:
    """Share of the pairs of a relevant and a non-relevant item that are in the wrong order or tie."""
    return positions.total(positions.errors) / np.maximum(positions.size * positions.others, 1)


@registered(
    "coverage", "lower", "max_{r∈y} rank(r) − 1; rank |Y| if r is missing", paper="001", needs=["complete rankings"]
)
def coverage(positions: Positions) -> Values:
    """How far down the ranking the last relevant item stands; 0 where one relevant item comes first."""
    last = np.zeros(positions.n)
    ends = positions.nth == positions.size[positions.row]
    last[positions.row[ends]] = positions.rank[ends]
    return np.minimum(last, positions.size + positions.others) - 1


@registered(
    "ROC", "higher", "1 − (|E| − ½·|{(r, q) ∈ E : s_r = s_q}|) / (|y|·|Y − y|)", paper="003",
    needs=["complete rankings"],
)  # fmt: skip
def roc_area(positions: Positions) -> Values:
    """Area under the ROC curve of one example: the share of pairs in the right order, a tie counting one half.
    Examples with nothing but relevant items are left out."""
    pairs = (positions.size * positions.others).astype(np.float64)
    pairs[pairs == 0] = np.nan
    return 1 - positions.total(positions.errors - positions.ties / 2) / pairs


@registered(
    "accuracy@t", "higher", "|{d : [s_d > t] = [d relevant]}| / number of documents", families=["documents"],
    paper="003",
)  # fmt: skip
def accuracy(positions: Positions, t: float) -> Values:
    """Share of a query's documents on the right side of the score t; SVMs put it at 0."""
    above = positions.above(t)
    hits = positions.total(positions.rank <= above[positions.row])
    return (hits + positions.others - (above - hits)) / positions.length


@registered(
    "best-accuracy", "higher", "the largest accuracy@t over all positions to cut the ranking", families=["documents"],
    paper="003",
)  # fmt: skip
def best_accuracy(positions: Positions) -> Values:
    """Share of a query's documents on the right side of the best cut of its ranking."""
    best = positions.others.astype(np.float64)  # every item that was cut off
    np.maximum.at(best, positions.row, 2 * positions.nth - positions.rank + positions.others[positions.row])
    return best / positions.length


# Curves: the precision-recall graph, R_k against k, and averages that grow with a stream (papers 001, 002, 004).


def precision_recall(positions: Positions, levels: int = 11) -> Curve:
    """Recall levels 0 … 1 and the interpolated precision there, averaged over examples with something relevant.

    The interpolated precision of one example at recall level l is the largest precision at any rank whose recall is
    at least l; 0 if its ranking never reaches l.
    """
    recall = np.linspace(0, 1, as_whole(levels, "levels", least=2))
    size = positions.size[positions.size > 0]
    if not size.size:
        return recall, np.full(recall.size, np.nan)
    ends = np.cumsum(size)
    precision = np.append(positions.nth / positions.rank, 0.0)
    found = []
    for level in recall:
        wanted = np.maximum(np.ceil(level * size - 1e-9), 1).astype(np.int64)  # relevant items that give this recall
        best = np.maximum.reduceat(precision, np.column_stack([ends - size + wanted - 1, ends]).ravel())[::2]
        found.append(np.cumsum(best)[-1] / size.size)
    return recall, np.array(found)


def among_first_k(positions: Positions, up_to: int | None = None) -> Curve:
    """k = 1, 2, … and R_k: the share of examples with a relevant item among the first k."""
    best = positions.best[positions.size > 0]
    if up_to is None:
        up_to = int(positions.length.max(initial=1))
    if as_whole(up_to, "up_to", least=1) > positions.width:
        raise InputError(
            f"R_k up to k = {up_to} needs rankings of {counted(up_to, 'labels')}; these hold {positions.width}"
        )
    k = np.arange(1, up_to + 1)
    if not best.size:
        return k.astype(np.float64), np.full(k.size, np.nan)
    return k.astype(np.float64), np.searchsorted(np.sort(best), k, side="right") / best.size


def progressive(values: ArrayLike) -> Curve:
    """t = 1, 2, … and Σ_{i≤t} values_i / t: the round-averaged cumulative loss (or R_1, …) of a stream.

    Rounds that were left out (NaN) are skipped; they count neither above nor below the line.
    """
    v = np.asarray(values, dtype=np.float64)
    if v.ndim != 1:
        raise InputError(f"a stream of values has one dimension, not {v.ndim}")
    v = v[~np.isnan(v)]
    t = np.arange(1, v.size + 1, dtype=np.float64)
    return t, np.cumsum(v) / t
