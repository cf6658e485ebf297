"""How far probabilities are from what came true: bins for a reliability diagram, and the expected calibration error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats

BINS = 15


class Bin(NamedTuple):
    """Labels of nearly the same probability: the mean of it, the share that came true, and how many there are."""

    probability: float
    right: float
    n: int


def reliability(probabilities: Floats, hits: NDArray[np.bool_], bins: int = BINS) -> list[Bin]:
    """The bins of equal width in which there is anything; probabilities that are NaN do not count."""
    known = ~np.isnan(probabilities)
    p, right = probabilities[known], hits[known]
    which = np.minimum((p * bins).astype(np.int64), bins - 1)
    groups = (which == b for b in range(bins))
    return [Bin(float(p[own].mean()), float(right[own].mean()), int(own.sum())) for own in groups if own.any()]


def calibration_error(probabilities: Floats, hits: NDArray[np.bool_], bins: int = BINS) -> float:
    """Σ_b n_b/n · |right_b − probability_b|, the expected calibration error; NaN where there is nothing."""
    found = reliability(probabilities, hits, bins)
    n = sum(own.n for own in found)
    return sum(own.n * abs(own.right - own.probability) for own in found) / n if n else np.nan
