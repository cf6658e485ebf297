"""How a learner ranks rows that were checked before, and what it has learned of labels."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats, Ints, Longs
from shortlist.data.label_input import (
    Columns,
    Label,
    LabelsLike,
    as_array,
)
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Explanation, Ranking
from shortlist.data.rows import Rows, grown
from shortlist.data.validation import (
    Names,
    as_jobs,
    as_whole,
)
from shortlist.errors import InputError
from shortlist.estimators import Estimator, not_fitted
from shortlist.learners.port import Allowed, Learner
from shortlist.learners.predictions import (
    best_or_most_frequent,
    indicator_matrix,
    mean_number_of_labels,
    share_of_hits,
)

ROWS_A_THREAD = 256  # at least, when rows are ranked by several threads
MOST_SCORES = 1 << 20  # held at a time


class RowRanker(Learner, Estimator):
    """Ranks labels for checked rows, by the steps of the port."""

    predicts_labels = True
    n_features_in_: int
    feature_names_in_: Names
    label_columns_: Columns | None  # of the indicator matrices that all labels came as
    counts_by_label_: Longs  # of examples

    def rank_rows(self, rows: Rows, k: int = 10, allowed: Allowed | None = None) -> Ranking:
        """``rank`` on checked rows, restricted to the allowed labels if given."""
        self.check_fitted()
        k = min(as_whole(k, "k", least=1, most=sys.maxsize), max(len(self.label_index_), 1))
        rows = self.prepare(rows)
        ids = np.full((rows.n_rows, k), -1, dtype=np.int32)
        scores = np.full((rows.n_rows, k), np.nan)
        if allowed is not None:
            self.best_allowed_labels(rows, allowed, ids, scores)
        elif rows.n_rows < 2 * ROWS_A_THREAD:
            self.best_labels(rows, ids, scores)
        else:
            self._best_labels_by_threads(rows, ids, scores)
        return Ranking(ids, scores, self.label_index_.names)

    def _best_labels_by_threads(self, rows: Rows, ids: Ints, scores: Floats) -> None:
        """Kernels release the interpreter's lock, and the result of each row is its own."""
        n_threads = min(self.n_threads(), rows.n_rows // ROWS_A_THREAD)
        edges = np.linspace(0, rows.n_rows, n_threads + 1).astype(int)
        with ThreadPoolExecutor(n_threads) as pool:
            tasks = [
                pool.submit(self.best_labels, rows.block(a, b), ids[a:b], scores[a:b])
                for a, b in pairwise(edges)
            ]
        for task in tasks:
            task.result()

    def best_allowed_labels(self, rows: Rows, allowed: Allowed, ids: Ints, scores: Floats) -> None:
        """``best_labels`` of allowed labels.

        If a learner knows nothing better, all are ranked, and the others left out.
        """
        n_labels = max(len(self.label_index_), 1)
        all_ids = np.full((rows.n_rows, n_labels), -1, dtype=np.int32)
        all_scores = np.full((rows.n_rows, n_labels), np.nan)
        self.best_labels(rows, all_ids, all_scores)
        is_usable = (all_ids >= 0) & allowed.labels[all_ids]
        if allowed.factors is not None:
            weighted = all_scores * allowed.factors[all_ids]
            all_scores = np.where(all_scores > 0.0, weighted, all_scores)
        all_scores = np.where(is_usable, all_scores, -np.inf)
        best = np.lexsort((all_ids, -all_scores), axis=1)[:, : ids.shape[1]]
        is_usable = np.take_along_axis(is_usable, best, axis=1)
        ids[:] = np.where(is_usable, np.take_along_axis(all_ids, best, axis=1), -1)
        scores[:] = np.where(is_usable, np.take_along_axis(all_scores, best, axis=1), np.nan)

    def rank_by_scores(
        self, rows: Rows, ids: Ints, scores: Floats, *, width: int = 0, above: float = -np.inf
    ) -> None:
        """``best_labels`` for a learner that has the scores of all labels.

        Only scores above a limit count. ``width`` is how many numbers a row takes while its scores
        are made, if more than there are labels.
        """
        n_rows_at_a_time = max(1, MOST_SCORES // max(width, len(self.label_index_), 1))
        for first in range(0, rows.n_rows, n_rows_at_a_time):
            part = slice(first, min(first + n_rows_at_a_time, rows.n_rows))
            all_scores = self.all_scores(rows.block(part.start, part.stop))
            best = np.argsort(-all_scores, axis=1, kind="stable")[:, : ids.shape[1]]
            best_scores = np.take_along_axis(all_scores, best, axis=1)
            is_above = best_scores > above
            ids[part, : best.shape[1]] = np.where(is_above, best, -1)
            scores[part, : best.shape[1]] = np.where(is_above, best_scores, np.nan)

    def n_threads(self) -> int:
        """How many threads the user allows."""
        return as_jobs(getattr(self, "n_jobs", None))

    def predict_rows(self, rows: Rows) -> NDArray[Any]:
        """``predict`` on checked rows."""
        if self.label_columns_ is not None:
            k = mean_number_of_labels(self.label_counts_, self.n_examples_)
            ids = self.rank_rows(rows, k).ids
            return indicator_matrix(ids, self.label_index_.names, self.label_columns_)
        best = self.rank_rows(rows, k=1).ids[:, 0]
        if not len(self.label_index_):
            raise InputError(
                f"this {type(self).__name__} has learned no label yet, and can predict none"
            )
        return best_or_most_frequent(best, self.classes_, self.label_counts_)

    def score_rows(
        self, rows: Rows, Y: LabelsLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """``score`` on checked rows."""
        best = self.rank_rows(rows, k=1).ids[:, 0]
        return share_of_hits(best, self.label_index_.look_up(Y, best.size), sample_weight)

    def explain_row(self, row: Rows, label: Label) -> Explanation:
        """``explain`` on one checked row."""
        columns, votes = self.votes(self.prepare(row), self.label_index_.find(label))
        score = 0.0
        for vote in votes.tolist():  # one by one, as the kernels add: the same sum to the last bit
            score += vote
        heaviest = np.argsort(-np.abs(votes), kind="stable")
        pairs = zip(columns[heaviest].tolist(), votes[heaviest].tolist(), strict=True)
        return Explanation(label, score, list(pairs))

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, in order of first appearance."""
        self.check_fitted()
        return as_array(self.label_index_.names)

    @property
    def label_counts_(self) -> Longs:
        """In how many examples each label of ``classes_`` was seen."""
        self.check_fitted()
        return self.counts_by_label_[: len(self.label_index_)]

    def all_label_counts(self) -> Longs:
        """``label_counts_``, with a 0 for each label that is known without an example."""
        n_labels = len(self.label_index_)
        return grown(self.label_counts_, n_labels)[:n_labels]

    def label_numbers(self, Y: LabelsLike) -> LabelSets:
        """The labels of Y as numbers in ``classes_``, for measuring; labels never learned get the
        numbers behind.
        """
        self.check_fitted()
        return self.label_index_.look_up(Y, n_examples(Y))

    def check_fitted(self) -> None:
        """Refuse a learner that has learned nothing."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(
                f"this {type(self).__name__} has learned nothing yet; call fit or partial_fit first"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_index_")


def n_examples(Y: LabelsLike) -> int:
    """How many examples these are the labels of."""
    return int(Y.shape[0]) if hasattr(Y, "shape") else len(Y)  # type: ignore[arg-type]
