"""Successive halving: rounds with fewer candidates and more examples, and which examples they learn and are tried on.

In the first round candidates differ from the usual model by their learner or by their features; then the best of both
are tried together. A fifth of the examples is held back for the last round, 10,000 at most. Earlier rounds learn a
ninth and a third of the others, 2,000 and 4,000 at least, and are tried on examples that come next, so that what was
held back is new to the last round wherever there are examples enough. If fewer than 2,000 can be held back, the last
round holds back one part after the other, up to five: few examples would hardly tell the finalists apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist.arrays.kernels import Longs

FOLDS = 5
MOST_HELD, ENOUGH_HELD = 10_000, 2000
SHARES = ((9, 2000), (3, 4000))  # of the examples that are not held back, and how many at least
MOST_TRIED = 5000  # examples that the candidates of an early round are tried on
FEWER = 8  # candidates that go on after the first round
FINALISTS = 4  # beside the usual model
BEST = 3  # learners, and kinds of features, that are tried together
TIME = (0.4, 0.7, 1.0)  # the share of the time that is over when a round ends, at the latest


class Part(NamedTuple):
    """Numbers of the examples to learn, and of those to be tried on."""

    to_learn: list[int]
    to_try: list[int]


class Round(NamedTuple):
    """What each candidate of a round is tried on, how many of them are left after it, and when it ends."""

    parts: list[Part]
    keep: int
    ends: float  # as a share of the time

    @property
    def n_learned(self) -> int:
        return len(self.parts[0].to_learn)


def rounds(n: int, random_state: int) -> list[Round]:
    """The rounds of a search with n examples."""
    order = np.random.default_rng(random_state).permutation(n)
    held = min(max(1, n // FOLDS), MOST_HELD)
    n_learned = n - held
    plan = []
    for number, (share, least) in enumerate(SHARES):
        size = min(max(n_learned // share, least), n_learned)
        parts = [early(order, size)] if size < n_learned else [fold(order, held, own) for own in range(number + 1)]
        plan.append(Round(parts, 1 + (FEWER if number == 0 else FINALISTS), TIME[number]))
    n_folds = min(FOLDS, -(-ENOUGH_HELD // held))
    return [*plan, Round([fold(order, held, own) for own in range(n_folds)], 1 + FINALISTS, TIME[-1])]


def early(order: Longs, size: int) -> Part:
    """Learn the first so many, and be tried on those that come next."""
    return Part(order[:size].tolist(), order[size : size + MOST_TRIED].tolist())


def fold(order: Longs, held: int, number: int) -> Part:
    """Learn all but a part that is held back: the last one first."""
    last = order.size - number * held
    own = np.arange(last - held, last)
    return Part(np.delete(order, own).tolist(), order[own].tolist())
