"""Two methods on the same splits or queries: the difference, its confidence interval, effect size
and p-value, and Holm's correction for several of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from papers.cells import spread
from shortlist.measures.significance import paired_differences, wilcoxon

LEVEL = 0.05  # of significance; intervals are 95 % intervals


@dataclass(frozen=True)
class Contrast:
    """How far the first of two methods is ahead, over paired cases.

    The interval and the p-value are those of the t-test of the differences; by query, the p-value
    is Wilcoxon's, as in paper 003. The effect size is Cohen's d of paired values: the mean
    difference over its standard deviation.
    """

    difference: float
    low: float
    high: float
    effect: float | None  # None where all differences are equal
    p_value: float
    higher: int
    lower: int
    cases: int

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike, *, by_query: bool = False) -> Contrast:
        """Of at least two paired cases."""
        d = paired_differences(first, second)
        mean = float(d.mean())
        deviation = spread(d) or 0.0
        error = deviation / np.sqrt(d.size)
        half = float(scipy.stats.t.ppf(1 - LEVEL / 2, d.size - 1) * error)
        if by_query:
            p = wilcoxon(first, second).p_value
        elif error:
            p = float(2 * scipy.stats.t.sf(abs(mean) / error, d.size - 1))
        else:
            p = float(mean == 0)
        effect = mean / deviation if deviation else None
        higher, lower = int((d > 0).sum()), int((d < 0).sum())
        return cls(mean, mean - half, mean + half, effect, p, higher, lower, d.size)

    @property
    def significant(self) -> bool:
        return self.p_value < LEVEL

    def __str__(self) -> str:
        return f"{self.difference:+.3f} [{self.low:+.3f}, {self.high:+.3f}], p {self.p_value:.2g}"


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for their number, in the same order (Holm 1979)."""
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.array(p_values)[order] * factors))
    return adjusted.tolist()
