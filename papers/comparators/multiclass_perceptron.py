"""The multiclass Perceptron with uniform updates (Crammer & Singer, "Ultraconservative online
algorithms for multiclass problems"; the paper's rival MCP). It knows nothing of the order of the
ratings.

k prototypes w_1..w_k, all zero at the start; ŷ = argmax_r w_r·x, of equal ones the lowest. With the
error set

    E = {r ≠ y : w_r·x ≥ w_y·x},   if E is not empty:   w_y += x;   w_r −= x/|E| for r ∈ E.

A tie is an error, as for all Perceptrons here: otherwise the lowest rating would never be learned
from zero.

Beside the paper: an intercept for each prototype, off in the paper's experiments. A step that
arrives later gets a prototype of zeros.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shortlist.compiled.kernels import Floats, Longs, kernel
from shortlist.data.rows import MatrixLike, Rows, inner
from shortlist.data.validation import as_choice
from shortlist.learners.ratings.rating_learner import RatingLearner, move


class MulticlassPerceptron(RatingLearner):
    """Learn ratings as if they had no order: one prototype for each, of which the most similar
    wins.

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether to add a constant to each prototype.
    passes : int or None, default 1
        How often ``fit`` goes through the examples; None: as often as PRank by itself.
    random_state, hypothesis, scale
        As those of PRank.

    Examples
    --------
    >>> from papers.comparators.multiclass_perceptron import MulticlassPerceptron
    >>> rater = MulticlassPerceptron(passes=10)
    >>> rater.fit([[-1.0], [0.0], [1.0]], ["A", "B", "C"]).predict([[-2.0], [2.0]])
    array(['A', 'C'], dtype='<U1')
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {
        "multiclass-perceptron": {"passes": None, "random_state": 0}
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        passes: int | None = 1,
        random_state: int | None = None,
        hypothesis: str = "averaged",
        scale: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            passes=passes, random_state=random_state, hypothesis=hypothesis, scale=scale
        )
        self.fit_intercept = fit_intercept

    def _shape(self, n_steps: int) -> tuple[int, int]:
        return n_steps, n_steps

    def update(self, rows: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        intercept = 1.0 if as_choice(self.fit_intercept, "fit_intercept", (True, False)) else 0.0
        self.clock_ = update(
            rows, order, y, intercept, self.weights_, self.biases_, self.clock_, rated
        )

    def _open_step(self, at: int) -> None:
        self.weights_ = np.insert(self.weights_, at, 0.0, axis=1)
        self.biases_ = np.insert(self.biases_, at, 0.0, axis=1)

    @property
    def coef_(self) -> Floats:
        """The prototypes [k, m]."""
        return self._rule()[0]

    def scores(self, X: MatrixLike) -> Floats:
        """The score of each rating, n × k: w_r·x."""
        weights, biases = self._rule()
        return self._products(X, weights) + biases

    def decision_function(self, X: MatrixLike) -> Floats:
        """The ``scores``; of two ratings, as scikit-learn has it, by how much the higher one
        leads.
        """
        scores = self.scores(X)
        return scores[:, 1] - scores[:, 0] if self.classes_.size == 2 else scores

    def neighbour_distances(self, X: MatrixLike) -> Floats:
        """By how much the predicted rating leads the one below it and the one above it, n × 2;
        ∞ at the ends.
        """
        scores = self.scores(X)
        ends = np.full((scores.shape[0], 1), -np.inf)
        fenced = np.hstack([ends, scores, ends])
        rated = scores.argmax(axis=1)[:, None]
        around = np.hstack(
            [np.take_along_axis(fenced, rated, 1), np.take_along_axis(fenced, rated + 2, 1)]
        )
        return np.take_along_axis(scores, rated, 1) - around

    def _rate(self, X: MatrixLike) -> Longs:
        return self.scores(X).argmax(axis=1)


# The rounds of the multiclass Perceptron, for the examples of `order` in turn.


@kernel
def update(
    rows: Rows,
    order: Longs,
    y: Longs,
    intercept: float,
    W: Floats,
    B: Floats,
    clock: int,
    rated: Longs,
) -> int:
    """Arguments as in prank.py, with W[2, k, m], B[2, k]; intercept is 1 to learn the biases, 0
    to leave them.
    """
    k = B.shape[1]
    score = np.empty(k)
    step = np.empty(k)
    for t in range(order.size):
        i = order[t]
        first, last = rows.indptr[i], rows.indptr[i + 1]
        indices, data = rows.indices[first:last], rows.data[first:last]
        for r in range(k):
            score[r] = inner(indices, data, W[0, r]) + B[0, r]
        rated[t] = np.argmax(score)
        errors = 0
        for r in range(k):
            if r != y[i] and score[r] >= score[y[i]]:  # r ∈ E
                errors += 1
        if errors > 0:
            for r in range(k):
                step[r] = -1.0 / errors if score[r] >= score[y[i]] else 0.0
            step[y[i]] = 1.0
            for r in range(k):
                if step[r] != 0.0:
                    move(indices, data, step[r], clock, W[0, r], W[1, r])
                    B[0, r] += intercept * step[r]
                    B[1, r] += intercept * step[r] * clock
        clock += 1
    return clock
