"""The index of paper 004: from features to labels, sparse and weighted.

Each feature f holds a list of edges (label c, w′_fc), heaviest first, and its total w′_f; the
weight of an edge is w_fc = w′_fc / w′_f. All lists live in one flat pool: feature f owns the slots
start .. start+capacity−1 and uses the first ``length`` of them. Learners fill the index, each in
its own way; scoring.py ranks with it.

The fields of a feature, or of an edge, are adjacent in memory: an example visits a hundred features
all over the index, and most of the time goes into fetching them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs, kernel, loop, part
from shortlist.data.labels import LabelSets, repeats
from shortlist.data.rows import Rows, RowStore, grown
from shortlist.data.validation import MOST_AMOUNT
from shortlist.errors import InputError
from shortlist.files.container import Array, Later
from shortlist.files.store import State
from shortlist.learners.top_labels import DONE, WANTS_EDGES, WANTS_SLOTS

FEATURE = np.dtype(
    [
        ("total", np.float64),  # w′_f
        ("start", np.uint32),
        ("seen", np.uint32),  # #_f, how often the feature was seen, at most MOST_SEEN
        ("length", np.int32),
        ("capacity", np.int32),
    ],
    align=True,
)
# w′_fc, c and u_fc (training.py). Labels are unsigned, so that Numba does not check whether they
# count from the end.
EDGE = np.dtype([("weight", np.float32), ("label", np.uint32), ("tuned", np.float32)])
LEAST_WEIGHT = float(np.finfo(np.float32).tiny)
MOST_WEIGHT = float(np.finfo(np.float32).max)
ALMOST_ALL = 1 - 2.0**-20  # a share of 1, less rounding errors
MUCH = 4096.0  # a weight this many times as large as what is added loses too much of it in rounding
# below 2²⁹; about 0.618 of it
PRIME = np.uint64(2**29 - 3)
SPREAD = np.uint64(331804471)
BEYOND = np.uint64(2**29 - 1)  # the bits of a float64 that a float32 has no room for
# entries of Index.used: edges in the index; slots of the pool that have been given out
EDGES = 0
END = 1
MOST_SEEN = np.iinfo(np.uint32).max
MOST_SLOTS = MOST_SEEN - 1  # a free block holds the place of the next one where edges have a label
SIZES = 80  # sizes that a block of slots can have: 1, 2, 3, 4, 6, 8, 12, 16, ...
RUN = 1 << 16  # features whose lists are copied at a time


class Index(NamedTuple):
    """The arrays of an index, as the kernels take them."""

    features: NDArray[Any]  # FEATURE
    edges: NDArray[Any]  # EDGE, the pool
    free: Longs  # per size, the first free block of that many slots, −1 for none
    used: Longs  # edges, slots

    @property
    def n_edges(self) -> int:
        return int(self.used[EDGES])

    def for_features(self, n_features: int) -> Index:
        """The index with room for that many features."""
        return (
            self
            if n_features <= self.features.size
            else self._replace(features=grown(self.features, n_features))
        )

    def for_slots(self, n_slots: int) -> Index:
        """The index with room for that many more slots in its pool."""
        needed = int(self.used[END]) + n_slots
        if needed > MOST_SLOTS:
            raise InputError(
                "an index can have no more than 4,294,967,294 edges; set max_total_edges to fewer"
            )
        if needed <= self.edges.size:
            return self
        # not what is unused
        return self._replace(edges=grown(self.edges[: self.used[END]], needed, doubled=False))

    def copy(self) -> Index:
        """A copy that shares no memory with this index."""
        edges = self.edges[: self.used[END]]
        return Index(self.features.copy(), edges.copy(), self.free.copy(), self.used.copy())

    def with_edges(self, edges: NDArray[Any]) -> Index:
        """An index of the same features, whose concatenated lists are now these."""
        length, total, seen = (self.features[name] for name in ("length", "total", "seen"))
        return make_index(length, edges, total, seen)

    def all_edges(self) -> tuple[Longs, NDArray[Any]]:
        """All edges (EDGE), feature after feature, and the feature of each."""
        length = self.features["length"]
        return np.repeat(np.arange(length.size), length), self.lists()

    def lists(self) -> NDArray[Any]:
        """All lists concatenated, feature after feature (EDGE)."""
        return np.concatenate([np.empty(0, dtype=EDGE), *self._runs()])

    def column(self, name: str, dtype: type[np.generic]) -> Later:
        """One field of all edges, feature after feature."""
        return Later(
            np.dtype(dtype),
            self.n_edges,
            lambda: (edges[name].astype(dtype) for edges in self._runs()),
        )

    def _runs(self) -> Iterator[NDArray[Any]]:
        """Yield the concatenated lists of some features at a time."""
        for first in range(0, self.features.size, RUN):
            last = min(first + RUN, self.features.size)
            edges = np.empty(
                int(self.features["length"][first:last].sum(dtype=np.int64)), dtype=EDGE
            )
            lay_end_to_end(self, first, last, edges)
            yield edges

    def strongest(self, label: int, n: int) -> list[tuple[int, float, float]]:
        """The n strongest features of a label: feature, weight w_fc, and its evidence.

        The evidence is w_fc, times how often the feature was seen with the label, times by how much
        w_fc exceeds the label's share of all weight: a feature that is everywhere, or was seen
        once, has little.
        """
        feature, edges = self.all_edges()
        weights = edges["weight"][edges["label"] == label].astype(np.float64)
        features = feature[edges["label"] == label]
        shares = weights / self.features["total"][features]
        everywhere = weights.sum() / max(self.features["total"].sum(), np.finfo(np.float64).tiny)
        says = shares * (shares * self.features["seen"][features]) * (shares - everywhere)
        best = np.lexsort((features, -says))[:n]
        return list(
            zip(features[best].tolist(), shares[best].tolist(), says[best].tolist(), strict=True)
        )

    def leaks(self, n: int, least_seen: int = 10) -> list[tuple[int, float]]:
        """The n features that leak the most weight, 1 − Σ_c w_fc: seen with everything, they
        predict nothing.
        """
        feature, edges = self.all_edges()
        total = self.features["total"]
        seen = self.features["seen"]
        kept_weight = np.bincount(feature, edges["weight"], minlength=total.size)
        with np.errstate(invalid="ignore"):
            leak = np.where(seen >= least_seen, 1 - kept_weight / total, np.nan)
        worst = np.lexsort((-seen, -leak))[:n]
        return [
            (f, lost)
            for f, lost in zip(worst.tolist(), leak[worst].tolist(), strict=True)
            if lost == lost
        ]

    def edges_touched(self, rows: Rows, max_edges: int) -> float:
        """d, the mean number of edges that vote for each active feature of some rows."""
        columns = rows.indices[rows.indices < self.features.size]
        touched = np.minimum(self.features["length"][columns], max_edges)
        return float(touched.sum(dtype=np.int64)) / max(rows.indices.size, 1)

    def to_arrays(self, n_features: int) -> dict[str, Any]:
        """The arrays of a model file, without unused slots."""
        per_feature: dict[str, Any] = {
            name: self.features[name][:n_features] for name in ("length", "total")
        }
        seen = self.features["seen"][:n_features]
        per_feature["seen"] = Later(
            np.dtype(np.int64), n_features, lambda: iter([seen.astype(np.int64)])
        )
        per_edge = {
            "edge_label": self.column("label", np.int32),
            "edge_weight": self.column("weight", np.float32),
        }
        return {**per_feature, **per_edge}

    @classmethod
    def from_arrays(cls, state: State, n_features: int, n_labels: int) -> Index:
        """Read an index from a model file; refuse what a kernel could not trust."""
        length = state.array("length", np.int32)
        total = state.array("total", np.float64)
        seen = state.array("seen", np.int64)
        weights = state.array("edge_weight", np.float32).astype(np.float64)
        labels = state.array("edge_label", np.int32)
        sizes = {length.size, total.size, seen.size}
        state.require(sizes == {n_features}, "each feature has a length, a total and a count")
        state.require((length >= 0).all(), "lists have lengths of at least 0")
        state.require(
            int(length.sum(dtype=np.int64)) == labels.size == weights.size, "lists and edges agree"
        )
        state.require(labels.size <= MOST_SLOTS, "there are not too many edges")
        is_known = not labels.size or (labels.min() >= 0 and labels.max() < n_labels)
        state.require(is_known, "edges lead to known labels")
        offsets = np.append(0, np.cumsum(length, dtype=np.int64))
        state.require(
            not labels.size or not repeats(offsets, labels), "no list has two edges to a label"
        )
        state.require(
            bool(np.isfinite(weights).all() and np.isfinite(total).all()), "weights are finite"
        )
        state.require(bool((weights > 0).all() and (total >= 0).all()), "weights are positive")
        state.require(bool(((seen >= 0) & (seen <= MOST_AMOUNT)).all()), "counts are at least 0")
        filled = length > 0
        heaviest = np.maximum.reduceat(
            weights, (np.cumsum(length, dtype=np.int64) - length)[filled]
        )
        # twice, since a total is a sum of many weights, and rounded as often
        room = 2 * total[filled]
        state.require(
            bool((heaviest <= room).all()), "no edge is heavier than all edges of its feature"
        )
        return make_index(length, make_edges(labels, weights), total, seen)


def shortened(array: Later, bits: int) -> Later:
    """Float32 numbers rounded to so many bits of mantissa: the zeros behind them compress to
    almost nothing.
    """
    dropped = np.uint32(23 - bits)
    half = np.uint32(1) << (dropped - np.uint32(1))
    mask = ~((np.uint32(1) << dropped) - np.uint32(1))

    def pieces() -> Iterator[Array]:
        for piece in array.pieces():
            yield ((np.ascontiguousarray(piece).view(np.uint32) + half) & mask).view(np.float32)

    return Later(array.dtype, array.size, pieces)


def make_edges(labels: Ints, weights: Floats) -> NDArray[Any]:
    edges = np.zeros(labels.size, dtype=EDGE)
    edges["label"] = labels
    edges["weight"] = np.clip(weights, LEAST_WEIGHT, MOST_WEIGHT)
    return edges


def make_index(length: Ints, edges: NDArray[Any], total: Floats, seen: Longs) -> Index:
    """An index from concatenated lists, each with its heaviest edge first."""
    features = np.zeros(length.size, dtype=FEATURE)
    features["start"] = np.cumsum(length, dtype=np.int64) - length
    features["length"] = features["capacity"] = length
    features["total"] = total
    features["seen"] = np.minimum(seen, MOST_SEEN)
    nothing_free = np.full(SIZES, -1, dtype=np.int64)
    return Index(features, edges, nothing_free, np.array([edges.size, edges.size], dtype=np.int64))


def added(one: Index, other: Index, times: float, n_labels: int) -> Index:
    """one + times·other, for all weights w′, totals and counts; edges without weight are
    dropped.
    """
    n = max(one.features.size, other.features.size)
    one, other = (
        index._replace(features=grown(index.features, n, doubled=False)) for index in (one, other)
    )
    length = np.zeros(n, dtype=np.int32)
    place = np.full(n_labels, -1, dtype=np.int64)
    edges = np.zeros(one.n_edges + other.n_edges, dtype=EDGE)
    n_edges = add_lists(one, other, times, place, length, edges)
    total, seen = (one.features[name] + times * other.features[name] for name in ("total", "seen"))
    return make_index(length, edges[:n_edges], total, seen.astype(np.int64))


def edges_copied(index: Index, label: int, copy: int) -> Index:
    """An index that has only the edges to one label, as edges to another label, the copy."""
    feature, edges = index.all_edges()
    is_label = edges["label"] == label
    n_features = index.features.size
    lengths = np.bincount(feature[is_label], minlength=n_features).astype(np.int32)
    copies = edges[is_label]
    copies["label"] = copy
    return make_index(lengths, copies, np.zeros(n_features), np.zeros(n_features, dtype=np.int64))


def empty_index() -> Index:
    ints = np.zeros(0, dtype=np.int32)
    longs = np.zeros(0, dtype=np.int64)
    floats = np.zeros(0)
    return make_index(ints, make_edges(ints, floats), floats, longs)


@kernel
def lay_end_to_end(index: Index, begin: int, end: int, edges: NDArray[Any]) -> None:
    """The lists of the features begin..end−1, one after the other, into edges (EDGE, as many as
    they have).
    """
    n = 0
    for f in range(begin, end):
        first = index.features[f]["start"]
        for e in range(first, first + index.features[f]["length"]):
            edges[n] = index.edges[e]
            n += 1


@kernel
def add_lists(
    index: Index, other: Index, times: float, place: Longs, length: Ints, edges: NDArray[Any]
) -> int:
    """The lists of one + times·other, feature after feature, heaviest index first; gives the number
    of edges.

    place: int64[labels], all −1; length: int32[features]; edges: zeros, with room for the edges of
    both.
    """
    end = 0
    for f in range(length.size):
        begin = end
        for e in range(
            index.features[f]["start"], index.features[f]["start"] + index.features[f]["length"]
        ):
            edges[end] = index.edges[e]
            place[edges[end]["label"]] = end
            end += 1
        for e in range(
            other.features[f]["start"], other.features[f]["start"] + other.features[f]["length"]
        ):
            c = other.edges[e]["label"]
            if place[c] < 0:
                place[c] = end
                edges[end]["label"] = c
                edges[end]["weight"] = 0.0
                edges[end]["tuned"] = 0.0
                end += 1
            edges[place[c]]["weight"] += times * np.float64(other.edges[e]["weight"])
            edges[place[c]]["tuned"] += times * other.edges[e]["tuned"]
        kept = begin
        for e in range(begin, end):
            c = edges[e]["label"]
            w = edges[e]["weight"]
            u = edges[e]["tuned"]
            place[c] = -1
            if w > 0.0:
                at = kept
                # of equals the one that stood first stays first
                while at > begin and edges[at - 1]["weight"] < w:
                    edges[at] = edges[at - 1]
                    at -= 1
                edges[at]["label"] = c
                edges[at]["weight"] = w
                edges[at]["tuned"] = u
                kept += 1
        end = kept
        length[f] = end - begin
    return end


# Blocks of slots: a list that outgrows its block moves to one about 1.5 times as large; free blocks
# are reused.


@part
def slots_of(size: int) -> int:
    """How many slots a block of that size has: 1, 2, 3, 4, 6, 8, 12, 16, 24, ..."""
    return (3 - (size & 1)) << ((size + 1) >> 1) >> 1


@part
def move_to_more_room(f: int, wanted: int, index: Index) -> None:
    """Move the full list of feature f to a free or new block of at least so many slots."""
    feature = index.features[f]
    edges = index.edges
    old = feature["start"]
    n = feature["length"]
    size = 0
    while slots_of(size) <= n:
        size += 1
    old_size = size - 1  # of n slots or, of a list from a file, of fewer
    while slots_of(size) < wanted:
        size += 1
    new = index.free[size]
    if new >= 0:
        # a free block holds 1 + the place of the next one
        index.free[size] = np.int64(edges[new]["label"]) - 1
    else:
        new = index.used[END]
        index.used[END] += slots_of(size)
    for e in range(n):
        edges[new + e] = edges[old + e]
    feature["start"] = new
    feature["capacity"] = slots_of(size)
    if n > 0:
        edges[old]["label"] = index.free[old_size] + 1
        index.free[old_size] = old


@part
def raised(weight: float, x: float, total: float) -> float:
    """w′_fc + x, rounded to 32 bits.

    A number much smaller than the sum would be lost in rounding every time. So the sum is rounded
    up or down at random (stochastic rounding), with the chances that make its mean exact. The
    random bits come from w′_f, which is different each time.
    """
    new = np.float64(weight) + np.float64(x)
    if x * MUCH < weight:
        lot = np.float64(total).view(np.uint64) % PRIME * SPREAD % PRIME
        new = np.uint64((np.float64(new).view(np.uint64) + lot) & ~BEYOND).view(np.float64)
    return np.float32(new)  # type: ignore[return-value]


@part
def put_in_place(
    edges: NDArray[Any],
    first: int,
    at: int | np.int64,
    c: int | np.int64,
    weight: float,
    tuned: float,
) -> None:
    """Write an edge to slot ``at``, or further up, before the lighter ones."""
    own = np.float32(weight)
    while at > first and edges[at - 1]["weight"] < own:
        edges[at] = edges[at - 1]
        at -= 1
    edges[at]["label"] = c
    edges[at]["weight"] = own
    edges[at]["tuned"] = tuned


@part
def cut_tail(
    feature: np.void, edges: NDArray[Any], used: Longs, keep: int, min_weight: float, leakage: bool
) -> None:
    """Drop the edges of a feature, beyond ``keep``, whose share is below min_weight: they are
    the last of its list.
    """
    first = feature["start"]
    n = feature["length"]
    dropped = 0.0
    while n > keep and edges[first + n - 1]["weight"] / feature["total"] < min_weight:
        n -= 1
        used[EDGES] -= 1
        dropped += np.float64(edges[first + n]["weight"])
    if not leakage:
        feature["total"] = max(0.0, feature["total"] - dropped)  # rounding may leave less than 0
    feature["length"] = n


@part
def see(feature: np.void) -> None:
    """Count that the feature was seen."""
    feature["seen"] += feature["seen"] < MOST_SEEN


# Making room in an index: edges go, features are forgotten, lists are packed.
#
# All of it happens in place: a full index has no memory for a copy. The strength of an edge is
# r_f·w_fc, its vote.


UNLIMITED = np.iinfo(np.int64).max
ROOM = 8  # a full index drops an eighth of its edges at once, since dropping takes long


def drop_weakest(index: Index, keep: int, rare: int, leakage: bool) -> None:
    """Drop the weakest edges until ``keep`` are left; of equals those of the oldest features go
    first.
    """
    n_dropped = index.n_edges - keep
    if n_dropped <= 0:
        return
    limit = np.inf
    n_equal = 0
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

    The pool doubles while it is small. Of an index that holds ``most_edges`` it never has more than
    twice as many slots, and what one example wants: the lists are packed instead.
    """
    if index.used[END] + n_slots > 2 * most_edges:
        pack(index)
    size = index.edges.size
    needed = int(index.used[END]) + n_slots
    if needed <= size:
        return index
    enough = 2 * size if size <= most_edges // 2 else 2 * most_edges
    return index.for_slots(min(max(needed, enough), max(needed, MOST_SLOTS)) - int(index.used[END]))


def reserved(index: Index, n_edges: int, most_edges: int) -> Index:
    """An empty index with slots for that many edges, so that its pool is never copied; unused
    slots take no memory.
    """
    try:
        return with_slots(index, min(n_edges, 2 * most_edges), most_edges)
    except InputError:  # the system does not reserve so much: the pool grows as needed
        return index


def pack(index: Index) -> None:
    """Close the gaps between the lists, which stay in their order in the pool."""
    filled = np.flatnonzero(index.features["length"])
    move_together(index, filled[np.argsort(index.features["start"][filled])])
    index.free[:] = -1


@loop
def full(cap: int) -> int:
    """How many edges an index may hold after it has made room."""
    return cap - max(cap // ROOM, 1)


@part
def room_for(rows: Rows, labels: LabelSets, i: int, index: Index, cap: int) -> tuple[int, int]:
    """Whether the index has room to learn example i: DONE, or what it wants, and how many free
    slots.
    """
    n_labels = labels.indptr[i + 1] - labels.indptr[i]
    slots = 0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        slots += 8 * (index.features[rows.indices[j]]["length"] + n_labels)
    if index.used[END] + slots > index.edges.size:
        return WANTS_SLOTS, slots
    new_edges = (rows.indptr[i + 1] - rows.indptr[i]) * n_labels
    if index.used[EDGES] + new_edges > cap and index.used[EDGES] > full(cap):
        return WANTS_EDGES, 0
    return DONE, 0


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
    """Drop the edges whose strength is below the limit, and the first ``n_equal`` that are just
    as strong.
    """
    for f in range(index.features.size):
        feature = index.features[f]
        rating = 1.0 if feature["seen"] >= rare else feature["seen"] / rare
        first = feature["start"]
        kept = 0
        dropped = 0.0
        for e in range(first, first + feature["length"]):
            strength = index.edges[e]["weight"] / feature["total"] * rating
            if strength < limit or (strength == limit and n_equal > 0):
                n_equal -= strength == limit
                dropped += np.float64(index.edges[e]["weight"])
            else:
                index.edges[first + kept] = index.edges[e]
                kept += 1
        index.used[EDGES] -= feature["length"] - kept
        feature["length"] = kept
        if not leakage:
            # rounding may leave less than 0
            feature["total"] = max(0.0, feature["total"] - dropped)


@kernel
def cut_lists(index: Index, keep: int, least: float, leakage: bool) -> None:
    """Drop the edges of each feature, beyond ``keep``, whose share is below least."""
    for f in range(index.features.size):
        if index.features[f]["length"] > keep:
            cut_tail(index.features[f], index.edges, index.used, keep, least, leakage)


@kernel
def total_up(index: Index) -> None:
    """w′_f = Σ_c w′_fc: what the total of each feature is where nothing leaks."""
    for f in range(index.features.size):
        feature = index.features[f]
        feature["total"] = 0.0
        for e in range(feature["start"], feature["start"] + feature["length"]):
            feature["total"] += index.edges[e]["weight"]


@kernel
def bound_weights(index: Index) -> None:
    """w′_fc = min(w′_fc, w′_f): no share exceeds 1. Lists stay in order."""
    for f in range(index.features.size):
        feature = index.features[f]
        for e in range(feature["start"], feature["start"] + feature["length"]):
            index.edges[e]["weight"] = min(np.float64(index.edges[e]["weight"]), feature["total"])


@kernel
def move_together(index: Index, order: Longs) -> None:
    """Move the lists of the features in that order (int64, by ascending start) to the beginning
    of the pool.
    """
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


# How long rows may be if they are not scaled (values="raw").


MOST = 100.0  # step·|x|²; in trials weights overflowed from 100 to 300 on
ROUNDED = 1.001  # times what the square of a length may be: values of files have fewer digits


def check_lengths(
    rows: Rows | RowStore, values: str, step: float, called: Callable[[int], str]
) -> None:
    """Refuse unscaled rows that are too long; ``called`` gives the name of a row for the error."""
    if values != "raw" or step <= 0:
        return
    rows = rows if isinstance(rows, Rows) else rows.all()
    row = np.repeat(np.arange(rows.n_rows), rows.lengths())
    with np.errstate(over="ignore"):
        squares = np.bincount(
            row, np.square(rows.data[rows.indptr[0] : rows.indptr[-1]]), rows.n_rows
        )
    if squares.size and squares.max() > MOST / step:
        longest = int(np.argmax(squares))
        length = math.sqrt(squares[longest])
        most = math.sqrt(MOST / step)
        raise InputError(
            f"{called(longest)} has the length {length:.4g}, and with step={step:g} corrections of "
            "rows longer "
            f"than {most:.4g} grow without end; learn with values='l2', which gives rows the "
            "length 1, or scale them"
        )


def are_counts(stats: Floats, n: int) -> bool:
    """Whether these numbers of a model file are n counts: finite, and at least 0."""
    return stats.size == n and bool((np.isfinite(stats) & (stats >= 0)).all())


def are_rows(values: str, step: float, squares: Floats, n_entries: Longs) -> bool:
    """Whether rows of a model file have lengths that the settings allow, by the squares of
    their lengths.
    """
    most = {"l2": ROUNDED, "raw": ROUNDED * MOST / step if step > 0 else math.inf}.get(
        values, n_entries
    )
    return bool((squares <= most).all())


def check_finite_biases(values: str, bias: Floats) -> None:
    """Refuse to go on after weights have overflowed."""
    if not np.isfinite(bias).all():
        how = "a smaller step"
        if values == "raw":
            how = (
                "values='l2', which gives rows the length 1, with scaled rows or with a smaller "
                "step"
            )
        raise InputError(
            f"the weights have overflowed and are no longer finite numbers; train again with {how}"
        )
