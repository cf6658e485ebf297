"""Widrow-Hoff: online least squares, rounded to the nearest rating (WH in paper 002).

    w += η·(y − w·x)·x   after every example, η fixed;
    ŷ = the rating nearest to w·x, clipped to the scale.

The midpoints between ratings are fixed thresholds, so predictions, distances and probabilities are
those of a threshold learner.

Not in the paper: y is the rating itself on a scale of ascending numbers, and the rank 1..k on any
other scale; an intercept c += η·(y − w·x − c), off in the paper's experiments. Each error is
multiplied by 1 − η·‖x‖², so a step η > 2/‖x‖² can make w overflow, which is an error.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shortlist.compiled.kernels import Floats, Longs, kernel
from shortlist.data.rows import Rows, inner
from shortlist.data.validation import as_choice, as_real
from shortlist.errors import InputError
from shortlist.learners.ratings.rating_learner import RatingLearner, move

# a score beyond it, times a value of a row (index/lists.py), could be more than a float64 holds
LARGEST_SCORE = 1e150


class WidrowHoff(RatingLearner):
    """Learn ratings by online regression with a fixed step, and round to the nearest rating.

    Parameters
    ----------
    learning_rate : float, default 0.01
        The step η.
    fit_intercept : bool, default True
        Whether to add a constant to the score.
    passes : int or None, default 1
        Passes of ``fit``; None: as many as PRank's default.
    random_state, hypothesis, scale
        As those of :class:`~shortlist.learners.ratings.prank.PRank`.

    Attributes
    ----------
    classes_ : array
        The scale, lowest rating first.
    coef_ : array
        The weights w of the chosen hypothesis.
    thresholds_ : array
        The scores halfway between neighbouring ratings, less the constant.

    References
    ----------
    Widrow, B. and Hoff, M. E. (1960). Adaptive switching circuits. IRE WESCON Convention Record 4.

    Crammer, K. and Singer, Y. (2001). Pranking with Ranking. NIPS 14 (as a rival of PRank).

    Examples
    --------
    >>> from shortlist import WidrowHoff
    >>> rater = WidrowHoff(learning_rate=0.1, passes=100, hypothesis="last")
    >>> rater.fit([[1.0], [2.0], [3.0]], [1, 2, 3]).predict([[1.1], [2.8]])
    array([1, 3])
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {
        "widrow-hoff": {"passes": None, "random_state": 0}
    }

    def __init__(
        self,
        *,
        learning_rate: float = 0.01,
        fit_intercept: bool = True,
        passes: int | None = 1,
        random_state: int | None = None,
        hypothesis: str = "averaged",
        scale: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            passes=passes, random_state=random_state, hypothesis=hypothesis, scale=scale
        )
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept

    def _shape(self, n_steps: int) -> tuple[int, int]:
        return 1, 1

    def update(self, rows: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        eta = as_real(self.learning_rate, "learning_rate", least=0.0)
        fit_intercept = as_choice(self.fit_intercept, "fit_intercept", (True, False))
        clock_after = self.clock_ + order.size
        with np.errstate(over="ignore", invalid="ignore"):  # reported below
            self.clock_ = update(
                rows,
                order,
                y,
                self._positions(),
                self.edges(np.zeros(1)),
                eta,
                eta if fit_intercept else 0.0,
                self.weights_,
                self.biases_,
                self.clock_,
                rated,
            )
        if self.clock_ < clock_after:
            raise InputError(
                f"the weights grew past all numbers: learning_rate={eta:g} is too large for these "
                "rows; take a smaller one or scale the columns of X, and fit anew"
            )

    def _open_step(self, number: int) -> None:
        """Nothing to do: ratings are not stored in weights or biases."""

    def _positions(self) -> Floats:
        """The number that stands for each rating."""
        if self.classes_.dtype.kind != "U":
            positions = self.classes_.astype(np.float64)
            if (np.diff(positions) > 0).all():
                return positions
        return np.arange(1.0, self.classes_.size + 1)

    def edges(self, biases: Floats) -> Floats:
        positions = self._positions()
        return (positions[:-1] + positions[1:]) / 2 - biases


# The rounds of Widrow-Hoff, for the examples of `order` in turn.


@kernel
def update(
    rows: Rows,
    order: Longs,
    y: Longs,
    positions: Floats,
    edges: Floats,
    eta: float,
    eta_intercept: float,
    W: Floats,
    B: Floats,
    clock: int,
    rated: Longs,
) -> int:
    """Arguments as in prank.py, with positions float64[k] of the ratings, edges float64[k−1]
    between them, B[2, 1].

    Gives the clock after the last example learned: it stops before a score that has grown too far
    to take a step by.
    """
    w = W[0, 0]
    w_moment = W[1, 0]
    for t in range(order.size):
        i = order[t]
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        indices = rows.indices[entries]
        data = rows.data[entries]
        value = inner(indices, data, w) + B[0, 0]
        if not abs(value) <= LARGEST_SCORE:  # nor is NaN
            largest = 1.0
            for number in data:
                largest = max(largest, abs(number))
            if not np.isfinite(2 * value * largest):
                return clock
        rank = 0
        # round to the nearest, clip to the scale
        while rank < edges.size and value - edges[rank] >= 0:
            rank += 1
        rated[t] = rank
        error = positions[y[i]] - value
        move(indices, data, eta * error, clock, w, w_moment)
        B[0, 0] += eta_intercept * error
        B[1, 0] += eta_intercept * error * clock
        clock += 1
    return clock
