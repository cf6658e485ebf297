"""An index whose lists are all full: each feature has a weight for every label. For vectors that are dense and signed.

An embedding has some hundred columns, none of which is 0, and counting tells nothing about values of either sign. So
there are no lists, only weights u_fc, all 0 at first, and a label has the score

    s_c = b_c + Σ_f u_fc·x[f].

What an example teaches is what it teaches a tuned index (tuning.py, contest.py): e_c is found by the same rules, and

    u_fc += η·e_c·x[f],    b_c += κ·η·e_c.

Weights lie feature by feature, float32[features, room for labels]: to add x[f]·u_f to the scores of all labels is one
loop over neighbours, which processors do several at a time without changing the order in which any sum is added up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel
from shortlist.arrays.rows import Rows
from shortlist.categories.best import keep_best
from shortlist.categories.index.tuning import FURTHER, KAPPA, find_errors, note_labels, only_judged
from shortlist.categories.scratch import Scratch
from shortlist.labels import LabelSets

Weights = NDArray[np.float32]  # features × labels, with room for more labels

TILE = 512  # labels whose weights, for all features of a vector, stay in the processor's cache
TOGETHER = 16  # examples that are scored before the next tile is read


def widened(weights: Weights, n_features: int, n_labels: int) -> Weights:
    """The weights with room for that many features and labels; for labels with room to spare, as more will come."""
    features, labels = weights.shape
    if features >= n_features and labels >= n_labels:
        return weights
    room = labels if labels >= n_labels else n_labels + n_labels // 4
    wider = np.zeros((max(features, n_features), room), dtype=np.float32)
    wider[:features, :labels] = weights
    return wider


@kernel
def learn(
    rows: Rows, labels: LabelSets, order: Longs, first_pass: bool, weights: Weights, bias: Floats, stats: Floats,
    to_come: Floats, scratch: Scratch, step: float,
) -> None:  # fmt: skip
    """Learn the examples of ``order``; to_come as tuning.learn has it."""
    n_labels = bias.size
    for i in order:
        if first_pass:
            note_labels(stats, labels, i)
        scratch.scores[:] = 0.0
        add_votes(rows, i, weights, scratch.scores, 0, n_labels)
        n = only_judged(labels, i, scratch, list_met(bias, scratch.touched))
        _, _, eta, _, _ = find_errors(labels, i, first_pass, bias, stats, scratch, n, 1, step)
        if not first_pass:
            eta *= FURTHER * to_come[0] / to_come[1]
            to_come[0] -= 1.0
        correct(rows, i, weights, bias, scratch, eta)
    scratch.scores[:] = 0.0


@kernel
def list_met(bias: Floats, met: Ints) -> int:
    """The labels of which an example was learned, into met[:n]: such a label has a bias, and others are no rivals."""
    n = 0
    for c in range(bias.size):
        if bias[c] != 0.0:
            met[n] = c
            n += 1
    return n


@kernel
def add_votes(rows: Rows, i: int, weights: Weights, scores: Floats, first: int, last: int) -> None:
    """Add Σ_f x[f]·u_fc of example i to the scores of the labels first..last−1, scores[0] being that of the first.

    Features go in fours, so that a score is read and written once for four votes; they are added one after the other.
    """
    j, end = rows.indptr[i], rows.indptr[i + 1]
    in_fours = j
    while in_fours < end and rows.indices[in_fours] < weights.shape[0]:
        in_fours += 1  # as far as all columns are known
    while j + 4 <= in_fours:
        f, g, h, k = rows.indices[j], rows.indices[j + 1], rows.indices[j + 2], rows.indices[j + 3]
        x, y, z, v = rows.data[j], rows.data[j + 1], rows.data[j + 2], rows.data[j + 3]
        for c in range(first, last):
            scores[c - first] = (
                scores[c - first] + x * weights[f, c] + y * weights[g, c] + z * weights[h, c] + v * weights[k, c]
            )
        j += 4
    while j < end:
        f, x = rows.indices[j], rows.data[j]
        if f < weights.shape[0]:
            for c in range(first, last):
                scores[c - first] += x * weights[f, c]
        j += 1


@kernel
def correct(rows: Rows, i: int, weights: Weights, bias: Floats, scratch: Scratch, eta: float) -> None:
    """u_fc += η·e_c·x[f] and b_c += κ·η·e_c; the errors are 0 again. Often only some labels have one: these alone."""
    n = 0
    for c in range(bias.size):
        if scratch.change[c] != 0.0:
            scratch.touched[n] = c
            n += 1
    if 4 * n < bias.size:
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            f, shift = rows.indices[j], eta * rows.data[j]
            for a in range(n):
                c = scratch.touched[a]
                weights[f, c] += shift * scratch.change[c]
    elif n > 0:
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            f, shift = rows.indices[j], eta * rows.data[j]
            for c in range(bias.size):
                weights[f, c] += shift * scratch.change[c]
    for a in range(n):
        c = scratch.touched[a]
        bias[c] += KAPPA * eta * scratch.change[c]
        scratch.change[c] = 0.0


@kernel
def all_scores(rows: Rows, weights: Weights, bias: Floats, found: Floats) -> None:
    """The scores of all labels, into found (float64[n, labels], all 0)."""
    for first in range(0, bias.size, TILE):
        last = min(first + TILE, bias.size)
        for i in range(rows.indptr.size - 1):
            add_votes(rows, i, weights, found[i, first:last], first, last)
    for i in range(rows.indptr.size - 1):
        for c in range(bias.size):
            found[i, c] += bias[c]


@kernel
def rank(rows: Rows, weights: Weights, bias: Floats, ids: Ints, best: Floats) -> None:
    """The k best labels of each example (ids int32[n, k], best float64[n, k]); ties to the lower number.

    Labels of which no example was learned are not ranked: nothing speaks for them, or against.
    """
    n_rows, n_labels = rows.indptr.size - 1, bias.size
    candidates, scores = np.empty(n_labels, dtype=np.int32), np.empty((min(TOGETHER, n_rows), n_labels))
    n = list_met(bias, candidates)
    for first in range(0, n_rows, TOGETHER):
        last = min(first + TOGETHER, n_rows)
        some = Rows(rows.indptr[first : last + 1], rows.indices, rows.data, rows.n_features)
        scores[:] = 0.0
        all_scores(some, weights, bias, scores[: last - first])
        for i in range(first, last):
            keep_best(candidates[:n], scores[i - first], ids[i], best[i])
