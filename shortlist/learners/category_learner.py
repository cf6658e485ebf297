"""What all learners of categories share: checked input, numbered labels, learning, answers, model
files.

A learner adds six steps of its own, all on checked arrays:
``begin``, ``update``, ``best_labels``, ``all_scores``, ``votes``, and the arrays it is made of.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist import concurrency
from shortlist.compiled.kernels import Floats, Ints, Longs, count_up
from shortlist.concurrency import (
    learning,
    lock_of,
    merging,
    nothing_if_refused,
    reading,
    runs,
    snapshot,
    stop_here,
    writing,
)
from shortlist.data.label_input import (
    Columns,
    Label,
    LabelsLike,
    as_array,
    class_list,
    joined_columns,
)
from shortlist.data.labels import LabelIndex, LabelSets, NumberedLabels, numbered
from shortlist.data.ranking import Explanation, Ranking
from shortlist.data.rows import MatrixLike, Rows, RowStore, check_nonnegative, grown
from shortlist.data.validation import (
    MOST_AMOUNT,
    Names,
    as_jobs,
    as_numbers,
    as_rows,
    as_seed,
    as_whole,
    check_columns,
    column_names,
    grown_names,
    is_sparse,
    note_names,
    one_row,
)
from shortlist.errors import InputError
from shortlist.estimators import Estimator, available_if, not_fitted
from shortlist.files.container import Later, text_to_array
from shortlist.files.store import State, save_learner

if TYPE_CHECKING:
    from collections.abc import Iterable


# Which labels may be ranked, and factors on their scores.


class Allowed(NamedTuple):
    """For each label whether it may be ranked, and a factor for its score if that is above 0
    (None for 1).
    """

    labels: NDArray[np.bool_]
    factors: Floats | None = None


What = TypeVar("What")
LEAST_BLOCK = 256  # rows that are worth a thread of their own
SCORES = 1 << 20  # scores that are held at a time
BIAS = -1  # the column of the bias among votes


# An observer: called with a learner and the rows and labels that it is about to learn, it yields
# their order in pieces. Before each piece it can have rows ranked that are not learned yet.
Watch = Callable[[Any, Rows | RowStore, LabelSets, Longs], Iterator[Longs]]


def at_once(
    learner: object, rows: Rows | RowStore, labels: LabelSets, order: Longs
) -> Iterator[Longs]:
    """No observer: the whole order as one piece."""
    yield order


class CategoryLearner(Estimator, ABC):
    """Base class of the learners of categories.

    X is a sparse or dense matrix. Y holds the labels: a list of label lists, one label for each
    row, or an indicator matrix. Labels and columns that were never seen before may arrive with
    every ``partial_fit``. Where the columns of X have names, they are kept in
    ``feature_names_in_``; columns may arrive behind those, but none may change.

    Several threads may rank at a time; while one learns, the others wait (concurrency.py). A
    ``fit`` that fails, or is stopped, leaves the learner as it was; a ``partial_fit`` that is
    stopped has learned the first so many rows, as ``n_examples_`` tells (concurrency.py).

    Attributes
    ----------
    classes_ : ndarray
        All labels, in order of first appearance; those of an indicator matrix in the order of its
        columns.
    label_counts_ : ndarray
        In how many examples each label was seen.
    n_examples_ : int
        How many examples were learned.
    n_features_in_ : int
        How many columns the widest of them had.
    feature_names_in_ : ndarray of str
        The names of the columns, where they have names.
    """

    _predicts_labels = True
    n_examples_: int
    n_features_in_: int
    feature_names_in_: Names
    label_index_: LabelIndex
    counts_by_label: Longs
    in_stream = False  # whether examples are learned once, as they come
    label_columns_: Columns | None  # of the indicator matrices that all labels came as

    nonnegative = False  # whether the learner takes only values of at least 0
    updatable = True  # whether it can go on learning; if not, it has ``fit`` only
    takes_pieces = False  # whether it can learn the rows of a store, some at a time
    ranks_ahead = False  # whether it can rank examples on the way, each before it is learned
    takes_partial = False  # whether it can leave labels alone that were not judged
    save = save_learner

    # The learner's own steps.

    @abstractmethod
    def begin(self) -> None:
        """Check the parameters and forget everything learned."""

    def labels_expected(self) -> None:
        """Called when labels were numbered before any example of them was learned."""

    @abstractmethod
    def update(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        """Learn the examples in that order, once."""

    @abstractmethod
    def best_labels(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        """Write the best labels of each row: ids (n × k, filled with −1) and scores (n × k,
        filled with NaN).
        """

    @abstractmethod
    def all_scores(self, rows: Rows) -> Floats:
        """The scores of all labels, n × number of labels."""

    @abstractmethod
    def votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        """The columns that vote for a label in one row, and their votes, in the order in which
        the score adds them.
        """

    def prepare(self, rows: Rows) -> Rows:
        """Turn feature values into what the learner works on."""
        return rows

    @abstractmethod
    def to_arrays(self) -> dict[str, Any]:
        """The learned arrays, for the model file; some may be made later."""

    @abstractmethod
    def from_arrays(self, state: State) -> None:
        """Take up the arrays of a model file, having checked all that the kernels will trust."""

    # Learning.

    def fit(self, X: MatrixLike, Y: LabelsLike) -> Self:
        """Forget everything and learn all rows, ``passes`` times, shuffled by ``random_state``
        unless it is None.
        """
        return self.fit_rows(self.checked_rows(X), Y, column_names(X))

    @available_if(lambda self: self.updatable)
    @learning
    def partial_fit(
        self, X: MatrixLike, Y: LabelsLike, classes: Iterable[Label] | None = None
    ) -> Self:
        """Learn some more examples, once, in the order given. ``classes`` names labels that
        need not occur in Y.
        """
        with nothing_if_refused(self):
            return self.learn_rows(*self.take_up_batch(X, Y, classes))

    def take_up_batch(
        self, X: MatrixLike, Y: LabelsLike, classes: Iterable[Label] | None
    ) -> tuple[Rows, NumberedLabels]:
        """Check more examples, and take up their columns and the labels named."""
        rows, names = (
            self.checked_rows(X),
            grown_names(self, X) if self.__sklearn_is_fitted__() else column_names(X),
        )
        Y = numbered(Y, rows.n_rows)
        named = [] if classes is None else class_list(classes)
        if not self.__sklearn_is_fitted__():
            self.reset()
        if named:
            self.expect_labels(named)
        note_names(self, names)
        return rows, Y

    def expect_labels(self, named: list[list[Label]]) -> None:
        """Number these labels, each in a list of its own, before any example of them is seen."""
        self.check_updatable()
        if not self.__sklearn_is_fitted__():
            self.reset()
        self.label_index_.learn(named, len(named))
        self.labels_expected()

    @writing
    def fit_rows(
        self,
        rows: Rows | RowStore,
        Y: LabelsLike,
        names: Names | None = None,
        watch: Watch = at_once,
    ) -> Self:
        """``fit`` on checked rows, whose columns have these names; ``watch`` observes the first
        pass.
        """
        before = dict(self.__dict__)  # fitting makes new arrays
        try:
            for _ in self.fit_passes(rows, Y, watch):
                pass
            note_names(self, names)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def fit_passes(
        self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch = at_once
    ) -> Iterator[int]:
        """``fit_rows`` step by step: yields the number of each pass that is done."""
        if rows.n_rows == 0:
            raise InputError(
                "there are no rows to learn from: found 0 samples where at least 1 is needed"
            )
        self.reset()
        yield from self.learn_passes(rows, Y, watch)

    def learn_passes(
        self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch = at_once
    ) -> Iterator[int]:
        """Learn more rows as ``fit`` does, several times and shuffled, without forgetting;
        yields as above.
        """
        if not self.__sklearn_is_fitted__():
            self.reset()
        Y = numbered(Y, rows.n_rows)
        self.check_judged(Y)
        self.check_learnable(rows)
        labels = self._take_up(rows, Y, shuffled=True)
        passes = self.passes_through(rows.n_rows, labels.n_labels)
        if isinstance(rows, Rows):
            rows = self.prepare(rows)
        seed = as_seed(getattr(self, "random_state", None))
        generator = None if seed is None else np.random.default_rng(seed)
        for n in range(passes):
            order = (
                np.arange(rows.n_rows) if generator is None else generator.permutation(rows.n_rows)
            )
            for some in (watch if n == 0 else at_once)(
                self, rows, labels, order.astype(np.int64, copy=False)
            ):
                self._learn_pass(rows, labels, some, n == 0)
            yield n + 1

    def passes_through(self, n_rows: int, n_labels: int = 0) -> int:
        """The number of passes of ``fit`` through that many rows with so many labels in all."""
        return as_whole(getattr(self, "passes", 1), "passes", least=1)

    @writing
    def _learn_pass(self, rows: Any, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        """One pass of ``fit``."""
        self.update(rows, labels, order, first_pass)

    @learning
    def learn_rows(self, rows: Rows, Y: LabelsLike, watch: Watch = at_once) -> Self:
        """``partial_fit`` on checked rows; ``watch`` observes them."""
        self.check_updatable()
        Y = numbered(Y, rows.n_rows)
        self.check_judged(Y)
        with nothing_if_refused(self):
            if not self.__sklearn_is_fitted__():
                self.reset()
            self.check_learnable(rows)
            self.in_stream = True
            try:
                for some, own in portions(self.prepare(rows), Y):
                    labels = self._take_up(some, own)
                    for piece in watch(self, some, labels, np.arange(some.n_rows, dtype=np.int64)):
                        self.update(some, labels, piece, True)
                    stop_here()
            finally:
                del self.in_stream
        return self

    def check_learnable(
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> None:
        """Refuse rows that can be ranked but not learned; ``called`` gives the name of a row
        for the error.
        """

    def check_judged(self, labels: NumberedLabels) -> None:
        """Refuse partial judgements if the learner cannot leave labels alone."""
        if labels.sets.partial.complete.size and not self.takes_partial:
            raise InputError(
                f"{type(self).__name__} learns only from complete judgements, not from some labels "
                "of an "
                "example; use TunedIndex, MMP or TopicPerceptron"
            )

    def check_updatable(self) -> None:
        if not self.updatable:
            raise InputError(
                f"a {type(self).__name__} learns all its examples at once and cannot go on; use fit"
            )

    def reset(self) -> None:
        self.n_threads()  # checks n_jobs
        as_seed(getattr(self, "random_state", None))
        self.begin()
        self.label_index_ = LabelIndex()
        self.counts_by_label = np.zeros(0, dtype=np.int64)
        self.label_columns_ = None
        self.n_examples_ = 0
        self.n_features_in_ = 0
        note_names(self, None)

    def _take_up(self, rows: Rows | RowStore, Y: LabelsLike, shuffled: bool = False) -> LabelSets:
        n_rows = rows.n_rows
        numbers = numbered(Y, n_rows)
        self._take_up_columns(numbers.columns)
        labels = self.label_index_.learn_right(numbers, n_rows, shuffled)
        self.counts_by_label = grown(self.counts_by_label, len(self.label_index_))
        count_up(labels.ids, self.counts_by_label)
        self.n_examples_ += n_rows
        self.n_features_in_ = max(self.n_features_in_, rows.n_features)
        return labels

    def _take_up_columns(self, columns: Columns | None) -> None:
        """Number the labels of an indicator matrix in the order of its columns, whether they
        occur or not.
        """
        known = columns if self.n_examples_ == 0 else self.label_columns_
        joined = joined_columns(known, columns)
        if joined is not None and len(joined) > len(self.label_columns_ or ()):
            self.label_index_.learn([[column] for column in joined], len(joined))
            self.labels_expected()
        self.label_columns_ = joined

    # Ranking.

    @reading
    def rank(self, X: MatrixLike, k: int = 10) -> Ranking:
        """The k best labels of each row. Ties go to the label that appeared first."""
        self.check_fitted()
        return self.rank_rows(self.check_rows(X), k)

    def rank_rows(self, rows: Rows, k: int = 10, allowed: Allowed | None = None) -> Ranking:
        """``rank`` on checked rows, restricted to the allowed labels if given."""
        self.check_fitted()
        k = min(as_whole(k, "k", least=1, most=sys.maxsize), max(len(self.label_index_), 1))
        rows = self.prepare(rows)
        ids, scores = np.empty((rows.n_rows, k), dtype=np.int32), np.empty((rows.n_rows, k))
        ids.fill(-1)
        scores.fill(np.nan)
        few = rows.n_rows < 2 * LEAST_BLOCK
        workers = 1 if few else max(1, min(self.n_threads(), rows.n_rows // LEAST_BLOCK))
        if allowed is not None:
            self._rank_allowed(rows, allowed, ids, scores)
        elif workers == 1:
            self.best_labels(rows, ids, scores)
        else:  # kernels release the interpreter's lock, and the result of each row is its own
            edges = np.linspace(0, rows.n_rows, workers + 1).astype(int)
            with ThreadPoolExecutor(workers) as pool:
                tasks = [
                    pool.submit(self.best_labels, rows.block(a, b), ids[a:b], scores[a:b])
                    for a, b in pairwise(edges)
                ]
            for task in tasks:
                task.result()
        return Ranking(ids, scores, self.label_index_.names)

    def _rank_allowed(self, rows: Rows, allowed: Allowed, ids: Ints, scores: Floats) -> None:
        """``best_labels`` of allowed labels. If a learner knows nothing better, all are ranked, and
        the others left out.
        """
        n_labels = max(len(self.label_index_), 1)
        every = np.full((rows.n_rows, n_labels), -1, dtype=np.int32)
        own = np.full((rows.n_rows, n_labels), np.nan)
        self.best_labels(rows, every, own)
        usable = (every >= 0) & allowed.labels[every]
        if allowed.factors is not None:
            own = np.where(own > 0.0, own * allowed.factors[every], own)
        own = np.where(usable, own, -np.inf)
        best = np.lexsort((every, -own), axis=1)[:, : ids.shape[1]]
        there = np.take_along_axis(usable, best, axis=1)
        ids[:] = np.where(there, np.take_along_axis(every, best, axis=1), -1)
        scores[:] = np.where(there, np.take_along_axis(own, best, axis=1), np.nan)

    def _rank_by_scores(
        self, rows: Rows, ids: Ints, scores: Floats, *, width: int = 0, above: float = -np.inf
    ) -> None:
        """``best_labels`` for a learner that has the scores of all labels.

        Only scores above a limit count; some rows are done at a time.

        ``width`` is how many numbers a row takes while its scores are made, if more than there are
        labels.
        """
        some = max(1, SCORES // max(width, len(self.label_index_), 1))
        for first in range(0, rows.n_rows, some):
            part = slice(first, min(first + some, rows.n_rows))
            found = self.all_scores(rows.block(part.start, part.stop))
            best = np.argsort(-found, axis=1, kind="stable")[:, : ids.shape[1]]
            own = np.take_along_axis(found, best, axis=1)
            ids[part, : best.shape[1]] = np.where(own > above, best, -1)
            scores[part, : best.shape[1]] = np.where(own > above, own, np.nan)

    def n_threads(self) -> int:
        """How many threads the user allows."""
        return as_jobs(getattr(self, "n_jobs", None))

    @reading
    def decision_function(self, X: MatrixLike) -> Floats:
        """The score of every label for every row: n × number of labels, dense. ``rank`` needs
        far less memory.
        """
        self.check_fitted()
        return self.all_scores(self.prepare(self.check_rows(X)))

    # Predicting.

    @reading
    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The best label of each row; the most frequent label where none is retrieved.

        If all labels came as indicator matrices, an indicator matrix of the same columns: each row
        is given as many of its best labels as an example has on average, rounded, and at least one
        if any is retrieved.
        """
        self.check_fitted()
        return self.predict_rows(self.check_rows(X))

    def predict_rows(self, rows: Rows) -> NDArray[Any]:
        """``predict`` on checked rows."""
        if self.label_columns_ is not None:
            return self.indicator(
                self.rank_rows(rows, self.usual_number()).ids, self.label_columns_
            )
        best = self.rank_rows(rows, k=1).ids[:, 0]
        if not len(self.label_index_):
            raise InputError(
                f"this {type(self).__name__} has learned no label yet, and can predict none"
            )
        return self.classes_[np.where(best < 0, int(np.argmax(self.label_counts_)), best)]

    def usual_number(self) -> int:
        """The mean number of labels of an example, rounded, at least one."""
        return max(1, int(self.label_counts_.sum() / max(self.n_examples_, 1) + 0.5))

    def indicator(self, ids: Ints, columns: Columns) -> Longs:
        """Labels (n × k, −1 for none) as an indicator matrix."""
        column = self.columns_of_labels(columns)
        row, place = np.nonzero(column[ids] >= 0)
        indicated = np.zeros((ids.shape[0], len(columns)), dtype=np.int64)
        indicated[row, column[ids[row, place]]] = 1
        return indicated

    def columns_of_labels(self, columns: Columns) -> Longs:
        """The column of each label in an indicator matrix, −1 for none; the last entry, −1,
        stands for no label.
        """
        place = {name: at for at, name in enumerate(columns)}
        return np.array(
            [*(place.get(name, -1) for name in self.label_index_.names), -1], dtype=np.int64
        )

    @reading
    def score(self, X: MatrixLike, Y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """R1: the share of rows whose best label is one of theirs (accuracy, where each row has
        one label).
        """
        self.check_fitted()
        return self.score_rows(self.check_rows(X), Y, sample_weight)

    def score_rows(
        self, rows: Rows, Y: LabelsLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """``score`` on checked rows."""
        best = self.rank_rows(rows, k=1).ids[:, 0]
        right = is_true(best, self.label_index_.look_up(Y, best.size)).astype(np.float64)
        weights = (
            None
            if sample_weight is None
            else as_numbers(sample_weight, "sample_weight", length=best.size)
        )
        return float(np.average(right, weights=weights))

    @reading
    def explain(self, x: MatrixLike, label: Label) -> Explanation:
        """The votes of each column of one row for a label. They sum to the label's score."""
        self.check_fitted()
        row = self.check_rows(x if getattr(x, "ndim", None) == 2 else as_one_row(x))
        if row.n_rows != 1:
            raise InputError(f"explain takes one row, not {row.n_rows}")
        return self.explain_row(row, label)

    @reading
    def explain_row(self, row: Rows, label: Label) -> Explanation:
        """``explain`` on one checked row."""
        self.check_fitted()
        columns, votes = self.votes(self.prepare(row), self.label_index_.find(label))
        total = 0.0
        for vote in votes.tolist():  # one by one, as the kernels add: the same sum to the last bit
            total += vote
        heaviest = np.argsort(-np.abs(votes), kind="stable")
        pairs = zip(columns[heaviest].tolist(), votes[heaviest].tolist(), strict=True)
        return Explanation(label, total, list(pairs))

    # What was learned.

    @property
    @reading
    def classes_(self) -> NDArray[Any]:
        """All labels, in order of first appearance."""
        self.check_fitted()
        return as_array(self.label_index_.names)

    @property
    def label_counts_(self) -> Longs:
        """In how many examples each label of ``classes_`` was seen."""
        self.check_fitted()
        return self.counts_by_label[: len(self.label_index_)]

    @reading
    def label_numbers(self, Y: LabelsLike) -> LabelSets:
        """The labels of Y as numbers in ``classes_``, for measuring; labels never learned get
        the numbers behind.
        """
        self.check_fitted()
        return self.label_index_.look_up(Y, n_examples(Y))

    # Checks.

    def check_rows(self, X: MatrixLike) -> Rows:
        """The checked rows of X; refused if its columns are not those learned."""
        check_columns(self, X)
        return self.checked_rows(X)

    def checked_rows(self, X: MatrixLike) -> Rows:
        return self.checked_signs(as_rows(X))

    def checked_signs(self, rows: Rows, called: Callable[[int], str] = "row {}".format) -> Rows:
        """The same rows, refused if a value must not be negative; ``called`` gives the name of
        a row for the error.
        """
        if self.nonnegative:
            check_nonnegative(rows, called)
        return rows

    def check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(
                f"this {type(self).__name__} has learned nothing yet; call fit or partial_fit first"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_index_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.nonnegative
        tags.classifier_tags.multi_label = True
        return tags

    # Model files.

    @snapshot
    def to_state(self) -> State:
        """The state of a fitted learner, for a model file."""
        self.check_fitted()
        settings: dict[str, Any] = {
            "parameters": self.get_params(deep=False),
            "n_examples": self.n_examples_,
            "n_features": self.n_features_in_,
        }
        if isinstance(self.label_columns_, range):
            settings["label_columns"] = len(self.label_columns_)
        arrays = {name: _finite(self, array) for name, array in self.to_arrays().items()}
        arrays |= {
            "labels": text_to_array(self.label_index_.names),
            "label_counts": self.label_counts_,
        }
        if isinstance(self.label_columns_, list):
            arrays["label_columns"] = text_to_array(self.label_columns_)
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names"] = text_to_array(self.feature_names_in_.tolist())
        return State(
            type(self).__name__, settings, arrays, compact=partial(self._compacted, arrays)
        )

    def _compacted(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """The arrays of a compact file."""
        return arrays

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The learner of a state; ModelFileError if it is damaged."""
        learner = cls(**state.settings["parameters"])
        learner.reset()
        learner.label_index_ = LabelIndex(state.names("labels"))
        learner.counts_by_label = state.array("label_counts", np.int64)
        counts = learner.counts_by_label
        state.require(counts.size == len(learner.label_index_), "each label has one count")
        state.require(
            bool(((counts >= 0) & (counts <= MOST_AMOUNT)).all()),
            "labels have counts of at least 0",
        )
        learner.n_examples_ = as_whole(state.settings["n_examples"], "n_examples", most=MOST_AMOUNT)
        learner.n_features_in_ = as_whole(state.settings["n_features"], "n_features")
        if "label_columns" in state.settings:
            n_columns = as_whole(state.settings["label_columns"], "label_columns", most=len(counts))
            learner.label_columns_ = range(n_columns)
        if "label_columns" in state.arrays:
            columns = state.names("label_columns")
            known = all(name in learner.label_index_.number for name in columns) and len(
                set(columns)
            ) == len(columns)
            state.require(known, "the columns that labels came as are labels")
            learner.label_columns_ = columns
        if "feature_names" in state.arrays:
            names = state.names("feature_names")
            named = len(names) <= learner.n_features_in_ and all(
                isinstance(name, str) for name in names
            )
            state.require(named, "its columns have names")
            learner.feature_names_in_ = np.array(names, dtype=object)
        learner.from_arrays(state)
        return learner


# Learners whose parts can be put together. ``merge`` adds what another learner has learned from
# other rows. On a cluster each pass is cut into parts, which are learned separately and mixed in a
# fixed order: the result depends on the number of parts, not on the number of workers.


class MergingLearner(CategoryLearner):
    """Base class of learners that can be merged; they define ``merge_sums``."""

    @abstractmethod
    def merge_sums(self, other: Any, numbers: Ints) -> None:
        """Add what the other has learned; its label i has the number numbers[i] here."""

    @merging
    def merge(self, other: Self) -> Self:
        """Add what another learner of this kind has learned from other rows with the same
        columns.
        """
        kind = type(self)
        if not isinstance(other, kind):
            raise InputError(
                f"only a {kind.__name__} can be merged into this one, not a {type(other).__name__}"
            )
        other.check_fitted()
        with nothing_if_refused(self):
            if not self.__sklearn_is_fitted__():
                self.reset()
                note_names(self, getattr(other, "feature_names_in_", None))
            columns = self.label_columns_ if self.n_examples_ > 0 else other.label_columns_
            self.label_columns_ = joined_columns(columns, other.label_columns_)
            numbers = self.label_index_.learn(
                [[name] for name in other.label_index_.names], len(other.label_index_)
            ).ids
            self.merge_sums(other, numbers)
            counts = np.zeros(len(self.label_index_), dtype=np.int64)
            counts[numbers] = other.label_counts_
            self.counts_by_label = added(self.counts_by_label, counts)
            self.n_examples_ += other.n_examples_
            self.n_features_in_ = max(self.n_features_in_, other.n_features_in_)
        return self


class PartedLearner(CategoryLearner):
    """Base class: parts of a pass can be learned on several machines and mixed (distributed/)."""

    @abstractmethod
    def shard(self, n: int) -> Any:
        """A copy that learns one of n parts, and shares nothing that learning changes."""

    @abstractmethod
    def mix_shards(self, shards: list[Any]) -> None:
        """Combine what the parts have learned, each from the present state on, in the order
        given.
        """


def added(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a + b, the shorter one padded with zeros."""
    total = np.zeros(max(a.size, b.size), dtype=a.dtype)
    total[: a.size] += a
    total[: b.size] += b
    return total


class Made:
    """What a learner ranks by, made when it is needed; replaced by a new one when what it is
    made of changes.
    """

    def __init__(self) -> None:
        self._value: Any = None

    def of(self, learner: CategoryLearner, make: Callable[[], What]) -> What:
        """The value, made by the first thread that needs it."""
        with lock_of(learner).making:
            if self._value is None:
                self._value = make()
            made: What = self._value
            return made


def portions(rows: Rows, labels: NumberedLabels) -> Iterator[tuple[Rows, NumberedLabels]]:
    """The rows and their labels in runs, which share memory with them."""
    if rows.n_rows <= concurrency.RUN:
        yield rows, labels
        return
    for run in runs(rows.n_rows):
        indptr = rows.indptr[run.start : run.stop + 1]
        inside = slice(indptr[0], indptr[-1])
        indices, width = rows.indices[inside], rows.n_features
        if run.stop < rows.n_rows:  # of this run alone, since learning may stop after it
            width = int(indices.max(initial=-1)) + 1
        yield Rows(indptr - indptr[0], indices, rows.data[inside], width), labels[run]


def as_one_row(x: MatrixLike) -> MatrixLike:
    """A vector as a matrix of one row."""
    if is_sparse(x):
        return one_row(x)
    try:
        array = np.asarray(x)
    except ValueError as problem:
        raise InputError(" ".join(str(problem).split())) from None
    return array.reshape(1, -1) if array.ndim == 1 else array


def n_examples(Y: LabelsLike) -> int:
    """How many examples these are the labels of."""
    return int(Y.shape[0]) if hasattr(Y, "shape") else len(Y)  # type: ignore[arg-type]


def is_true(best: Ints, truth: LabelSets) -> NDArray[np.bool_]:
    """Whether the label ``best`` of each row is one of its true labels."""
    row = np.repeat(np.arange(best.size), np.diff(truth.indptr))
    hit = np.zeros(best.size, dtype=bool)
    hit[row[best[row] == truth.ids]] = True
    return hit


def _finite(learner: CategoryLearner, array: Any) -> Any:
    """The array, refused if it holds numbers that are not finite: such a file could not be
    loaded.
    """
    if array.dtype.kind != "f":
        return array
    if isinstance(array, Later):
        return replace(array, pieces=lambda: (_finite(learner, piece) for piece in array.pieces()))
    if not np.isfinite(array).all():
        raise InputError(
            f"this {type(learner).__name__} is not saved: its weights have overflowed and are no "
            "longer finite; train "
            "again with values='l2', smaller values or a smaller step"
        )
    return array
