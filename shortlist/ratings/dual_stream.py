"""The learners' loops in the dual form (see shortlist/dual.py): coefficients of support vectors in place of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist import dual
from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_whole
from shortlist.concurrency.interrupts import stop_here

if TYPE_CHECKING:
    from shortlist.ratings.learner import RatingLearner


def stream(learner: RatingLearner, supports: dual.Supports, rows: Rows, order: Longs, y: Longs, rated: Longs) -> None:
    """Run a learner's loop in the dual form over the examples of ``order``."""
    budget = None if learner.budget is None else as_whole(learner.budget, "budget", least=1)
    clock = int(learner._clock[0])
    for turn in dual.turns(supports, learner._kernel_function(), rows, order, clock, budget):
        learner._weights = widened(learner._weights, len(supports))
        each = np.arange(turn.members.size, dtype=np.int64)
        learner._learn(turn.read, turn.write, each, y[turn.members], rated[turn.block])
        used, size = learner._weights.any(axis=(0, 1)), np.linalg.norm(learner._weights[0], axis=0)
        kept = supports.drop(used, size, turn.most)
        learner._weights = np.ascontiguousarray(learner._weights[:, :, kept])
        stop_here()


def widened(weights: Floats, n_columns: int) -> Floats:
    """The weights [h, q, m] with zeros for the columns that are new."""
    return np.pad(weights, ((0, 0), (0, 0), (0, n_columns - weights.shape[2])))
