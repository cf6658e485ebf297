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

from shortlist.arrays.kernels import Floats, Ints, kernel, step
from shortlist.arrays.rows import Rows
from shortlist.categories.scratch import Scratch
from shortlist.errors import InputError

Weights = NDArray[np.float32]  # features × labels, with room for more labels
Short = NDArray[np.float32]
Numbers = Floats | Short

MOST_WEIGHTS = 1 << 30  # 4 GiB: more are no vectors, but words
LANES = 16  # labels: what there is room for can be divided by this, as inner loops end so without a rest
FEW = 7  # where fewer than one label of so many has an error, these alone are corrected
TILE = 1024  # labels whose weights, for all features of a vector, stay in the processor's cache
ALONE = 16 * TILE  # labels whose scores do: weights that only one vector asks for are read in longer runs


class Beside(NamedTuple):
    """What votes beside the words: a vector of each example, and the weights with which vectors vote."""

    rows: Rows
    weights: Weights


def no_rows(n: int) -> Rows:
    """So many rows of nothing."""
    return Rows(np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0), 0)


def widened(weights: Weights, n_features: int, n_labels: int) -> Weights:
    """The weights with room for that many features and labels; for labels with room to spare, as more will come."""
    features, labels = weights.shape
    if features >= n_features and labels >= n_labels:
        return weights
    spare = n_labels // 4 if labels else 0  # all that are known at first may be all that there are
    room = labels if labels >= n_labels else -(-(n_labels + spare) // LANES) * LANES
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


@step
def has_vector(beside: Beside, i: int) -> bool:
    """Whether example i has a vector that says something."""
    return beside.weights.shape[0] > 0 and beside.rows.indptr[i] < beside.rows.indptr[i + 1]


@step
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


@step
def add_votes(columns: Ints, values: Numbers, weights: Weights, scores: Numbers, first: int) -> None:
    """Add Σ_f x[f]·u_fc to the scores, of which scores[0] is that of the label first; x[columns[j]] = values[j].

    Features go in eights, so that a score is read and written once for eight votes; they are added one after the other,
    in float32 or float64 as values and scores are.
    """
    j, end = 0, columns.size
    while j < end and columns[end - 1] >= weights.shape[0]:
        end -= 1  # columns ascend, and the last ones are not known yet
    flat = weights.reshape(-1)
    while j + 8 <= end:
        add_eight(scores, flat, weights.shape[1], first, columns, values, j)
        j += 8
    while j < end:
        own, x = weights[columns[j], first : first + scores.size], values[j]
        for c in range(own.size):
            scores[c] += x * own[c]
        j += 1


@step
def add_eight(scores: Numbers, flat: Weights, width: int, first: int, columns: Ints, values: Numbers, j: int) -> None:
    """Add the votes of columns[j : j + 8], whose weights stand one after the other in flat, ``width`` of each.

    Their starts are said to be no index from the end, or compilers would take one label at a time.
    """
    s, t = start(columns[j], width, first), start(columns[j + 1], width, first)
    u, v = start(columns[j + 2], width, first), start(columns[j + 3], width, first)
    w, x = start(columns[j + 4], width, first), start(columns[j + 5], width, first)
    y, z = start(columns[j + 6], width, first), start(columns[j + 7], width, first)
    a, b, c, d = values[j], values[j + 1], values[j + 2], values[j + 3]
    e, f, g, h = values[j + 4], values[j + 5], values[j + 6], values[j + 7]
    for k in range(np.uint64(scores.size)):
        four = scores[k] + a * flat[s + k] + b * flat[t + k] + c * flat[u + k] + d * flat[v + k]
        scores[k] = four + e * flat[w + k] + f * flat[x + k] + g * flat[y + k] + h * flat[z + k]


@step
def start(column: int, width: int, first: int) -> np.uint64:
    """Where the weights of a column begin, from the label first on."""
    return np.uint64(column) * np.uint64(width) + np.uint64(first)


@step
def correct(
    columns: Ints, values: Floats, weights: Weights, bias: Floats, scratch: Scratch, errors: Short, eta: float,
    kappa_eta: float,
) -> None:  # fmt: skip
    """u_fc += η·e_c·x[f] and b_c += κ·η·e_c; the errors are 0 again. Often only some labels have one: these alone.

    errors: as many as weights of a feature, all 0. No e_c has more digits, and more of them are added at a time.
    """
    n = 0
    for c in range(bias.size):
        if scratch.change[c] != 0.0:
            scratch.touched[n] = c
            n += 1
    flat, width, are_few = weights.reshape(-1), weights.shape[1], FEW * n < bias.size
    for a in range(n):
        c = scratch.touched[a]
        errors[a if are_few else c] = scratch.change[c]
        bias[c] += kappa_eta * scratch.change[c]
        scratch.change[c] = 0.0
    for j in range(columns.size if n > 0 else 0):
        at, shift = start(columns[j], width, 0), np.float32(eta * values[j])
        if are_few:
            for a in range(n):
                flat[at + np.uint64(scratch.touched[a])] += shift * errors[a]
        else:
            for k in range(np.uint64(errors.size)):
                flat[at + k] += shift * errors[k]
    errors[:] = np.float32(0.0)


@kernel
def add_all_votes(beside: Beside, scores: Floats) -> None:
    """Add the votes of all vectors to the scores (float64[examples, labels])."""
    n_rows, n_labels = scores.shape
    tile = TILE if n_rows > 1 else ALONE
    for first in range(0, n_labels if beside.weights.shape[0] else 0, tile):
        last = min(first + tile, n_labels)
        for i in range(n_rows):
            own = slice(beside.rows.indptr[i], beside.rows.indptr[i + 1])
            columns, values = beside.rows.indices[own], beside.rows.data[own]
            add_votes(columns, values, beside.weights, scores[i, first:last], first)
