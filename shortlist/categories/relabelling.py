"""What a learner has learned, under other labels: renamed, put together, or split off.

A label that is merged into another keeps its number, with nothing behind it: numbers that others hold stay valid.
What labels share of which one was split off from the other counts once when they are merged (index/twins.py).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from shortlist.arrays.columns import note_names
from shortlist.arrays.given_labels import Label
from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Longs
from shortlist.categories.index.company import with_twin
from shortlist.categories.index.learner import IndexLearner
from shortlist.categories.index.lists import added, make_index
from shortlist.categories.index.pruning import bound_weights, total_up
from shortlist.categories.index.recent import without_label
from shortlist.categories.index.tuned_both import TunedBoth
from shortlist.categories.index.tuned_index import TunedIndex
from shortlist.categories.index.twins import columns_once, counts_once, families, lists_once, with_split
from shortlist.categories.learner import CategoryLearner
from shortlist.categories.shards import MergingLearner
from shortlist.categories.top_down import TopDown
from shortlist.errors import InputError
from shortlist.labels import LabelIndex

Learner = TypeVar("Learner", bound=CategoryLearner)


def counts_of(learner: CategoryLearner) -> Longs:
    """How many examples each label has, those included that are expected and have none."""
    n = len(learner._labels)
    return grown(learner.label_counts_, n)[:n]


def renamed(learner: Learner, old: Label, new: Label) -> Learner:
    """The learner, whose label has another name."""
    if isinstance(learner, TopDown):
        raise InputError("TopDown has its labels in a tree; train it anew with other names")
    names = list(learner._labels.names)
    names[learner._labels.find(old)] = new
    changed = copy.copy(learner)
    changed._labels, changed._label_columns = LabelIndex(names), None
    return changed


def merged(learner: Learner, labels: Sequence[Label], into: Label) -> Learner:
    """The learner, in which one label has the sum of what several have learned, itself included."""
    if not isinstance(learner, MergingLearner):
        raise InputError(f"{type(learner).__name__} keeps no sums that could be merged; train it anew")
    numbers = np.arange(len(learner._labels), dtype=np.int32)
    own = [learner._labels.find(label) for label in labels]
    numbers[own] = learner._labels.find(into)
    learner = _counted_once(learner, dict.fromkeys([learner._labels.find(into), *own]))
    changed = copy.copy(learner)
    changed._start()
    changed._labels = LabelIndex(learner._labels.names)
    changed._label_counts = np.zeros(numbers.size, dtype=np.int64)
    np.add.at(changed._label_counts, numbers, counts_of(learner))
    changed._merge(learner, numbers)
    changed.n_examples_, changed.n_features_in_ = learner.n_examples_, learner.n_features_in_
    note_names(changed, getattr(learner, "feature_names_in_", None))
    if isinstance(learner, IndexLearner):
        changed._most_edges, changed.edges_dropped_ = learner._most_edges, learner.edges_dropped_
        bound_weights(changed._index)  # labels that were split off have weights that no total has counted
    if isinstance(learner, TunedIndex):
        changed._pass, changed._planned, changed._stats = learner._pass, learner._planned, learner._stats.copy()
        changed._biases = np.zeros(numbers.size)
        np.add.at(changed._biases, numbers, learner._bias())
    return changed


def _counted_once(learner: Any, labels: Iterable[int]) -> Any:
    """The learner in which what some labels share, as they come from one label, is that of the first of them only."""
    if not isinstance(learner, IndexLearner) or not learner._twins.size:
        return learner
    changed, n = copy.copy(learner), len(learner._labels)
    for family in families(learner._twins, list(labels)):
        changed._index = lists_once(changed._index, family)
        changed._label_counts = counts_once(counts_of(changed), learner._twins, family)
        if isinstance(changed, TunedIndex):
            changed._biases = columns_once(changed._bias(), family)
            voting = [label for label in family if label < len(changed._company)]
            votes = columns_once(changed._company, voting)
            changed._company = np.ascontiguousarray(columns_once(votes.T, voting).T)
        if isinstance(changed, TunedBoth):
            changed._weights = columns_once(changed._known(), family)
            changed._vector_biases = columns_once(grown(changed._vector_biases, n)[:n], family)
    return changed


def let_go(learner: Learner, labels: Sequence[Label]) -> Learner:
    """The learner without the last examples of a stream that have these labels: it goes through none of them again."""
    if not isinstance(learner, TunedIndex):
        return learner
    changed = copy.copy(learner)
    for label in labels:
        changed._recent = without_label(changed._recent, learner._labels.find(label))
    return changed


def split_off(learner: Learner, label: Label, new: Label) -> Learner:
    """The learner with a new label, which begins with all that another has learned."""
    if not isinstance(learner, IndexLearner):
        raise InputError(f"{type(learner).__name__} has no index from which a label could be split off")
    number, n_labels = learner._labels.find(label), len(learner._labels) + 1
    index = learner._index
    features = index.features
    own = np.zeros(features.size, dtype=np.int32)
    kept = []
    for f in np.flatnonzero(features["length"]).tolist():
        first = int(features[f]["start"])
        edges = index.edges[first : first + int(features[f]["length"])]
        found = edges[edges["label"] == number]
        own[f] = found.size
        kept.append(found)
    edges = np.concatenate([index.edges[:0], *kept])
    edges["label"] = n_labels - 1
    alone = make_index(own, edges, np.zeros(features.size), np.zeros(features.size, dtype=np.int64))
    changed = copy.copy(learner)
    changed._labels = LabelIndex([*learner._labels.names, new])
    changed._label_columns = None
    counts = counts_of(learner)
    changed._label_counts = np.append(counts, counts[number])
    changed._twins = with_split(learner._twins, counts, number, n_labels - 1)
    changed._index = added(index, alone, 1.0, n_labels)
    if not learner.leakage:
        total_up(changed._index)  # or what is dropped later would be taken from a total that never held it
    if isinstance(learner, TunedIndex):
        changed._biases = np.append(learner._bias(), learner._bias()[number])
        changed._company = with_twin(learner._company, number, n_labels - 1)
        changed._recent = without_label(learner._recent, number)  # which of both they have nobody knows
    if isinstance(learner, TunedBoth):
        known = learner._known()[:, : n_labels - 1]
        changed._weights = np.hstack([known, known[:, [number]]])
        bias = grown(learner._vector_biases, n_labels)[: n_labels - 1]
        changed._vector_biases = np.append(bias, bias[number])
    return changed
