"""The index of paper 004: from features to classes, sparse and weighted.

Each feature f holds a list of edges (class c, w′_fc), heaviest first, and its total w′_f; the weight of an edge is
w_fc = w′_fc / w′_f. All lists live in two flat pools: feature f owns the slots start[f] .. start[f]+capacity[f]−1
and uses the first length[f] of them. A list that outgrows its slots moves to twice as many; the slots it leaves are
reused. Learners fill the index, each in its own way; this file ranks with it (section 3.2, RankedRetrieval).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.categories.learner import grown
from shortlist.door import Rows
from shortlist.kernels import Floats, Ints, Longs, kernel
from shortlist.store import State

EDGES, END = 0, 1  # entries of Index.used: edges in the index; slots of the pools that have been given out
SIZES = 40  # powers of two that a list's capacity can take


class Index(NamedTuple):
    """The arrays of an index, as the kernels take them."""

    start: Longs  # per feature
    length: Ints
    capacity: Ints
    total: Floats  # w′_f
    seen: Longs  # #_f, how often the feature has been seen
    edge_class: Ints  # per slot
    edge_weight: Floats  # w′_fc
    free: Longs  # per power of two, the first free block of that many slots, −1 for none
    used: Longs  # edges, slots

    @property
    def n_edges(self) -> int:
        return int(self.used[EDGES])

    def for_features(self, n_features: int) -> Index:
        """The index with room for that many features."""
        if self.start.size >= n_features:
            return self
        per_feature = ("start", "length", "capacity", "total", "seen")
        return self._replace(**{name: grown(getattr(self, name), n_features) for name in per_feature})

    def for_slots(self, n_slots: int) -> Index:
        """The index with room for that many more slots in its pools."""
        size = self.used[END] + n_slots
        return self._replace(edge_class=grown(self.edge_class, size), edge_weight=grown(self.edge_weight, size))

    def edges(self) -> tuple[Longs, Ints, Floats]:
        """All edges, feature after feature: feature of each, class of each, w′ of each."""
        feature = np.repeat(np.arange(self.length.size), self.length)
        first_edge = np.cumsum(self.length, dtype=np.int64) - self.length
        slot = np.arange(feature.size) - first_edge[feature] + self.start[feature]
        return feature, self.edge_class[slot], self.edge_weight[slot]

    def strongest(self, label: int, n: int) -> list[tuple[int, float]]:
        """The n features with the largest weights w_fc to a class."""
        feature, classes, weights = self.edges()
        own = np.flatnonzero(classes == label)
        shares = weights[own] / self.total[feature[own]]
        best = np.lexsort((-self.seen[feature[own]], -shares))[:n]  # of equals, those with the most behind them
        return list(zip(feature[own][best].tolist(), shares[best].tolist(), strict=True))

    def leaks(self, n: int, least_seen: int = 10) -> list[tuple[int, float]]:
        """The n features that leak the most weight, 1 − Σ_c w_fc: seen with everything, they predict nothing."""
        feature, _, weights = self.edges()
        kept = np.bincount(feature, weights, minlength=self.total.size)
        with np.errstate(invalid="ignore"):
            leak = np.where(self.seen >= least_seen, 1 - kept / self.total, np.nan)
        worst = np.lexsort((-self.seen, -leak))[:n]
        return [(f, lost) for f, lost in zip(worst.tolist(), leak[worst].tolist(), strict=True) if lost == lost]

    def to_arrays(self, n_features: int) -> dict[str, NDArray[np.generic]]:
        """The index without its spare room, for the model file."""
        _, classes, weights = self.edges()
        per_feature = {name: getattr(self, name)[:n_features] for name in ("length", "total", "seen")}
        return {**per_feature, "edge_class": classes, "edge_weight": weights}

    @classmethod
    def from_arrays(cls, state: State, n_features: int, n_classes: int) -> Index:
        """Read an index from a model file, refusing anything that would lead a kernel astray."""
        index = make_index(
            state.array("length", np.int32),
            state.array("edge_class", np.int32),
            state.array("edge_weight", np.float64),
            state.array("total", np.float64),
            state.array("seen", np.int64),
        )
        sizes = {index.length.size, index.total.size, index.seen.size}
        state.require(sizes == {n_features}, "each feature has a length, a total and a count")
        state.require((index.length >= 0).all(), "lists have lengths of at least 0")
        state.require(int(index.length.sum(dtype=np.int64)) == index.edge_class.size, "lists and edges agree")
        state.require(index.edge_class.size == index.edge_weight.size, "each edge has a class and a weight")
        classes, weights = index.edge_class, index.edge_weight
        known = not classes.size or (classes.min() >= 0 and classes.max() < n_classes)
        state.require(known, "edges lead to known labels")
        state.require(bool(np.isfinite(weights).all() and np.isfinite(index.total).all()), "weights are finite")
        state.require(bool((weights > 0).all() and (index.total >= 0).all()), "weights are positive")
        state.require(bool((index.seen >= 0).all()), "counts are at least 0")
        return index


def make_index(
    length: Ints,
    edge_class: Ints,
    edge_weight: Floats,
    total: Floats,
    seen: Longs,
) -> Index:
    """An index from lists laid end to end, each heaviest edge first."""
    return Index(
        start=np.cumsum(length, dtype=np.int64) - length,
        length=length,
        capacity=length.copy(),
        total=total,
        seen=seen,
        edge_class=edge_class,
        edge_weight=edge_weight,
        free=np.full(SIZES, -1, dtype=np.int64),
        used=np.array([edge_class.size, edge_class.size], dtype=np.int64),
    )


def empty_index() -> Index:
    ints, longs, floats = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), np.zeros(0)
    return make_index(ints, ints, floats, floats, longs)


def rank(
    rows: Rows, index: Index, n_classes: int, max_edges: int, rare: int, ids: Ints, scores: Floats
) -> None:
    """The best classes of each row, into ids and scores (n × k)."""
    _rank(rows, index, max_edges, rare, np.zeros(n_classes), np.empty(n_classes, dtype=np.int32), ids, scores)


def all_scores(rows: Rows, index: Index, n_classes: int, max_edges: int, rare: int) -> Floats:
    """The scores of all classes, n × classes."""
    scores = np.zeros((rows.n_rows, n_classes))
    touched = np.empty(n_classes, dtype=np.int32)
    for i in range(rows.n_rows):
        retrieve(rows, i, index, max_edges, rare, scores[i], touched)
    return scores


# Section 3.2, RankedRetrieval


@kernel
def rating(f: int, index: Index, rare: int) -> float:
    """r_f = min(1, #_f / rare); 1 where rare is 0."""
    return 1.0 if index.seen[f] >= rare else index.seen[f] / rare


@kernel
def retrieve(rows: Rows, i: int, index: Index, max_edges: int, rare: int, scores: Floats, touched: Ints) -> int:
    """Add the votes of row i to scores (float64[classes], zero before); list the scored classes in touched.

    Each class c receives r_f · w_fc · x[f] from each active feature f that has it among its max_edges heaviest edges.
    """
    n = 0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f = rows.indices[j]
        if f >= index.length.size or index.length[f] == 0:
            continue
        share = rows.data[j] * rating(f, index, rare) / index.total[f]
        first = index.start[f]
        for e in range(first, first + min(index.length[f], max_edges)):
            vote = share * index.edge_weight[e]
            if vote > 0.0:  # a vote that vanishes in rounding must not list its class twice
                c = index.edge_class[e]
                if scores[c] == 0.0:
                    touched[n] = c
                    n += 1
                scores[c] += vote
    return n


@kernel
def _rank(
    rows: Rows, index: Index, max_edges: int, rare: int, scores: Floats, touched: Ints, ids: Ints, best: Floats
) -> None:
    """Retrieve for each row and keep the k best classes (ids int32[n,k], best float64[n,k]); ties to the lower id."""
    k = ids.shape[1]
    for i in range(rows.indptr.size - 1):
        n = retrieve(rows, i, index, max_edges, rare, scores, touched)
        found = 0
        for t in range(n):
            c = touched[t]
            s = scores[c]
            scores[c] = 0.0
            if found == k and (s < best[i, k - 1] or (s == best[i, k - 1] and c > ids[i, k - 1])):
                continue
            at = found if found < k else k - 1
            while at > 0 and (s > best[i, at - 1] or (s == best[i, at - 1] and c < ids[i, at - 1])):
                best[i, at] = best[i, at - 1]
                ids[i, at] = ids[i, at - 1]
                at -= 1
            best[i, at] = s
            ids[i, at] = c
            found = min(found + 1, k)


def votes(row: Rows, index: Index, label: int, max_edges: int, rare: int) -> tuple[Ints, Floats]:
    """The features of one row that vote for a class, and their votes, in the order in which ``retrieve`` adds them."""
    out = np.zeros(row.indices.size)
    _votes(row, index, label, max_edges, rare, out)
    return row.indices[out > 0], out[out > 0]


@kernel
def _votes(row: Rows, index: Index, label: int, max_edges: int, rare: int, out: Floats) -> None:
    """out[j] = the vote of the j-th active feature for the class."""
    for j in range(row.indices.size):
        f = row.indices[j]
        if f >= index.length.size or index.length[f] == 0:
            continue
        share = row.data[j] * rating(f, index, rare) / index.total[f]
        first = index.start[f]
        for e in range(first, first + min(index.length[f], max_edges)):
            if index.edge_class[e] == label:
                out[j] = share * index.edge_weight[e]
