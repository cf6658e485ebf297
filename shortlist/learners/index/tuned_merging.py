"""How indexes with corrected votes are merged.

Counts add. Corrections of a feature are averaged over the learners that have seen it, or those of
rare features would shrink; biases and weights of vectors are averaged over all learners.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.label_input import Label
from shortlist.data.labels import SINGLE
from shortlist.data.rows import grown
from shortlist.errors import InputError
from shortlist.learners.index import replay_buffer, scoring
from shortlist.learners.index.edges import Index
from shortlist.learners.index.progress import joined_progress, mixed_progress
from shortlist.learners.index.replay_buffer import NO_RING, Ring
from shortlist.learners.index.training import EXAMPLES, LABELS
from shortlist.learners.index.vectors import VectorIndexLearner

EXCESS_OF_A_MERGED_LABEL = 0.4  # in points of a score, of which a true label leads by 2


class MergesCorrections(VectorIndexLearner):
    """Base class of TunedIndex: merging, changes of labels, and parts of a pass."""

    ring_: Ring
    progress_: Floats
    pass_number_: int
    planned_passes_: int

    @abstractmethod
    def fits(self, ring: Ring) -> bool:
        """Whether the rows of a ring satisfy the present settings."""

    def merge_sums(self, other: Any, numbers: Ints) -> None:
        if self.n_examples_ == 0 and self.vector is None:
            self.take_vectors(other.n_vector_)
        elif other.n_vector_ != self.n_vector_:
            raise InputError(
                f"vectors of {other.n_vector_} columns cannot be merged into those of "
                f"{self.n_vector_} columns"
            )
        n_features = max(self.index_.features.size, other.index_.features.size)
        seen = times_seen(self.index_, n_features)
        seen_by_other = times_seen(other.index_, n_features)
        total = np.maximum(1, seen + seen_by_other)
        averaged_other = copy.copy(other)
        averaged_other.index_ = tuned_by(other.index_, seen_by_other / total)
        self.index_ = tuned_by(self.index_, seen / total)
        self.running_counts_ = self.running_counts_ + other.running_counts_
        super().merge_sums(averaged_other, numbers)
        share = 1.0
        if self.n_examples_:
            share = other.n_examples_ / (self.n_examples_ + other.n_examples_)
        self.average_vectors(other, numbers, share)
        n_labels = len(self.label_index_)
        self.progress_ = joined_progress(
            grown(self.progress_, n_labels)[:n_labels], other.label_progress(), numbers
        )
        is_long = self.running_counts_[EXAMPLES] >= replay_buffer.MOST_EXAMPLES
        ring = NO_RING if is_long else replay_buffer.joined(self.ring_, other.ring_, numbers)
        self.ring_ = ring if self.fits(ring) else NO_RING

    def after_label_merge(self, earlier: Self, numbers: Ints) -> None:
        super().after_label_merge(earlier, numbers)
        self.pass_number_ = earlier.pass_number_
        self.planned_passes_ = earlier.planned_passes_
        self.running_counts_ = earlier.running_counts_.copy()
        self.biases_ = np.zeros(numbers.size)
        np.add.at(self.biases_, numbers, earlier.label_biases())
        if earlier.running_counts_[LABELS] <= SINGLE * earlier.running_counts_[EXAMPLES]:
            counts = earlier.all_label_counts()
            for number in np.flatnonzero(np.bincount(numbers) > 1).tolist():
                self.biases_[number] -= excess_of_sum(counts[numbers == number])

    def with_label_split(self, label: Label, new: Label) -> Self:
        number = self.label_index_.find(label)
        n_labels = len(self.label_index_)
        changed = super().with_label_split(label, new)
        biases = self.label_biases()
        changed.biases_ = np.append(biases, biases[number])
        # either label may be right for its examples now
        changed.ring_ = replay_buffer.without_label(self.ring_, number)
        if self.n_vector_:
            weights = scoring.widened(self.vector_weights_, n_labels)[:, :n_labels]
            changed.vector_weights_ = np.hstack([weights, weights[:, [number]]])
        return changed

    def without_recent_examples(self, labels: Sequence[Label]) -> Self:
        changed = copy.copy(self)
        for label in labels:
            number = self.label_index_.find(label)
            changed.ring_ = replay_buffer.without_label(changed.ring_, number)
        return changed

    def shard(self, n: int) -> Self:
        shard = super().shard(n)
        shard.biases_ = self.biases_.copy()
        shard.running_counts_ = self.running_counts_.copy()
        shard.vector_weights_ = self.vector_weights_.copy()
        shard.progress_ = self.progress_.copy()
        return shard

    def mix_shards(self, shards: list[Any]) -> None:
        n_labels = len(self.label_index_)
        self.n_vector_ = shards[0].n_vector_
        self.biases_ = np.mean([grown(shard.biases_, n_labels) for shard in shards], axis=0)
        self.progress_ = mixed_progress(
            grown(self.progress_, n_labels)[:n_labels],
            [grown(shard.progress_, n_labels)[:n_labels] for shard in shards],
        )
        weights = [
            scoring.widened(shard.vector_weights_, n_labels)[:, :n_labels] for shard in shards
        ]
        mean = np.sum(weights, axis=0) / np.float32(len(shards))
        self.vector_weights_ = mean.astype(np.float32)
        counts = self.running_counts_
        for shard in shards:
            self.running_counts_ = self.running_counts_ + (shard.running_counts_ - counts)
        self.pass_number_ = shards[0].pass_number_
        self._average_corrections(shards)
        super().mix_shards(shards)

    def _average_corrections(self, shards: list[Any]) -> None:
        """Weigh the corrections of each feature in the shards that have met it."""
        n_features = max(shard.index_.features.size for shard in shards)
        earlier = self.index_.for_features(n_features)
        met = np.array([has_met(shard.index_, earlier) for shard in shards], dtype=np.float64)
        met[0, met.sum(axis=0) == 0] = 1.0  # unseen by all: every shard still has the initial list
        for shard, factor in zip(shards, met / met.sum(axis=0), strict=True):
            shard.index_ = tuned_by(shard.index_, factor)
        self.index_ = tuned_by(self.index_, np.zeros(earlier.features.size))


def excess_of_sum(counts: Longs) -> float:
    """By how much the sum of several labels' scores is too high where labels compete.

    A text of another label that is a little like each of them would be given the sum. So a merged
    label begins lower: by nothing where one of them has all the examples, by 0.2 for two of a size.
    """
    return EXCESS_OF_A_MERGED_LABEL * (1.0 - int(counts.max()) / max(1, int(counts.sum())))


# The corrections of indexes that were learned separately.


def times_seen(index: Index, n_features: int) -> Floats:
    """In how many examples each of n features was seen."""
    return grown(index.features["seen"].astype(float), n_features)[:n_features]


def tuned_by(index: Index, factors: Floats) -> Index:
    """A copy of the index, the corrections of each feature multiplied by its factor."""
    feature, edges = index.all_edges()
    edges["tuned"] = edges["tuned"] * factors[feature]
    return index.with_edges(edges)


def has_met(index: Index, earlier: Index) -> NDArray[np.bool_]:
    """Which features of ``before`` have changed in ``index``, a later state of it. Later passes
    never move an edge.
    """
    n = earlier.features.size
    now = index.for_features(n).features[:n]
    then = earlier.features
    met: NDArray[np.bool_] = (now["seen"] != then["seen"]) | (now["length"] != then["length"])
    (feature, edges) = index.all_edges()
    (feature_then, edges_then) = earlier.all_edges()
    same = ~met[feature]
    same_then = ~met[feature_then]
    met[feature[same][edges["tuned"][same] != edges_then["tuned"][same_then]]] = True
    return met
