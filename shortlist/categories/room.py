"""Making room in an index: edges go, features are forgotten, lists are packed.

All of it happens in place: an index that has to make room has no memory to spare for a second one. An edge's strength
is r_f·w_fc, what it adds to a score when its feature is seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.categories.index import EDGES, END, Index
from shortlist.categories.learner import CategoryLearner
from shortlist.door import as_whole
from shortlist.growing import grown
from shortlist.kernels import Floats, Longs, kernel

UNLIMITED = np.iinfo(np.int64).max


class BoundedIndex(CategoryLearner):
    """Base class of a learner that holds an index and can make room in it."""

    max_total_edges: int | None
    leakage: bool
    edges_dropped_: int  # how many edges have made room, since fit or since the model was opened
    _index: Index
    _most_edges = UNLIMITED

    def _begin(self) -> None:
        super()._begin()
        self.edges_dropped_ = 0
        if self.max_total_edges is not None:
            as_whole(self.max_total_edges, "max_total_edges", least=1)

    @property
    def rare_(self) -> int:
        """The value of ``rare`` in use."""
        raise AssertionError("a learner says how often a feature must be seen to vote with all its weight")

    def _cap(self) -> int:
        """How many edges the index may hold."""
        return min(UNLIMITED if self.max_total_edges is None else self.max_total_edges, self._most_edges)

    def limit_edges(self, most: int) -> None:
        """Another cap on the edges beside ``max_total_edges``, set by whoever has counted the memory there is."""
        self._most_edges = max(1, most)
        self._drop_weakest(self._cap())

    def _drop_weakest(self, keep: int) -> None:
        before = self._index.n_edges
        drop_weakest(self._index, keep, self.rare_, self.leakage)
        self.edges_dropped_ += before - self._index.n_edges

    def times_seen(self) -> Longs:
        """In how many examples each column was seen."""
        return self._index.for_features(self.n_features_in_).features["seen"][: self.n_features_in_]

    def forget_columns(self, kept: NDArray[np.bool_]) -> None:
        """Forget all columns but those kept, which are renumbered in their order."""
        self._index = forget_features(self._index.for_features(kept.size), kept)
        self.n_features_in_ = int(kept.sum())


def drop_weakest(index: Index, keep: int, rare: int, leakage: bool) -> None:
    """Leave ``keep`` edges: the weakest go, among equals those of the oldest features."""
    n_dropped = index.n_edges - keep
    if n_dropped <= 0:
        return
    limit, n_equal = np.inf, 0
    if keep > 0:
        strength = np.empty(index.n_edges)
        list_strengths(index, rare, strength)
        strength.partition(n_dropped)
        limit = float(strength[n_dropped])
        n_equal = n_dropped - int(np.count_nonzero(strength[:n_dropped] < limit))
    cut(index, limit, n_equal, rare, leakage)


def drop_light(index: Index, min_weight: float, leakage: bool) -> None:
    """Drop the edges whose share w_fc is below min_weight."""
    cut(index, float(min_weight), 0, 0, leakage)


def forget_features(index: Index, kept: NDArray[np.bool_]) -> Index:
    """The index of some of its features only, renumbered in their order."""
    features = index.features[: kept.size]
    index.used[EDGES] -= int(features["length"][~kept].sum(dtype=np.int64))
    index = index._replace(features=features[kept])
    pack(index)
    return index


def with_slots(index: Index, n_slots: int, most_edges: int) -> Index:
    """The index with room for that many more slots in its pool.

    The pool doubles while it is small. Of an index that holds ``most_edges`` it never has more than twice as many
    slots, and what one example wants: the lists are packed instead.
    """
    if index.used[END] + n_slots > 2 * most_edges:
        pack(index)
    size, needed = index.edges.size, int(index.used[END]) + n_slots
    if needed <= size:
        return index
    enough = 2 * size if size <= most_edges // 2 else 2 * most_edges
    return index._replace(edges=grown(index.edges, max(needed, enough), doubled=False))


def reserved(index: Index, n_edges: int, most_edges: int) -> Index:
    """An empty index with slots for that many edges: its pool need never be copied, and unused slots take no memory."""
    try:
        return with_slots(index, min(n_edges, 2 * most_edges), most_edges)
    except MemoryError:  # where the system promises no more than it has, the pool grows as it must
        return index


def pack(index: Index) -> None:
    """Move all lists together, in the order in which they lie in the pool: no slot is left between them."""
    filled = np.flatnonzero(index.features["length"])
    move_together(index, filled[np.argsort(index.features["start"][filled])])
    index.free[:] = -1


@kernel
def list_strengths(index: Index, rare: int, strength: Floats) -> None:
    """strength[e] = r_f·w_fc of all edges (float64[edges]), feature after feature."""
    n = 0
    for f in range(index.features.size):
        feature = index.features[f]
        rating = 1.0 if feature["seen"] >= rare else feature["seen"] / rare
        for e in range(feature["start"], feature["start"] + feature["length"]):
            strength[n] = index.edges[e]["weight"] / feature["total"] * rating
            n += 1


@kernel
def cut(index: Index, limit: float, n_equal: int, rare: int, leakage: bool) -> None:
    """Drop the edges whose strength is below the limit, and the first ``n_equal`` that are just as strong."""
    for f in range(index.features.size):
        feature = index.features[f]
        rating = 1.0 if feature["seen"] >= rare else feature["seen"] / rare
        first = feature["start"]
        kept, dropped = 0, 0.0
        for e in range(first, first + feature["length"]):
            strength = index.edges[e]["weight"] / feature["total"] * rating
            if strength < limit or (strength == limit and n_equal > 0):
                n_equal -= strength == limit
                dropped += index.edges[e]["weight"]
            else:
                index.edges[first + kept] = index.edges[e]
                kept += 1
        index.used[EDGES] -= feature["length"] - kept
        feature["length"] = kept
        if not leakage:
            feature["total"] -= dropped


@kernel
def move_together(index: Index, order: Longs) -> None:
    """Move the lists of the features in that order (int64, by ascending start) to the beginning of the pool."""
    for f in range(index.features.size):
        index.features[f]["capacity"] = 0
    end = 0
    for f in order:
        feature = index.features[f]
        first = feature["start"]
        for e in range(feature["length"]):
            index.edges[end + e] = index.edges[first + e]
        feature["start"] = end
        feature["capacity"] = feature["length"]
        end += feature["length"]
    index.used[END] = end
