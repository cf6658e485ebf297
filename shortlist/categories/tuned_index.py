"""Count, then tune: a Feature-Focus index whose votes are corrected, class by class, where they miss.

Beyond the papers, but made of them. Each edge has, beside the proportion w_fc that Feature-Focus counts (paper 004), a
correction u_fc, and each class a bias b_c, all 0 at first. A class that is retrieved has the score

    s_c = b_c + Σ_f (r_f·w_fc + u_fc)·x[f],

and one that is not has none (0). A true class shall score at least 1, a wrong one at most 0; by how much each class of
an example misses that is what the example teaches, by the rule of Widrow and Hoff (paper 002):

    e_c = max(0, 1 − s_c) for a true class, −max(0, s_c) for a wrong one,
    u_fc += η·e_c·x[f] on the edges that voted and on new ones,    b_c += κ·η·e_c where c was retrieved.

The step is bolder where the index is sure of itself and wrong, as after a change of what labels mean. With the surprise
z = min(1, best wrong score)² of an example and its mean z̄ over some thousand examples that were new,

    η = step·(1 + 2.3·z·max(0, 1 − 5·z̄)) / max(1, 5·z̄):

where a wrong class that scores 1 is rare, it teaches three times as much; where it is common, it is noise, and every
example teaches less.

The first time an example is seen, its true classes with e_c > 0 are counted too, as FSU counts (feature_focus.py):
w′_fc += x[f], w′_f += x[f]. An example with many labels spreads its weight over many edges, so an edge may have a share
as small as ``min_weight`` divided by the mean number of labels so far. The index is as bounded as Feature-Focus has it.
Further passes of ``fit`` only correct, with steps that fall evenly from half of that to nothing.

Each class is corrected for itself, never against another one. So a class that is true but that nobody has written down,
of which real label sets are full, costs a small step on its own score and nothing else.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.categories.feature_focus import cut_tail, move_to_more_room, put_in_place
from shortlist.categories.index import EDGES, Index, retrieve, room_for_touched
from shortlist.categories.index_learner import IndexLearner
from shortlist.categories.room import DONE, room_for
from shortlist.door import Rows, RowStore, as_real, as_whole
from shortlist.growing import grown
from shortlist.kernels import Floats, Ints, Longs, kernel
from shortlist.labels import LabelSets
from shortlist.store import State

FURTHER = 0.5  # of the step, where further passes begin
SURPRISE, WEIGHT, EXAMPLES, LABELS = 0, 1, 2, 3  # entries of course: z̄, the examples in it; all, and their labels
BOLD, DOUBT, MEMORY = 2.3, 5.0, 5000.0  # how much bolder; from which z̄ on not at all (1/5); examples in z̄
KAPPA = 0.04  # κ: a class's bias learns as a feature would that is in every row with the value 0.2


class TunedIndex(IndexLearner):
    """Feature-Focus with corrected votes: as accurate as a linear classifier for each class, in few quick passes.

    Parameters
    ----------
    min_weight : edges lighter than this share of their feature's weight, divided by the labels that an example has on
        average, are dropped.
    max_edges, leakage, rare, values, max_total_edges, shards, random_state, n_jobs : as FeatureFocus has
        them; more edges vote.
    passes : how often ``fit`` goes through the rows: the first time it counts and tunes, then it tunes.
    step : how much of what a class misses is made up for at a time; 0 only counts.
    """

    def __init__(
        self,
        min_weight: float = 0.01,
        max_edges: int = 50,
        passes: int = 2,
        step: float = 0.3,
        leakage: bool = True,
        rare: int = 10,
        values: str = "l2",
        max_total_edges: int | None = None,
        shards: int = 1,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.min_weight = min_weight
        self.max_edges = max_edges
        self.passes = passes
        self.step = step
        self.leakage = leakage
        self.rare = rare
        self.values = values
        self.max_total_edges = max_total_edges
        self.shards = shards
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _begin(self) -> None:
        super()._begin()
        as_real(self.step, "step", least=0)
        as_whole(self.passes, "passes", least=1)
        self._biases = np.zeros(0)
        self._course = np.zeros(LABELS + 1)
        self._pass = 0

    def _learn(self, rows: Rows | RowStore, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        self._pass = 0 if first_pass else self._pass + 1
        further = max(1, self.passes - 1)
        self._to_come = np.array([further + 1 - self._pass, further], dtype=np.float64) * order.size
        self._biases = grown(self._biases, len(self._labels))
        super()._learn(rows, labels, order, first_pass)

    def _learn_some(
        self, rows: Rows, labels: LabelSets, order: Longs, done: int, first_pass: bool, cap: int
    ) -> tuple[int, int, int]:
        return learn(
            rows, labels, order, done, first_pass, self._index, self._biases, self._course, self._to_come,
            make_desk(len(self._labels)), self.max_edges, float(self.min_weight), self.rare, bool(self.leakage), cap,
            float(self.step),
        )  # fmt: skip

    def _least_share(self) -> float:
        return least_share(float(self.min_weight), self._course)

    def _bias(self) -> Floats:
        return grown(self._biases, len(self._labels))[: len(self._labels)]

    # Putting together: counts add. The corrections of a feature are averaged over those who have met it, or those of a
    # rare feature would shrink with each learner that has not; biases over all.

    def _merge(self, other: Any, numbers: Ints) -> None:
        n = max(self._index.features.size, other._index.features.size)
        seen, seen_there = (grown(index.features["seen"], n)[:n] for index in (self._index, other._index))
        theirs = copy.copy(other)
        theirs._index = tuned_by(other._index, seen_there / np.maximum(1, seen + seen_there))
        self._index = tuned_by(self._index, seen / np.maximum(1, seen + seen_there))
        super()._merge(theirs, numbers)
        share = other.n_examples_ / max(1, self.n_examples_ + other.n_examples_)
        self._biases = (1.0 - share) * grown(self._biases, len(self._labels))
        self._biases[numbers] += share * other._bias()
        self._course = joined([self._course, other._course], [1.0 - share, share])

    def _shard(self, n: int) -> Any:
        shard = super()._shard(n)
        shard._biases, shard._course = self._biases.copy(), self._course.copy()
        return shard

    def _mix(self, shards: list[Any]) -> None:
        self._biases = np.mean([grown(shard._biases, len(self._labels)) for shard in shards], axis=0)
        learned = [shard._course - self._course for shard in shards]
        self._course = self._course + joined(learned, [1.0 / len(shards)] * len(shards))
        self._pass = shards[0]._pass
        began = self._index.for_features(max(shard._index.features.size for shard in shards))
        met = np.array([has_met(shard._index, began) for shard in shards], dtype=np.float64)
        met[0, met.sum(axis=0) == 0] = 1.0  # nobody has: all shards still have what there was
        for shard, factor in zip(shards, met / met.sum(axis=0), strict=True):
            shard._index = tuned_by(shard._index, factor)
        self._index = tuned_by(self._index, np.zeros(began.features.size))
        super()._mix(shards)

    def _to_arrays(self) -> dict[str, Any]:
        own = {"edge_tuned": self._index.column("tuned", np.float32), "bias": self._bias()}
        return super()._to_arrays() | own | {"course": self._course, "pass": np.array([self._pass])}

    def _from_arrays(self, state: State) -> None:
        super()._from_arrays(state)
        tuned, self._biases = state.array("edge_tuned", np.float32), np.array(state.array("bias", np.float64))
        state.require(tuned.size == self._index.edges.size, "each edge has a correction")
        state.require(self._biases.size == len(self._labels), "each label has a bias")
        finite = bool(np.isfinite(tuned).all() and np.isfinite(self._biases).all())
        state.require(finite, "corrections and biases are finite")
        self._course = np.array(state.array("course", np.float64))
        state.require(self._course.size == LABELS + 1 and bool((self._course >= 0).all()), "it has its counts")
        passed = state.array("pass", np.int64)
        state.require(passed.size == 1 and bool((passed >= 0).all()), "it says which pass it is in")
        self._index.edges["tuned"], self._pass = tuned, int(passed[0])


def joined(courses: list[Floats], shares: list[float]) -> Floats:
    """What learners that learned apart have in their course: the mean surprise by shares, counts added."""
    course = np.sum(courses, axis=0)
    course[:EXAMPLES] = np.average(courses, axis=0, weights=shares)[:EXAMPLES]
    return course


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


class Desk(NamedTuple):
    """What the kernels need one of for each class."""

    scores: Floats  # 0 between examples
    error: Floats  # e_c, 0 between examples
    touched: Ints
    met: Longs  # the last entry of a row whose feature was found to have an edge to the class


def make_desk(n_classes: int) -> Desk:
    entries = np.full(n_classes, -1, dtype=np.int64)
    return Desk(np.zeros(n_classes), np.zeros(n_classes), room_for_touched(n_classes), entries)


@kernel
def learn(
    rows: Rows, labels: LabelSets, order: Longs, position: int, first_pass: bool, index: Index, bias: Floats,
    course: Floats, to_come: Floats, desk: Desk, max_edges: int, min_weight: float, rare: int, leakage: bool, cap: int,
    step: float,
) -> tuple[int, int, int]:  # fmt: skip
    """Learn the rows order[position:]. Stops early, before an example, where the index has too little room for it.

    Returns how many of ``order`` are done, why it stopped, and how many free slots are wanted.
    to_come: how many examples further passes have still to correct, and how many they had when they began.
    """
    for t in range(position, order.size):
        i = order[t]
        if first_pass:
            why, slots = room_for(rows, labels, i, index, cap)
            if why != DONE:
                return t, why, slots
            course[EXAMPLES] += 1.0
            course[LABELS] += labels.indptr[i + 1] - labels.indptr[i]
        n = retrieve(rows, i, index, max_edges, rare, desk.scores, desk.touched)
        z = find_errors(labels, i, bias, desk, n)
        if first_pass:
            course[WEIGHT] = min(course[WEIGHT] + 1.0, MEMORY)
            course[SURPRISE] += (z - course[SURPRISE]) / course[WEIGHT]
            eta, least = step * boldness(z, course[SURPRISE]), least_share(min_weight, course)
            count_and_correct(rows, labels, i, index, desk, max_edges, least, leakage, cap, eta)
        else:
            eta = step * boldness(z, course[SURPRISE]) * FURTHER * to_come[0] / to_come[1]
            correct(rows, i, index, desk, max_edges, eta)
            to_come[0] -= 1.0
        for a in range(n):
            c = desk.touched[a]
            bias[c] += KAPPA * eta * desk.error[c]
            desk.scores[c] = desk.error[c] = 0.0
        for b in range(labels.indptr[i], labels.indptr[i + 1]):
            desk.error[labels.ids[b]] = 0.0
    return order.size, DONE, 0


@kernel
def boldness(z: float, mean: float) -> float:
    """η / step for an example of surprise z, where z̄ is the mean."""
    return (1.0 + BOLD * z * max(0.0, 1.0 - DOUBT * mean)) / max(1.0, DOUBT * mean)


@kernel
def least_share(min_weight: float, course: Floats) -> float:
    """The least share that an edge may have: min_weight, divided by the mean number of labels if that is above 1."""
    return min_weight * course[EXAMPLES] / course[LABELS] if course[LABELS] > course[EXAMPLES] else min_weight


@kernel
def find_errors(labels: LabelSets, i: int, bias: Floats, desk: Desk, n: int) -> float:
    """e_c of the n retrieved classes of example i, and of its own; gives the surprise z."""
    for b in range(labels.indptr[i], labels.indptr[i + 1]):
        desk.error[labels.ids[b]] = 1.0  # if it is not retrieved
    worst = 0.0
    for a in range(n):
        c = desk.touched[a]
        score = desk.scores[c] + bias[c]
        if desk.error[c] > 0.0:
            desk.error[c] = max(0.0, 1.0 - score)
        else:
            desk.error[c] = -max(0.0, score)
            worst = min(worst, desk.error[c])
    return min(1.0, -worst) ** 2


@kernel
def correct(rows: Rows, i: int, index: Index, desk: Desk, max_edges: int, eta: float) -> None:
    """u_fc += η·e_c·x[f] on the edges that voted."""
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        feature, shift = index.features[rows.indices[j]], eta * rows.data[j]
        first = feature["start"]
        for edge in index.edges[first : first + min(feature["length"], max_edges)]:
            edge["tuned"] += shift * desk.error[edge["label"]]


@kernel
def count_and_correct(
    rows: Rows, labels: LabelSets, i: int, index: Index, desk: Desk,
    max_edges: int, least: float, leakage: bool, cap: int, eta: float,
) -> None:  # fmt: skip
    """FSU for all true classes with an error at once, in one walk along each list that corrects its edges as well.

    Edges that rise move up as the walk passes them, so a sorted list stays sorted; new edges come last, before the cut.
    """
    edges = index.edges
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f, x, shift = rows.indices[j], rows.data[j], eta * rows.data[j]
        feature = index.features[f]
        feature["seen"] += 1
        first, n = feature["start"], feature["length"]
        own = edges[first : first + n]
        for at in range(n):
            c = own[at]["label"]
            error = desk.error[c]
            if at < max_edges:
                own[at]["tuned"] += shift * error
            if error > 0.0:
                desk.met[c] = j
                put_in_place(own, 0, at, c, own[at]["weight"] + x, own[at]["tuned"])

        for b in range(labels.indptr[i], labels.indptr[i + 1]):
            c = labels.ids[b]
            if desk.error[c] > 0.0:
                feature["total"] += x
                if desk.met[c] != j and index.used[EDGES] < cap:
                    if n == feature["capacity"]:
                        move_to_more_room(f, n + count_new(labels, b, labels.indptr[i + 1], desk, j), index)
                        first = feature["start"]
                    put_in_place(edges, first, first + n, c, x, shift * desk.error[c])
                    n += 1
                    feature["length"] = n
                    index.used[EDGES] += 1
        cut_tail(feature, edges, index.used, least, leakage)


@kernel
def count_new(labels: LabelSets, first: int, last: int, desk: Desk, j: int) -> int:
    """How many of the labels first..last−1 of an example the feature of its entry j is to have new edges to."""
    n = 0
    for b in range(first, last):
        c = labels.ids[b]
        n += desk.error[c] > 0.0 and desk.met[c] != j
    return n


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
