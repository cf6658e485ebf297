"""The base class of all learners of categories, as users call them."""

from __future__ import annotations

import copy
import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats, Ints
from shortlist.concurrency import nothing_if_refused, uninterrupted
from shortlist.data.batch import RowBatch
from shortlist.data.label_input import (
    Columns,
    Label,
    LabelsLike,
    class_list,
    joined_columns,
)
from shortlist.data.labels import LabelIndex
from shortlist.data.ranking import Explanation, Ranking
from shortlist.data.rows import MatrixLike, Rows, RowStore, check_nonnegative
from shortlist.data.validation import (
    MOST_AMOUNT,
    as_rows,
    as_whole,
    check_columns,
    column_names,
    grown_names,
    is_sparse,
    note_names,
    one_row,
)
from shortlist.errors import InputError
from shortlist.estimators import available_if
from shortlist.files.container import Later, text_to_array
from shortlist.files.store import State, save_learner
from shortlist.learners.batch_learner import BatchLearner

Value = TypeVar("Value")


class CategoryLearner(BatchLearner):
    """Base class of the learners of categories.

    X is a sparse or dense matrix. Y holds the labels: a list of label lists, one label for each
    row, or an indicator matrix. Labels and columns that were never seen before may arrive with
    every ``partial_fit``. Where the columns of X have names, they are kept in
    ``feature_names_in_``; columns may arrive behind those, but none may change.

    A ``fit`` that fails, or is stopped, leaves the learner as it was; a ``partial_fit`` that is
    stopped with Ctrl-C has learned the first ``n_examples_`` rows. Several threads may rank at a
    time; a learner that other threads use must not learn meanwhile (models have locks for that).

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

    save = save_learner

    # Verbs, as scikit-learn has them. Here, and only here, users' arrays are checked.

    def fit(self, X: MatrixLike, Y: LabelsLike) -> Self:
        """Forget everything and learn all rows, ``passes`` times, shuffled by ``random_state``
        unless it is None.
        """
        batch = RowBatch.of(X, Y)
        return self.fit_batch(
            RowBatch(self.checked_signs(batch.rows), batch.labels), column_names(X)
        )

    @available_if(lambda self: self.updatable)
    def partial_fit(
        self, X: MatrixLike, Y: LabelsLike, classes: Iterable[Label] | None = None
    ) -> Self:
        """Learn some more examples, once, in the order given. ``classes`` names labels that need
        not occur in Y.
        """
        batch = RowBatch.of(X, Y)
        names = grown_names(self, X) if self.__sklearn_is_fitted__() else column_names(X)
        rows = self.checked_signs(batch.rows)
        if self.is_mapped_:
            self.own_arrays()
        with uninterrupted(), nothing_if_refused(self):
            self.expect_labels([] if classes is None else class_list(classes))
            note_names(self, names)
            return self.learn_batch(RowBatch(rows, batch.labels))

    def rank(self, X: MatrixLike, k: int = 10) -> Ranking:
        """The k best labels of each row. Ties go to the label that appeared first."""
        self.check_fitted()
        return self.rank_rows(self.check_rows(X), k)

    def decision_function(self, X: MatrixLike) -> Floats:
        """The score of every label for every row: n × number of labels, dense. ``rank`` needs far
        less memory.
        """
        self.check_fitted()
        return self.all_scores(self.prepare(self.check_rows(X)))

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The best label of each row; the most frequent label where none is retrieved.

        If all labels came as indicator matrices, an indicator matrix of the same columns: each row
        is given as many of its best labels as an example has on average, rounded, and at least one
        if any is retrieved.
        """
        self.check_fitted()
        return self.predict_rows(self.check_rows(X))

    def score(self, X: MatrixLike, Y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """R1: the share of rows whose best label is one of theirs (accuracy, where each row has one
        label).
        """
        self.check_fitted()
        return self.score_rows(self.check_rows(X), Y, sample_weight)

    def explain(self, x: MatrixLike, label: Label) -> Explanation:
        """The votes of each column of one row for a label. They sum to the label's score."""
        self.check_fitted()
        row = self.check_rows(x if getattr(x, "ndim", None) == 2 else as_one_row(x))
        if row.n_rows != 1:
            raise InputError(f"explain takes one row, not {row.n_rows}")
        return self.explain_row(row, label)

    def check_rows(self, X: MatrixLike) -> Rows:
        """The checked rows of X; refused if its columns are not those learned."""
        check_columns(self, X)
        return self.checked_rows(X)

    def checked_rows(self, X: MatrixLike) -> Rows:
        """The checked rows of X."""
        return self.checked_signs(as_rows(X))

    def checked_signs(
        self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format
    ) -> Any:
        """The same rows, refused if a value must not be negative; ``called`` names a row in the
        error.
        """
        if self.nonnegative:
            check_nonnegative(rows, called)  # type: ignore[arg-type]
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.nonnegative
        tags.classifier_tags.multi_label = True
        return tags

    # Model files.

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
        arrays = {name: check_finite(self, array) for name, array in self.to_arrays().items()}
        arrays["labels"] = text_to_array(self.label_index_.names)
        arrays["label_counts"] = self.label_counts_
        if isinstance(self.label_columns_, list):
            arrays["label_columns"] = text_to_array(self.label_columns_)
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names"] = text_to_array(self.feature_names_in_.tolist())
        return State(type(self).__name__, settings, arrays, compact=partial(self.compacted, arrays))

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The learner of a state; ModelFileError if it is damaged."""
        learner = cls(**state.settings["parameters"])
        learner.reset()
        learner.label_index_ = LabelIndex(state.names("labels"))
        counts = state.array("label_counts", np.int64)
        state.require(counts.size == len(learner.label_index_), "each label has one count")
        in_range = (counts >= 0) & (counts <= MOST_AMOUNT)
        state.require(bool(in_range.all()), "labels have counts of at least 0")
        learner.counts_by_label_ = counts
        learner.n_examples_ = as_whole(state.settings["n_examples"], "n_examples", most=MOST_AMOUNT)
        learner.n_features_in_ = as_whole(state.settings["n_features"], "n_features")
        learner.label_columns_ = label_columns_of(state, learner.label_index_)
        if "feature_names" in state.arrays:
            names = state.names("feature_names")
            all_text = all(isinstance(name, str) for name in names)
            state.require(
                all_text and len(names) <= learner.n_features_in_, "its columns have names"
            )
            learner.feature_names_in_ = np.array(names, dtype=object)
        learner.from_arrays(state)
        return learner


class MergingLearner(CategoryLearner):
    """Base class of learners that can be merged; they define ``merge_sums``."""

    @abstractmethod
    def merge_sums(self, other: Any, numbers: Ints) -> None:
        """Add what the other has learned; its label i has the number numbers[i] here."""

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
        with uninterrupted(), nothing_if_refused(self):
            if not self.__sklearn_is_fitted__():
                self.reset()
                note_names(self, getattr(other, "feature_names_in_", None))
            columns = self.label_columns_ if self.n_examples_ > 0 else other.label_columns_
            self.label_columns_ = joined_columns(columns, other.label_columns_)
            names = [[name] for name in other.label_index_.names]
            numbers = self.label_index_.learn(names, len(names)).ids
            self.merge_sums(other, numbers)
            counts = np.zeros(len(self.label_index_), dtype=np.int64)
            counts[numbers] = other.label_counts_
            self.counts_by_label_ = added(self.counts_by_label_, counts)
            self.n_examples_ += other.n_examples_
            self.n_features_in_ = max(self.n_features_in_, other.n_features_in_)
        return self

    def with_labels_merged(self, labels: Sequence[Label], into: Label) -> Self:
        numbers = np.arange(len(self.label_index_), dtype=np.int32)
        numbers[[self.label_index_.find(label) for label in labels]] = self.label_index_.find(into)
        changed = copy.copy(self)
        changed.reset()
        changed.label_index_ = LabelIndex(self.label_index_.names)
        changed.counts_by_label_ = np.zeros(numbers.size, dtype=np.int64)
        np.add.at(changed.counts_by_label_, numbers, self.all_label_counts())
        changed.merge_sums(self, numbers)
        changed.n_examples_ = self.n_examples_
        changed.n_features_in_ = self.n_features_in_
        note_names(changed, getattr(self, "feature_names_in_", None))
        changed.after_label_merge(self, numbers)
        return changed

    def after_label_merge(self, earlier: Self, numbers: Ints) -> None:
        """Take up what sums do not hold from the learner as it was before labels were merged."""


def added(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a + b, the shorter one padded with zeros."""
    total = np.zeros(max(a.size, b.size), dtype=a.dtype)
    total[: a.size] += a
    total[: b.size] += b
    return total


class Made:
    """What a learner ranks by, made when it is first needed.

    A new one replaces it when what it is made of changes.
    """

    def __init__(self) -> None:
        self._value: Any = None
        self._process = os.getpid()
        self._lock = threading.Lock()

    def of(self, make: Callable[[], Value]) -> Value:
        """The value, made by the first thread that needs it."""
        if self._process != os.getpid():  # forked, maybe while another thread held the lock
            self._process = os.getpid()
            self._lock = threading.Lock()
        with self._lock:
            if self._value is None:
                self._value = make()
            value: Value = self._value
            return value

    def __reduce__(self) -> tuple[type[Made], tuple[()]]:
        return Made, ()  # a copy makes its own


def as_one_row(x: MatrixLike) -> MatrixLike:
    """A vector as a matrix of one row."""
    if is_sparse(x):
        return one_row(x)
    try:
        array = np.asarray(x)
    except ValueError as problem:
        raise InputError(" ".join(str(problem).split())) from None
    return array.reshape(1, -1) if array.ndim == 1 else array


def label_columns_of(state: State, labels: LabelIndex) -> Columns | None:
    """The columns of the indicator matrices that all labels of a model file came as."""
    if "label_columns" in state.settings:
        n_columns = as_whole(state.settings["label_columns"], "label_columns", most=len(labels))
        return range(n_columns)
    if "label_columns" not in state.arrays:
        return None
    columns = state.names("label_columns")
    are_labels = all(name in labels.number for name in columns)
    state.require(
        are_labels and len(set(columns)) == len(columns),
        "the columns that labels came as are labels",
    )
    return columns


def check_finite(learner: CategoryLearner, array: Any) -> Any:
    """The array, refused if it holds numbers that are not finite: such a file could not be
    loaded.
    """
    if array.dtype.kind != "f":
        return array
    if isinstance(array, Later):
        return replace(
            array, pieces=lambda: (check_finite(learner, piece) for piece in array.pieces())
        )
    if not np.isfinite(array).all():
        raise InputError(
            f"this {type(learner).__name__} is not saved: its weights have overflowed and are no "
            "longer finite; train again with values='l2', smaller values or a smaller step"
        )
    return array
