"""Ordinal logistic regression with all thresholds (Rennie and Srebro 2005): a modern baseline beside
paper 002, learned from all examples at once.

P(y > r) = 1/(1 + e^{b_r − w·x}) for each step r below the highest; the mean log-likelihood of all
steps, less ``penalty``/2·‖w‖², is maximised. The rating is 1 + the number of steps that are passed.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy
from scipy.special import expit

from shortlist.compiled.kernels import Floats, Longs


class OrdinalLogistic:
    """Learn ratings 1, 2, … ``highest`` by one direction and a threshold for each step.

    Parameters
    ----------
    highest : int
    penalty : float, default 0.1
        Of the squared length of w, against the mean loss of an example.
    """

    def __init__(self, highest: int, penalty: float = 0.1) -> None:
        self.highest = highest
        self.penalty = penalty

    def fit(self, X: Floats, y: Longs) -> Self:
        above = np.where(y[:, None] > np.arange(1, self.highest), 1.0, -1.0)
        n_features = X.shape[1]

        def loss(parameters: Floats) -> tuple[float, Floats]:
            w, b = np.split(parameters, [n_features])
            margin = above * ((X @ w)[:, None] - b)
            pull = -above * expit(-margin) / len(y)
            value = np.logaddexp(0, -margin).sum() / len(y) + self.penalty / 2 * w @ w
            slope = np.concatenate([X.T @ pull.sum(axis=1) + self.penalty * w, -pull.sum(axis=0)])
            return float(value), slope

        start = np.zeros(n_features + self.highest - 1)
        best = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x
        self.weights_, self.thresholds_ = np.split(best, [n_features])
        return self

    def predict(self, X: Floats) -> Longs:
        return 1 + ((X @ self.weights_)[:, None] > self.thresholds_).sum(axis=1)
