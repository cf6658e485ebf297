"""Which labels a ranking may hold, and what is added to their scores.

A ranking under rules is the ranking of all labels, with those left out that may not be there. An index does not make
that long ranking (index/allowed.py); other learners do, and have it filtered here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints


class Allowed(NamedTuple):
    """For each label whether it may be ranked, and what is added to its score (float64; None for nothing)."""

    labels: NDArray[np.bool_]
    offsets: Floats | None = None


def keep_allowed(ids: Ints, scores: Floats, allowed: Allowed, k: int) -> tuple[Ints, Floats]:
    """Of rankings of all labels (n × labels) the k best that may be ranked, by their scores with what is added."""
    found = ids >= 0
    usable = found & allowed.labels[ids]
    own = scores if allowed.offsets is None else scores + allowed.offsets[ids]
    changed = np.where(usable, own, -np.inf)
    rows = np.arange(len(ids))[:, None]
    order = np.lexsort((ids, -changed), axis=1)[:, :k]
    kept, best = ids[rows, order], changed[rows, order]
    there = usable[rows, order]
    return np.where(there, kept, -1).astype(np.int32), np.where(there, best, np.nan)
