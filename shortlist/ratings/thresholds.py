"""Learners that place each row on a line cut by thresholds: PRank, which moves them, Widrow-Hoff, which does not."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel, step
from shortlist.arrays.rows import MatrixLike, is_full
from shortlist.concurrency import reading
from shortlist.ratings.learner import RatingLearner

if TYPE_CHECKING:
    from sklearn.utils import Tags


class ThresholdLearner(RatingLearner):
    """A learner that rates a row by the interval between thresholds into which its score w·x falls."""

    @abstractmethod
    def _edges(self, biases: Floats) -> Floats:
        """The thresholds [h, k−1] against which the scores are held, from the biases [h, p]."""

    @property
    @reading
    def coef_(self) -> Floats:
        """The weights w of the rule; with a kernel, the coefficients α of its support vectors; [h, m] for h voters."""
        weights = self._hypotheses()[0][:, 0]
        return weights[0] if self.hypothesis != "voted" else weights

    @property
    @reading
    def thresholds_(self) -> Floats:
        """The thresholds b_1 ≤ … ≤ b_{k−1} of the rule; [h, k−1] for h voters."""
        edges = self._edges(self._hypotheses()[1])
        return edges[0] if self.hypothesis != "voted" else edges

    def _rate(self, X: MatrixLike) -> Longs:
        return (self.distances(X) >= 0).sum(axis=1)

    @reading
    def distances(self, X: MatrixLike) -> Floats:
        """How far each row lies above each threshold, n × (k − 1): w·x − b_r, falling with r; negative is below.

        For "voted" it is the votes for "above" less those for "below", from −1 to 1.
        """
        weights, biases, votes = self._hypotheses()
        edges = self._edges(biases)
        blocks = []
        for scores in self._scores(X, weights):
            margins = scores[:, :, :1] - edges
            if self.hypothesis == "voted":
                margins = np.where(margins >= 0, 1.0, -1.0)
            blocks.append(np.einsum("nhr,h->nr", margins, votes) / votes.sum())
        return np.concatenate(blocks)

    @reading
    def neighbour_distances(self, X: MatrixLike) -> Floats:
        """How far each row lies above the threshold below it and below the one above it, n × 2; ∞ at the ends."""
        distances = self.distances(X)
        ends = np.full((distances.shape[0], 1), np.inf)
        fenced = np.hstack([ends, distances, -ends])
        rated = (distances >= 0).sum(axis=1)[:, None]
        return np.hstack([np.take_along_axis(fenced, rated, 1), -np.take_along_axis(fenced, rated + 1, 1)])

    @reading
    def decision_function(self, X: MatrixLike) -> Floats:
        """How far each row lies inside the interval of each rating, n × k: negative outside, largest at the prediction.

        Of two ratings, as scikit-learn has it, one number: the distance above the threshold between them.
        """
        distances = self.distances(X)
        distances[distances == 0] = np.finfo(np.float64).tiny  # a row on a threshold counts as above it
        if self.classes_.size == 2:
            return distances[:, 0]
        ends = np.full((distances.shape[0], 1), np.inf)
        return np.minimum(np.hstack([ends, distances]), np.hstack([-distances, ends]))

    @reading
    def project(self, X: MatrixLike) -> Floats:
        """Where each row lies on the line, to sort rows by: w·x; for "voted", the mean step number of the votes."""
        if self.hypothesis == "voted":
            return ((self.distances(X) + 1) / 2).sum(axis=1)
        weights = self._hypotheses()[0]
        return np.concatenate([scores[:, 0, 0] for scores in self._scores(X, weights)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on scikit-learn's own checks, whose classes have no order
        return tags

    def _evidence(self, X: MatrixLike) -> Floats:
        return self.project(X)[:, None]


# Voting (Freund & Schapire, 1999): each hypothesis votes with the number of examples it lived through.


@kernel
def retire(W: Floats, B: Floats, lives: Longs, clock: Longs) -> None:
    """The hypothesis has just erred: it takes the place of the shortest-lived voter if it lived longer."""
    shortest = np.argmin(lives)
    if clock[1] > lives[shortest]:
        lives[shortest] = clock[1]
        W[2 + shortest] = W[0]
        B[2 + shortest] = B[0]


@step
def move(indices: Ints, data: Floats, size: float, time: int, w: Floats, moment: Floats) -> None:
    """Add ``size`` times a row to w, and ``time`` times that to its moment, in one go, in place."""
    later = size * time
    if is_full(indices):
        for j in range(data.size):
            w[j] += size * data[j]
            moment[j] += later * data[j]
        return
    for j in range(indices.size):
        column, value = indices[j], data[j]
        w[column] += size * value
        moment[column] += later * value
