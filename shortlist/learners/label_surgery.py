"""Rename, merge and split the labels of a learner.

A label that is merged into another keeps its number, without weights, so that numbers held
elsewhere stay valid. A label that is split off begins with a copy of the weights of the other; if
they are merged again, both count.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from shortlist.compiled.kernels import Longs
from shortlist.data.label_input import Label
from shortlist.data.labels import SINGLE, LabelIndex
from shortlist.data.rows import grown
from shortlist.data.validation import note_names
from shortlist.errors import InputError
from shortlist.learners.category_learner import CategoryLearner, MergingLearner
from shortlist.learners.index.edges import added, bound_weights, make_index, total_up
from shortlist.learners.index.index_learner import IndexLearner
from shortlist.learners.index.replay_buffer import without_label
from shortlist.learners.index.scoring import widened
from shortlist.learners.index.training import EXAMPLES, LABELS
from shortlist.learners.index.tuned_index import TunedIndex

EXCESS = 0.4  # in points of a score, of which a true label leads by 2
Learner = TypeVar("Learner", bound=CategoryLearner)


def counts_of(learner: CategoryLearner) -> Longs:
    """The number of examples of each label, 0 for labels that are known without one."""
    n = len(learner.label_index_)
    return grown(learner.label_counts_, n)[:n]


def renamed(learner: Learner, old: Label, new: Label) -> Learner:
    """The learner with another name for a label."""
    names = list(learner.label_index_.names)
    names[learner.label_index_.find(old)] = new
    changed = copy.copy(learner)
    changed.label_index_, changed.label_columns_ = LabelIndex(names), None
    return changed


def merged(learner: Learner, labels: Sequence[Label], into: Label) -> Learner:
    """The learner with the weights of several labels added to those of one of them."""
    if not isinstance(learner, MergingLearner):
        raise InputError(
            f"{type(learner).__name__} keeps no sums that could be merged; train it anew"
        )
    numbers = np.arange(len(learner.label_index_), dtype=np.int32)
    own = [learner.label_index_.find(label) for label in labels]
    numbers[own] = learner.label_index_.find(into)
    changed = copy.copy(learner)
    changed.reset()
    changed.label_index_ = LabelIndex(learner.label_index_.names)
    changed.counts_by_label = np.zeros(numbers.size, dtype=np.int64)
    np.add.at(changed.counts_by_label, numbers, counts_of(learner))
    changed.merge_sums(learner, numbers)
    changed.n_examples_, changed.n_features_in_ = learner.n_examples_, learner.n_features_in_
    note_names(changed, getattr(learner, "feature_names_in_", None))
    if isinstance(learner, IndexLearner):
        changed._most_edges, changed.edges_dropped_ = learner._most_edges, learner.edges_dropped_
        bound_weights(changed.index_)  # weights copied by a split are in no total
    if isinstance(learner, TunedIndex):
        changed._pass, changed._planned, changed._counts = (
            learner._pass,
            learner._planned,
            learner._counts.copy(),
        )
        changed._biases = np.zeros(numbers.size)
        np.add.at(changed._biases, numbers, learner.label_biases())
        if learner._counts[LABELS] <= SINGLE * learner._counts[EXAMPLES]:
            into_number = learner.label_index_.find(into)
            counts = counts_of(learner)[[*own, into_number]]
            changed._biases[into_number] -= excess_of_sum(counts)
    return changed


def excess_of_sum(counts: Longs) -> float:
    """By how much the sum of several labels' scores is too high where labels contend.

    A text of another label that is a little like each of them would be given the sum. So a merged
    label begins lower: by nothing where one of them has all the examples, by 0.2 for two of a size.
    """
    return EXCESS * (1.0 - int(counts.max()) / max(1, int(counts.sum())))


def let_go(learner: Learner, labels: Sequence[Label]) -> Learner:
    """The learner without examples of these labels in its rehearsal buffer."""
    if not isinstance(learner, TunedIndex):
        return learner
    changed = copy.copy(learner)
    for label in labels:
        changed._ring = without_label(changed._ring, learner.label_index_.find(label))
    return changed


def split_off(learner: Learner, label: Label, new: Label) -> Learner:
    """The learner with a new label, which begins with a copy of the weights of another."""
    if not isinstance(learner, IndexLearner):
        raise InputError(
            f"{type(learner).__name__} has no index from which a label could be split off"
        )
    number, n_labels = learner.label_index_.find(label), len(learner.label_index_) + 1
    index = learner.index_
    feature, edges = index.all_edges()
    n_features, own = index.features.size, edges["label"] == number
    length, edges = np.bincount(feature[own], minlength=n_features).astype(np.int32), edges[own]
    edges["label"] = n_labels - 1
    alone = make_index(length, edges, np.zeros(n_features), np.zeros(n_features, dtype=np.int64))
    changed = copy.copy(learner)
    changed.label_index_ = LabelIndex([*learner.label_index_.names, new])
    changed.label_columns_ = None
    counts = counts_of(learner)
    changed.counts_by_label = np.append(counts, counts[number])
    changed.index_ = added(index, alone, 1.0, n_labels)
    if not learner.leakage:
        # so that edges dropped later are subtracted from a total that holds them
        total_up(changed.index_)
    if isinstance(learner, TunedIndex):
        changed._biases = np.append(learner.label_biases(), learner.label_biases()[number])
        # either label may be right for its examples now
        changed._ring = without_label(learner._ring, number)
        known = widened(learner._weights, n_labels - 1)[:, : n_labels - 1]
        changed._weights = np.hstack([known, known[:, [number]]]) if len(known) else known
    return changed
