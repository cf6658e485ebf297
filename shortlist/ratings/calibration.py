"""Scores -> probabilities of the ratings, and intervals of ratings that hold the true one.

A multinomial logistic model of the learner's own score, fitted on examples that the learner has not learned from:

    P(r | x) = exp(a_r·s(x) + c_r) / Σ_q exp(a_q·s(x) + c_q),

for a single score s this is Anderson's stereotype model for ordered answers. Never negative, and the sum is one,
whatever the data; a rating that the held-out examples do not show gets probability 0.

An interval begins with the most probable rating and grows by the more probable of its two neighbours. How strange a
held-out example is: the probability of the interval that is reached just before its true rating. An interval of all
ratings that are no stranger than the ⌈(n + 1)·coverage⌉-th of n held-out examples holds the true rating of a new one
with that probability at least, if it is like them (split conformal prediction: Vovk et al. 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from shortlist.arrays.kernels import Floats, Longs
from shortlist.errors import InputError
from shortlist.files.store import State


@dataclass
class Calibration:
    """slopes float64[k, f] and offsets float64[k] of the logistic model; an offset of −∞ rules a rating out. How
    ``strange`` the held-out examples are, ascending."""

    slopes: Floats
    offsets: Floats
    strange: Floats

    @classmethod
    def fit(cls, scores: Floats, y: Longs, n_steps: int) -> Calibration:
        """Fit to scores float64[n, f] of held-out examples with step numbers y."""
        seen = np.unique(y)
        if seen.size < 2:
            raise InputError("the held-out examples show one rating only; probabilities need at least two")
        spread = scores.std(axis=0)
        spread[spread == 0] = 1.0
        from sklearn.linear_model import LogisticRegression  # which loads half of scikit-learn

        model = LogisticRegression(solver="newton-cholesky").fit(scores / spread, y)
        slopes, offsets = np.zeros((n_steps, scores.shape[1])), np.full(n_steps, -np.inf)
        sloped = seen[-model.coef_.shape[0] :]  # where there are two ratings, only the higher one has a slope
        slopes[sloped] = model.coef_ / spread
        offsets[seen] = 0.0
        offsets[sloped] = model.intercept_
        found = cls(slopes, offsets, np.zeros(0))
        reached = reached_before(found.probabilities(scores))
        found.strange = np.sort(reached[np.arange(y.size), y])
        return found

    def to_arrays(self) -> dict[str, Floats]:
        """For the model file."""
        return {"slopes": self.slopes, "offsets": self.offsets, "strange": self.strange}

    @classmethod
    def from_state(cls, state: State, n_steps: int) -> Calibration:
        """Read it from a model file, refusing what is none for a scale of n_steps."""
        slopes, offsets = state.array("slopes", np.float64, 2), state.array("offsets", np.float64)
        state.require(slopes.shape[0] == offsets.size == n_steps, "its probabilities are of another scale")
        possible = np.isfinite(slopes).all() and (offsets < np.inf).all() and np.isfinite(offsets).any()
        state.require(possible, "its probabilities are not numbers")
        strange = np.array(state.array("strange", np.float64))
        is_sorted = bool((strange >= 0).all() and (strange[1:] >= strange[:-1]).all())
        state.require(is_sorted, "its examples are not in order")
        return cls(slopes, offsets, strange)

    def intervals(self, scores: Floats, coverage: float) -> Longs:
        """The lowest and the highest step number of each interval, n × 2; all steps where that takes too many."""
        at = int(np.ceil((self.strange.size + 1) * coverage - 1e-9)) - 1
        most = self.strange[max(0, at)] if at < self.strange.size else np.inf
        within = reached_before(self.probabilities(scores)) <= most
        return np.column_stack([np.argmax(within, axis=1), within.shape[1] - 1 - np.argmax(within[:, ::-1], axis=1)])

    def probabilities(self, scores: Floats) -> Floats:
        return softmax(scores @ self.slopes.T + self.offsets, axis=1)


def reached_before(probabilities: Floats) -> Floats:
    """For each row (n × k) and step, how probable the interval is that has grown up to that step, but without it."""
    n, k = probabilities.shape
    rows, padded = np.arange(n), np.pad(probabilities, ((0, 0), (1, 1)), constant_values=-1.0)  # never the next one
    low = high = np.argmax(probabilities, axis=1) + 1
    total, reached = padded[rows, low].copy(), np.zeros((n, k + 2))
    for _ in range(k - 1):
        down = padded[rows, low - 1] > padded[rows, high + 1]
        taken = np.where(down, low - 1, high + 1)
        low, high = np.minimum(low, taken), np.maximum(high, taken)
        reached[rows, taken] = total
        total = total + padded[rows, taken]
    return reached[:, 1:-1]
