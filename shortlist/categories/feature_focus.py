"""Feature-Focus index learning (paper 004: Madani, Connor and Greiner, sections 4.1 to 4.3).

Every feature keeps, for the classes it is seen with, the proportions w_fc of its own weight; classes are ranked by
the votes of the active features. FF updates the features of an example only while the true class does not lead by
the margin δ_m. One pass, one example at a time; a feature has at most 1/w_min edges, whatever the number of classes.

In the paper's letters: w_min ``min_weight``, d_max ``max_edges``, δ_m ``margin``, r_f ``rare``, w′ the running sums.
Beyond the paper: ``max_total_edges``, a hard cap on the whole index. When it is reached, the weakest edges (by
r_f·w_fc, among equals those of the oldest features) make room.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from shortlist.categories import index as indexing
from shortlist.categories.index import EDGES, END, Index, added, empty_index, make_index, retrieve
from shortlist.categories.room import BoundedIndex, drop_light, drop_weakest, reserved, with_slots
from shortlist.categories.shards import MergingLearner, ShardedLearner
from shortlist.door import Rows, RowStore, as_choice, as_real, as_whole
from shortlist.kernels import Floats, Ints, Longs, kernel
from shortlist.labels import LabelSets
from shortlist.store import State

DONE, WANTS_SLOTS, WANTS_EDGES = 0, 1, 2  # why the kernel stopped
ROOM = 8  # a full index drops an eighth of its edges, so that many updates share the cost of dropping


class FeatureFocus(BoundedIndex, MergingLearner, ShardedLearner):
    """Feature-Focus (FF): learn a sparse index from features to classes, in one pass.

    Parameters
    ----------
    min_weight : edges lighter than this share of their feature's weight are dropped (w_min).
    max_edges : how many of a feature's heaviest edges vote (d_max).
    margin : an example is learned while its class does not lead by more than this (δ_m).
    passes : how often ``fit`` goes through the rows.
    leakage : whether the weight of dropped edges still counts in a feature's total, so that a feature that predicts
        nothing grows quiet.
    rare : features seen fewer than this many times vote with less weight, in proportion; 0 turns this off.
    values : "l2" scales each row to unit length, "boolean" makes all values 1, "raw" leaves them.
    first : the true class counts as retrieved only among this many best ones.
    max_total_edges : hard cap on the edges of the whole index; None for no cap.
    shards : in how many parts ``fit`` learns each pass, to be mixed at its end (shards.py). The parts learn at the same
        time, on ``n_jobs`` threads, and know nothing of one another.
    random_state : seed of the order in which ``fit`` goes through the rows; None keeps the order given.
    n_jobs : threads for the shards of ``fit`` and for ranking; results do not depend on it.
    """

    nonnegative = True
    takes_pieces = True

    def __init__(
        self,
        min_weight: float = 0.01,
        max_edges: int = 25,
        margin: float = 0.1,
        passes: int = 1,
        leakage: bool = True,
        rare: int = 10,
        values: str = "l2",
        first: int = 50,
        max_total_edges: int | None = None,
        shards: int = 1,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.min_weight = min_weight
        self.max_edges = max_edges
        self.margin = margin
        self.passes = passes
        self.leakage = leakage
        self.rare = rare
        self.values = values
        self.first = first
        self.max_total_edges = max_total_edges
        self.shards = shards
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _begin(self) -> None:
        super()._begin()
        as_real(self.min_weight, "min_weight", least=0, most=1)
        as_real(self.margin, "margin")
        as_whole(self.max_edges, "max_edges", least=1)
        self._rare_given()
        as_whole(self.first, "first", least=1)
        as_choice(self.values, "values", ("l2", "boolean", "raw"))
        self._index = empty_index()

    def _rare_given(self) -> int:
        return as_whole(self.rare, "rare")

    @property
    def rare_(self) -> int:
        """The value of ``rare`` in use."""
        return self.rare

    def _prepare(self, rows: Rows) -> Rows:
        if self.values == "l2":
            return rows._replace(data=unit_length(rows.indptr, rows.data))
        return rows if self.values == "raw" else rows._replace(data=np.ones_like(rows.data))

    def _learn(self, rows: Rows | RowStore, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        cap = self._cap()
        scores, touched = self._ready(rows, labels, order, cap)
        for some_rows, some_labels, some in self.pieces(rows, labels, order):
            done, why = 0, WANTS_SLOTS
            while why != DONE:
                done, why, slots = learn(
                    some_rows, some_labels, some, done, first_pass, self._index, scores, touched, self.max_edges,
                    float(self.min_weight), float(self.margin), self.first, self.rare_, bool(self.leakage), cap,
                )  # fmt: skip
                self._make_room(why, slots, cap)

    def _ready(
        self, rows: Rows | RowStore, labels: LabelSets, order: Longs, cap: int
    ) -> tuple[Floats, Ints]:
        """Give the index room for what is to be learned; gives the arrays of classes that the kernels work on."""
        self._index = self._index.for_features(rows.n_features)
        if self._index.n_edges == 0:
            most = int(rows.lengths()[order] @ np.diff(labels.indptr)[order])
            self._index = reserved(self._index, most, cap)
        n_classes = len(self._labels)
        return np.zeros(n_classes), np.empty(n_classes, dtype=np.int32)

    def _make_room(self, why: int, slots: int, cap: int) -> None:
        """What the kernel has stopped for."""
        if why == WANTS_SLOTS:
            self._index = with_slots(self._index, slots, cap)
        elif why == WANTS_EDGES:
            self._drop_weakest(full(cap))

    def _merge(self, other: FeatureFocus, numbers: Ints) -> None:
        """Running sums w′, totals and counts add; then FSU's rule and the cap hold again."""
        edges = other._index.lists()
        edges["label"] = numbers[edges["label"]]
        length, total, seen = (other._index.features[name] for name in ("length", "total", "seen"))
        renumbered = make_index(length, edges, total, seen)
        self._index = self._within_limits(added(self._index, renumbered, 1.0, len(self._labels)))

    def _shard(self, n: int) -> FeatureFocus:
        shard = copy.copy(self)
        shard._index = self._index.copy()
        shard._most_edges = max(1, self._cap() // n)  # so that together they keep within the cap
        return shard

    def _mix(self, shards: list[FeatureFocus]) -> None:
        """W + Σ_s (W_s − W): what the shards have added to the running sums since the pass began, all added."""
        mixed, n_classes = shards[0]._index, len(self._labels)
        for shard in shards[1:]:
            mixed = added(mixed, shard._index, 1.0, n_classes)
        if self._index.features.size:
            mixed = added(mixed, self._index, 1.0 - len(shards), n_classes)
        self._index = self._within_limits(mixed)

    def _within_limits(self, index: Index) -> Index:
        """The index without edges below min_weight, and within the cap."""
        drop_light(index, self.min_weight, self.leakage)
        drop_weakest(index, self._cap(), self.rare_, self.leakage)
        return index

    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        indexing.rank(rows, self._index, len(self._labels), self.max_edges, self.rare_, ids, scores)

    def _scores(self, rows: Rows) -> Floats:
        return indexing.all_scores(rows, self._index, len(self._labels), self.max_edges, self.rare_)

    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        return indexing.votes(row, self._index, label, self.max_edges, self.rare_)

    def _to_arrays(self) -> dict[str, Any]:
        return self._index.to_arrays(self.n_features_in_)

    def _from_arrays(self, state: State) -> None:
        self._index = Index.from_arrays(state, self.n_features_in_, len(self._labels))

    @property
    def n_edges_(self) -> int:
        """|W|, the number of edges in the index."""
        return self._index.n_edges

    def edges_touched(self, X: Any) -> float:
        """d, the mean number of edges that vote for each active feature of some rows: the work of ranking them."""
        return self._index.edges_touched(self._check(X), self.max_edges)

    def strongest(self, label: Any, n: int = 10) -> list[tuple[int, float]]:
        """The n features with the largest weights to a label."""
        return self._index.strongest(self._number(label), n)

    def leaks(self, n: int = 10) -> list[tuple[int, float]]:
        """The n features that leak the most of their weight: seen with everything, they predict nothing."""
        return self._index.leaks(n)


@kernel
def unit_length(indptr: Longs, data: Floats) -> Floats:
    """Values (float64[m]) scaled so that each row has unit l2 norm."""
    scaled = np.empty_like(data)
    for i in range(indptr.size - 1):
        square = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            square += data[j] * data[j]
        norm = np.sqrt(square)
        for j in range(indptr[i], indptr[i + 1]):
            scaled[j] = data[j] / norm
    return scaled


# Figure 5, the FF algorithm


@kernel
def full(cap: int) -> int:
    """How many edges an index may hold after it has made room."""
    return cap - max(cap // ROOM, 1)


@kernel
def learn(
    rows: Rows, labels: LabelSets, order: Longs, position: int, first_pass: bool,
    index: Index, scores: Floats, touched: Ints,
    max_edges: int, min_weight: float, margin: float, first: int, rare: int, leakage: bool, cap: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Learn the rows order[position:]. Stops early, before an example, where the index has too little room for it.

    Returns how many of ``order`` are done, why it stopped, and how many free slots are wanted.
    scores: float64[classes], all zero; touched: int32[classes].
    """
    for t in range(position, order.size):
        i = order[t]
        first_label, last_label = labels.indptr[i], labels.indptr[i + 1]
        slots = 0
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            slots += 8 * (index.features[rows.indices[j]]["length"] + last_label - first_label)
        if index.used[END] + slots > index.edges.size:
            return t, WANTS_SLOTS, slots
        new_edges = (rows.indptr[i + 1] - rows.indptr[i]) * (last_label - first_label)
        if index.used[EDGES] + new_edges > cap and index.used[EDGES] > full(cap):
            return t, WANTS_EDGES, 0

        if first_pass:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                index.features[rows.indices[j]]["seen"] += 1
        n = retrieve(rows, i, index, max_edges, rare, True, scores, touched)
        wrong = 0.0  # s′_x, the best score of a class that is not true
        for a in range(n):
            c = touched[a]
            if scores[c] > wrong and not holds(labels, i, c):
                wrong = scores[c]
        for b in range(first_label, last_label):
            c = labels.ids[b]
            lead = scores[c] - wrong
            if lead > margin and place(c, scores, touched, n) > first:
                lead = -wrong  # not among the first: its score counts as 0
            if lead <= margin:
                for j in range(rows.indptr[i], rows.indptr[i + 1]):
                    update(rows.indices[j], c, rows.data[j], index, min_weight, leakage, cap)
        for a in range(n):
            scores[touched[a]] = 0.0
    return order.size, DONE, 0


@kernel
def holds(labels: LabelSets, i: int, c: int) -> bool:
    """Whether example i has label c."""
    held = False
    for b in range(labels.indptr[i], labels.indptr[i + 1]):
        held = held or labels.ids[b] == c
    return held


@kernel
def place(c: int, scores: Floats, touched: Ints, n: int) -> int:
    """The rank of class c among the n retrieved ones, from 1; ties to the lower number."""
    above = 0
    for a in range(n):
        other = touched[a]
        if scores[other] > scores[c] or (scores[other] == scores[c] and other < c):
            above += 1
    return above + 1


# Figure 4, FSU, the feature streaming update


@kernel
def update(f: int, c: int, v: float, index: Index, min_weight: float, leakage: bool, cap: int) -> None:
    """w′_fc += v; w′_f += v; drop the edges whose share is now below min_weight.

    One edge rises and all others shrink alike, so a sorted list stays sorted: raise the edge, move it up, cut the tail.
    """
    feature, edges = index.features[f], index.edges
    feature["total"] += v
    first, n = feature["start"], feature["length"]
    at = first
    while at < first + n and edges[at]["label"] != c:
        at += 1
    if at < first + n:
        raised, tuned = edges[at]["weight"] + v, edges[at]["tuned"]
    elif index.used[EDGES] < cap:
        if n == feature["capacity"]:
            move_to_more_room(f, index)
            first = feature["start"]
            at = first + n
        raised, tuned = v, np.float32(0.0)
        n += 1
        index.used[EDGES] += 1
    else:
        return
    while at > first and edges[at - 1]["weight"] < raised:
        edges[at] = edges[at - 1]
        at -= 1
    edges[at]["label"], edges[at]["weight"], edges[at]["tuned"] = c, raised, tuned

    dropped = 0.0
    while n > 0 and edges[first + n - 1]["weight"] / feature["total"] < min_weight:
        n -= 1
        index.used[EDGES] -= 1
        dropped += edges[first + n]["weight"]
    if not leakage:
        feature["total"] -= dropped
    feature["length"] = n


@kernel
def slots_of(size: int) -> int:
    """How many slots a block of that size has: 1, 2, 3, 4, 6, 8, 12, 16, 24, ..."""
    return (3 - (size & 1)) << ((size + 1) >> 1) >> 1


@kernel
def move_to_more_room(f: int, index: Index) -> None:
    """Give feature f the next larger block of slots: a free one, or a new one at the end of the pool."""
    feature, edges = index.features[f], index.edges
    old, n = feature["start"], feature["length"]
    size = 0
    while slots_of(size) <= n:
        size += 1
    new = index.free[size]
    if new >= 0:
        index.free[size] = np.int64(edges[new]["weight"])  # a free block holds the place of the next one
    else:
        new = index.used[END]
        index.used[END] += slots_of(size)
    for e in range(n):
        edges[new + e] = edges[old + e]
    feature["start"] = new
    feature["capacity"] = slots_of(size)
    if n > 0:
        edges[old]["weight"] = index.free[size - 1]  # of n slots or, of a list from a file, of fewer
        index.free[size - 1] = old
