"""Widrow-Hoff: online least squares, whose value is rounded to the nearest rating (the paper's rival WH).

    w += η·(y − w·x)·x   after every example, η fixed;   ŷ = the rating nearest to w·x, clipped to the scale.

Rounding cuts the line at the midpoints between ratings, so predictions, distances and probabilities are those of a
learner with thresholds that stay where they are.

Beside the paper: y is the rating itself on a scale of ascending numbers, which for 1..k is its rank, and the rank
1..k on any other scale; an intercept c += η·(y − w·x − c), off in the paper's experiments. Each error is multiplied by
1 − η·‖x‖², so a step η > 2/‖x‖² can make w grow without end: a value past all numbers stops the learner with an error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel
from shortlist.arrays.rows import Rows, inner
from shortlist.arrays.validation import as_choice, as_real
from shortlist.errors import InputError
from shortlist.ratings.dual import Function
from shortlist.ratings.thresholds import ThresholdLearner, move, retire

FAR = 1e150  # a score beyond it, times a value of a row (index/lists.py), could be more than a float64 holds


class WidrowHoff(ThresholdLearner):
    """Learn ratings by online regression with a fixed step, and round to the nearest rating.

    Each run of rightly rated examples casts its vote where rules vote.

    Parameters
    ----------
    learning_rate : float, default 0.01
        The step η.
    fit_intercept : bool, default True
        Whether to add a constant to the score.
    passes : int or None, default 1
        How often ``fit`` goes through the examples; None: as often as PRank by itself.
    random_state : int or None, default None
        None takes the examples in the order given; a whole number is the seed by which each pass shuffles them anew.
    hypothesis : {"averaged", "last", "voted"}, default "averaged"
        What predicts: the last rule, the one averaged over all examples, or the vote of all rules, in which each counts
        the examples it lived through.
    voters : int, default 100
        How many rules, the longest-lived, are kept to vote.
    kernel : {None, "polynomial", "rbf"} or callable, default None
        None learns weights of columns; "polynomial" is (gamma·x·x' + coef0)^degree, "rbf" is exp(−gamma·‖x − x'‖²); a
        function takes two matrices and gives the kernel's value for each pair of their rows.
    degree : int, default 2
        Of the polynomial kernel.
    gamma : float, default 1.0
        Of both kernels.
    coef0 : float, default 1.0
        Of the polynomial kernel.
    budget : int or None, default None
        The most support vectors that a kernel learner keeps; None keeps all.
    scale : sequence of ratings or None, default None
        The ratings, lowest first; None learns them, in their natural order, from the examples.

    Attributes
    ----------
    classes_ : array
        The scale, lowest rating first.
    coef_ : array
        The weights w of the chosen hypothesis; with a kernel, the coefficients of its support vectors.
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

    def __init__(
        self,
        *,
        learning_rate: float = 0.01,
        fit_intercept: bool = True,
        passes: int | None = 1,
        random_state: int | None = None,
        hypothesis: str = "averaged",
        voters: int = 100,
        kernel: str | Function | None = None,
        degree: int = 2,
        gamma: float = 1.0,
        coef0: float = 1.0,
        budget: int | None = None,
        scale: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            passes=passes, random_state=random_state, hypothesis=hypothesis, voters=voters,
            kernel=kernel, degree=degree, gamma=gamma, coef0=coef0, budget=budget, scale=scale,
        )  # fmt: skip
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept

    def _shape(self, n_steps: int) -> tuple[int, int]:
        return 1, 1

    def _learn(self, read: Rows, write: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        eta = as_real(self.learning_rate, "learning_rate", least=0.0)
        as_choice(self.fit_intercept, "fit_intercept", (True, False))
        edges = self._edges(np.zeros((1, 1)))[0]
        with np.errstate(over="ignore", invalid="ignore"):  # reported below
            learned = _learn(
                read.indptr, read.indices, read.data, write.indptr, write.indices, write.data,
                order, y, self._positions(), edges, eta, eta if self.fit_intercept else 0.0,
                self._weights, self._biases, self._lives, self._clock, rated,
            )  # fmt: skip
        if learned < order.size:
            raise InputError(
                f"the weights grew past all numbers: learning_rate={eta:g} is too large for these rows; "
                "take a smaller one or scale the columns of X, and fit anew"
            )

    def _open_step(self, at: int) -> None:
        """Nothing to do: a new step is one more place to round to."""

    def _positions(self) -> Floats:
        """The number that stands for each rating."""
        steps = self.classes_
        if steps.dtype.kind != "U" and (np.diff(steps.astype(np.float64)) > 0).all():
            return steps.astype(np.float64)
        return np.arange(1.0, steps.size + 1)

    def _edges(self, biases: Floats) -> Floats:
        positions = self._positions()
        return (positions[:-1] + positions[1:]) / 2 - biases


# The rounds of Widrow-Hoff, for the examples of `order` in turn.


@kernel
def _learn(
    indptr: Longs, indices: Ints, data: Floats, write_indptr: Longs, write_indices: Ints, write_data: Floats,
    order: Longs, y: Longs, positions: Floats, edges: Floats, eta: float, eta_intercept: float,
    W: Floats, B: Floats, lives: Longs, clock: Longs, rated: Longs,
) -> int:  # fmt: skip
    """Arguments as in prank.py, with positions float64[k] of the ratings, edges float64[k−1] between them, B[2+V, 1].

    Gives the number of examples learned: fewer than there are if a score has grown too far to take a step by.
    """
    w, w_moment = W[0, 0], W[1, 0]
    for t in range(order.size):
        i = order[t]
        first, last = indptr[i], indptr[i + 1]
        value = inner(indices[first:last], data[first:last], w) + B[0, 0]
        if not abs(value) <= FAR:  # nor is NaN
            largest = 1.0
            for j in range(first, last):
                largest = max(largest, abs(data[j]))
            if not np.isfinite(2 * value * largest):
                return t
        rank = 0
        while rank < edges.size and value - edges[rank] >= 0:  # round to the nearest, clip to the scale
            rank += 1
        rated[t] = rank
        if rank == y[i]:
            clock[1] += 1
        else:
            if lives.size > 0:
                retire(W, B, lives, clock)
            clock[1] = 1
        error = positions[y[i]] - value
        first, last = write_indptr[i], write_indptr[i + 1]
        move(write_indices[first:last], write_data[first:last], eta * error, clock[0], w, w_moment)
        B[0, 0] += eta_intercept * error
        B[1, 0] += eta_intercept * error * clock[0]
        clock[0] += 1
    return order.size
