"""How a learner of ordered ratings rates rows by its rule, and says why."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.ranking import Explanation
from shortlist.data.rows import MatrixLike, Rows
from shortlist.data.validation import as_choice, as_numbers, as_rows, look_at
from shortlist.errors import InputError, counted, there_are
from shortlist.learners.ratings.scale import Ratings, as_ratings, open_for, step_numbers

HYPOTHESES = ("last", "averaged")
LARGEST_RATED_VALUE = 1e100  # of a row


class RatesRows(ABC):
    """Base class of ``RatingLearner``: thresholds on the score of a row."""

    adds_biases = True  # whether a bias is a part of the score, not a threshold
    hypothesis: str
    scale: Any
    classes_: NDArray[Any]
    weights_: Floats
    biases_: Floats
    clock_ = 0  # how many examples were learned, counted again in each pass

    def edges(self, biases: Floats) -> Floats:
        """The thresholds [k−1] of the scores, from the biases of the rule."""
        return biases

    def _rate(self, X: MatrixLike) -> Longs:
        """The step number predicted for each row."""
        return (self.distances(X) >= 0).sum(axis=1)

    def predict(self, X: MatrixLike) -> Ratings:
        """The rating of each row."""
        rated = self._rate(X)  # refuses a learner that has learned nothing
        return self.classes_[rated]

    def distances(self, X: MatrixLike) -> Floats:
        """The distance of each row above each threshold, n × (k − 1): w·x − b_r, falling with
        r; negative if below.
        """
        weights, biases = self._rule()
        return self._products(X, weights) - self.edges(biases)

    def neighbour_distances(self, X: MatrixLike) -> Floats:
        """The distance of each row to the threshold below and to the one above, n × 2; ∞ at the
        ends.
        """
        distances = self.distances(X)
        ends = np.full((distances.shape[0], 1), np.inf)
        fenced = np.hstack([ends, distances, -ends])
        rated = (distances >= 0).sum(axis=1)[:, None]
        below = np.take_along_axis(fenced, rated, 1)
        above = np.take_along_axis(fenced, rated + 1, 1)
        return np.hstack([below, -above])

    def decision_function(self, X: MatrixLike) -> Floats:
        """The distance of each row inside the interval of each rating, n × k: negative outside,
        largest at the rating.

        For two ratings, as in scikit-learn, one number: the distance above the threshold between
        them.
        """
        distances = self.distances(X)
        # a row on a threshold counts as above it
        distances[distances == 0] = np.finfo(np.float64).tiny
        if self.classes_.size == 2:
            return distances[:, 0]
        ends = np.full((distances.shape[0], 1), np.inf)
        return np.minimum(np.hstack([ends, distances]), np.hstack([-distances, ends]))

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Minus the ranking loss: −mean |ŷ − y|, counted in steps of the scale, so that higher
        is better.
        """
        rated = self.predict(X)
        ratings = as_ratings(y, rated.size)
        steps = self.classes_
        if self.scale is None:
            steps, _ = open_for(steps, ratings)
        distances = np.abs(step_numbers(steps, rated) - step_numbers(steps, ratings))
        if sample_weight is None:
            return -float(np.mean(distances))
        weights = as_numbers(sample_weight, "sample_weight", length=rated.size)
        if not weights.min() >= 0 < weights.max():
            raise InputError("sample_weight must hold numbers of at least 0, not all of them 0")
        return -float(np.average(distances, weights=weights))

    def explain(self, x: MatrixLike, names: Sequence[str | int] | None = None) -> Explanation:
        """What each column, by its name or number, adds to the score of one row, and the rating of
        the row.

        The score is w·x, or that of the rating if each rating has weights of its own.
        """
        weights, biases = self._rule()
        if getattr(x, "ndim", 0) != 2:
            x = np.atleast_2d(np.asarray(x))
        row = checked_rows(x).to_matrix().toarray()
        if row.shape[0] != 1:
            raise InputError(f"explain takes one row, not {row.shape[0]}")
        number = int(self._rate(x)[0])  # refuses columns that are not those learned from
        if names is not None and len(names) != row.shape[1]:
            raise InputError(
                f"{there_are(len(names), 'names')} for {counted(row.shape[1], 'columns')}; each "
                "column needs its own"
            )
        rule = number if len(weights) > 1 else 0
        voters = list(range(row.shape[1]) if names is None else names)
        votes = weights[rule] * row[0]
        if self.adds_biases:
            voters.append("(any row)")
            votes = np.append(votes, biases[rule])
        heaviest = [n for n in np.argsort(-np.abs(votes), kind="stable").tolist() if votes[n] != 0]
        pairs = [(voters[n], float(votes[n])) for n in heaviest]
        score = float(sum(vote for _, vote in pairs))
        return Explanation(self.classes_[number].item(), score, pairs)

    def _rule(self) -> tuple[Floats, Floats]:
        """The weights [q, m] and biases [p] of the chosen hypothesis."""
        check_is_fitted(self)
        weights, weight_moments = self.weights_
        biases, bias_moments = self.biases_
        if as_choice(self.hypothesis, "hypothesis", HYPOTHESES) == "last":
            return weights, biases
        return weights - weight_moments / self.clock_, biases - bias_moments / self.clock_

    def _products(self, X: MatrixLike, weights: Floats) -> Floats:
        """The inner products w·x of the rows with the weights [q, m], n × q."""
        matrix = checked_rows(X).to_matrix()
        look_at(self, X, reset=False, width=True)
        products: Floats = matrix @ weights.T
        return products

    @property
    def coef_(self) -> Floats:
        """The weights w of the rule."""
        return self._rule()[0][0]

    @property
    def thresholds_(self) -> Floats:
        """The thresholds b_1 ≤ … ≤ b_{k−1} of the rule."""
        return self.edges(self._rule()[1])


def checked_rows(X: MatrixLike) -> Rows:
    """The rows of X, of which there is at least one, with values of a size that can be learned."""
    rows = as_rows(X)
    if rows.n_rows == 0:
        raise InputError("X has 0 rows; at least one is needed")
    return check_size(rows)


def check_size(rows: Rows) -> Rows:
    """The same rows, refused if a value is too large for sums of products."""
    data = rows.data
    if data.size and max(data.max(), -data.min()) > LARGEST_RATED_VALUE:
        place = int(np.argmax(np.abs(data)))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise InputError(
            f"the value {data[place]:g} in row {row}, column {rows.indices[place]}, is too large; "
            f"scale the columns so that no value is beyond {LARGEST_RATED_VALUE:g}"
        )
    return rows
