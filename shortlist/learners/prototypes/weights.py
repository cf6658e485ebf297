"""Prototypes: one weight vector w_c for each label c, by which a label scores w_c·x. Stored
sparsely, and exactly.

Paper 001 starts from zero prototypes, so that all labels tie and all are moved by the first
documents: stored densely, k prototypes of n weights would take k·n places at once. But labels that
tie are moved alike. So each feature f stores one weight b_f, the background, for all labels that it
has never distinguished, and a list of differences for the others:

    w_c[f] = b_f + d_fc,   d_fc = 0 for the labels that f does not list.

All labels that no active feature lists share the score B = Σ_f b_f·x[f]; they are counted, not
visited. A label that arrives later starts in this crowd, with the prototype of a label that was
never relevant so far.

The lists live in flat pools: feature f owns the slots start[f] .. start[f]+capacity[f]−1 and uses
the first length[f]. A list that outgrows its slots moves to the end of the pools at twice the size;
``with_room`` packs them anew.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs, kernel
from shortlist.data.rows import MatrixLike, Rows, grown
from shortlist.files.store import State
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.top_labels import Scratch, keep_best, make_scratch

# entries of Prototypes.used
LISTED = 0
SLOTS_USED = 1
SPARE_SLOTS = 1 << 16  # that are always worth having


class Prototypes(NamedTuple):
    """The arrays of the prototypes, as the kernels take them."""

    background: Floats  # per feature, b_f
    start: Longs
    length: Ints
    capacity: Ints
    label: Ints  # per slot, c
    weight: Floats  # d_fc
    # per feature, Σ t·(what was added to b_f at time t); all 0 if no average is asked for
    background_moment: Floats
    moment: Floats  # per slot, the same of d_fc
    used: Longs  # differences listed, slots of the pools that have been given out

    @property
    def n_weights(self) -> int:
        """Stored weights that are not 0."""
        return int(np.count_nonzero(self.entries()[2]) + np.count_nonzero(self.background))

    def copied(self) -> Prototypes:
        """A copy that shares no memory."""
        return Prototypes._make(array.copy() for array in self)

    def for_features(self, n_features: int) -> Prototypes:
        """The prototypes with room for that many features."""
        if self.background.size >= n_features:
            return self
        per_feature = ("background", "background_moment", "start", "length", "capacity")
        return self._replace(
            **{name: grown(getattr(self, name), n_features) for name in per_feature}
        )

    def with_room(self, n_slots: int) -> Prototypes:
        """The prototypes packed again, with at least that many free slots; usually twice the
        slots in use.
        """
        packed = pack(*self.entries(), self.background, self.background_moment)
        size = packed.label.size + max(n_slots + SPARE_SLOTS, packed.label.size)
        per_slot = ("label", "weight", "moment")
        return packed._replace(**{name: grown(getattr(packed, name), size) for name in per_slot})

    def without_lightest(self, keep: int) -> Prototypes:
        """The prototypes with ``keep`` of more differences: the smallest go, of equal ones
        those of later features.
        """
        feature, labels, weights, moments = self.entries()
        size = np.abs(weights)
        limit = np.partition(size, size.size - keep)[size.size - keep]
        stays = size > limit
        equal = np.flatnonzero(size == limit)
        # a feature's list has no order of its own
        order = np.lexsort((labels[equal], feature[equal]))
        stays[equal[order[: keep - np.count_nonzero(stays)]]] = True
        parts = feature[stays], labels[stays], weights[stays], moments[stays]
        return pack(*parts, self.background, self.background_moment)

    def entries(self) -> tuple[Longs, Ints, Floats, Floats]:
        """Feature, label, d_fc and its moment of every difference listed, feature after feature."""
        feature = np.repeat(np.arange(self.length.size), self.length)
        first = np.cumsum(self.length, dtype=np.int64) - self.length
        slot = np.arange(feature.size) - first[feature] + self.start[feature]
        return feature, self.label[slot], self.weight[slot], self.moment[slot]

    def averaged(self, time: int) -> Prototypes:
        """The mean, over the first ``time`` examples, of the prototypes after each: Σ_t (1 −
        t/time)·(change at t).
        """
        share = 1 / max(time, 1)
        return self._replace(
            background=self.background - share * self.background_moment,
            weight=self.weight - share * self.moment,
        )

    def to_arrays(self, n_features: int, prefix: str = "") -> dict[str, NDArray[Any]]:
        """The prototypes without their spare room, in order, for the model file."""
        feature, labels, weights, moments = self.entries()
        order = np.lexsort((labels, feature))
        arrays = {
            "background": grown(self.background, n_features)[:n_features],
            "length": np.bincount(feature, minlength=n_features)[:n_features].astype(np.int32),
            "label": labels[order],
            "weight": weights[order],
        }
        if moments.any() or self.background_moment.any():
            background_moment = grown(self.background_moment, n_features)[:n_features]
            arrays |= {"background_moment": background_moment, "moment": moments[order]}
        return {prefix + name: array for name, array in arrays.items()}

    @classmethod
    def from_arrays(
        cls, state: State, n_features: int, n_labels: int, prefix: str = ""
    ) -> Prototypes:
        """Read prototypes from a model file; refuse what a kernel could not trust."""
        background = state.array(prefix + "background", np.float64)
        weight = state.array(prefix + "weight", np.float64)
        length = state.array(prefix + "length", np.int32)
        label = state.array(prefix + "label", np.int32)
        state.require(
            background.size == length.size == n_features, "each feature has a background and a list"
        )
        state.require(bool((length >= 0).all()), "lists have lengths of at least 0")
        state.require(
            int(length.sum(dtype=np.int64)) == label.size == weight.size, "lists and weights agree"
        )
        are_known = not label.size or (label.min() >= 0 and label.max() < n_labels)
        state.require(are_known, "weights belong to known labels")
        feature = np.repeat(np.arange(n_features), length)
        once = np.diff(feature * max(n_labels, 1) + label) > 0
        state.require(bool(once.all()), "a feature lists each label once")
        background_moment = np.zeros(n_features)
        moment = np.zeros(label.size)
        if prefix + "moment" in state.arrays:
            background_moment = state.array(prefix + "background_moment", np.float64)
            moment = state.array(prefix + "moment", np.float64)
            state.require(
                background_moment.size == n_features and moment.size == label.size,
                "each weight has a moment",
            )
        for array in (background, weight, background_moment, moment):
            state.require(bool(np.isfinite(array).all()), "weights are finite")
        return pack(feature, label, weight, moment, background, background_moment)


def pack(
    feature: Longs,
    labels: Ints,
    weights: Floats,
    moments: Floats,
    background: Floats,
    background_moment: Floats,
) -> Prototypes:
    """Prototypes from entries sorted by feature."""
    length = np.bincount(feature, minlength=background.size).astype(np.int32)
    start = np.cumsum(length, dtype=np.int64) - length
    used = np.array([labels.size, labels.size], dtype=np.int64)
    return Prototypes(
        background,
        start,
        length,
        length.copy(),
        labels.astype(np.int32, copy=False),
        weights,
        background_moment,
        moments,
        used,
    )


def no_prototypes() -> Prototypes:
    """Prototypes without features."""
    no_ids = np.zeros(0, dtype=np.int32)
    nothing = np.zeros(0)
    return pack(no_ids.astype(np.int64), no_ids, nothing, nothing, nothing, nothing)


# Reading


@kernel
def score(
    rows: Rows, i: int, prototypes: Prototypes, scratch: Scratch, n: int
) -> tuple[int, float]:
    """Score row i: how many labels have a score of their own, scratch.touched[:n], and the score B
    of all the others.

    On entry scratch.touched[:n] are labels, marked with the present time, that shall have one in
    any case.
    """
    now = scratch.clock[0]
    for a in range(n):
        scratch.scores[scratch.touched[a]] = 0.0
    shared = 0.0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f = rows.indices[j]
        if f >= prototypes.background.size:
            continue
        x = rows.data[j]
        shared += x * prototypes.background[f]
        first = prototypes.start[f]
        for e in range(first, first + prototypes.length[f]):
            c = prototypes.label[e]
            if scratch.mark[c] != now:
                scratch.mark[c] = now
                scratch.touched[n] = c
                n += 1
                scratch.scores[c] = 0.0
            scratch.scores[c] += x * prototypes.weight[e]
    for a in range(n):
        scratch.scores[scratch.touched[a]] += shared
    return n, shared


@kernel
def rank(rows: Rows, prototypes: Prototypes, scratch: Scratch, ids: Ints, best: Floats) -> None:
    """The k best labels of each row (ids int32[n,k], best float64[n,k]); ties to the lower
    number.
    """
    n_labels = scratch.scores.size
    k = ids.shape[1]
    for i in range(rows.indptr.size - 1):
        scratch.clock[0] += 1
        n, shared = score(rows, i, prototypes, scratch, 0)
        c = 0
        missing = k
        while c < n_labels and missing > 0:  # of the crowd only the first k can matter: they tie
            if scratch.mark[c] != scratch.clock[0]:
                scratch.scores[c] = shared
                scratch.touched[n] = c
                n += 1
                missing -= 1
            c += 1
        keep_best(scratch.touched[:n], scratch.scores, ids[i], best[i])


@kernel
def all_scores(rows: Rows, prototypes: Prototypes, scratch: Scratch, scores: Floats) -> None:
    """Write the scores of all labels, float64[n, labels]."""
    for i in range(rows.indptr.size - 1):
        scratch.clock[0] += 1
        n, shared = score(rows, i, prototypes, scratch, 0)
        scores[i] = shared
        for a in range(n):
            scores[i, scratch.touched[a]] = scratch.scores[scratch.touched[a]]


def votes_for(row: Rows, prototypes: Prototypes, label: int) -> Floats:
    """x[f]·w_c[f] of each active feature f for the label c."""
    votes = np.zeros(row.indices.size)
    for j, f in enumerate(row.indices.tolist()):
        if f < prototypes.background.size:
            votes[j] = row.data[j] * prototypes.background[f]
            listed = slice(prototypes.start[f], prototypes.start[f] + prototypes.length[f])
            of_label = prototypes.label[listed] == label
            votes[j] += row.data[j] * prototypes.weight[listed][of_label].sum()
    return votes


# Ranking, scores and explanations of all learners of prototypes.


class PrototypeLearner(CategoryLearner):
    """A learner that ranks labels by the prototypes of ``_hypothesis``."""

    @abstractmethod
    def _hypothesis(self) -> Prototypes:
        """The prototypes to rank by."""

    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        rank(rows, self._hypothesis(), make_scratch(len(self.label_index_)), ids, scores)

    def all_scores(self, rows: Rows) -> Floats:
        scores = np.empty((rows.n_rows, len(self.label_index_)))
        all_scores(rows, self._hypothesis(), make_scratch(len(self.label_index_)), scores)
        return scores

    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        votes = votes_for(row, self._hypothesis(), label)
        return row.indices[votes != 0], votes[votes != 0]

    def edges_touched(self, X: MatrixLike) -> float:
        """d of paper 004: the mean number of labels whose weights each active feature of some
        rows brings in.
        """
        features = self.prepare(self.check_rows(X)).indices
        n_listed = self._hypothesis().length
        n_labels = n_listed[features[features < n_listed.size]].sum()
        return float(n_labels) / max(features.size, 1)

    @property
    def n_weights_(self) -> int:
        """How many weights the prototypes hold, the shared ones counted once."""
        return self._hypothesis().n_weights


# Iterative parameter mixing (McDonald, Hall and Mann 2010, figure 3): Perceptrons that learn apart,
# averaged.


def mixed(parts: list[Prototypes], start: Prototypes, time: int, n_labels: int) -> Prototypes:
    """The mean of prototypes that learned apart, each from ``start`` at that time."""
    n = len(parts)
    n_features = max(part.background.size for part in parts)
    everything = [part.for_features(n_features) for part in (*parts, start)]
    entries = [prototypes.entries() for prototypes in everything]
    keys = np.concatenate([feature * n_labels + label for feature, label, _, _ in entries])
    key, entry = np.unique(keys, return_inverse=True)

    def summed(factors: list[float], values: list[Floats]) -> Floats:
        pairs = zip(factors, values, strict=True)
        scaled = np.concatenate([factor * value for factor, value in pairs])
        return np.bincount(entry, scaled, key.size).astype(np.float64, copy=False)

    # by what the parts and the start are multiplied
    mean = [1 / n] * n + [0.0]
    change = [1 / n] * n + [-1.0]
    gain = [1.0] * n + [1.0 - n]
    weights = [weight for _, _, weight, _ in entries]
    moments = [moment for _, _, _, moment in entries]
    backgrounds = [prototypes.background for prototypes in everything]
    background_moments = [prototypes.background_moment for prototypes in everything]
    late = (n - 1) * time  # every part noted its changes at the times of one
    feature, label = np.divmod(key, max(n_labels, 1))
    return pack(
        feature,
        label,
        weights=summed(mean, weights),
        moments=summed(gain, moments) - late * summed(change, weights),
        background=_weighted(mean, backgrounds),
        background_moment=(
            _weighted(gain, background_moments) - late * _weighted(change, backgrounds)
        ),
    )


def _weighted(factors: list[float], values: list[Floats]) -> Floats:
    """The sum of values times factors, in a fixed order: a matrix product would round
    differently by machine.
    """
    total = np.zeros_like(values[0])
    for factor, value in zip(factors, values, strict=True):
        total += factor * value
    return total
