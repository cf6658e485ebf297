"""Honest rankings in ``fit``: which rows of its first pass are ranked before they are learned.

What a model says of examples that it has learned is no measure of what it will say of others. In the first pass every
example is new until its turn comes; late in that pass the model is nearly what it will be in the end. So some rows of
the second half of the pass are ranked: by a learner that scores a row before it corrects anything, when their turn
comes; by others before each of the short stretches in which that half is learned. Nothing is learned otherwise than
without: the model is the same, bit by bit. Trials on ten collections found such rankings nearly as good
a measure of the final model as cross-fitting, which learns several times as much; and keeping a tenth of the rows for
measuring, to be learned last, made models worse by up to two points.

A row to be ranked must be read as a new text will be: without features that no earlier row had. They have no votes, but
would make the votes of the others lighter, and scores lower than those of new texts, in which unknown words count for
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shortlist.arrays.kernels import Floats, Longs
from shortlist.models.confidence.calibration import TOGETHER
from shortlist.models.confidence.window import SIZE, WIDTH

STRETCHES = 20
SHARE = 10  # one row in so many is ranked: ranking it takes about as long as learning it once
LARGER, LEAST, ENOUGH = 8, 512, 1024  # of few rows a larger share, but no more than ENOUGH; LEAST, if half are as many


def how_many(n: int) -> int:
    """How many of n rows are ranked, if as many may be."""
    return min(SIZE, n, max(n // SHARE, LEAST, min(ENOUGH, n // LARGER)))


class Stretch(NamedTuple):
    """Learn order[first:last], after ranking the rows at ``ranked`` of that order."""

    first: int
    last: int
    ranked: Longs


def stretches(n: int, longest: int = 0) -> Iterator[Stretch]:
    """The first pass over n rows, stretch by stretch.

    Who ranks rows on the way, each when its turn comes, needs no more of them than there must be: ``longest`` is how
    many rows one may have then.
    """
    half = n // 2
    wanted = min(n - half, how_many(n))
    ranked = half + np.arange(wanted) * (n - half) // max(1, wanted)
    count = max(1, -(-(n - half) // longest)) if longest else STRETCHES
    edges = [0, *(half + np.arange(count + 1) * (n - half) // count)]
    for first, last in pairwise(edges):
        if last > first:
            yield Stretch(int(first), int(last), ranked[(ranked >= first) & (ranked < last)])


# At which level labels score that are not in question, and how far further passes have moved it.


ROWS = 64  # what a single one is off by, about 0.02, is a hundredth of a deviation of scores in their mean


def rows_of_few_labels(order: Longs, starts: Longs) -> Longs:
    """Up to ROWS of the rows in ``order``, from all parts of it, of those that have no more labels than TOGETHER.

    Row i has the labels starts[i]:starts[i+1].
    """
    few = np.flatnonzero((np.diff(starts) <= TOGETHER)[order])
    n = min(ROWS, few.size)
    return order[few[np.arange(n) * few.size // max(1, n)]]


def moved_level(before: Floats, after: Floats) -> float:
    """By how much the level of the same rows differs in two rankings (scores n × at most WIDTH, NaN for no label)."""
    both = min(before.shape[1], after.shape[1], WIDTH)
    differences = (after[:, TOGETHER:both] - before[:, TOGETHER:both]).ravel()
    known = differences[~np.isnan(differences)]
    return math.fsum(known.tolist()) / known.size if known.size else 0.0  # a sum that no machine rounds otherwise
