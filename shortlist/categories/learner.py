"""What all learners of categories share: checked input, numbered labels, rankings, explanations, model files.

A learner adds six steps of its own, all on checked arrays:
``_begin``, ``_learn``, ``_rank``, ``_scores``, ``_votes``, and the arrays it is made of.
"""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from shortlist.arrays.growing import grown
from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.rows import Rows, RowStore
from shortlist.arrays.validation import as_rows, as_seed, as_whole
from shortlist.categories.portions import as_one_row, portions
from shortlist.categories.saving import SavedLearner
from shortlist.concurrency.interrupts import stop_here, whole
from shortlist.concurrency.locks import reading, writing
from shortlist.errors import InputError
from shortlist.labels import LabelIndex, LabelSets, as_array, class_list, numbered
from shortlist.ranking import Explanation, Ranking

LEAST_BLOCK = 256  # rows that are worth a thread of their own
SCORES = 1 << 20  # scores that are held at a time
BIAS = -1  # the column of a vote that no feature casts


class CategoryLearner(ClassifierMixin, SavedLearner):
    """Base class of the learners of categories.

    X is a sparse or dense matrix. Y holds the labels: a list of label lists, one label for each row, or an indicator
    matrix. Labels and columns that were never seen before may arrive with every ``partial_fit``.

    Several threads may rank at a time; while one learns, the others wait (locks.py). A ``fit`` that fails, or is
    stopped, leaves the learner as it was; a ``partial_fit`` that is stopped has learned the first so many rows, as
    ``n_examples_`` tells (interrupts.py).
    """

    nonnegative = False  # whether the learner takes only values of at least 0
    updatable = True  # whether it can go on learning; if not, it has ``fit`` only
    takes_pieces = False  # whether it can learn the rows of a store, some at a time

    # The learner's own steps.

    @abstractmethod
    def _begin(self) -> None:
        """Check the parameters and forget everything learned."""

    def _expect(self) -> None:
        """Take note that all labels so far are known, even those of which no example was seen."""

    @abstractmethod
    def _learn(self, rows: Rows, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        """Learn the rows in that order, once."""

    @abstractmethod
    def _rank(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        """Write the best labels of each row: ids (n × k, filled with −1) and scores (n × k, filled with NaN)."""

    @abstractmethod
    def _scores(self, rows: Rows) -> Floats:
        """The scores of all labels, n × number of labels."""

    @abstractmethod
    def _votes(self, row: Rows, label: int) -> tuple[Ints, Floats]:
        """The columns that vote for a label in one row, and their votes, in the order in which the score adds them."""

    def _prepare(self, rows: Rows) -> Rows:
        """Turn feature values into what the learner works on."""
        return rows

    # Learning.

    def fit(self, X: Any, Y: Any) -> Any:
        """Forget everything and learn all rows, ``passes`` times, shuffled by ``random_state`` unless it is None."""
        return self.fit_rows(self._check(X), Y)

    @available_if(lambda self: self.updatable)
    @writing
    @whole
    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Any:
        """Learn some more rows, once, in the order given. ``classes`` names labels that need not occur in Y."""
        rows = self._check(X)
        Y = numbered(Y, rows.n_rows)
        if not self.__sklearn_is_fitted__():
            self._start()
        if classes is not None:
            named = class_list(classes)
            self._labels.learn(named, len(named))
            self._expect()
        return self.learn_rows(rows, Y)

    @writing
    def fit_rows(self, rows: Rows | RowStore, Y: Any) -> Any:
        """``fit`` on rows that have been checked."""
        before = dict(self.__dict__)  # learning from the start changes none of the arrays that there were
        try:
            self._fit_rows(rows, Y)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _fit_rows(self, rows: Rows | RowStore, Y: Any) -> None:
        for _ in self.fit_passes(rows, Y):
            pass

    def fit_passes(self, rows: Rows | RowStore, Y: Any) -> Iterator[int]:
        """``fit_rows`` step by step: the learner can be tried after each pass, whose number is given."""
        if rows.n_rows == 0:
            raise InputError("there are no rows to learn from: found 0 samples where at least 1 is needed")
        self._start()
        yield from self.learn_passes(rows, Y)

    def learn_passes(self, rows: Rows | RowStore, Y: Any) -> Iterator[int]:
        """Learn more rows as ``fit`` does, several times and shuffled, step by step, and forget nothing."""
        passes = self.passes_through(rows.n_rows)
        if not self.__sklearn_is_fitted__():
            self._start()
        labels = self._take_up(rows, Y)
        if isinstance(rows, Rows):
            rows = self._prepare(rows)
        seed = as_seed(getattr(self, "random_state", None))
        generator = None if seed is None else np.random.default_rng(seed)
        for n in range(passes):
            order = np.arange(rows.n_rows) if generator is None else generator.permutation(rows.n_rows)
            self._learn_pass(rows, labels, order.astype(np.int64, copy=False), n == 0)
            yield n + 1

    def passes_through(self, n_rows: int) -> int:
        """How often ``fit`` goes through that many rows."""
        return as_whole(getattr(self, "passes", 1), "passes", least=1)

    @writing
    def _learn_pass(self, rows: Any, labels: LabelSets, order: Longs, first_pass: bool) -> None:
        """One pass of ``fit``; see shards.py for another way to go through it."""
        self._learn(rows, labels, order, first_pass)

    @writing
    @whole
    def learn_rows(self, rows: Rows, Y: Any) -> Any:
        """``partial_fit`` on rows that have been checked."""
        if not self.updatable:
            raise InputError(f"a {type(self).__name__} learns all its examples at once and cannot go on; use fit")
        Y = numbered(Y, rows.n_rows)
        if not self.__sklearn_is_fitted__():
            self._start()
        for some, own in portions(self._prepare(rows), Y):
            labels = self._take_up(some, own)
            self._learn(some, labels, np.arange(some.n_rows, dtype=np.int64), True)
            stop_here()
        return self

    def _start(self) -> None:
        self._jobs()  # checks n_jobs
        as_seed(getattr(self, "random_state", None))
        self._begin()
        self._labels = LabelIndex()
        self._label_counts = np.zeros(0, dtype=np.int64)
        self.n_examples_ = 0
        self.n_features_in_ = 0

    def _take_up(self, rows: Rows | RowStore, Y: Any) -> LabelSets:
        labels = self._labels.learn(Y, rows.n_rows)
        self._label_counts = grown(self._label_counts, len(self._labels))
        np.add.at(self._label_counts, labels.ids, 1)
        self.n_examples_ += rows.n_rows
        self.n_features_in_ = max(self.n_features_in_, rows.n_features)
        return labels

    # Ranking.

    @reading
    def rank(self, X: Any, k: int = 10) -> Ranking:
        """The k best labels of each row. Ties go to the label that appeared first."""
        self._check_fitted()
        return self.rank_rows(self._check(X), k)

    @reading
    def rank_rows(self, rows: Rows, k: int = 10) -> Ranking:
        """``rank`` on rows that have been checked."""
        self._check_fitted()
        k = min(as_whole(k, "k", least=1, most=sys.maxsize), max(len(self._labels), 1))
        rows = self._prepare(rows)
        ids = np.full((rows.n_rows, k), -1, dtype=np.int32)
        scores = np.full((rows.n_rows, k), np.nan)
        workers = self._workers(rows.n_rows)
        if workers == 1:
            self._rank(rows, ids, scores)
        else:
            edges = np.linspace(0, rows.n_rows, workers + 1).astype(int)
            with ThreadPoolExecutor(workers) as pool:
                tasks = [pool.submit(self._rank, rows.block(a, b), ids[a:b], scores[a:b]) for a, b in pairwise(edges)]
            for task in tasks:
                task.result()
        return Ranking(ids, scores, self._labels.names)

    def _rank_by_scores(self, rows: Rows, ids: Ints, scores: Floats, *, width: int = 0, above: float = -np.inf) -> None:
        """``_rank`` for a learner that has the scores of all labels: those above a limit, some rows at a time.

        ``width`` is how many numbers a row takes while its scores are made, if more than there are labels.
        """
        some = max(1, SCORES // max(width, len(self._labels), 1))
        for first in range(0, rows.n_rows, some):
            part = slice(first, min(first + some, rows.n_rows))
            found = self._scores(rows.block(part.start, part.stop))
            best = np.argsort(-found, axis=1, kind="stable")[:, : ids.shape[1]]
            own = np.take_along_axis(found, best, axis=1)
            ids[part, : best.shape[1]] = np.where(own > above, best, -1)
            scores[part, : best.shape[1]] = np.where(own > above, own, np.nan)

    def _workers(self, n_rows: int) -> int:
        """How many threads to use: kernels release the interpreter's lock, and each row's result is its own."""
        return max(1, min(self._jobs(), n_rows // LEAST_BLOCK))

    def _jobs(self) -> int:
        """How many threads the user allows: one for None, as many as there are processors for −1."""
        wanted = getattr(self, "n_jobs", None)
        jobs = 1 if wanted is None else as_whole(wanted, "n_jobs", least=-1)
        if jobs == 0:
            raise InputError("n_jobs must be at least 1, or -1 for all processors, not 0")
        return jobs if jobs > 0 else os.cpu_count() or 1

    @reading
    def decision_function(self, X: Any) -> Floats:
        """The score of every label for every row: n × number of labels, dense. ``rank`` needs far less memory."""
        self._check_fitted()
        return self._scores(self._prepare(self._check(X)))

    @reading
    def predict(self, X: Any) -> NDArray[Any]:
        """The best label of each row; the most frequent label where none is retrieved."""
        self._check_fitted()
        return self.predict_rows(self._check(X))

    @reading
    def predict_rows(self, rows: Rows) -> NDArray[Any]:
        """``predict`` on rows that have been checked."""
        best = self.rank_rows(rows, k=1).ids[:, 0]
        if not len(self._labels):
            raise InputError(f"this {type(self).__name__} has learned no label yet, and can predict none")
        return self.classes_[np.where(best < 0, int(np.argmax(self.label_counts_)), best)]

    @reading
    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """R1: the share of rows whose best label is one of theirs (accuracy, where each row has one label)."""
        self._check_fitted()
        return self.score_rows(self._check(X), Y, sample_weight)

    @reading
    def score_rows(self, rows: Rows, Y: Any, sample_weight: Any = None) -> float:
        """``score`` on rows that have been checked."""
        best = self.rank_rows(rows, k=1).ids[:, 0]
        return float(np.average(is_true(best, self._labels.look_up(Y, best.size)), weights=sample_weight))

    @reading
    def explain(self, x: Any, label: Any) -> Explanation:
        """The votes of each column of one row for a label. They sum to the label's score."""
        self._check_fitted()
        row = self._check(x if scipy.sparse.issparse(x) and x.ndim == 2 else as_one_row(x))
        if row.n_rows != 1:
            raise InputError(f"explain takes one row, not {row.n_rows}")
        return self.explain_row(row, label)

    @reading
    def explain_row(self, row: Rows, label: Any) -> Explanation:
        """``explain`` on one row that has been checked."""
        self._check_fitted()
        columns, votes = self._votes(self._prepare(row), self._number(label))
        total = 0.0
        for vote in votes.tolist():  # one after the other, as the kernels do: the same sum to the last bit
            total += vote
        heaviest = np.argsort(-np.abs(votes), kind="stable")
        pairs = zip(columns[heaviest].tolist(), votes[heaviest].tolist(), strict=True)
        return Explanation(label, total, list(pairs))

    # What was learned.

    def _number(self, label: Any) -> int:
        return self._labels.find(label)

    @property
    @reading
    def classes_(self) -> NDArray[Any]:
        """All labels, in order of first appearance."""
        self._check_fitted()
        return as_array(self._labels.names)

    @property
    def label_counts_(self) -> Longs:
        """In how many examples each label of ``classes_`` was seen."""
        self._check_fitted()
        return self._label_counts[: len(self._labels)]

    @reading
    def label_numbers(self, Y: Any) -> LabelSets:
        """The labels of Y as numbers in ``classes_``, for measuring; labels never learned get the numbers behind."""
        self._check_fitted()
        return self._labels.look_up(Y, len(Y))

    # Checks.

    def _check(self, X: Any) -> Rows:
        return as_rows(X, nonnegative=self.nonnegative)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} has learned nothing yet; call fit or partial_fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_labels")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.nonnegative
        return tags


def is_true(best: Ints, truth: LabelSets) -> NDArray[np.bool_]:
    """For each row, whether the label ``best`` is one of its own."""
    row = np.repeat(np.arange(best.size), np.diff(truth.indptr))
    hit = np.zeros(best.size, dtype=bool)
    hit[row[best[row] == truth.ids]] = True
    return hit
