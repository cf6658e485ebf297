"""Scores -> probabilities of the ratings.

A multinomial logistic model of the learner's own score, fitted on examples that the learner has not learned from:

    P(r | x) = exp(a_r·s(x) + c_r) / Σ_q exp(a_q·s(x) + c_q),

for a single score s this is Anderson's stereotype model for ordered answers. Never negative, and the sum is one,
whatever the data; a rating that the held-out examples do not show gets probability 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from shortlist.arrays.kernels import Floats, Longs
from shortlist.errors import InputError


@dataclass
class Calibration:
    """slopes float64[k, f] and offsets float64[k] of the logistic model; an offset of −∞ rules a rating out."""

    slopes: Floats
    offsets: Floats

    @classmethod
    def fit(cls, scores: Floats, y: Longs, n_steps: int) -> Calibration:
        """Fit to scores float64[n, f] of held-out examples with step numbers y."""
        seen = np.unique(y)
        if seen.size < 2:
            raise InputError("the held-out examples show one rating only; probabilities need at least two")
        spread = scores.std(axis=0)
        spread[spread == 0] = 1.0
        model = LogisticRegression(solver="newton-cholesky").fit(scores / spread, y)
        slopes, offsets = np.zeros((n_steps, scores.shape[1])), np.full(n_steps, -np.inf)
        slopes[seen[-model.coef_.shape[0] :]] = (
            model.coef_ / spread
        )  # where there are two ratings, only the higher one has a slope
        offsets[seen] = 0.0
        offsets[seen[-model.coef_.shape[0] :]] = model.intercept_
        return cls(slopes, offsets)

    def probabilities(self, scores: Floats) -> Floats:
        return softmax(scores @ self.slopes.T + self.offsets, axis=1)
