"""Is one method better than another? Tests on paired values: by query (paper 003), by split (004), by example."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # whose stats are loaded when they are asked for
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.validation import as_whole
from shortlist.errors import InputError
from shortlist.measures.resampling import Columns, interval, resampled_sums


class Comparison(NamedTuple):
    """Two methods on the same cases: mean of first − second, how often the first was higher, equal, lower, and the
    two-tailed probability of a difference at least as large if neither were better."""

    difference: float
    higher: int
    equal: int
    lower: int
    p_value: float
    interval: tuple[float, float] | None = None


def wilcoxon(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Two-tailed Wilcoxon signed-rank test; pairs without a difference are dropped (paper 003)."""
    d = _differences(first, second)
    changed = d[d != 0]
    p = float(scipy.stats.wilcoxon(changed).pvalue) if changed.size else 1.0
    return _comparison(d, p)


def sign_test(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Two-tailed binomial sign test; pairs without a difference are dropped (paper 004)."""
    d = _differences(first, second)
    higher, changed = int((d > 0).sum()), int((d != 0).sum())
    p = float(scipy.stats.binomtest(higher, changed).pvalue) if changed else 1.0
    return _comparison(d, p)


def paired_bootstrap(
    first: ArrayLike, second: ArrayLike, *, resamples: int = 10_000, random_state: int = 0
) -> Comparison:
    """Bootstrap of the mean difference: its 95 % interval, and twice the share of samples on the other side of 0."""
    d = _differences(first, second)
    resamples = as_whole(resamples, "resamples", least=1)
    means = resampled_sums(Columns.of([d[:, None]]), resamples, random_state)[:, 0] / d.size
    tail = (1 + min(int((means <= 0).sum()), int((means >= 0).sum()))) / (resamples + 1)  # never exactly 0
    return _comparison(d, min(1.0, 2 * tail))._replace(interval=interval(means))


def _differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """First − second; cases left out by either (NaN) are left out."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"a paired test needs two lists of one length, not {one.shape} and {other.shape}")
    d = one - other
    d = d[~np.isnan(d)]
    if not d.size:
        raise InputError("a paired test needs at least one case that both methods have a value for")
    return d


def _comparison(d: NDArray[np.float64], p: float) -> Comparison:
    return Comparison(float(d.mean()), int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum()), p)
