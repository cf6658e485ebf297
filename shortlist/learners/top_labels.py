"""The best of many scored labels, and the scratch arrays of the loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from shortlist.compiled.kernels import Floats, Ints, Longs, part


@part
def keep_best(candidates: Ints, scores: Floats, ids: Ints, best: Floats) -> None:
    """Write the best candidates, best first, as many as ids has room for; ties go to the lower
    number.

    They form a heap whose top is the worst of them.
    """
    k = min(candidates.size, ids.size)
    for a in range(k):
        ids[a] = candidates[a]
        best[a] = scores[candidates[a]]
    for a in range(k // 2 - 1, -1, -1):
        sift(ids, best, a, k)
    for a in range(k, candidates.size):
        c = candidates[a]
        if k > 0 and worse(best[0], ids[0], scores[c], c):
            ids[0] = c
            best[0] = scores[c]
            sift(ids, best, 0, k)
    for last in range(k - 1, 0, -1):
        ids[0], ids[last] = ids[last], ids[0]
        best[0], best[last] = best[last], best[0]
        sift(ids, best, 0, last)


@part
def worse(s: float, c: int, other_s: float, other_c: int) -> bool:
    return s < other_s or (s == other_s and c > other_c)


@part
def sift(ids: Ints, best: Floats, at: int, n: int) -> None:
    """Sink the entry at that place of the heap until nothing below it is worse."""
    c = ids[at]
    s = best[at]
    child = 2 * at + 1
    while child < n:
        if child + 1 < n and worse(best[child + 1], ids[child + 1], best[child], ids[child]):
            child += 1
        if not worse(best[child], ids[child], s, c):
            break
        ids[at] = ids[child]
        best[at] = best[child]
        at = child
        child = 2 * child + 1
    ids[at] = c
    best[at] = s


# The score of a retrieved label whose votes cancel, or vanish in rounding: 0 means not retrieved.
# Smaller numbers are denormal, and some libraries make the processor round those to 0.
LEAST = np.finfo(np.float64).tiny


# Why a learning kernel has returned: what Python must do before it goes on.
DONE = 0  # nothing: all rows are learned
WANTS_SLOTS = 1  # room in the lists for the next example
WANTS_EDGES = 3  # the index is as large as it may be: weak edges have to go
IS_FULL = 4  # the prototypes have as many weights as they may
CHANGES = 5  # a look at the prototypes before they change


class Scratch(NamedTuple):
    """Scratch arrays with an entry for each label, made once for many examples; the clock
    stamps the marks.
    """

    scores: Floats
    touched: Ints  # the labels that have a score of their own
    change: Floats  # by how much of the example each label is to move; all 0 between examples
    kept: Floats  # the scores of the example's own labels, in their order
    mark: Longs
    clock: Longs
    rising: Ints  # where in a list the labels stand that are to move up


@register_jitable
def make_scratch(n_labels: int) -> Scratch:
    """May be called in kernels: to pass an array to a kernel takes half a microsecond."""
    scores = np.zeros(n_labels)
    touched = room_for_touched(n_labels)
    change = np.zeros(n_labels)
    own_scores = np.zeros(n_labels)
    mark = np.zeros(n_labels, dtype=np.int64)
    clock = np.zeros(1, dtype=np.int64)
    rising = room_for_touched(n_labels)
    return Scratch(scores, touched, change, own_scores, mark, clock, rising)


@register_jitable
def room_for_touched(n_labels: int) -> Ints:
    """The array that lists the scored labels: ``retrieve`` writes one place beyond the last."""
    return np.empty(n_labels + 1, dtype=np.int32)
