"""A table's columns, their scales and a learner of ratings in one object: what the terminal trains for ratings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from shortlist.arrays.kernels import Floats
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_rows
from shortlist.errors import InputError
from shortlist.files import store
from shortlist.files.store import State
from shortlist.ratings.learner import RatingLearner
from shortlist.ratings.prank import PRank


def default_learner() -> RatingLearner:
    return PRank(passes=5, random_state=0)


class Rater(BaseEstimator):
    """Learns ratings from rows of numbers and rates new ones, column by column under the same names.

    ``fit`` scales each column to mean 0 and variance 1, since the learners are sensitive to scale, and remembers how.

    Parameters
    ----------
    learner : any learner of ratings; PRank(passes=5, random_state=0) if None.
    """

    def __init__(self, learner: RatingLearner | None = None) -> None:
        self.learner = learner

    def fit(self, X: Any, ratings: Any, columns: Sequence[str] | None = None) -> Rater:
        """Forget everything and learn these rows. ``columns`` names the columns of X."""
        table = self._dense(as_rows(X))
        self.columns_ = None if columns is None else list(columns)
        self.mean_ = table.mean(axis=0)
        spread = table.std(axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self.n_examples_ = table.shape[0]
        learner = default_learner() if self.learner is None else clone(self.learner)
        self.learner_ = learner.fit((table - self.mean_) / self.scale_, ratings)
        return self

    def learn(self, X: Any, ratings: Any, columns: Sequence[str] | None = None) -> Rater:
        """Go on learning. The scales stay those of ``fit``."""
        scaled = self._scaled(X, columns)
        self.learner_.partial_fit(scaled, ratings)
        self.n_examples_ += scaled.shape[0]
        return self

    def rate(self, X: Any, columns: Sequence[str] | None = None) -> NDArray[Any]:
        """The rating of each row."""
        return self.learner_.predict(self._scaled(X, columns))

    def neighbour_distances(self, X: Any, columns: Sequence[str] | None = None) -> Floats:
        """How far each row lies from the rating below and from the one above, n × 2."""
        distances: Floats = self.learner_.neighbour_distances(self._scaled(X, columns))
        return distances

    @property
    def classes_(self) -> NDArray[Any]:
        """The scale, lowest rating first."""
        return self.learner_.classes_

    def _scaled(self, X: Any, columns: Sequence[str] | None) -> Floats:
        if not hasattr(self, "learner_"):
            raise NotFittedError("this Rater has learned nothing yet; call fit first")
        rows = as_rows(X) if not isinstance(X, Rows) else X
        if columns is not None and self.columns_ is not None and list(columns) != self.columns_:
            raise InputError(
                f"the columns are {', '.join(columns)}, and the model learned from {', '.join(self.columns_)}; "
                "they must be the same, in the same order"
            )
        if rows.n_features != self.mean_.size:
            raise InputError(f"the rows have {rows.n_features} columns, and the model learned from {self.mean_.size}")
        return (self._dense(rows) - self.mean_) / self.scale_

    @staticmethod
    def _dense(rows: Rows) -> Floats:
        dense: Floats = rows.to_matrix().toarray()
        return dense

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file; ``shortlist.load`` opens it."""
        store.save(self, path)

    def to_state(self) -> State:
        settings = {"columns": self.columns_, "n_examples": self.n_examples_}
        arrays = {"mean": self.mean_, "scale": self.scale_}
        return State("Rater", settings, arrays, {"learner": self.learner_.to_state()})

    @classmethod
    def from_state(cls, state: State) -> Rater:
        learner = store.build(state.parts["learner"])
        state.require(isinstance(learner, RatingLearner), "its learner is a learner of ratings")
        rater = cls(clone(learner))
        rater.learner_ = learner
        rater.mean_, rater.scale_ = state.array("mean", np.float64), state.array("scale", np.float64)
        sizes = {rater.mean_.size, rater.scale_.size, int(learner.n_features_in_)}
        state.require(len(sizes) == 1, "each column has a mean and a scale")
        finite = np.isfinite(rater.mean_).all() and np.isfinite(rater.scale_).all()
        state.require(bool(finite and (rater.scale_ > 0).all()), "scales are positive")
        rater.columns_, rater.n_examples_ = state.settings["columns"], int(state.settings["n_examples"])
        return rater
