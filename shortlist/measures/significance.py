"""Is one method better than another? Tests on paired values: by query (paper 003), by example."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.stats is imported at its first use
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import kernel
from shortlist.concurrency import spread
from shortlist.data.validation import MOST_SEED, as_jobs, as_whole
from shortlist.errors import InputError

# The bootstrap. (SciPy's copies every example's row for every sample; here a sample is n weights.)


CONFIDENCE = 95  # per cent
ENOUGH_FOR_THREADS = 4000  # fewer rows are not worth starting threads for
SAMPLES_A_SEED = 20  # samples that are drawn with one generator
SAMPLES_AT_ONCE = (
    4  # samples added up at the same time: independent additions overlap in the processor
)


def resampled_sums(
    parts: Sequence[Any], resamples: int, random_state: int, n_jobs: int | None = -1
) -> NDArray[np.float64]:
    """For each of ``resamples`` bootstrap samples, the sum of n rows drawn with replacement from n.

    ``parts`` are arrays or sparse matrices of n rows; the sums of all their columns stand side by
    side. Every ``SAMPLES_A_SEED`` samples have a random generator of their own, so the number of
    threads changes nothing.
    """
    seed = as_whole(random_state, "random_state", most=MOST_SEED)
    columns = scipy.sparse.hstack(
        [scipy.sparse.csc_array(part, dtype=np.float64) for part in parts], format="csc"
    )
    n = columns.shape[0]
    sums = np.zeros((resamples, columns.shape[1]))
    # both give the same numbers; int32 is smaller
    dtype = np.int32 if n <= np.iinfo(np.int32).max else np.int64

    def fill(first: int) -> None:
        rng = np.random.default_rng([seed, first])
        last = min(first + SAMPLES_A_SEED, resamples)
        for start in range(first, last, SAMPLES_AT_ONCE):
            end = min(start + SAMPLES_AT_ONCE, last)
            samples = rng.integers(n, size=(end - start, n), dtype=dtype)
            add_up_samples(samples, columns.indptr, columns.indices, columns.data, sums[start:end])

    jobs = as_jobs(n_jobs)
    if n < ENOUGH_FOR_THREADS:
        jobs = 1
    deque(spread(fill, range(0, resamples, SAMPLES_A_SEED), jobs), maxlen=0)
    return sums


@kernel
def add_up_samples(
    samples: NDArray[np.integer[Any]],
    indptr: NDArray[np.integer[Any]],
    rows: NDArray[np.integer[Any]],
    values: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """The sum of each column (float64[samples, columns]), each row counted as often as it is in the
    sample.

    indptr, rows, values: the columns, as scipy.sparse.csc_array has them; samples: int[samples, n],
    at most SAMPLES_AT_ONCE of them, each n numbers from 0 to n − 1. (NumPy's bincount holds the
    interpreter lock, and the rounding of SciPy's product depends on the machine.)
    """
    times = np.zeros((samples.shape[1], SAMPLES_AT_ONCE))
    for s in range(samples.shape[0]):
        for i in samples[s]:
            times[i, s] += 1.0
    for column in range(sums.shape[1]):
        first = second = third = fourth = 0.0
        for j in range(indptr[column], indptr[column + 1]):
            value = values[j]
            i = rows[j]
            first += value * times[i, 0]
            second += value * times[i, 1]
            third += value * times[i, 2]
            fourth += value * times[i, 3]
        for s, total in enumerate((first, second, third, fourth)):
            if s < sums.shape[0]:
                sums[s, column] = total


def interval(samples: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95 % of a bootstrap's samples; NaN where no sample has a value."""
    samples = samples[~np.isnan(samples)]
    if not samples.size:
        return np.nan, np.nan
    tail = (100 - CONFIDENCE) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return float(low), float(high)


class Comparison(NamedTuple):
    """Two methods on the same cases: mean of first − second, how often the first was higher, equal,
    lower, and the two-tailed probability of a difference at least as large if neither were better.
    """

    difference: float
    higher: int
    equal: int
    lower: int
    p_value: float
    interval: tuple[float, float] | None = None


def wilcoxon(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Two-tailed Wilcoxon signed-rank test; pairs without a difference are dropped (paper 003)."""
    d = paired_differences(first, second)
    changed = d[d != 0]
    if not changed.size:
        return comparison(d, 1.0)
    return comparison(d, float(scipy.stats.wilcoxon(changed).pvalue))


def paired_bootstrap(
    first: ArrayLike, second: ArrayLike, *, resamples: int = 10_000, random_state: int = 0
) -> Comparison:
    """Bootstrap of the mean difference: its 95 % interval, and twice the share of samples on
    the other side of 0.
    """
    d = paired_differences(first, second)
    resamples = as_whole(resamples, "resamples", least=1)
    means = resampled_sums([d[:, None]], resamples, random_state)[:, 0] / d.size
    # never exactly 0
    n_beyond = int(min((means <= 0).sum(), (means >= 0).sum()))
    tail = (1 + n_beyond) / (resamples + 1)
    return comparison(d, min(1.0, 2 * tail))._replace(interval=interval(means))


def paired_differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """First − second; cases left out by either (NaN) are left out."""
    a = np.asarray(first, dtype=np.float64)
    b = np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(
            f"a paired test needs two lists of one length, not {a.shape} and {b.shape}"
        )
    d = a - b
    d = d[~np.isnan(d)]
    if not d.size:
        raise InputError("a paired test needs at least one case that both methods have a value for")
    return d


def comparison(d: NDArray[np.float64], p: float) -> Comparison:
    return Comparison(
        float(d.mean()), int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum()), p
    )
