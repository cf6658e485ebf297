"""PRank in the dual form, and the vote of all its rules: what the paper remarks of Mercer kernels
and of voting.

The rule is w = Σ_s α_s·φ(x_s) over the examples s that were rated wrong, of which only inner
products k(x, x') = φ(x)·φ(x') are ever computed:

    w·φ(x) = Σ_s α_s·k(x_s, x);   on a mistake α_s = Σ_r τ_r for the new support vector, and b_r −= τ_r as in figure 2.

Each rule votes with the number of examples that it lived through (Freund and Schapire, 1999). The
rule that was last after t mistakes is the first t support vectors with their coefficients, and the
thresholds of that time: so all rules are kept at the cost of their thresholds. The vote is the
weighted median of the ratings that they give.

The time for each example grows with the mistakes: a comparator, not a learner for long streams.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from shortlist.compiled.kernels import Floats, Longs

# of two matrices, the kernel's value for each pair of their rows
Function = Callable[[Floats, Floats], Floats]


class DualPRank:
    """PRank with a kernel, for ratings 1..k.

    Parameters
    ----------
    kernel : callable
        A function of two matrices that gives the kernel's value for each pair of their rows.
    k : int
        The number of ratings.

    Examples
    --------
    >>> from papers.comparators.dual_prank import DualPRank
    >>> rater = DualPRank(lambda A, B: (A @ B.T + 1) ** 2, k=2)
    >>> rater.learn([[0.0], [1.0], [-1.0]] * 20, [1, 2, 2] * 20).predict([[0.1], [-2.0]])
    array([1, 2])
    """

    def __init__(self, kernel: Function, k: int) -> None:
        self.kernel = kernel
        self.supports: list[Floats] = []
        self.alphas: list[float] = []
        # of the first rule, and after each mistake
        self.thresholds: list[Floats] = [np.zeros(k - 1)]
        self.lives: list[int] = [0]  # how many examples each rule lived through

    def learn(self, X: ArrayLike, y: ArrayLike) -> DualPRank:
        """Figure 2, for the rows in turn."""
        r = np.arange(1, self.thresholds[0].size + 1)
        for x, rating in zip(np.asarray(X, dtype=np.float64), np.asarray(y), strict=True):
            b = self.thresholds[-1]
            score = (np.array(self.alphas) * self._values(x[None])[0]).sum()
            if rating != 1 + (score >= b).sum():  # ŷ = min{r : w·x − b_r < 0}
                signs = np.where(rating <= r, -1, 1)
                tau = np.where((score - b) * signs <= 0, signs, 0)
                self.supports.append(x)
                self.alphas.append(float(tau.sum()))
                self.thresholds.append(b - tau)
                self.lives.append(0)
            self.lives[-1] += 1
        return self

    def predict(self, X: ArrayLike) -> Longs:
        """The ratings that the last rule gives."""
        return self._ratings(X)[:, -1]

    def vote(self, X: ArrayLike) -> Longs:
        """The weighted median of the ratings that all rules give: the lowest that more than
        half of the votes reach.
        """
        ratings, lives = self._ratings(X), np.array(self.lives)
        steps = np.arange(1, self.thresholds[0].size + 1)
        # n × (k − 1): the votes for at most r
        reached = np.stack([(ratings <= r) @ lives for r in steps], axis=1)
        return 1 + (2 * reached <= lives.sum()).sum(axis=1)

    def _ratings(self, X: ArrayLike) -> Longs:
        """The rating that each rule gives to each row: rows × rules."""
        steps = self._values(np.asarray(X, dtype=np.float64)) * np.array(self.alphas)
        # w·φ(x) of the first rule, which is 0, and so on
        scores = np.pad(np.cumsum(steps, axis=1), ((0, 0), (1, 0)))
        return 1 + (scores[:, :, None] >= np.array(self.thresholds)).sum(axis=2)

    def _values(self, X: Floats) -> Floats:
        """The kernel's values between rows and support vectors."""
        return self.kernel(X, np.array(self.supports)) if self.supports else np.zeros((len(X), 0))
