"""Voting (Freund & Schapire, 1999): each hypothesis votes with the number of examples it lived through.

A stream can see millions of hypotheses, so only the longest-lived ones are kept; with as many places as mistakes this
is the published rule. Weights W float64[2 + V, q, m] and biases B float64[2 + V, p] hold, in row 0, the hypothesis now;
in row 1, its moment Σ t·(update at time t), from which the average over time follows; from row 2 on, the V voters.
clock int64[2] counts the examples seen and those the present hypothesis has lived through.

The learners' kernels call ``retire`` (where there are places for voters: even an idle call costs a fifth of a round)
and ``move``.
"""

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel, step
from shortlist.arrays.rows import is_full


@kernel
def retire(W: Floats, B: Floats, lives: Longs, clock: Longs) -> None:
    """The hypothesis has just erred: it takes the place of the shortest-lived voter if it lived longer."""
    shortest = np.argmin(lives)
    if clock[1] > lives[shortest]:
        lives[shortest] = clock[1]
        W[2 + shortest] = W[0]
        B[2 + shortest] = B[0]


@step
def move(indices: Ints, data: Floats, size: float, time: int, w: Floats, moment: Floats) -> None:
    """Add ``size`` times a row to w, and ``time`` times that to its moment, in one go, in place."""
    later = size * time
    if is_full(indices):
        for j in range(data.size):
            w[j] += size * data[j]
            moment[j] += later * data[j]
        return
    for j in range(indices.size):
        column, value = indices[j], data[j]
        w[column] += size * value
        moment[column] += later * value
