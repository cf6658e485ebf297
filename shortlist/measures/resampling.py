"""The bootstrap. (SciPy's copies every instance's row for every sample; here a sample is n weights.)"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.door import as_whole
from shortlist.pipeline import ahead

CONFIDENCE = 95  # per cent
MANY = 20_000  # rows that are worth a thread


def resampled_sums(rows: scipy.sparse.sparray, resamples: int, random_state: int) -> Iterator[NDArray[np.float64]]:
    """For each of ``resamples`` bootstrap samples, the sum of n rows drawn with replacement from n.

    Samples of many rows are drawn in a thread of their own while others are added up.
    """
    rng = np.random.default_rng(as_whole(random_state, "random_state"))
    by_column = rows.T.tocsr()
    n = rows.shape[0]
    drawn = (np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64) for _ in range(resamples))
    for times_drawn in ahead(drawn) if n >= MANY else drawn:
        yield by_column @ times_drawn


def interval(samples: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95 % of a bootstrap's samples; NaN where no sample has a value."""
    samples = samples[~np.isnan(samples)]
    if not samples.size:
        return np.nan, np.nan
    tail = (100 - CONFIDENCE) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return float(low), float(high)
