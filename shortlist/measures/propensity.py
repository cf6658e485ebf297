"""Propensity-scored measures, as the Extreme Classification Repository defines and computes them.

Rare labels are missing from the truth more often than frequent ones. With N training examples, N_l of them with
label l, the propensity of l is  p_l = 1 / (1 + C·(N_l + B)^−A),  C = (ln N − 1)·(B + 1)^A  (Jain, Prabhu and Varma,
KDD 2016), and finding l counts 1/p_l. As in the Repository's own script the total is divided by the total that the
best possible ranking reaches, so that 1 is perfect: a ratio of means over examples, not a mean of ratios.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.logarithms import binary_logs
from shortlist.arrays.validation import MOST_AMOUNT, as_numbers, as_real, as_whole
from shortlist.errors import InputError
from shortlist.labels import LabelSets
from shortlist.measures.positions import Positions
from shortlist.measures.registry import registered

Values = NDArray[np.float64]


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
        known = labels < counts.size
        n[known] = counts[labels[known]]
        C = (np.log(self.n_examples) - 1) * (self.B + 1) ** self.A
        with np.errstate(divide="ignore"):
            return 1 + C * (n + self.B) ** -self.A


def _ratio(sums: Values, count: float) -> float:
    return sums[0] / sums[1]


@registered("PSP@k", "higher", "Σ_i Σ_{r∈y_i, rank(r)≤k} 1/p_r, over the same sum for the best possible rankings",
            families=["categories"], paper="XMC", total=_ratio, needs=["propensities"])  # fmt: skip
def propensity_scored_precision(positions: Positions, propensities: Propensities, k: int) -> Values:
    """Precision at k in which finding a rare label counts more."""
    gain, best = _gains(positions, propensities)
    return np.column_stack(
        [positions.total(gain * (positions.rank <= k)), positions.total(best * (positions.nth <= k))]
    )


@registered("PSnDCG@k", "higher",
            "Σ_i D_i⁻¹·Σ_{r∈y_i, rank(r)≤k} 1/(p_r·log2(1+rank(r))), over the same sum for the best possible rankings; "
            "D_i = Σ_{j≤min(k,|y_i|)} 1/log2(1+j)",
            families=["categories"], paper="XMC", total=_ratio, needs=["propensities"])  # fmt: skip
def propensity_scored_ndcg(positions: Positions, propensities: Propensities, k: int) -> Values:
    """nDCG at k in which finding a rare label counts more."""
    gain, best = _gains(positions, propensities)
    ideal = (positions.nth <= k) / binary_logs(1 + positions.nth)
    reached = positions.total(gain * (positions.rank <= k) / binary_logs(1 + positions.rank))
    return np.column_stack([reached, positions.total(best * ideal)]) / np.maximum(positions.total(ideal), 1)[:, None]


def _gains(positions: Positions, propensities: Propensities) -> tuple[Values, Values]:
    """1/p of each relevant label, best-ranked first, and largest first."""
    gain = propensities.inverse(positions.item)
    return gain, gain[np.lexsort((-gain, positions.row))]
