"""The moves that the online learners of prototypes have in common: their kernels are made of these.

Notation of paper 001: y the m relevant labels of an example, Y all labels known, E the pairs in the wrong order. Labels
with a score of their own are scratch.touched[:n], the relevant ones first; all others, the crowd, share one score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.arrays.partial import is_complete
from shortlist.arrays.rows import Rows
from shortlist.categories.best import Scratch, keep_best
from shortlist.categories.prototypes.weights import END, LISTED, Prototypes
from shortlist.labels import LabelSets

KNOWN, SEEN, LIVED = 0, 1, 2  # entries of the counts: labels known, examples seen, examples since the last change


class Stream(NamedTuple):
    """What a learner's kernel works through and writes down."""

    read: Rows  # rows to score
    write: Rows  # rows to add to the prototypes; the same ones unless there is a kernel
    square: Floats  # ‖x‖² of each row
    labels: LabelSets
    order: Longs
    known: NDArray[np.uint8]  # per label, whether it has arrived
    counts: Longs
    losses: Floats  # float64[len(order), 3]: loss1, loss2, loss3 of each example, before it is learned
    cap: int  # differences that may be listed before the lightest must go
    shortest: int  # prototypes that lived longer than this shall be kept to vote
    average: bool  # whether moments are wanted


# The error set


@kernel
def squares(rows: Rows, square: Floats) -> None:
    """square[i] = ‖x_i‖²."""
    for i in range(square.size):
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            square[i] += rows.data[j] * rows.data[j]


@kernel
def mark_relevant(stream: Stream, i: int, scratch: Scratch) -> int:
    """Make the labels of example i known, and mark them as the first ones touched; gives how many there are."""
    scratch.clock[0] += 1
    n = 0
    for b in range(stream.labels.indptr[i], stream.labels.indptr[i + 1]):
        c = stream.labels.ids[b]
        if stream.known[c] == 0:
            stream.known[c] = 1
            stream.counts[KNOWN] += 1
        scratch.mark[c] = scratch.clock[0]
        scratch.touched[n] = c
        n += 1
    return n


@kernel
def against(stream: Stream, i: int, scratch: Scratch, m: int, n: int, shared: float) -> tuple[int, int]:
    """Whom the m relevant labels of example i, once scored, stand against: touched[m:n'], and so many of the crowd.

    Gives n' and that number. Of an example that was judged in part, these are the labels that were crossed out.
    """
    if is_complete(stream.labels.partial, i):
        return n, stream.counts[KNOWN] - n
    partial, last = stream.labels.partial, m
    for b in range(partial.indptr[i], partial.indptr[i + 1]):
        c = partial.ids[b]
        if stream.known[c] == 1:
            if scratch.mark[c] != scratch.clock[0]:
                scratch.scores[c] = shared
            scratch.touched[last] = c
            last += 1
    return last, 0


@kernel
def lowest_allowed(scratch: Scratch, m: int, margin: float) -> Floats:
    """s_r − margin of the m relevant labels, ascending: where another label errs against r."""
    highest_first, ids = np.empty(m), np.empty(m, dtype=np.int32)
    keep_best(scratch.touched[:m], scratch.scores, ids, highest_first)
    lows = np.empty(m)
    for a in range(m):
        lows[m - 1 - a] = highest_first[a] - margin
    return lows


@kernel
def below(lows: Floats, s: float) -> int:
    """How many of the ascending lows are at most s: the relevant labels against which a label of score s errs."""
    low, high = 0, lows.size
    while low < high:
        middle = (low + high) // 2
        if lows[middle] <= s:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def wrong_pairs(lows: Floats, scratch: Scratch, m: int, n: int, crowd: int, shared: float) -> int:
    """|E|: over the labels that are not relevant, touched[m:n] and the crowd with its shared score."""
    pairs = crowd * below(lows, shared)
    for a in range(m, n):
        pairs += below(lows, scratch.scores[scratch.touched[a]])
    return pairs


@kernel
def note_losses(stream: Stream, t: int, scratch: Scratch, m: int, n: int, crowd: int, shared: float) -> None:
    """loss1 = [E not empty], loss2 = |E| and loss3 = |E| / (|y|·|Y−y|) of example t; 0 if y is empty or all of Y."""
    others = n - m + crowd
    if m > 0 and others > 0:
        pairs = wrong_pairs(lowest_allowed(scratch, m, 0.0), scratch, m, n, crowd, shared)
        stream.losses[t, 0] = 1.0 if pairs > 0 else 0.0
        stream.losses[t, 1] = pairs
        stream.losses[t, 2] = pairs / (m * others)


@kernel
def only_changed(scratch: Scratch, n: int, shared_step: float) -> int:
    """Turn changes into what they add to the shared step; only labels for which that is not 0 stay in touched."""
    kept = 0
    for a in range(n):
        c = scratch.touched[a]
        scratch.change[c] -= shared_step
        if scratch.change[c] != 0.0:
            scratch.touched[kept] = c
            kept += 1
    return kept


@kernel
def clear_changes(scratch: Scratch, n: int) -> None:
    for a in range(n):
        scratch.change[scratch.touched[a]] = 0.0


# Writing


@kernel
def slots_wanted(rows: Rows, i: int, prototypes: Prototypes, n_changed: int) -> int:
    """How many slots at the end of the pools ``write`` may need; 0 if there are as many."""
    slots = 0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f = rows.indices[j]
        if prototypes.length[f] + n_changed > prototypes.capacity[f]:
            slots += 2 * (prototypes.length[f] + n_changed)
    return slots if prototypes.used[END] + slots > prototypes.label.size else 0


@kernel
def write(
    rows: Rows, i: int, prototypes: Prototypes, scratch: Scratch, n_changed: int, shared_step: float, time: float
) -> None:
    """Add shared_step·x to the background and, on top, scratch.change[c]·x to w_c for c in scratch.touched[:n_changed].

    ``time`` is the change's weight in the moments, 0 where no average is wanted: their memory is then not even touched.
    """
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        f, x = rows.indices[j], rows.data[j]
        prototypes.background[f] += shared_step * x
        if time > 0.0:
            prototypes.background_moment[f] += time * shared_step * x
        scratch.clock[0] += 1
        missing = n_changed
        first = prototypes.start[f]
        for e in range(first, first + prototypes.length[f]):
            change = scratch.change[prototypes.label[e]]
            if change != 0.0:
                prototypes.weight[e] += change * x
                if time > 0.0:
                    prototypes.moment[e] += time * change * x
                scratch.mark[prototypes.label[e]] = scratch.clock[0]
                missing -= 1
        if missing > 0:
            if prototypes.length[f] + missing > prototypes.capacity[f]:
                move_to_more_room(f, prototypes, 2 * (prototypes.length[f] + missing))
            e = prototypes.start[f] + prototypes.length[f]
            for a in range(n_changed):
                c = scratch.touched[a]
                if scratch.mark[c] != scratch.clock[0]:
                    prototypes.label[e] = c
                    prototypes.weight[e] = scratch.change[c] * x
                    if time > 0.0:
                        prototypes.moment[e] = time * scratch.change[c] * x
                    e += 1
            prototypes.length[f] += missing
            prototypes.used[LISTED] += missing


@kernel
def move_to_more_room(f: int, prototypes: Prototypes, capacity: int) -> None:
    """Move the list of feature f to the end of the pools."""
    old, new = prototypes.start[f], prototypes.used[END]
    for e in range(prototypes.length[f]):
        prototypes.label[new + e] = prototypes.label[old + e]
        prototypes.weight[new + e] = prototypes.weight[old + e]
        if prototypes.moment[old + e] != 0.0:
            prototypes.moment[new + e] = prototypes.moment[old + e]
    prototypes.start[f] = new
    prototypes.capacity[f] = capacity
    prototypes.used[END] += capacity
