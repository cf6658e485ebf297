"""Who can be among the k best labels by their vectors: found nearly, so that only these few are scored exactly.

To score 100,000 labels in float64 takes a processor longer than to read their weights. So all votes are first added up
in float32, in whatever way is fastest, and the labels that this leaves no chance are not looked at again. For a vector
of n numbers, with |x| its length and M that of the longest weights of a label, such a sum is off by at most

    ε = (n + 8)·(2⁻²³·|x|·M + 2⁻⁵²·B) + n·2⁻¹⁴⁹·(1 + M),

where B is the largest of what words and biases add: each of n products and sums is off by a part of 2⁻²⁴, and so is
each number; all of them together are at most |x|·M by Cauchy and Schwarz, and twice that is allowed for. The last term
is for numbers so small that they lose digits. If the kth best of the rough scores is t, whoever has less than t − 2ε is
not among the k best. What is left is scored label by label in the order in which all would be: the answer has the same
bits, however roughly it was found.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, kernel, rough_step, step
from shortlist.categories.best import keep_best
from shortlist.categories.index.vectors import ALONE, TILE, Beside, Short, Weights, start

MANY = 4096  # labels: fewer are soon scored
FEW = 64  # one of so many labels is asked for, or fewer
LARGEST = 1e30  # what is larger may not fit into float32, and everybody contends
EIGHT = 8


@kernel
def add_rough_votes(beside: Beside, votes: Short, squares: Short) -> None:
    """Add the votes of all vectors to votes (float32[examples, labels]), and Σ_f u_fc² to squares (float32[labels]).

    Weights that only one vector asks for are read in long runs, and squared while they are in the cache.
    """
    rows, weights, (n_rows, n_labels) = beside.rows, beside.weights, votes.shape
    values, tile = rows.data.astype(np.float32), TILE // 2 if n_rows > 1 else ALONE
    for first in range(0, n_labels, tile):
        last = min(first + tile, n_labels)
        done = 0
        for i in range(n_rows):
            done = add_roughly(
                rows.indices[rows.indptr[i] : rows.indptr[i + 1]], values[rows.indptr[i] : rows.indptr[i + 1]],
                weights, votes[i, first:last], squares[first:last], done, first,
            )  # fmt: skip
        for feature in range(done, weights.shape[0]):
            add_square(squares[first:last], weights.reshape(-1), start(feature, weights.shape[1], first))


@step
def add_roughly(
    columns: Ints, values: Short, weights: Weights, votes: Short, squares: Short, done: int, first: int
) -> int:
    """Add the votes of a vector; squares are those of the features before ``done``. Gives how far they have come.

    Where the vector has the next eight features, they are squared as they vote: their weights are read once.
    """
    j, end, width, flat = 0, columns.size, weights.shape[1], weights.reshape(-1)
    while end > 0 and columns[end - 1] >= weights.shape[0]:
        end -= 1  # columns ascend, and the last ones are not known yet
    while j + EIGHT <= end:
        if columns[j] == done and columns[j + EIGHT - 1] == done + EIGHT - 1:
            add_eight_and_squares(votes, squares, flat, np.uint64(width), start(done, width, first), values, j)
            done += EIGHT
        else:
            add_eight_roughly(votes, flat, width, first, columns, values, j)
        j += EIGHT
    while j < end:
        add_one_roughly(votes, flat, start(columns[j], width, first), values[j])
        j += 1
    return done


@rough_step
def add_eight_and_squares(
    votes: Short, squares: Short, flat: Weights, width: np.uint64, s: np.uint64, values: Short, j: int
) -> None:
    """Add the votes of eight features that follow each other, from s on, and their squares."""
    t, u, v, w = s + width, s + np.uint64(2) * width, s + np.uint64(3) * width, s + np.uint64(4) * width
    x, y, z = s + np.uint64(5) * width, s + np.uint64(6) * width, s + np.uint64(7) * width
    a, b, c, d = values[j], values[j + 1], values[j + 2], values[j + 3]
    e, f, g, h = values[j + 4], values[j + 5], values[j + 6], values[j + 7]
    for k in range(np.uint64(votes.size)):
        one, two, three, four = flat[s + k], flat[t + k], flat[u + k], flat[v + k]
        five, six, seven, eight = flat[w + k], flat[x + k], flat[y + k], flat[z + k]
        votes[k] = votes[k] + a * one + b * two + c * three + d * four + e * five + f * six + g * seven + h * eight
        half = squares[k] + one * one + two * two + three * three + four * four
        squares[k] = half + five * five + six * six + seven * seven + eight * eight


@rough_step
def add_eight_roughly(
    votes: Short, flat: Weights, width: int, first: int, columns: Ints, values: Short, j: int
) -> None:
    s, t = start(columns[j], width, first), start(columns[j + 1], width, first)
    u, v = start(columns[j + 2], width, first), start(columns[j + 3], width, first)
    w, x = start(columns[j + 4], width, first), start(columns[j + 5], width, first)
    y, z = start(columns[j + 6], width, first), start(columns[j + 7], width, first)
    a, b, c, d = values[j], values[j + 1], values[j + 2], values[j + 3]
    e, f, g, h = values[j + 4], values[j + 5], values[j + 6], values[j + 7]
    for k in range(np.uint64(votes.size)):
        four = votes[k] + a * flat[s + k] + b * flat[t + k] + c * flat[u + k] + d * flat[v + k]
        votes[k] = four + e * flat[w + k] + f * flat[x + k] + g * flat[y + k] + h * flat[z + k]


@rough_step
def add_one_roughly(votes: Short, flat: Weights, at: np.uint64, value: np.float32) -> None:
    for k in range(np.uint64(votes.size)):
        votes[k] += value * flat[at + k]


@rough_step
def add_square(squares: Short, flat: Weights, at: np.uint64) -> None:
    for k in range(np.uint64(squares.size)):
        squares[k] += flat[at + k] * flat[at + k]


@kernel
def longest(squares: Short, n_features: int) -> float:
    """M, or ∞ where squares are too large for float32."""
    most = np.float32(0.0)
    for square in squares:
        if not square <= most:
            most = square
    return np.sqrt(np.float64(most) + n_features * 2.0**-126)  # as much as squares may have lost that are near 0


@kernel
def keep_contenders(
    values: Floats, rough: Short, longest: float, scores: Floats, added: Floats, touched: Ints, near: Floats,
    ids: Ints, best: Floats,
) -> int:  # fmt: skip
    """Leave those of touched that can be among as many as ids has room for; gives how many.

    scores: those of words, so far; added: the biases. ids and best are written to, and what they hold means nothing.
    """
    square, largest = 0.0, 0.0
    for value in values:
        square += value * value
    for c in touched:
        near[c] = scores[c] + np.float64(rough[c]) + added[c]
        largest = max(largest, abs(scores[c]) + abs(added[c]))
    length, n = np.sqrt(square), values.size
    fits = length < LARGEST and longest < LARGEST and length * longest < LARGEST and largest < LARGEST
    if touched.size <= ids.size or not fits:
        return touched.size
    off = (n + 8) * (2.0**-23 * length * longest + 2.0**-52 * largest) + n * 2.0**-149 * (1.0 + longest)
    keep_best(touched, near, ids, best)
    least, kept = best[ids.size - 1] - 2.0 * off, 0
    for c in touched:
        touched[kept] = c
        kept += near[c] >= least
    return kept


@kernel
def add_votes_of(columns: Ints, values: Floats, weights: Weights, labels: Ints, scores: Floats, added: Floats) -> None:
    """Add the votes and the biases of these labels to their scores, in the order in which add_votes does."""
    for c in labels:
        total = scores[c]
        for j in range(columns.size):
            if columns[j] < weights.shape[0]:
                total += values[j] * np.float64(weights[columns[j], c])
        scores[c] = total + added[c]
