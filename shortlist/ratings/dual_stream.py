"""The learners' loops in the dual form (see shortlist/dual.py): coefficients of support vectors in place of weights."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from shortlist import dual
from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_whole
from shortlist.concurrency.interrupts import stop_here
from shortlist.ratings.saving import SavedLearner


class DualLearner(SavedLearner):
    """Base class: learns with kernels as well. A learner gives its loop."""

    degree: int
    gamma: float
    coef0: float
    budget: int | None

    @abstractmethod
    def _learn(self, read: Rows, write: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        """Run the figure's loop over the examples of ``order``; ``rated`` receives the predictions."""

    def _kernel_function(self) -> dual.Function:
        return dual.kernel_function(self.kernel, self.degree, self.gamma, self.coef0)

    def _stream_dual(self, supports: dual.Supports, rows: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        """Run the loop in the dual form over the examples of ``order``."""
        budget = None if self.budget is None else as_whole(self.budget, "budget", least=1)
        clock = int(self._clock[0])
        for turn in dual.turns(supports, self._kernel_function(), rows, order, clock, budget):
            self._weights = widened(self._weights, len(supports))
            each = np.arange(turn.members.size, dtype=np.int64)
            self._learn(turn.read, turn.write, each, y[turn.members], rated[turn.block])
            used, size = np.asarray(self._weights.any(axis=(0, 1))), np.linalg.norm(self._weights[0], axis=0)
            kept = supports.drop(used, size, turn.most)
            self._weights = np.ascontiguousarray(self._weights[:, :, kept])
            stop_here()


def widened(weights: Floats, n_columns: int) -> Floats:
    """The weights [h, q, m] with zeros for the columns that are new."""
    return np.pad(weights, ((0, 0), (0, 0), (0, n_columns - weights.shape[2])))
