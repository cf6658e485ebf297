"""How a learner of categories answers: rankings, scores, predictions, explanations, and what it says of itself."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError

from shortlist.arrays.columns import check_columns
from shortlist.arrays.given_labels import Columns, Label, LabelsLike, as_array
from shortlist.arrays.kernels import Floats, Ints, Longs
from shortlist.arrays.rows import MatrixLike, Rows
from shortlist.arrays.validation import as_jobs, as_numbers, as_rows, as_whole, check_nonnegative
from shortlist.categories.allowed import Allowed, keep_allowed
from shortlist.categories.portions import as_one_row
from shortlist.categories.saving import SavedLearner
from shortlist.concurrency.locks import reading
from shortlist.errors import InputError
from shortlist.labels import LabelSets
from shortlist.ranking import Explanation, Ranking

LEAST_BLOCK = 256  # rows that are worth a thread of their own
SCORES = 1 << 20  # scores that are held at a time
BIAS = -1  # the column of a vote that no feature casts


class AnsweringLearner(ClassifierMixin, SavedLearner):
    """Base class: answers by what it has learned. A learner says how rows are ranked, scored and explained."""

    nonnegative = False  # whether the learner takes only values of at least 0

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

    # Ranking.

    @reading
    def rank(self, X: MatrixLike, k: int = 10) -> Ranking:
        """The k best labels of each row. Ties go to the label that appeared first."""
        self._check_fitted()
        return self._rank_rows(self._check(X), k)

    @reading
    def _rank_rows(self, rows: Rows, k: int = 10, allowed: Allowed | None = None) -> Ranking:
        """``rank`` on rows that have been checked; of the labels that are allowed, if that is said."""
        self._check_fitted()
        k = min(as_whole(k, "k", least=1, most=sys.maxsize), max(len(self._labels), 1))
        rows = self._prepare(rows)
        ids, scores = np.empty((rows.n_rows, k), dtype=np.int32), np.empty((rows.n_rows, k))
        ids.fill(-1)
        scores.fill(np.nan)
        workers = self._workers(rows.n_rows)
        if allowed is not None:
            self._rank_allowed(rows, allowed, ids, scores)
        elif workers == 1:
            self._rank(rows, ids, scores)
        else:
            edges = np.linspace(0, rows.n_rows, workers + 1).astype(int)
            with ThreadPoolExecutor(workers) as pool:
                tasks = [pool.submit(self._rank, rows.block(a, b), ids[a:b], scores[a:b]) for a, b in pairwise(edges)]
            for task in tasks:
                task.result()
        return Ranking(ids, scores, self._labels.names)

    def _rank_allowed(self, rows: Rows, allowed: Allowed, ids: Ints, scores: Floats) -> None:
        """``_rank`` of allowed labels. If a learner knows nothing better, all are ranked, and the others left out."""
        self._rank_all_and_keep(rows, allowed, ids, scores)

    def _rank_all_and_keep(self, rows: Rows, allowed: Allowed, ids: Ints, scores: Floats) -> None:
        n_labels = max(len(self._labels), 1)
        every = np.full((rows.n_rows, n_labels), -1, dtype=np.int32)
        own = np.full((rows.n_rows, n_labels), np.nan)
        self._rank(rows, every, own)
        ids[:], scores[:] = keep_allowed(every, own, allowed, ids.shape[1])

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
        return 1 if n_rows < 2 * LEAST_BLOCK else max(1, min(self._jobs(), n_rows // LEAST_BLOCK))

    def _jobs(self) -> int:
        """How many threads the user allows."""
        return as_jobs(getattr(self, "n_jobs", None))

    @reading
    def decision_function(self, X: MatrixLike) -> Floats:
        """The score of every label for every row: n × number of labels, dense. ``rank`` needs far less memory."""
        self._check_fitted()
        return self._scores(self._prepare(self._check(X)))

    # Predicting.

    @reading
    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The best label of each row; the most frequent label where none is retrieved.

        If all labels came as indicator matrices, an indicator matrix of the same columns: each row is given as many of
        its best labels as an example has on average, rounded, and at least one if any is retrieved.
        """
        self._check_fitted()
        return self._predict_rows(self._check(X))

    @reading
    def _predict_rows(self, rows: Rows) -> NDArray[Any]:
        """``predict`` on rows that have been checked."""
        if self._label_columns is not None:
            return self._indicated(rows, self._label_columns)
        best = self._rank_rows(rows, k=1).ids[:, 0]
        if not len(self._labels):
            raise InputError(f"this {type(self).__name__} has learned no label yet, and can predict none")
        return self.classes_[np.where(best < 0, int(np.argmax(self.label_counts_)), best)]

    def _indicated(self, rows: Rows, columns: Columns) -> Longs:
        return self._indicate(self._rank_rows(rows, self._usual_number()).ids, columns)

    def _usual_number(self) -> int:
        """How many labels an example has on average, rounded, and at least one."""
        return max(1, int(self.label_counts_.sum() / max(self.n_examples_, 1) + 0.5))

    def _indicate(self, ids: Ints, columns: Columns) -> Longs:
        """Labels (n × k, −1 for none) as an indicator matrix."""
        column = self._columns(columns)
        row, place = np.nonzero(column[ids] >= 0)
        indicated = np.zeros((ids.shape[0], len(columns)), dtype=np.int64)
        indicated[row, column[ids[row, place]]] = 1
        return indicated

    def _columns(self, columns: Columns) -> Longs:
        """The column of each label in an indicator matrix; −1 for labels that have none, and for no label, the last."""
        place = {name: at for at, name in enumerate(columns)}
        return np.array([*(place.get(name, -1) for name in self._labels.names), -1], dtype=np.int64)

    @reading
    def score(self, X: MatrixLike, Y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """R1: the share of rows whose best label is one of theirs (accuracy, where each row has one label)."""
        self._check_fitted()
        return self._score_rows(self._check(X), Y, sample_weight)

    @reading
    def _score_rows(self, rows: Rows, Y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """``score`` on rows that have been checked."""
        best = self._rank_rows(rows, k=1).ids[:, 0]
        right = is_true(best, self._labels.look_up(Y, best.size)).astype(np.float64)
        weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight", length=best.size)
        return float(np.average(right, weights=weights))

    @reading
    def explain(self, x: MatrixLike, label: Label) -> Explanation:
        """The votes of each column of one row for a label. They sum to the label's score."""
        self._check_fitted()
        row = self._check(x if getattr(x, "ndim", None) == 2 else as_one_row(x))
        if row.n_rows != 1:
            raise InputError(f"explain takes one row, not {row.n_rows}")
        return self._explain_row(row, label)

    @reading
    def _explain_row(self, row: Rows, label: Label) -> Explanation:
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

    def _number(self, label: Label) -> int:
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
    def label_numbers(self, Y: LabelsLike) -> LabelSets:
        """The labels of Y as numbers in ``classes_``, for measuring; labels never learned get the numbers behind."""
        self._check_fitted()
        return self._labels.look_up(Y, n_examples(Y))

    # Checks.

    def _check(self, X: MatrixLike) -> Rows:
        """The rows of X, refused where they are not what was learned from."""
        check_columns(self, X)
        return self._as_rows(X)

    def _as_rows(self, X: MatrixLike) -> Rows:
        return self._of_right_signs(as_rows(X))

    def _of_right_signs(self, rows: Rows, called: Callable[[int], str] = "row {}".format) -> Rows:
        """The same rows, refused where a value is negative that must not be; ``called`` says what each is called."""
        if self.nonnegative:
            check_nonnegative(rows, called)
        return rows

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} has learned nothing yet; call fit or partial_fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_labels")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.nonnegative
        tags.classifier_tags.multi_label = True
        return tags


def n_examples(Y: LabelsLike) -> int:
    """How many examples these are the labels of."""
    return int(Y.shape[0]) if hasattr(Y, "shape") else len(Y)  # type: ignore[arg-type]


def is_true(best: Ints, truth: LabelSets) -> NDArray[np.bool_]:
    """For each row, whether the label ``best`` is one of its own."""
    row = np.repeat(np.arange(best.size), np.diff(truth.indptr))
    hit = np.zeros(best.size, dtype=bool)
    hit[row[best[row] == truth.ids]] = True
    return hit
