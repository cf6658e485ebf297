"""The corrections of indexes that were tuned apart, each weighed before they are added (tuned_index.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, kernel
from shortlist.categories.index.lists import Index


def tuned_by(index: Index, factors: Floats) -> Index:
    """The index with the corrections of each feature times a factor of its own."""
    index = index.copy()
    scale_corrections(index, factors)
    return index


def has_met(index: Index, before: Index) -> NDArray[np.bool_]:
    """Which features of ``before`` a learner has met since, whose index is now ``index``."""
    met = np.zeros(before.features.size, dtype=np.bool_)
    find_met(index.for_features(met.size), before, met)
    return met


@kernel
def scale_corrections(index: Index, factors: Floats) -> None:
    """u_fc times factors[f] (float64[features])."""
    for f in range(index.features.size):
        first = index.features[f]["start"]
        for e in range(first, first + index.features[f]["length"]):
            index.edges[e]["tuned"] *= factors[f]


@kernel
def find_met(index: Index, before: Index, met: NDArray[np.bool_]) -> None:
    """met[f] = whether the list of f has changed (bool[features], all false). Passes that only correct move no edge."""
    for f in range(met.size):
        now, then = index.features[f], before.features[f]
        met[f] = now["seen"] != then["seen"] or now["length"] != then["length"]
        e = 0
        while not met[f] and e < now["length"]:
            met[f] = index.edges[now["start"] + e]["tuned"] != before.edges[then["start"] + e]["tuned"]
            e += 1
