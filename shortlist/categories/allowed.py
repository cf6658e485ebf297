"""Which labels a ranking may hold, and what becomes of their scores.

A ranking under rules is the ranking of all labels, with those left out that may not be there. An index does not make
that long ranking (index/allowed.py); other learners do, and have it filtered here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints


class Allowed(NamedTuple):
    """For each label whether it may be ranked, what is added to its score, and what its score is then multiplied by
    where it is above 0 (float64; None for nothing)."""

    labels: NDArray[np.bool_]
    offsets: Floats | None = None
    factors: Floats | None = None


def keep_allowed(ids: Ints, scores: Floats, allowed: Allowed, k: int) -> tuple[Ints, Floats]:
    """Of rankings of all labels (n × labels) the k best that may be ranked, by what becomes of their scores."""
    found = ids >= 0
    usable = found & allowed.labels[ids]
    own = scores if allowed.offsets is None else scores + allowed.offsets[ids]
    if allowed.factors is not None:
        own = np.where(own > 0.0, own * allowed.factors[ids], own)
    changed = np.where(usable, own, -np.inf)
    rows = np.arange(len(ids))[:, None]
    order = np.lexsort((ids, -changed), axis=1)[:, :k]
    kept, best = ids[rows, order], changed[rows, order]
    there = usable[rows, order]
    return np.where(there, kept, -1).astype(np.int32), np.where(there, best, np.nan)
