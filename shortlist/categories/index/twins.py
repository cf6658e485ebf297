"""Labels that were split off, and what they still share with the label they come from.

A label that is split off begins with a copy of all that the other has learned. If both are merged again, what was
learned once must not count twice. Nothing is kept of the copy itself: an edge, a bias, a weight that is the same to the
last bit in both has been learned by neither since, and counts once; what differs was learned by one of them at least,
and is added up. So a label that is split off and merged at once is what it was before. For numbers of examples it is
known how many both began with, and these count once in any case.

Only labels that are known to be twins are compared, as others may be equal by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Ints, Longs
from shortlist.categories.index.lists import Index, make_index
from shortlist.files.store import State

NO_TWINS: Longs = np.zeros((0, 3), dtype=np.int64)  # a label, the one split off from it, examples both began with


def renumbered(twins: Longs, numbers: Ints) -> Longs:
    """Twins whose label i is numbers[i]; those that are one label now are twins no more."""
    changed = twins.copy()
    changed[:, :2] = numbers[twins[:, :2]]
    return changed[changed[:, 0] != changed[:, 1]]


def twins_to_arrays(twins: Longs) -> dict[str, Any]:
    """The array of a model file; none, if there are no twins."""
    return {"twins": twins} if twins.size else {}


def twins_from_arrays(state: State, n_labels: int) -> Longs:
    """The twins of a model file, which may be older than any."""
    if "twins" not in state.arrays:
        return NO_TWINS
    twins = np.array(state.array("twins", np.int64, ndim=2))
    known = twins.shape[1] == 3 and bool(((twins[:, :2] >= 0) & (twins[:, :2] < n_labels)).all())
    state.require(known, "labels that were split off are its own")
    state.require(bool((twins[:, 2] >= 0).all()), "labels that were split off began with at least 0 examples")
    return twins


def families(twins: Longs, labels: Sequence[int]) -> list[list[int]]:
    """Those of these labels that come from one label, directly or by way of others, for each such label."""
    head: dict[int, int] = {}

    def head_of(label: int) -> int:
        while label in head:
            label = head[label]
        return label

    for one, other, _ in twins.tolist():
        if (a := head_of(one)) != (b := head_of(other)):
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
    """Numbers of examples, in which those that two labels of a family began with count for one of them only."""
    once = counts.copy()
    for one, other, shared in twins.tolist():
        if one in family and other in family:
            once[other] -= min(shared, int(once[other]))
    return once
