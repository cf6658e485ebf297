"""The base class of the learners of ordered ratings: parameters, learning, thresholds, saving.

The file of a learner gives the shape of its weights, its loop, and the places of its thresholds.

A rule has weights [q, m] and biases [p], and moments of the same shape: the sum of all changes of
the rule, each times the number of examples before it. After n examples, the rule less moments / n
is the rule averaged over all of them. So weights are [2, q, m] and biases [2, p].
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from shortlist.compiled.kernels import Floats, Ints, Longs, step
from shortlist.concurrency import not_interrupted, runs, stop_here
from shortlist.data.rows import MatrixLike, Rows, is_full
from shortlist.data.validation import (
    MOST_AMOUNT,
    as_choice,
    as_seed,
    as_whole,
    look_at,
)
from shortlist.errors import InputError
from shortlist.estimators import Estimator
from shortlist.files.container import text_to_array
from shortlist.files.store import State, save_learner
from shortlist.learners.ratings.row_rater import (
    HYPOTHESES,
    RatesRows,
    checked_rows,
)
from shortlist.learners.ratings.scale import Ratings, as_ratings, as_steps, open_for, step_numbers

ROWS_A_COLUMN = 2000  # over all passes, where ``passes`` is None
MOST_PASSES = 20
ROWS_TOGETHER = 16  # when a pass is shuffled


class RatingLearner(RatesRows, ClassifierMixin, Estimator, BaseEstimator, ABC):
    """A learner of ratings on an ordered scale. A row has the rating between whose thresholds its
    score w·x lies.

    Several threads may rate at a time; while one learns, the others wait. A ``fit`` that fails, or
    is stopped with Ctrl-C, leaves the learner as it was; a ``partial_fit`` that is stopped has
    learned a whole number of examples. The first random pass is shuffled by examples, the others by
    runs of 16 (``in_runs``).

    Parameters
    ----------
    passes, random_state, hypothesis, scale
        See :class:`~shortlist.learners.ratings.prank.PRank`.

    Attributes
    ----------
    classes_ : array
        The scale, lowest rating first.
    """

    save = save_learner
    n_features_in_: int

    def __init__(
        self,
        *,
        passes: int | None = None,
        random_state: int | None = None,
        hypothesis: str = "averaged",
        scale: ArrayLike | None = None,
    ) -> None:
        self.passes = passes
        self.random_state = random_state
        self.hypothesis = hypothesis
        self.scale = scale

    # For subclasses.

    @abstractmethod
    def _shape(self, n_steps: int) -> tuple[int, int]:
        """The number of weight vectors and of biases for a scale of n_steps."""

    @abstractmethod
    def update(self, rows: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        """Learn the examples of ``order`` and advance the clock; write the predictions to
        ``rated``.
        """

    @abstractmethod
    def _open_step(self, number: int) -> None:
        """Insert a new step with that number into weights and biases."""

    # Learning.

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Forget everything and learn all rows, in ``passes`` passes."""
        if self.passes is not None:
            as_whole(self.passes, "passes", least=1)
        seed = as_seed(self.random_state)
        state_before = dict(self.__dict__)  # learning anew leaves the old arrays unchanged
        try:
            rows, numbers = self.prepare(X, y, afresh=True)
            passes = self.passes
            if passes is None:
                enough = -(-ROWS_A_COLUMN * rows.n_features // rows.n_rows)
                passes = min(max(1, enough), MOST_PASSES)
            if seed is not None:
                # move the rows into random order; later passes shuffle runs of them
                generator = np.random.default_rng(seed)
                shuffled = np.arange(rows.n_rows, dtype=np.int64)
                generator.shuffle(shuffled)
                rows = rows.take(shuffled)
                numbers = numbers[shuffled]
            for number in range(passes):
                order = None
                if seed is not None and number > 0:
                    order = in_runs(rows.n_rows, generator)
                self._run(rows, numbers, order)
        except BaseException:
            self.__dict__ = state_before
            raise
        return self

    @not_interrupted
    def partial_fit(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn more rows, once, in the order given.

        New columns of X and, if the scale is learned, new ratings may come at any time. ``classes``
        may name ratings of later examples.
        """
        self._run(*self.prepare(X, y, classes))
        return self

    @not_interrupted
    def predict_and_learn(self, X: MatrixLike, y: ArrayLike) -> Ratings:
        """``partial_fit`` that returns the rating that the last rule predicted for each row
        before learning it.
        """
        rated = self._run(*self.prepare(X, y))
        return self.classes_[rated]

    def prepare(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, *, afresh: bool = False
    ) -> tuple[Rows, Longs]:
        """Check everything, then make room; return the rows and the step numbers of their
        ratings.
        """
        if y is None:
            raise InputError("this learner requires y to be passed, but the target y is None")
        rows = checked_rows(X)
        ratings = as_ratings(y, rows.n_rows)
        named = ratings
        if classes is not None:
            named, _ = open_for(as_ratings(classes, np.size(classes)), ratings)
        if afresh or self.clock_ == 0:
            as_choice(self.hypothesis, "hypothesis", HYPOTHESES)
            steps = np.unique(named) if self.scale is None else as_steps(self.scale)
            numbers = step_numbers(steps, ratings)
            look_at(self, X, reset=True, width=True)
            n_vectors, n_biases = self._shape(steps.size)
            self.weights_ = np.zeros((2, n_vectors, rows.n_features))
            self.biases_ = np.zeros((2, n_biases))
            self.classes_ = steps
            self.clock_ = 0
        else:
            steps = self.classes_
            new_steps: list[int] = []
            if self.scale is None:
                steps, new_steps = open_for(steps, named)
            numbers = step_numbers(steps, ratings)
            look_at(self, X, reset=rows.n_features > self.n_features_in_, width=True)
            self._grow(rows.n_features, steps, new_steps)
        return rows, numbers

    def _grow(self, n_features: int, steps: NDArray[Any], new_steps: list[int]) -> None:
        """Make room for new columns and new steps."""
        for number in new_steps:
            self._open_step(number)
        self.classes_ = steps
        n_new = n_features - self.weights_.shape[2]
        self.weights_ = np.pad(self.weights_, ((0, 0), (0, 0), (0, n_new)))

    def _run(self, rows: Rows, y: Longs, order: Longs | None = None) -> Longs:
        """Learn the rows once; return the step number predicted for each before it was learned."""
        if order is None:
            order = np.arange(rows.n_rows, dtype=np.int64)
        rated = np.empty(rows.n_rows, dtype=np.int64)
        for run in runs(order.size):
            self.update(rows, order[run], y, rated[run])
            stop_here()
        return rated

    # Model files. ``from_state`` checks everything that kernels rely on.

    def to_state(self) -> State:
        """The state of a fitted learner."""
        check_is_fitted(self)
        if not np.isfinite(self.weights_).all() or not np.isfinite(self.biases_).all():
            raise InputError(
                f"this {type(self).__name__} cannot be saved: its weights are no longer finite "
                "numbers; learn again from smaller values or with a smaller step"
            )
        # NumPy's numbers and arrays, which a user may have given, as JSON has them.
        parameters = json.loads(json.dumps(self.get_params(), default=lambda value: value.tolist()))
        settings = {
            "parameters": parameters,
            "n_features": self.n_features_in_,
            "clock": self.clock_,
        }
        arrays: dict[str, NDArray[Any]] = {
            "classes": text_to_array(self.classes_.tolist()),
            "weights": self.weights_,
            "biases": self.biases_,
        }
        return State(type(self).__name__, settings, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The learner that a state describes, or ModelFileError."""
        learner = cls(**state.settings["parameters"])
        learner.n_features_in_ = as_whole(state.settings["n_features"], "n_features", least=1)
        learner.classes_ = as_steps(state.names("classes"), least=1)
        learner.clock_ = as_whole(state.settings["clock"], "clock", least=1, most=MOST_AMOUNT)
        learner.weights_ = state.array("weights", np.float64, 3)
        learner.biases_ = state.array("biases", np.float64, 2)
        n_vectors, n_biases = learner._shape(learner.classes_.size)
        shape = 2, n_vectors, learner.n_features_in_
        state.require(learner.weights_.shape == shape, "its weights have another shape")
        state.require(learner.biases_.shape == (2, n_biases), "its biases have another shape")
        finite = np.isfinite(learner.weights_).all() and np.isfinite(learner.biases_).all()
        state.require(finite, "a weight is not a finite number")
        return learner

    # For scikit-learn.

    def __sklearn_is_fitted__(self) -> bool:
        return self.clock_ > 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # in scikit-learn's checks, whose classes have no order
        tags.classifier_tags.poor_score = True
        return tags


@step
def move(indices: Ints, data: Floats, size: float, time: int, w: Floats, moment: Floats) -> None:
    """Add ``size`` times a row to w, and ``time`` times that to its moment, in place."""
    later = size * time
    if is_full(indices):
        for j in range(data.size):
            w[j] += size * data[j]
            moment[j] += later * data[j]
        return
    for j in range(indices.size):
        w[indices[j]] += size * data[j]
        moment[indices[j]] += later * data[j]


def in_runs(n: int, generator: np.random.Generator) -> Longs:
    """0..n−1 in a new order: shuffled runs of neighbours, each shuffled within.

    Single rows far apart in memory would be read more slowly than they are learned.
    """
    starts = generator.permutation(np.arange(0, n, ROWS_TOGETHER, dtype=np.int64))
    order = generator.permuted(
        starts[:, None] + np.arange(ROWS_TOGETHER, dtype=np.int64), axis=1
    ).reshape(-1)
    return order[order < n]
