"""PRank: the Perceptron for ordered ratings (Crammer & Singer, "Pranking with Ranking", figure 2).

A rule is a direction w and thresholds b_1 ≤ … ≤ b_{k−1}, b_k = ∞, which cut the line of projections
w·x into k intervals, one for each rating:  ŷ = min{r : w·x − b_r < 0}.  Figure 2, on a mistake:

    y_r = −1 if y ≤ r else +1;   τ_r = y_r if (w·x − b_r)·y_r ≤ 0 else 0;
    w += (Σ_r τ_r)·x;            b_r −= τ_r.

Lemma 1: the thresholds stay sorted. Theorem 2: if a rule of unit norm rates a stream with margin γ
and ‖x‖ ≤ R, then Σ_t |ŷ_t − y_t| ≤ (k − 1)·(R² + 1)/γ².  Both are tested on generated streams.

Not in the paper: averaging, which it mentions as an extension, and a scale that may grow. A new
step between two others begins as an empty interval: the threshold between them is doubled. A new
step at an end begins one average step further out. Ratings count from 0 in the code.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from shortlist.compiled.kernels import Floats, Longs, kernel
from shortlist.data.rows import Rows, inner
from shortlist.learners.ratings.rating_learner import RatingLearner, move


class PRank(RatingLearner):
    """Learn ratings on an ordered scale from a stream: one Perceptron with k − 1 moving thresholds.

    Parameters
    ----------
    passes : int or None, default None
        Passes of ``fit``. None: until it has seen 2,000 examples for each column, at most 20.
    random_state : int or None, default None
        None for the order given, or the seed of a new order for each pass.
    hypothesis : {"averaged", "last"}, default "averaged"
        The rule that predicts: averaged over all examples, or the last one.
    scale : sequence of ratings or None, default None
        The ratings, lowest first; None learns them from the examples, in natural order.

    Attributes
    ----------
    classes_ : array
        The scale, lowest rating first.
    coef_ : array
        The weights w of the chosen hypothesis.
    thresholds_ : array
        The thresholds b_1 ≤ … ≤ b_{k−1} of the chosen hypothesis.

    References
    ----------
    Crammer, K. and Singer, Y. (2001). Pranking with Ranking. NIPS 14.

    Examples
    --------
    >>> from shortlist import PRank
    >>> rater = PRank(scale=["poor", "fair", "good"])
    >>> rater.fit([[-1.0], [0.0], [1.0]], ["poor", "fair", "good"]).predict([[5.0]])
    array(['good'], dtype='<U4')
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"prank": {"random_state": 0}}
    adds_biases = False

    def _shape(self, n_steps: int) -> tuple[int, int]:
        return 1, n_steps - 1

    def update(self, rows: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        self.clock_ = update(rows, order, y, self.weights_, self.biases_, self.clock_, rated)

    def _open_step(self, number: int) -> None:
        """Insert a new step; at an end it is as wide as the average step, rounded up.

        Thresholds stay whole numbers, or lemma 1 would not hold. The new threshold has the moments
        of its neighbour, so that the averaged thresholds are opened by the same width.
        """
        b = self.biases_
        n = b.shape[1]
        if n == 0:
            new = np.zeros(2)
        elif 0 < number <= n:
            new = b[:, number - 1]
        else:
            width = [np.ceil((b[0, -1] - b[0, 0]) / max(n - 1, 1)), 0.0]
            new = b[:, -1] + width
            if number == 0:
                new = b[:, 0] - width
        self.biases_ = np.insert(b, min(number, n), new, axis=1)


# Figure 2: the rounds of PRank, for the examples of `order` in turn.


@kernel
def update(
    rows: Rows, order: Longs, y: Longs, W: Floats, B: Floats, clock: int, rated: Longs
) -> int:
    """y int64[n] from 0; W[2, 1, m] and B[2, k−1]: the rule and its moments (rating_learner.py);
    clock: examples so far.

    rated int64[len(order)] receives each prediction, made before the update. Gives the clock after
    the last example.
    """
    w = W[0, 0]
    w_moment = W[1, 0]
    b = B[0]
    b_moment = B[1]
    for t in range(order.size):
        i = order[t]
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        indices = rows.indices[entries]
        data = rows.data[entries]
        score = inner(indices, data, w)
        rank = 0
        while rank < b.size and score - b[rank] >= 0:  # ŷ = min{r : w·x − b_r < 0}
            rank += 1
        rated[t] = rank
        if rank != y[i]:
            step = 0.0
            for r in range(b.size):
                y_r = 1.0 if y[i] > r else -1.0
                if (score - b[r]) * y_r <= 0:  # τ_r = y_r
                    step += y_r
                    b[r] -= y_r
                    b_moment[r] -= y_r * clock
            move(indices, data, step, clock, w, w_moment)
        clock += 1
    return clock
