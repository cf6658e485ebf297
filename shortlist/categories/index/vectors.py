"""An index whose lists are all full: each feature has a weight for every label. For vectors that are dense and signed.

An embedding has some hundred columns, none of which is 0, and counting tells nothing about values of either sign. So
there are no lists, only weights u_fc, all 0 at first, and a label that an example was learned of has the score

    s_c = b_c + Σ_f u_fc·x[f].

What an example teaches is what it teaches a tuned index (tuning.py, contest.py): e_c is found by the same rules, and

    u_fc += η·e_c·x[f],    b_c += κ·η·e_c.

Weights lie feature by feature, float32[features, room for labels]: to add x[f]·u_f to the scores of all labels is one
loop over neighbours, which processors do several at a time without changing the order in which any sum is added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, kernel
from shortlist.arrays.rows import Rows
from shortlist.categories.scratch import Scratch
from shortlist.errors import InputError

Weights = NDArray[np.float32]  # features × labels, with room for more labels

MOST_WEIGHTS = 1 << 30  # 4 GiB: more are no vectors, but words
TILE = 1024  # labels whose weights, for all features of a vector, stay in the processor's cache


class Beside(NamedTuple):
    """What votes beside the words: a vector of each example, and the weights with which vectors vote."""

    rows: Rows
    weights: Weights


def no_rows(n: int) -> Rows:
    """So many rows of nothing."""
    return Rows(np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0), 0)


NO_VECTOR = Beside(no_rows(0), np.zeros((0, 0), dtype=np.float32))


def widened(weights: Weights, n_features: int, n_labels: int) -> Weights:
    """The weights with room for that many features and labels; for labels with room to spare, as more will come."""
    features, labels = weights.shape
    if features >= n_features and labels >= n_labels:
        return weights
    room = labels if labels >= n_labels else n_labels + n_labels // 4
    wider = np.zeros((max(features, n_features), room), dtype=np.float32)
    wider[:features, :labels] = weights
    return wider


def check_size(n_features: int, n_labels: int, who: object) -> None:
    """Refuse what only words have, before there is room for it."""
    if n_features * n_labels > MOST_WEIGHTS:
        raise InputError(
            f"{type(who).__name__} has a weight for each column of a vector and each label, and {n_features:,} columns "
            f"with up to {n_labels:,} labels would take {4 * n_features * n_labels / 1e9:,.0f} GB; it is for dense "
            "vectors: use TunedIndex for words"
        )


def merged(weights: Weights, others: Weights, numbers: Ints, share: float) -> Weights:
    """The mean of both, the others having that share of it; their label i has the number numbers[i] here."""
    found = widened(weights, others.shape[0], weights.shape[1]) * np.float32(1.0 - share)
    for label, number in enumerate(numbers.tolist()):  # several may have become one
        found[: others.shape[0], number] += np.float32(share) * others[:, label]
    return found


@kernel
def has_vector(beside: Beside, i: int) -> bool:
    """Whether example i has a vector that says something."""
    return beside.weights.shape[0] > 0 and beside.rows.indptr[i] < beside.rows.indptr[i + 1]


@kernel
def list_met(bias: Floats, scores: Floats, met: Ints) -> int:
    """The labels that a vector may speak for, into met[:n]; scores are those of the words, before it does.

    A label of which an example was learned has a bias; of others nothing is known but what words say.
    """
    n = 0
    for c in range(bias.size):
        if bias[c] != 0.0 or scores[c] != 0.0:
            met[n] = c
            n += 1
    return n


@kernel
def add_votes(rows: Rows, i: int, weights: Weights, scores: Floats, first: int, last: int) -> None:
    """Add Σ_f x[f]·u_fc of example i to the scores of the labels first..last−1, scores[0] being that of the first.

    Features go in eights, so that a score is read and written once for eight votes; they are added one after the other.
    """
    j, end = rows.indptr[i], rows.indptr[i + 1]
    in_eights = j
    while in_eights < end and rows.indices[in_eights] < weights.shape[0]:
        in_eights += 1  # as far as all columns are known
    while j + 8 <= in_eights:
        add_eight(scores, weights, first, last, rows.indices[j : j + 8], rows.data[j : j + 8])
        j += 8
    while j < end:
        f, x = rows.indices[j], rows.data[j]
        if f < weights.shape[0]:
            own = weights[f, first:last]
            for c in range(own.size):
                scores[c] += x * own[c]
        j += 1


@kernel
def add_eight(scores: Floats, weights: Weights, first: int, last: int, columns: Ints, values: Floats) -> None:
    """Add the votes of eight columns: slices with names of their own, or compilers would take one label at a time."""
    s, t = weights[columns[0], first:last], weights[columns[1], first:last]
    u, v = weights[columns[2], first:last], weights[columns[3], first:last]
    w, x = weights[columns[4], first:last], weights[columns[5], first:last]
    y, z = weights[columns[6], first:last], weights[columns[7], first:last]
    a, b, c, d, e, f, g, h = values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7]
    for k in range(s.size):
        scores[k] = scores[k] + a * s[k] + b * t[k] + c * u[k] + d * v[k] + e * w[k] + f * x[k] + g * y[k] + h * z[k]


@kernel
def correct(beside: Beside, i: int, bias: Floats, scratch: Scratch, eta: float, kappa_eta: float) -> None:
    """u_fc += η·e_c·x[f] and b_c += κ·η·e_c; the errors are 0 again. Often only some labels have one: these alone."""
    rows, weights = beside.rows, beside.weights
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
            own, shift = weights[rows.indices[j]], eta * rows.data[j]
            for c in range(bias.size):
                own[c] += shift * scratch.change[c]
    for a in range(n):
        c = scratch.touched[a]
        bias[c] += kappa_eta * scratch.change[c]
        scratch.change[c] = 0.0


@kernel
def add_all_votes(beside: Beside, scores: Floats) -> None:
    """Add the votes of all vectors to the scores (float64[examples, labels])."""
    n_rows, n_labels = scores.shape
    for first in range(0, n_labels if beside.weights.shape[0] else 0, TILE):
        last = min(first + TILE, n_labels)
        for i in range(n_rows):
            add_votes(beside.rows, i, beside.weights, scores[i, first:last], first, last)
