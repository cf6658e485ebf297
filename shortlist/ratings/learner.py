"""What the learners of ordered ratings share: parameters, the stream, the three hypotheses, saving.

A learner's own file gives the shape of its weights, the loop of its figure, and how scores become ratings. The loop
reads rows and writes rows: in the plain form both are the rows of X; with a kernel see dual.py. How the present
hypothesis, its average and its voters are laid out is told in thresholds.py.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import MatrixLike, Rows
from shortlist.arrays.validation import MOST_AMOUNT, as_choice, as_numbers, as_real, as_rows, as_seed, as_whole
from shortlist.concurrency import reading, runs, snapshot, stop_here, whole, writing
from shortlist.errors import InputError, counted, there_are
from shortlist.estimators import Estimator
from shortlist.files.container import text_to_array
from shortlist.files.store import State
from shortlist.files.store import save as save_file
from shortlist.ranking import Explanation
from shortlist.ratings import dual
from shortlist.ratings.calibration import Calibration
from shortlist.ratings.scale import Ratings, as_ratings, as_steps, open_for, step_numbers

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import Self


HYPOTHESES = ("last", "averaged", "voted")
ENOUGH, MOST_PASSES = 2000, 20  # rows seen for each column, all passes together; but no more passes than these
RUN = 16  # rows that stay together when a pass is shuffled
LARGEST = 1e100  # value of a row that ratings are learned from
PREDICT_BLOCK = 2**22  # the most scores, or kernel values, that predicting holds at a time


class RatingLearner(ClassifierMixin, Estimator, BaseEstimator, ABC):
    """A learner of ratings on an ordered scale.

    Several threads may rate at a time; while one learns, the others wait. A ``fit`` that fails, or is stopped with
    Ctrl-C, leaves the learner as it was; a ``partial_fit`` that is stopped has learned a whole number of examples.
    Of several passes in random order, the first is shuffled example by example and the others by runs of 16 (see
    ``in_runs``).

    Parameters
    ----------
    passes, random_state, hypothesis, voters, kernel, degree, gamma, coef0, budget, scale
        See :class:`~shortlist.ratings.prank.PRank`.

    Attributes
    ----------
    classes_ : array
        The scale, lowest rating first.
    """

    adds_biases = True  # whether a bias is a part of the score, and not a threshold for it
    classes_: NDArray[Any]
    n_features_in_: int
    _supports: dual.Supports | None
    _weights: Floats
    _biases: Floats
    _lives: Longs
    _clock: Longs
    _calibration: Calibration | None

    def __init__(
        self,
        *,
        passes: int | None = None,
        random_state: int | None = None,
        hypothesis: str = "averaged",
        voters: int = 100,
        kernel: str | dual.Function | None = None,
        degree: int = 2,
        gamma: float = 1.0,
        coef0: float = 1.0,
        budget: int | None = None,
        scale: ArrayLike | None = None,
    ) -> None:
        self.passes = passes
        self.random_state = random_state
        self.hypothesis = hypothesis
        self.voters = voters
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.budget = budget
        self.scale = scale

    # What each learner's own file says.

    @abstractmethod
    def _shape(self, n_steps: int) -> tuple[int, int]:
        """The number of weight vectors and of biases for a scale of n_steps."""

    @abstractmethod
    def _learn(self, read: Rows, write: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        """Run the figure's loop over the examples of ``order``; ``rated`` receives the predictions."""

    @abstractmethod
    def _open_step(self, at: int) -> None:
        """Make room for a new step, which gets number ``at``, in weights and biases."""

    @abstractmethod
    def _rate(self, X: MatrixLike) -> Longs:
        """The step number predicted for each row."""

    @abstractmethod
    def _evidence(self, X: MatrixLike) -> Floats:
        """The real numbers, n × f, from which probabilities are calibrated."""

    def _check_state(self, state: State) -> None:
        """Refuse a loaded state that this learner could not have reached."""

    # Learning.

    @writing
    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Learn from all rows, forgetting what was learned before; go through them ``passes`` times."""
        if self.passes is not None:
            as_whole(self.passes, "passes", least=1)
        seed = as_seed(self.random_state)
        generator = None if seed is None else np.random.default_rng(seed)
        before = dict(self.__dict__)  # fitting makes new arrays and leaves the old ones unchanged
        try:
            self._take(X, y, None, afresh=True, passes=self.passes_through, generator=generator)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    @writing
    @whole
    def partial_fit(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on learning from these rows, once, in the order given.

        New columns of X and, where the scale is learned, new ratings may come at any time. ``classes`` may name ratings
        that are still to come.
        """
        self._take(X, y, classes)
        return self

    @writing
    @whole
    def predict_and_learn(self, X: MatrixLike, y: ArrayLike) -> Ratings:
        """As ``partial_fit``, and give the rating that the last rule predicted for each row just before learning it."""
        rated = self._take(X, y)
        return self.classes_[rated]

    def _take(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        afresh: bool = False,
        passes: Callable[[Rows], int] = lambda rows: 1,
        generator: np.random.Generator | None = None,
    ) -> Longs:
        """Check everything, then learn; gives the step numbers predicted on the way, in the order of the last pass."""
        if y is None:
            raise InputError("this learner requires y to be passed, but the target y is None")
        rows = _as_rows(X)
        ratings = as_ratings(y, rows.n_rows)
        named = ratings if classes is None else open_for(as_ratings(classes, np.size(classes)), ratings)[0]
        if afresh or not hasattr(self, "_clock"):
            steps = np.unique(named) if self.scale is None else as_steps(self.scale)
            numbers = step_numbers(steps, ratings)
            self._start(rows.n_features, steps)
            self._note_columns(X, reset=True)
        else:
            if (self._supports is None) != (self.kernel is None):
                raise InputError("kernel was changed after learning had begun; fit anew")
            steps, arrived = (self.classes_, []) if self.scale is not None else open_for(self.classes_, named)
            numbers = step_numbers(steps, ratings)
            self._note_columns(X, reset=rows.n_features > self.n_features_in_)
            self._grow(rows.n_features, steps, arrived)
        return self._stream(rows, numbers, passes(rows), generator)

    def passes_through(self, rows: Rows) -> int:
        """How often ``fit`` goes through these rows: as it is set, or as often as so few need."""
        if self.passes is not None:
            return self.passes
        if self.kernel is not None:
            return 1  # each pass may take long
        return min(max(1, -(-ENOUGH * rows.n_features // rows.n_rows)), MOST_PASSES)

    def _start(self, n_features: int, steps: NDArray[Any]) -> None:
        as_choice(self.hypothesis, "hypothesis", HYPOTHESES)
        voters = as_whole(self.voters, "voters", least=1) if self.hypothesis == "voted" else 0
        n_vectors, n_biases = self._shape(steps.size)
        self.classes_ = steps
        self._supports = None if self.kernel is None else dual.Supports(scipy.sparse.csr_array((0, n_features)))
        self._weights = np.zeros((2 + voters, n_vectors, n_features if self.kernel is None else 0))
        self._biases = np.zeros((2 + voters, n_biases))
        self._lives = np.zeros(voters, dtype=np.int64)
        self._clock = np.zeros(2, dtype=np.int64)

    def _grow(self, n_features: int, steps: NDArray[Any], arrived: list[int]) -> None:
        for at in arrived:
            self._open_step(at)
        self.classes_ = steps
        if self._supports is None:
            self._weights = widened(self._weights, n_features)
        else:
            self._supports.rows.resize((len(self._supports), n_features))

    def _stream(self, rows: Rows, y: Longs, passes: int, generator: np.random.Generator | None) -> Longs:
        rated = np.empty(rows.n_rows, dtype=np.int64)
        order = np.arange(rows.n_rows, dtype=np.int64)
        if generator is not None:
            # The rows move once, into random order; later passes shuffle runs of them (see in_runs).
            generator.shuffle(order)
            rows, y, order = rows.take(order), y[order], np.arange(rows.n_rows, dtype=np.int64)
        self._calibration = None  # it was fitted to an older rule
        if self._supports is not None:
            self._supports.origin[:] = -1
        for number in range(passes):
            if generator is not None and number > 0:
                order = in_runs(rows.n_rows, generator)
            if self._supports is not None:
                self._stream_dual(self._supports, rows, order, y, rated)
                continue
            for run in runs(order.size):
                self._learn(rows, rows, order[run], y, rated[run])
                stop_here()
        return rated

    def _kernel_function(self) -> dual.Function:
        return dual.kernel_function(self.kernel, self.degree, self.gamma, self.coef0)

    def _stream_dual(self, supports: dual.Supports, rows: Rows, order: Longs, y: Longs, rated: Longs) -> None:
        """Run the loop in the dual form (see dual.py): coefficients of support vectors in place of weights."""
        budget = None if self.budget is None else as_whole(self.budget, "budget", least=1)
        clock = int(self._clock[0])
        for turn in dual.turns(supports, self._kernel_function(), rows, order, clock, budget):
            self._weights = widened(self._weights, len(supports))
            each = np.arange(turn.members.size, dtype=np.int64)
            self._learn(turn.read, turn.write, each, y[turn.members], rated[turn.block])
            used, size = np.asarray(self._weights.any(axis=(0, 1))), np.linalg.norm(self._weights[0], axis=0)
            kept = supports.drop(used, size, turn.most)
            self._weights = np.ascontiguousarray(self._weights[:, :, kept])
            stop_here()

    # Predicting.

    @reading
    def predict(self, X: MatrixLike) -> Ratings:
        """The rating of each row."""
        rated = self._rate(X)
        return self.classes_[rated]

    @reading
    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Minus the ranking loss: −mean |ŷ − y|, counted in steps of the scale, so that higher is better."""
        rated = self.predict(X)
        ratings = as_ratings(y, rated.size)
        steps = self.classes_ if self.scale is not None else open_for(self.classes_, ratings)[0]
        distances = np.abs(step_numbers(steps, rated) - step_numbers(steps, ratings))
        weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight", length=rated.size)
        if weights is not None and not (weights.min() >= 0 < weights.max()):
            raise InputError("sample_weight must hold numbers of at least 0, not all of them 0")
        return -float(np.average(distances, weights=weights))

    @reading
    def explain(self, x: MatrixLike, names: Sequence[str | int] | None = None) -> Explanation:
        """What each column, by its name or number, adds to the score of one row of numbers, and the rating it gets.

        The score is that of the rating, where each rating has its own weights, and otherwise the row's on the scale.
        """
        check_is_fitted(self, "_clock")
        if self._supports is not None or self.hypothesis == "voted":
            raise InputError("a kernel, or a vote of many rules, is not a sum over columns that could be explained")
        weights, biases, _ = self._hypotheses()
        x = x if getattr(x, "ndim", 0) == 2 else np.atleast_2d(np.asarray(x))
        row = _as_rows(x).to_matrix().toarray()
        if row.shape[0] != 1:
            raise InputError(f"explain takes one row, not {row.shape[0]}")
        step = int(self._rate(x)[0])  # refuses columns that are not those learned from
        if names is not None and len(names) != row.shape[1]:
            raise InputError(
                f"{there_are(len(names), 'names')} for {counted(row.shape[1], 'columns')}; each column needs its own"
            )
        own = step if weights.shape[1] == self.classes_.size > 1 else 0
        votes = (weights[0, own] * row[0]).tolist()
        pairs: list[tuple[str | int | float, float]] = list(
            zip(range(len(votes)) if names is None else names, votes, strict=True)
        )
        if self.adds_biases:
            pairs.append(("(any row)", float(biases[0, own])))
        heaviest = sorted((pair for pair in pairs if pair[1] != 0), key=lambda pair: -abs(pair[1]))
        return Explanation(self.classes_[step].item(), float(sum(vote for _, vote in heaviest)), heaviest)

    @writing
    def calibrate(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Fit probabilities on examples that were not learned from; learning more forgets them."""
        scores = self._evidence(X)
        ratings = as_ratings(y, scores.shape[0])
        self._calibration = Calibration.fit(scores, step_numbers(self.classes_, ratings), self.classes_.size)
        return self

    def _is_calibrated(self) -> bool:
        if getattr(self, "_calibration", None) is None:
            raise AttributeError("probabilities need calibrate(X, y) with examples that were not learned from")
        return True

    @available_if(_is_calibrated)
    @reading
    def predict_proba(self, X: MatrixLike) -> Floats:
        """The probability of each rating, n × k: never negative, and each row sums to one."""
        assert self._calibration is not None
        return self._calibration.probabilities(self._evidence(X))

    @available_if(_is_calibrated)
    @reading
    def interval(self, X: MatrixLike, coverage: float = 0.9) -> Ratings:
        """The lowest and the highest rating, n × 2, between which the true one lies for this share of rows."""
        assert self._calibration is not None
        share = as_real(coverage, "coverage", least=0, most=1)
        return self.classes_[self._calibration.intervals(self._evidence(X), share)]

    def _hypotheses(self) -> tuple[Floats, Floats, Floats]:
        """The rules that predict: weights [h, q, m], biases [h, p], and the number [h] of votes that each has."""
        check_is_fitted(self, "_clock")
        W, B = self._weights, self._biases
        if as_choice(self.hypothesis, "hypothesis", HYPOTHESES) == "voted":
            if self._lives.size == 0:
                raise InputError("no voters were kept; set hypothesis='voted' before learning")
            lives = np.concatenate([self._clock[1:], self._lives])
            rules = np.flatnonzero(lives)
            places = np.where(rules == 0, 0, rules + 1)  # row 0 is the current rule; voters begin at row 2
            return W[places], B[places], lives[rules].astype(np.float64)
        if self.hypothesis == "last":
            return W[:1], B[:1], np.ones(1)
        return W[:1] - W[1:2] / self._clock[0], B[:1] - B[1:2] / self._clock[0], np.ones(1)

    def _scores(self, X: MatrixLike, weights: Floats) -> Iterator[Floats]:
        """Blocks of the scores w·x for the weights [h, q, m], as arrays [rows, h, q]."""
        matrix = _as_rows(X).to_matrix()
        self._note_columns(X, reset=False)
        n_rules, n_vectors, n_columns = weights.shape
        flat = weights.reshape(n_rules * n_vectors, n_columns).T
        width = n_rules * self.classes_.size + (0 if self._supports is None else len(self._supports))
        size = max(1, PREDICT_BLOCK // width)
        for first in range(0, matrix.shape[0], size):
            block = matrix[first : first + size]
            if self._supports is not None:
                block = dual.gram(self._kernel_function(), block, self._supports.rows)
            yield (block @ flat).reshape(-1, n_rules, n_vectors)

    # Model files: all that the kernels trust is checked on the way in.

    @reading
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which ``shortlist.load`` opens."""
        save_file(self, path)

    @snapshot
    def to_state(self) -> State:
        """All that a fitted learner is."""
        check_is_fitted(self, "_clock")
        if callable(self.kernel):
            raise InputError("a model whose kernel is a Python function cannot be saved; use a kernel with a name")
        if not np.isfinite(self._weights).all() or not np.isfinite(self._biases).all():
            raise InputError(
                f"this {type(self).__name__} is not saved: what it has learned are no longer finite numbers; learn "
                "again from smaller values or with a smaller step"
            )
        arrays: dict[str, NDArray[Any]] = {
            "classes": text_to_array(self.classes_.tolist()),
            "weights": self._weights,
            "biases": self._biases,
            "lives": self._lives,
            "clock": self._clock,
        }
        if self._supports is not None:
            arrays |= self._supports.to_arrays()
        if self._calibration is not None:
            arrays["slopes"], arrays["offsets"] = self._calibration.slopes, self._calibration.offsets
            arrays["strange"] = self._calibration.strange
        parameters = {name: _plain(value) for name, value in self.get_params().items()}
        return State(type(self).__name__, {"parameters": parameters, "n_features": self.n_features_in_}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The learner that a state describes, or ModelFileError."""
        learner = cls(**state.settings["parameters"])
        learner.n_features_in_ = as_whole(state.settings["n_features"], "n_features", least=1)
        learner.classes_ = as_steps(state.names("classes"), least=1)
        learner._weights, learner._biases = state.array("weights", np.float64, 3), state.array("biases", np.float64, 2)
        learner._lives, learner._clock = state.array("lives", np.int64), state.array("clock", np.int64)
        learner._supports = None if learner.kernel is None else dual.Supports.from_arrays(state, learner.n_features_in_)
        learner._calibration = _calibration_of(state, learner.classes_.size) if "slopes" in state.arrays else None

        n_rules = 2 + learner._lives.size
        n_vectors, n_biases = learner._shape(learner.classes_.size)
        n_columns = learner.n_features_in_ if learner._supports is None else len(learner._supports)
        state.require(learner._weights.shape == (n_rules, n_vectors, n_columns), "its weights have another shape")
        state.require(learner._biases.shape == (n_rules, n_biases), "its biases have another shape")
        finite = np.isfinite(learner._weights).all() and np.isfinite(learner._biases).all()
        state.require(finite, "a weight is not a finite number")
        counts = np.concatenate([learner._clock - 1, learner._lives])
        counted = learner._clock.size == 2 and ((counts >= 0) & (counts < MOST_AMOUNT)).all()
        state.require(counted, "its counts are not counts")
        learner._check_state(state)
        return learner

    # Checking.

    def _note_columns(self, X: MatrixLike, *, reset: bool) -> None:
        """Remember, or check, the number and the names of the columns as scikit-learn does."""
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except ValueError as problem:
            raise InputError(str(problem)) from None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _as_rows(X: MatrixLike) -> Rows:
    rows = as_rows(X)
    if rows.n_rows == 0:
        raise InputError("X has 0 rows; at least one is needed")
    return check_size(rows)


def check_size(rows: Rows) -> Rows:
    """The same rows, refused where a value is too large to be multiplied and added up."""
    data = rows.data
    if data.size and max(data.max(), -data.min()) > LARGEST:
        place = int(np.argmax(np.abs(data)))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise InputError(
            f"the value {data[place]:g} in row {row}, column {rows.indices[place]}, is too large to learn ratings from "
            f"or to rate; scale the columns so that no value is beyond {LARGEST:g}"
        )
    return rows


def in_runs(n: int, generator: np.random.Generator) -> Longs:
    """0..n−1 in a new order: runs of neighbours, the runs shuffled, and each run shuffled within.

    A row alone is some hundred bytes far away in memory, for which the loop would wait longer than it computes; a run
    of rows comes in one stream.
    """
    starts = generator.permutation(np.arange(0, n, RUN, dtype=np.int64))
    order = generator.permuted(starts[:, None] + np.arange(RUN, dtype=np.int64), axis=1).reshape(-1)
    return order[order < n]


def widened(weights: Floats, n_columns: int) -> Floats:
    """The weights [h, q, m] with zeros for the columns that are new."""
    return np.pad(weights, ((0, 0), (0, 0), (0, n_columns - weights.shape[2])))


def _calibration_of(state: State, n_steps: int) -> Calibration:
    slopes, offsets = state.array("slopes", np.float64, 2), state.array("offsets", np.float64)
    state.require(slopes.shape[0] == offsets.size == n_steps, "its probabilities are of another scale")
    possible = np.isfinite(slopes).all() and (offsets < np.inf).all() and np.isfinite(offsets).any()
    state.require(possible, "its probabilities are not numbers")
    strange = np.array(state.array("strange", np.float64))
    state.require(bool((strange >= 0).all() and (strange[1:] >= strange[:-1]).all()), "its examples are not in order")
    return Calibration(slopes, offsets, strange)


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value
