"""Making room in an index: edges go, features are forgotten, lists are packed.

All of it happens in place: an index that has to make room has no memory to spare for a second one. An edge's strength
is r_f·w_fc, what it adds to a score when its feature is seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs, kernel, loop, part
from shortlist.arrays.rows import Rows, RowStore
from shortlist.categories.best import DONE, WANTS_EDGES, WANTS_SLOTS
from shortlist.categories.index.lists import EDGES, END, MOST_SLOTS, Index, cut_tail
from shortlist.errors import InputError
from shortlist.labels import LabelSets

UNLIMITED = np.iinfo(np.int64).max
ROOM = 8  # a full index drops an eighth of its edges, so that many updates share the cost of dropping


def drop_weakest(index: Index, keep: int, rare: int, leakage: bool) -> None:
    """Leave ``keep`` edges: the weakest go, among equals those of the oldest features."""
    n_dropped = index.n_edges - keep
    if n_dropped <= 0:
        return
    limit, n_equal = np.inf, 0
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

    The pool doubles while it is small. Of an index that holds ``most_edges`` it never has more than twice as many
    slots, and what one example wants: the lists are packed instead.
    """
    if index.used[END] + n_slots > 2 * most_edges:
        pack(index)
    size, needed = index.edges.size, int(index.used[END]) + n_slots
    if needed <= size:
        return index
    enough = 2 * size if size <= most_edges // 2 else 2 * most_edges
    return index.for_slots(min(max(needed, enough), max(needed, MOST_SLOTS)) - int(index.used[END]), doubled=False)


def reserved(index: Index, n_edges: int, most_edges: int) -> Index:
    """An empty index with slots for that many edges: its pool need never be copied, and unused slots take no memory."""
    try:
        return with_slots(index, min(n_edges, 2 * most_edges), most_edges)
    except InputError:  # where the system promises no more memory than it has, the pool grows as it must
        return index


def pack(index: Index) -> None:
    """Move all lists together, in the order in which they lie in the pool: no slot is left between them."""
    filled = np.flatnonzero(index.features["length"])
    move_together(index, filled[np.argsort(index.features["start"][filled])])
    index.free[:] = -1


@loop
def full(cap: int) -> int:
    """How many edges an index may hold after it has made room."""
    return cap - max(cap // ROOM, 1)


@part
def room_for(rows: Rows, labels: LabelSets, i: int, index: Index, cap: int) -> tuple[int, int]:
    """Whether the index has room to learn example i: DONE, or what it wants, and how many free slots."""
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
    """Drop the edges whose strength is below the limit, and the first ``n_equal`` that are just as strong."""
    for f in range(index.features.size):
        feature = index.features[f]
        rating = 1.0 if feature["seen"] >= rare else feature["seen"] / rare
        first = feature["start"]
        kept, dropped = 0, 0.0
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
            feature["total"] = max(0.0, feature["total"] - dropped)  # rounding may leave less than 0


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
    """w′_fc = min(w′_fc, w′_f): no label has more than the whole vote of a word. Lists stay in order."""
    for f in range(index.features.size):
        feature = index.features[f]
        for e in range(feature["start"], feature["start"] + feature["length"]):
            index.edges[e]["weight"] = min(np.float64(index.edges[e]["weight"]), feature["total"])


@kernel
def move_together(index: Index, order: Longs) -> None:
    """Move the lists of the features in that order (int64, by ascending start) to the beginning of the pool."""
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


# How long rows may be that corrections are learned from as they are (values="raw").


MOST = 100.0  # step·|x|²; what was tried went wrong from 100 to 300 on
PIECE = 2048  # rows of a store that are looked at at a time
ROUNDED = 1.001  # times what the square of a length may be: values of files have fewer digits


def check_lengths(rows: Rows | RowStore, values: str, step: float, called: Callable[[int], str]) -> None:
    """Refuse rows that are too long to be learned as they are; ``called`` says what each is called.

    Rows of a store are made for it some at a time, once more than they are learned: few ask for rows as they are.
    """
    if values != "raw" or step <= 0:
        return
    if isinstance(rows, Rows):
        _check_some(rows, step, called)
        return
    for first in range(0, rows.n_rows, PIECE):
        some = rows.chosen(np.arange(first, min(first + PIECE, rows.n_rows)))
        _check_some(some, step, lambda n, first=first: called(first + n))  # type: ignore[misc]


def _check_some(rows: Rows, step: float, called: Callable[[int], str]) -> None:
    row = np.repeat(np.arange(rows.n_rows), rows.lengths())
    with np.errstate(over="ignore"):
        squares = np.bincount(row, np.square(rows.data[rows.indptr[0] : rows.indptr[-1]]), rows.n_rows)
    if squares.size and squares.max() > MOST / step:
        longest = int(np.argmax(squares))
        length, most = math.sqrt(squares[longest]), math.sqrt(MOST / step)
        raise InputError(
            f"{called(longest)} has the length {length:.4g}, and with step={step:g} corrections of rows longer "
            f"than {most:.4g} grow without end; learn with values='l2', which gives rows the length 1, or scale them"
        )


def are_counts(stats: Floats, n: int) -> bool:
    """Whether these n numbers of a model file can be what a learner has counted: finite, and at least 0."""
    return stats.size == n and bool((np.isfinite(stats) & (stats >= 0)).all())


def are_rows(values: str, step: float, squares: Floats, n_entries: Longs) -> bool:
    """Whether rows of a model file, of so many entries, can have been learned: by the squares of their lengths."""
    most = {"l2": ROUNDED, "raw": ROUNDED * MOST / step if step > 0 else math.inf}.get(values, n_entries)
    return bool((squares <= most).all())


def check_finite(values: str, bias: Floats) -> None:
    """Refuse to go on with corrections that have grown without end."""
    if not _all_finite(bias):
        how = "a smaller step"
        if values == "raw":
            how = "values='l2', which gives rows the length 1, with scaled rows or with a smaller step"
        raise InputError(
            "what was learned are no longer finite numbers, as corrections have grown without end; learn anew with "
            + how
        )


@kernel
def _all_finite(numbers: Floats) -> bool:
    """Whether all are: what is not stays so when it is multiplied by 0, and in a sum. There is no array of answers."""
    total = 0.0
    for number in numbers:
        total += number * 0.0
    return total == 0.0
