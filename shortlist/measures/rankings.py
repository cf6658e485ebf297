"""Measures and curves of rankings.

y is the set of relevant items of one example and rank(r) ≥ 1 the rank of item r, ∞ if it was not
retrieved. Averages are over examples. For labels y is a text's true labels; for documents those
relevant to a query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.logarithms import binary_logs
from shortlist.data.labels import LabelSets
from shortlist.data.validation import MOST_AMOUNT, as_numbers, as_real, as_whole
from shortlist.errors import InputError, counted
from shortlist.measures.positions import Positions
from shortlist.measures.registry import Values, registered

Curve = tuple[Values, Values]


@registered("Rk", "higher", "[min_{r∈y} rank(r) ≤ k]", paper="004")
def among_first(positions: Positions, k: int) -> Values:
    """Share of examples with a relevant item among the first k; the best-ranked relevant item
    counts.
    """
    return (positions.best <= k).astype(np.float64)


@registered("MRR", "higher", "1 / min_{r∈y} rank(r)", paper="004")
def reciprocal_rank(positions: Positions) -> Values:
    """Mean reciprocal rank of the best relevant item; 0 where none was retrieved."""
    return 1 / positions.best


@registered("P@k", "higher", "|{r∈y : rank(r) ≤ k}| / k", paper="001, XMC")
def precision(positions: Positions, k: int) -> Values:
    """Precision at k: the share of the first k positions that hold a relevant item. An empty
    place holds none.
    """
    return positions.total(positions.rank <= k) / k


@registered("recall@k", "higher", "|{r∈y : rank(r) ≤ k}| / |y|", paper="001")
def recall(positions: Positions, k: int) -> Values:
    """Recall at k: the share of the relevant items that are among the first k."""
    return positions.total(positions.rank <= k) / positions.size


@registered("MAP", "higher", "the mean of AP over queries", families=["documents"], paper="003")
@registered(
    "AP", "higher", "1/|y| · Σ_{r∈y} |{r'∈y : rank(r') ≤ rank(r)}| / rank(r)", paper="001, 003"
)
def average_precision(positions: Positions) -> Values:
    """Average precision: the mean, over relevant items, of the precision at their rank. What was
    not retrieved adds 0, so that a ranking cut short can only lose. Its mean over queries is known
    as MAP.
    """
    return positions.total(positions.nth / positions.rank) / positions.size


@registered("nDCG", "higher", "nDCG@k with k = ∞")
@registered(
    "nDCG@k",
    "higher",
    "Σ_{r∈y, rank(r)≤k} g(r)/log2(1+rank(r)), over the same sum for the best possible ranking",
    paper="003, XMC",
)
def ndcg(positions: Positions, k: float = np.inf) -> Values:
    """Normalised discounted cumulative gain of the first k, or of the whole ranking. The gain g is
    the grade of relevance, 1 for a label.
    """
    return _discounted(positions, positions.gain, positions.ideal_gain, k)


@registered(
    "nDCGexp@k", "higher", "nDCG@k with the gain 2^g − 1", families=["documents"], paper="003"
)
def ndcg_exponential(positions: Positions, k: float) -> Values:
    """Normalised discounted cumulative gain with exponential gains, as learning-to-rank
    collections report it.
    """
    return _discounted(positions, 2**positions.gain - 1, 2**positions.ideal_gain - 1, k)


def _discounted(positions: Positions, gain: Values, ideal: Values, k: float) -> Values:
    return _gained(positions, positions.rank, gain, k) / _gained(positions, positions.nth, ideal, k)


def _gained(
    positions: Positions, rank: Values | NDArray[np.int64], gain: Values, k: float
) -> Values:
    """The sum of the discounted gains of each example, where its items have these ranks; beyond
    k they have none.
    """
    within = (rank <= k) & (rank < np.inf)
    ranks = rank[within].astype(np.int64)
    discounts = binary_logs(np.arange(1, ranks.max(initial=0) + 2))  # of 1, then of each rank
    gains = gain[within] / discounts[ranks]
    sums = np.bincount(positions.row[within], weights=gains, minlength=positions.n)
    return sums.astype(np.float64, copy=False)


# Y is the set of all items, s_r the score of item r, and E = {(r, q) : r ∈ y, q ∈ Y − y, s_r ≤
# s_q}. What was not retrieved ties with each other below all that was. A label never learned counts
# as one more item of Y, for the example it belongs to.


@registered(
    "ROC",
    "higher",
    "1 − (|E| − ½·|{(r, q) ∈ E : s_r = s_q}|) / (|y|·|Y − y|)",
    paper="003",
    needs=["complete rankings"],
)
def roc_area(positions: Positions) -> Values:
    """Area under the ROC curve of one example: the share of pairs in the right order, a tie
    counting one half. Examples with nothing but relevant items are left out.
    """
    pairs = (positions.size * positions.n_irrelevant).astype(np.float64)
    pairs[pairs == 0] = np.nan
    errors, ties = positions.rivals
    return 1 - positions.total(errors - ties / 2) / pairs


# Propensity-scored measures, as the Extreme Classification Repository defines and computes them.
#
# Rare labels are missing from the truth more often than frequent ones. With N training examples,
# N_l of them with label l, the propensity of l is  p_l = 1 / (1 + C·(N_l + B)^−A),  C = (ln N −
# 1)·(B + 1)^A  (Jain, Prabhu and Varma, KDD 2016), and finding l counts 1/p_l. As in the
# Repository's own script the total is divided by the total that the best possible ranking reaches,
# so that 1 is perfect: a ratio of means over examples, not a mean of ratios.


@dataclass(frozen=True)
class Propensities:
    """Label frequencies in training, from which propensities follow.

    Parameters
    ----------
    counts : array-like of shape (n_labels,)
        How many training examples have each label, by its number; labels beyond its end have none.
    n_examples : int
        The number of training examples.
    A : float, default 0.55
        The exponent; the Repository has 0.5 for Wikipedia and 0.6 for Amazon.
    B : float, default 1.5
        What is added to each count; the Repository has 0.4 for Wikipedia and 2.6 for Amazon.

    Attributes
    ----------
    counts, n_examples, A, B
        As given, checked.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import Propensities
    >>> propensities = Propensities(counts=[1000, 10], n_examples=2000)
    >>> propensities.inverse(np.array([0, 1], dtype=np.int32)).round(2)
    array([1.24, 3.85])
    """

    counts: ArrayLike
    n_examples: int
    A: float = 0.55
    B: float = 1.5

    def __post_init__(self) -> None:
        counts = as_numbers(self.counts, "counts")
        if counts.size and counts.min() < 0:
            raise InputError(f"counts[{int(np.argmin(counts))}] is negative")
        # With fewer than e examples the constant C would be negative.
        as_whole(self.n_examples, "n_examples", least=3, most=MOST_AMOUNT)
        as_real(self.A, "A", least=0)
        as_real(self.B, "B", least=0)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(cls, truth: LabelSets, A: float = 0.55, B: float = 1.5) -> Propensities:
        """From the label sets of the training examples."""
        return cls(np.bincount(truth.ids), truth.n_rows, A, B)

    def inverse(self, labels: NDArray[np.int32]) -> Values:
        """1/p_l of each label number."""
        counts = np.asarray(self.counts)
        n = np.zeros(labels.size)
        was_counted = labels < counts.size
        n[was_counted] = counts[labels[was_counted]]
        C = (np.log(self.n_examples) - 1) * (self.B + 1) ** self.A
        with np.errstate(divide="ignore"):
            return 1 + C * (n + self.B) ** -self.A


def _ratio(sums: Values, count: float) -> float:
    return sums[0] / sums[1]


@registered(
    "PSP@k",
    "higher",
    "Σ_i Σ_{r∈y_i, rank(r)≤k} 1/p_r, over the same sum for the best possible rankings",
    families=["categories"],
    paper="XMC",
    total=_ratio,
    needs=["propensities"],
)
def propensity_scored_precision(positions: Positions, propensities: Propensities, k: int) -> Values:
    """Precision at k in which finding a rare label counts more."""
    gain, best = _gains(positions, propensities)
    reached = positions.total(gain * (positions.rank <= k))
    return np.column_stack([reached, positions.total(best * (positions.nth <= k))])


@registered(
    "PSnDCG@k",
    "higher",
    "Σ_i D_i⁻¹·Σ_{r∈y_i, rank(r)≤k} 1/(p_r·log2(1+rank(r))), over the same sum for the "
    "best possible rankings; "
    "D_i = Σ_{j≤min(k,|y_i|)} 1/log2(1+j)",
    families=["categories"],
    paper="XMC",
    total=_ratio,
    needs=["propensities"],
)
def propensity_scored_ndcg(positions: Positions, propensities: Propensities, k: int) -> Values:
    """nDCG at k in which finding a rare label counts more."""
    gain, best = _gains(positions, propensities)
    ideal = (positions.nth <= k) / binary_logs(1 + positions.nth)
    reached = positions.total(gain * (positions.rank <= k) / binary_logs(1 + positions.rank))
    sums = np.column_stack([reached, positions.total(best * ideal)])
    return sums / np.maximum(positions.total(ideal), 1)[:, None]


def _gains(positions: Positions, propensities: Propensities) -> tuple[Values, Values]:
    """1/p of each relevant label, best-ranked first, and largest first."""
    gain = propensities.inverse(positions.item)
    return gain, gain[np.lexsort((-gain, positions.row))]


# Curves: the precision-recall graph, and R_k against k (papers 001 and 004).


def precision_recall(positions: Positions, levels: int = 11) -> Curve:
    """Recall levels 0 … 1 and the interpolated precision there, averaged over examples with
    something relevant.

    The interpolated precision of one example at recall level l is the largest precision at any rank
    whose recall is at least l; 0 if its ranking never reaches l.
    """
    recall = np.linspace(0, 1, as_whole(levels, "levels", least=2))
    size = positions.size[positions.size > 0]
    if not size.size:
        return recall, np.full(recall.size, np.nan)
    ends = np.cumsum(size)
    precision = np.append(positions.nth / positions.rank, 0.0)
    means = []
    for level in recall:
        # relevant items that give this recall
        needed = np.maximum(np.ceil(level * size - 1e-9), 1).astype(np.int64)
        bounds = np.column_stack([ends - size + needed - 1, ends]).ravel()
        best = np.maximum.reduceat(precision, bounds)[::2]
        means.append(np.cumsum(best)[-1] / size.size)
    return recall, np.array(means)


def among_first_k(positions: Positions, up_to: int | None = None) -> Curve:
    """k = 1, 2, … and R_k: the share of examples with a relevant item among the first k."""
    best = positions.best[positions.size > 0]
    if up_to is None:
        up_to = int(positions.length.max(initial=1))
    if as_whole(up_to, "up_to", least=1) > positions.width:
        raise InputError(
            f"R_k up to k = {up_to} needs rankings of {counted(up_to, 'labels')}; these hold "
            f"{positions.width}"
        )
    k = np.arange(1.0, up_to + 1)
    if not best.size:
        return k, np.full(k.size, np.nan)
    return k, np.searchsorted(np.sort(best), k, side="right") / best.size
