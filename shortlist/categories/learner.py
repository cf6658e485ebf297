"""What all learners of categories share: checked input, numbered labels, learning, answers, model files.

A learner adds six steps of its own, all on checked arrays:
``_begin``, ``_learn``, ``_rank``, ``_scores``, ``_votes``, and the arrays it is made of.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from shortlist.arrays.columns import Names, column_names, grown_names, note_names
from shortlist.arrays.given_labels import Columns, Label, LabelsLike, class_list, joined_columns
from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Longs, count_up
from shortlist.arrays.rows import MatrixLike, Rows, RowStore
from shortlist.arrays.validation import as_seed, as_whole
from shortlist.categories.answering import AnsweringLearner
from shortlist.categories.portions import Watch, at_once, portions
from shortlist.concurrency.interrupts import nothing_if_refused, stop_here, whole
from shortlist.concurrency.locks import writing
from shortlist.errors import InputError
from shortlist.labels import LabelIndex, LabelSets, NumberedLabels, numbered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self


class CategoryLearner(AnsweringLearner):
    """Base class of the learners of categories.

    X is a sparse or dense matrix. Y holds the labels: a list of label lists, one label for each row, or an indicator
    matrix. Labels and columns that were never seen before may arrive with every ``partial_fit``. Where the columns of X
    have names, they are kept in ``feature_names_in_``; columns may arrive behind those, but none may change.

    Several threads may rank at a time; while one learns, the others wait (locks.py). A ``fit`` that fails, or is
    stopped, leaves the learner as it was; a ``partial_fit`` that is stopped has learned the first so many rows, as
    ``n_examples_`` tells (interrupts.py).

    Attributes
    ----------
    classes_ : ndarray
        All labels, in order of first appearance; those of an indicator matrix in the order of its columns.
    label_counts_ : ndarray
        In how many examples each label was seen.
    n_examples_ : int
        How many examples were learned.
    n_features_in_ : int
        How many columns the widest of them had.
    feature_names_in_ : ndarray of str
        The names of the columns, where they have names.
    """

    updatable = True  # whether it can go on learning; if not, it has ``fit`` only
    takes_pieces = False  # whether it can learn the rows of a store, some at a time
    ranks_ahead = False  # whether it can rank examples on the way, each before it is learned
    takes_partial = False  # whether it can leave labels alone that were not judged

    # The learner's own steps.

    @abstractmethod
    def _begin(self) -> None:
        """Check the parameters and forget everything learned."""

    def _expect(self) -> None:
        """Take note that all labels so far are known, even those of which no example was seen."""

    @abstractmethod
    def _learn(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        """Learn the examples in that order, once."""

    # Learning.

    def fit(self, X: MatrixLike, Y: LabelsLike) -> Self:
        """Forget everything and learn all rows, ``passes`` times, shuffled by ``random_state`` unless it is None."""
        return self._fit_rows(self._as_rows(X), Y, column_names(X))

    @available_if(lambda self: self.updatable)
    @writing
    @whole
    def partial_fit(self, X: MatrixLike, Y: LabelsLike, classes: Iterable[Label] | None = None) -> Self:
        """Learn some more examples, once, in the order given. ``classes`` names labels that need not occur in Y."""
        with nothing_if_refused(self):
            return self._learn_more(*self._met(X, Y, classes))

    def _met(self, X: MatrixLike, Y: LabelsLike, classes: Iterable[Label] | None) -> tuple[Rows, NumberedLabels]:
        """More examples, checked; from now on it expects their columns, and the labels that are named."""
        rows, names = self._as_rows(X), grown_names(self, X) if self.__sklearn_is_fitted__() else column_names(X)
        Y = numbered(Y, rows.n_rows)
        named = [] if classes is None else class_list(classes)
        if not self.__sklearn_is_fitted__():
            self._start()
        if named:
            self._expect_labels(named)
        note_names(self, names)
        return rows, Y

    def _expect_labels(self, named: list[list[Label]]) -> None:
        """Number these labels, each in a list of its own, before any example of them is seen."""
        self._check_updatable()
        if not self.__sklearn_is_fitted__():
            self._start()
        self._labels.learn(named, len(named))
        self._expect()

    @writing
    def _fit_rows(
        self, rows: Rows | RowStore, Y: LabelsLike, names: Names | None = None, watch: Watch = at_once
    ) -> Self:
        """``fit`` on rows that have been checked, whose columns have these names; ``watch`` sees the first pass."""
        before = dict(self.__dict__)  # learning from the start changes none of the arrays that there were
        try:
            self._fit_all(rows, Y, watch)
            note_names(self, names)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _fit_all(self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch) -> None:
        for _ in self._fit_passes(rows, Y, watch):
            pass

    def _fit_passes(self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch = at_once) -> Iterator[int]:
        """``_fit_rows`` step by step: the learner can be tried after each pass, whose number is given."""
        if rows.n_rows == 0:
            raise InputError("there are no rows to learn from: found 0 samples where at least 1 is needed")
        self._start()
        yield from self._learn_passes(rows, Y, watch)

    def _learn_passes(self, rows: Rows | RowStore, Y: LabelsLike, watch: Watch = at_once) -> Iterator[int]:
        """Learn more rows as ``fit`` does, several times and shuffled, step by step, and forget nothing."""
        if not self.__sklearn_is_fitted__():
            self._start()
        Y = numbered(Y, rows.n_rows)
        self.check_judged(Y)
        self.check_learnable(rows)
        labels = self._take_up(rows, Y, shuffled=True)
        passes = self.passes_through(rows.n_rows, labels.n_labels)
        if isinstance(rows, Rows):
            rows = self._prepare(rows)
        seed = as_seed(getattr(self, "random_state", None))
        generator = None if seed is None else np.random.default_rng(seed)
        for n in range(passes):
            order = np.arange(rows.n_rows) if generator is None else generator.permutation(rows.n_rows)
            for some in (watch if n == 0 else at_once)(self, rows, labels, order.astype(np.int64, copy=False)):
                self._learn_pass(rows, labels, some, n == 0)
            yield n + 1

    def passes_through(self, n_rows: int, n_labels: int = 0) -> int:
        """How often ``fit`` goes through that many rows, which have so many labels together."""
        return as_whole(getattr(self, "passes", 1), "passes", least=1)

    @writing
    def _learn_pass(self, rows: Any, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        """One pass of ``fit``."""
        self._learn(rows, labels, order, first_pass)

    @writing
    @whole
    def _learn_rows(self, rows: Rows, Y: LabelsLike, watch: Watch = at_once) -> Self:
        """``partial_fit`` on rows that have been checked; ``watch`` sees them first (portions.py)."""
        with nothing_if_refused(self):
            return self._learn_more(rows, Y, watch)

    def _learn_more(self, rows: Rows, Y: LabelsLike, watch: Watch = at_once) -> Self:
        """The same, by whoever has the lock."""
        self._check_updatable()
        Y = numbered(Y, rows.n_rows)
        self.check_judged(Y)
        if not self.__sklearn_is_fitted__():
            self._start()
        self.check_learnable(rows)
        for some, own in portions(self._prepare(rows), Y):
            labels = self._take_up(some, own)
            for piece in watch(self, some, labels, np.arange(some.n_rows, dtype=np.int64)):
                self._learn(some, labels, piece, True)
            stop_here()
        return self

    def check_learnable(self, rows: Rows | RowStore, called: Callable[[int], str] = "row {}".format) -> None:
        """Refuse rows that can be ranked but not learned, before any is learned; ``called`` names each."""

    def check_judged(self, labels: NumberedLabels) -> None:
        """Refuse judgements that leave labels open, where it cannot leave them alone."""
        if labels.sets.partial.complete.size and not self.takes_partial:
            raise InputError(
                f"{type(self).__name__} learns only from complete judgements, as it cannot leave labels alone that "
                "nobody judged; TunedIndex, MMP and TopicPerceptron can"
            )

    def _check_updatable(self) -> None:
        if not self.updatable:
            raise InputError(f"a {type(self).__name__} learns all its examples at once and cannot go on; use fit")

    def _start(self) -> None:
        self._jobs()  # checks n_jobs
        as_seed(getattr(self, "random_state", None))
        self._begin()
        self._labels = LabelIndex()
        self._label_counts = np.zeros(0, dtype=np.int64)
        self._label_columns = None
        self.n_examples_ = 0
        self.n_features_in_ = 0
        note_names(self, None)

    def _take_up(self, rows: Rows | RowStore, Y: LabelsLike, shuffled: bool = False) -> LabelSets:
        n_rows = rows.n_rows
        numbers = numbered(Y, n_rows)
        self._take_up_columns(numbers.columns)
        labels = self._labels.learn_right(numbers, n_rows, shuffled)
        self._label_counts = grown(self._label_counts, len(self._labels))
        count_up(labels.ids, self._label_counts)
        self.n_examples_ += n_rows
        self.n_features_in_ = max(self.n_features_in_, rows.n_features)
        return labels

    def _take_up_columns(self, columns: Columns | None) -> None:
        """An indicator matrix names its labels, in the order of its columns, whether they occur or not."""
        known = columns if self.n_examples_ == 0 else self._label_columns
        joined = joined_columns(known, columns)
        if joined is not None and len(joined) > len(self._label_columns or ()):
            self._labels.learn([[column] for column in joined], len(joined))
            self._expect()
        self._label_columns = joined
