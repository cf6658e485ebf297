"""The bootstrap. (SciPy's copies every example's row for every sample; here a sample is n weights.)"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.arrays.kernels import kernel
from shortlist.arrays.validation import MOST_SEED, as_jobs, as_whole
from shortlist.concurrency.prefetch import by_threads

CONFIDENCE = 95  # per cent
MANY = 4000  # fewer rows are not worth starting threads for
BATCH = 20  # samples that are drawn with one generator


def resampled_sums(
    rows: scipy.sparse.sparray, resamples: int, random_state: int, n_jobs: int | None = -1
) -> Iterator[NDArray[np.float64]]:
    """For each of ``resamples`` bootstrap samples, the sum of n rows drawn with replacement from n.

    Every few samples have a generator of their own, so that threads can draw them: the same for any number of threads.
    """
    seed = as_whole(random_state, "random_state", most=MOST_SEED)
    columns = rows.T.tocsr()
    entries = columns.indptr.astype(np.int64), columns.indices.astype(np.int64), columns.data.astype(np.float64)
    n = rows.shape[0]

    def sums(first: int) -> list[NDArray[np.float64]]:
        rng = np.random.default_rng([seed, first])
        samples = (rng.integers(n, size=n) for _ in range(first, min(first + BATCH, resamples)))
        return [weighted_sums(*entries, counted(sample)) for sample in samples]

    firsts = range(0, resamples, BATCH)
    jobs = as_jobs(n_jobs)
    for some in map(sums, firsts) if n < MANY or jobs == 1 else by_threads(sums, firsts, jobs):
        yield from some


@kernel
def counted(sample: NDArray[np.int64]) -> NDArray[np.float64]:
    """How often each of 0, 1, … n − 1 is in a sample of n. (NumPy's bincount would keep other threads waiting.)"""
    times = np.zeros(sample.size)
    for i in sample:
        times[i] += 1.0
    return times


@kernel
def weighted_sums(
    indptr: NDArray[np.int64], rows: NDArray[np.int64], values: NDArray[np.float64], times: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sum of each column, each row counted as many times. (SciPy's product rounds as the machine likes it.)"""
    sums = np.zeros(indptr.size - 1)
    for column in range(sums.size):
        for at in range(indptr[column], indptr[column + 1]):
            sums[column] += values[at] * times[rows[at]]
    return sums


def interval(samples: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95 % of a bootstrap's samples; NaN where no sample has a value."""
    samples = samples[~np.isnan(samples)]
    if not samples.size:
        return np.nan, np.nan
    tail = (100 - CONFIDENCE) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return float(low), float(high)
