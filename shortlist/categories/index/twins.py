"""Labels that were split off, and what they still share with the label they come from.

A label that is split off begins with a copy of all that the other has learned. If both are merged again, what was
learned once must not count twice. Nothing is kept of the copy itself: an edge, a bias, a weight that is the same to the
last bit in both has been learned by neither since, and counts once; what differs was learned by one of them at least,
and is added up. So a label that is split off and merged at once is what it was before. For numbers of examples it is
known which portions of them labels share, and these count once in any case: what a label had learned when another was
split off from it, and both still have. A label that is split off has all portions of the other; one that others are
merged into has all of theirs. Who comes from the same label by way of others shares what all on the way have.

Only labels that share a portion are compared, as others may be equal by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Ints, Longs
from shortlist.categories.index.lists import Index, make_index
from shortlist.files.store import State

ARRAY = "shared_portions"  # of a model file
LABEL, PORTION, EXAMPLES = 0, 1, 2
NO_TWINS: Longs = np.zeros((0, 3), dtype=np.int64)  # a label, a portion that it shares with others, its examples


def with_split(twins: Longs, counts: Longs, label: int, new: int) -> Longs:
    """Twins after a label was split off from another, of which there are as many examples as ``counts`` says."""
    own = twins[twins[:, LABEL] == label]
    alone = int(counts[label] - own[:, EXAMPLES].sum())  # which it has shared with nobody so far
    if alone > 0 or not own.size:
        row = np.array([[label, twins[:, PORTION].max(initial=-1) + 1, max(0, alone)]])
        twins, own = np.concatenate([twins, row]), np.concatenate([own, row])
    copied = own.copy()
    copied[:, LABEL] = new
    return np.concatenate([twins, copied])


def renumbered(twins: Longs, numbers: Ints) -> Longs:
    """Twins whose label i is numbers[i]; those that are one label now are twins no more."""
    if not twins.size:
        return twins
    changed = twins.copy()
    changed[:, LABEL] = numbers[twins[:, LABEL]]
    changed = np.unique(changed, axis=0)
    _, which, n_labels = np.unique(changed[:, PORTION], return_inverse=True, return_counts=True)
    changed = changed[n_labels[which] > 1]
    changed[:, PORTION] = np.unique(changed[:, PORTION], return_inverse=True)[1]  # from 0 on
    return changed


def joined(one: Longs, other: Longs) -> Longs:
    """The twins of two learners, which share no portion."""
    moved = other.copy()
    moved[:, PORTION] += one[:, PORTION].max(initial=-1) + 1
    return np.concatenate([one, moved])


def twins_to_arrays(twins: Longs) -> dict[str, Any]:
    """The array of a model file; none, if there are no twins."""
    return {ARRAY: twins} if twins.size else {}


def twins_from_arrays(state: State, n_labels: int) -> Longs:
    """The twins of a model file, which may be older than any."""
    if ARRAY not in state.arrays:
        return NO_TWINS
    twins = np.array(state.array(ARRAY, np.int64, ndim=2))
    known = twins.shape[1] == 3 and bool(((twins[:, LABEL] >= 0) & (twins[:, LABEL] < n_labels)).all())
    state.require(known, "labels that were split off are its own")
    sound = (twins[:, PORTION] >= 0) & (twins[:, PORTION] < len(twins)) & (twins[:, EXAMPLES] >= 0)
    state.require(bool(sound.all()), "labels that were split off share portions of their examples")
    return twins


def families(twins: Longs, labels: Sequence[int]) -> list[list[int]]:
    """Those of these labels that share portions, one with the other or all in a row, for each such row."""
    head: dict[int, int] = {}
    first: dict[int, int] = {}  # the first label that has a portion

    def head_of(label: int) -> int:
        while label in head:
            label = head[label]
        return label

    for one, portion, _ in twins[np.isin(twins[:, LABEL], labels)].tolist():
        if (a := head_of(one)) != (b := head_of(first.setdefault(portion, one))):
            head[b] = a
    found: dict[int, list[int]] = {}
    for label in labels:
        found.setdefault(head_of(label), []).append(label)
    return [family for family in found.values() if len(family) > 1]


def lists_once(index: Index, family: Sequence[int]) -> Index:
    """The index in which an edge that several labels of a family have alike belongs to the first of them only."""
    feature, edges = index.all_edges()
    kept = np.ones(edges.size, dtype=np.bool_)
    place = [np.full(index.features.size, -1, dtype=np.int64) for _ in family]
    for own, label in zip(place, family, strict=True):
        at = np.flatnonzero(edges["label"] == label)
        own[feature[at]] = at
    given = edges.copy()
    for j in range(1, len(family)):
        left = place[j] >= 0
        for i in range(j):
            both = np.flatnonzero(left & (place[i] >= 0))
            one, other = place[i][both], place[j][both]
            same = given["weight"][one] == given["weight"][other]
            one, other = one[same], other[same]
            changed = given["tuned"][one] != given["tuned"][other]
            edges["tuned"][one[changed]] += given["tuned"][other[changed]]
            kept[other] = False
            left[both[same]] = False
    length = np.bincount(feature[kept], minlength=index.features.size).astype(np.int32)
    total, seen = index.features["total"].copy(), index.features["seen"].astype(np.int64)
    return make_index(length, edges[kept], total, seen)


def columns_once(values: NDArray[Any], family: Sequence[int]) -> NDArray[Any]:
    """A copy of values (labels along the last axis), in which those of a label that an earlier one has too are 0."""
    once = values.copy()
    for j in range(1, len(family)):
        for earlier in family[:j]:
            once[..., family[j]][values[..., family[j]] == values[..., earlier]] = 0
    return once


def counts_once(counts: Longs, twins: Longs, family: Sequence[int]) -> Longs:
    """Numbers of examples, in which each portion that labels of a family share counts for the first of them only."""
    once, met = counts.copy(), set()
    for label in family:
        for _, portion, n in twins[twins[:, LABEL] == label].tolist():
            once[label] -= min(n, int(once[label])) if portion in met else 0
            met.add(portion)
    return once
