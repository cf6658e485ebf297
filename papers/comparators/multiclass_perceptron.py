"""The multiclass Perceptron with uniform updates (Crammer & Singer, "Ultraconservative online algorithms for multiclass
problems"; the paper's rival MCP). It knows nothing of the order of the ratings.

k prototypes w_1..w_k, all zero at the start; ŷ = argmax_r w_r·x, of equal ones the lowest. With the error set

    E = {r ≠ y : w_r·x ≥ w_y·x},   if E is not empty:   w_y += x;   w_r −= x/|E| for r ∈ E.

A tie is an error, as for all Perceptrons here: otherwise the lowest rating would never be learned from zero.

Beside the paper: an intercept for each prototype, off in the paper's experiments. A step that arrives later gets a
prototype of zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel
from shortlist.arrays.rows import MatrixLike, Rows, inner
from shortlist.arrays.validation import as_choice
from shortlist.concurrency import reading
from shortlist.ratings.dual import Function
from shortlist.ratings.learner import RatingLearner
from shortlist.ratings.thresholds import move, retire


class MulticlassPerceptron(RatingLearner):
    """Learn ratings as if they had no order: one prototype for each, of which the most similar wins.

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether to add a constant to each prototype.
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

    References
    ----------
    Crammer, K. and Singer, Y. (2003). Ultraconservative online algorithms for multiclass problems. JMLR 3.

    Crammer, K. and Singer, Y. (2001). Pranking with Ranking. NIPS 14 (as a rival of PRank).

    Examples
    --------
    >>> from papers.comparators.multiclass_perceptron import MulticlassPerceptron
    >>> rater = MulticlassPerceptron(passes=10)
    >>> rater.fit([[-1.0], [0.0], [1.0]], ["A", "B", "C"]).predict([[-2.0], [2.0]])
    array(['A', 'C'], dtype='<U1')
    """

    def __init__(
        self,
        *,
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
        self.fit_intercept = fit_intercept

    def _shape(self, n_steps: int) -> tuple[int, int]:
        return n_steps, n_steps

    def _learn(self, read: Rows, write: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        _learn(
            read.indptr, read.indices, read.data, write.indptr, write.indices, write.data,
            order, y, 1.0 if as_choice(self.fit_intercept, "fit_intercept", (True, False)) else 0.0,
            self._weights, self._biases, self._lives, self._clock, rated,
        )  # fmt: skip

    def _open_step(self, at: int) -> None:
        self._weights = np.insert(self._weights, at, 0.0, axis=1)
        self._biases = np.insert(self._biases, at, 0.0, axis=1)

    @property
    @reading
    def coef_(self) -> Floats:
        """The prototypes [k, m]; with a kernel, the coefficients of the support vectors; [h, k, m] for h voters."""
        weights = self._hypotheses()[0]
        return weights[0] if self.hypothesis != "voted" else weights

    @reading
    def scores(self, X: MatrixLike) -> Floats:
        """The score of each rating, n × k: w_r·x; for "voted", the share of the votes."""
        weights, biases, votes = self._hypotheses()
        blocks = []
        for scores in self._scores(X, weights):
            scores = scores + biases
            if self.hypothesis == "voted":
                scores = (scores.argmax(axis=2)[:, :, None] == np.arange(self.classes_.size)).astype(np.float64)
            blocks.append(np.einsum("nhr,h->nr", scores, votes) / votes.sum())
        return np.concatenate(blocks)

    @reading
    def decision_function(self, X: MatrixLike) -> Floats:
        """The ``scores``; of two ratings, as scikit-learn has it, by how much the higher one leads."""
        scores = self.scores(X)
        return scores[:, 1] - scores[:, 0] if self.classes_.size == 2 else scores

    @reading
    def neighbour_distances(self, X: MatrixLike) -> Floats:
        """By how much the predicted rating leads the one below it and the one above it, n × 2; ∞ at the ends."""
        scores = self.scores(X)
        ends = np.full((scores.shape[0], 1), -np.inf)
        fenced = np.hstack([ends, scores, ends])
        rated = scores.argmax(axis=1)[:, None]
        around = np.hstack([np.take_along_axis(fenced, rated, 1), np.take_along_axis(fenced, rated + 2, 1)])
        return np.take_along_axis(scores, rated, 1) - around

    def _rate(self, X: MatrixLike) -> Longs:
        return self.scores(X).argmax(axis=1)

    def _evidence(self, X: MatrixLike) -> Floats:
        return self.scores(X)


# The rounds of the multiclass Perceptron, for the examples of `order` in turn.


@kernel
def _learn(
    indptr: Longs, indices: Ints, data: Floats, write_indptr: Longs, write_indices: Ints, write_data: Floats,
    order: Longs, y: Longs, intercept: float, W: Floats, B: Floats, lives: Longs, clock: Longs, rated: Longs,
) -> None:  # fmt: skip
    """Arguments as in prank.py, with W[2+V, k, m], B[2+V, k]; intercept is 1 to learn the biases, 0 to leave them."""
    k = B.shape[1]
    score = np.empty(k)
    step = np.empty(k)
    for t in range(order.size):
        i = order[t]
        first, last = indptr[i], indptr[i + 1]
        for r in range(k):
            score[r] = inner(indices[first:last], data[first:last], W[0, r]) + B[0, r]
        rated[t] = np.argmax(score)
        errors = 0
        for r in range(k):
            if r != y[i] and score[r] >= score[y[i]]:  # r ∈ E
                errors += 1
        if errors == 0:
            clock[1] += 1
        else:
            if lives.size > 0:
                retire(W, B, lives, clock)
            for r in range(k):
                step[r] = -1.0 / errors if score[r] >= score[y[i]] else 0.0
            step[y[i]] = 1.0
            first, last = write_indptr[i], write_indptr[i + 1]
            for r in range(k):
                if step[r] != 0.0:
                    move(write_indices[first:last], write_data[first:last], step[r], clock[0], W[0, r], W[1, r])
                    B[0, r] += intercept * step[r]
                    B[1, r] += intercept * step[r] * clock[0]
            clock[1] = 1
        clock[0] += 1
