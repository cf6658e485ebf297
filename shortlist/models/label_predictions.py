"""What scikit-learn asks of a model of categories: labels, probabilities and a score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats
from shortlist.concurrency import reading
from shortlist.confidence.calibration import F1, Aim
from shortlist.confidence.confidence import Confidence
from shortlist.data.label_input import LabelsLike
from shortlist.data.labels import sorting
from shortlist.data.ranking import Ranking
from shortlist.data.rows import Rows
from shortlist.errors import InputError
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.predictions import (
    best_or_most_frequent,
    indicator_matrix,
    mean_number_of_labels,
    probabilities_by_column,
    probabilities_summing_to_one,
)
from shortlist.models.policy import LabelPolicy
from shortlist.models.rules import Rules


class PredictsLabels(ABC):
    """scikit-learn's verbs of a model of categories, on the model's own rankings."""

    learner_: CategoryLearner
    policy_: LabelPolicy
    check_fitted: Callable[[], None]
    chosen: Callable[[Ranking, Aim], NDArray[np.bool_]]
    labels_allowed: Callable[[Sequence[Rules]], Any]
    rank_deep: Callable[[Any], Ranking]
    rank_under_rules: Callable[..., Ranking]
    rows_of: Callable[[Any], Rows]
    struck_in: Callable[[Any], Any]

    @property
    @abstractmethod
    def classes_(self) -> NDArray[Any]:
        """All labels."""

    @property
    @abstractmethod
    def confidence_(self) -> Confidence:
        """How certain rankings are."""

    @property
    @abstractmethod
    def has_one_label_each(self) -> bool:
        """Whether no example had several labels."""

    @reading
    def predict(self, X: Any) -> NDArray[Any]:
        """The best label of each row; if all labels came as indicator matrices, such a matrix of
        assigned labels.
        """
        self.check_fitted()
        learner = self.learner_
        rows = self.rows_of(X)
        columns = learner.label_columns_
        names = learner.label_index_.names
        if columns is not None and self.confidence_.ready:
            ranking = self.rank_deep(X)
            ids = np.where(self.chosen(ranking, F1()), ranking.ids, -1)
            return indicator_matrix(ids, names, columns)
        rules = self.policy_.rules_of(None)
        if not self.policy_.retired and not rules and not self.policy_.strikes:
            return learner.predict_rows(rows)
        struck = self.struck_in(X)
        if columns is not None:
            k = mean_number_of_labels(learner.label_counts_, learner.n_examples_)
            return indicator_matrix(
                self.rank_under_rules(rows, k, struck=struck).ids, names, columns
            )
        allowed, _ = self.labels_allowed(rules)
        counts = np.where(allowed.labels, learner.all_label_counts(), -1)
        return best_or_most_frequent(
            self.rank_under_rules(rows, 1, struck=struck).ids[:, 0], self.classes_, counts
        )

    @reading
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each label, n × number of labels, dense, as
        ``Categorizer.predict_proba`` for texts.
        """
        self.check_fitted()
        learner = self.learner_
        columns = learner.label_columns_
        if not self.confidence_.ready:
            raise InputError(
                "the model has not seen enough examples to give probabilities; it needs about a "
                "hundred"
            )
        if self.has_one_label_each:
            if columns is None or list(columns) != learner.classes_.tolist():
                check_sorted(learner.classes_)
            ranking = self.rank_deep(X)
            counts = learner.label_counts_
            return probabilities_summing_to_one(ranking.ids, ranking.probabilities, counts)
        if columns is None:
            raise InputError(
                "predict_proba needs texts of one label each, or labels that came as an indicator "
                "matrix; rank(texts).probabilities has the probabilities of the best labels"
            )
        ranking = self.rank_deep(X)
        names = learner.label_index_.names
        return probabilities_by_column(ranking.ids, ranking.probabilities, names, columns)

    @reading
    def decision_function(self, X: Any) -> Floats:
        """The score of each label, n × number of labels, dense, as
        ``Categorizer.decision_function`` for texts.
        """
        self.check_fitted()
        learner = self.learner_
        columns = learner.label_columns_
        if columns is None:
            check_sorted(learner.classes_)
        n_labels = len(learner.label_index_)
        ranking = self.rank_under_rules(self.rows_of(X), n_labels)
        scores = np.zeros((len(ranking), n_labels))
        row, place = np.nonzero(ranking.ids >= 0)
        scores[row, ranking.ids[row, place]] = ranking.scores[row, place]
        if columns is not None:
            number = {name: n for n, name in enumerate(learner.label_index_.names)}
            scores = scores[:, [number[name] for name in columns]]
        elif n_labels == 2 and self.has_one_label_each:
            return scores[:, 1] - scores[:, 0]
        return scores

    @reading
    def score(self, X: Any, Y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """R1: the share of rows whose best label is one of theirs."""
        self.check_fitted()
        return self.learner_.score_rows(self.rows_of(X), Y, sample_weight)


def check_sorted(classes: NDArray[Any]) -> None:
    """Refuse unsorted labels: scikit-learn would mistake their columns for those of others."""
    names = classes.tolist()
    if names != sorted(names, key=sorting):
        raise InputError(
            "scikit-learn takes the columns of predict_proba in the sorted order of the labels, as "
            "fit numbers them, and this model has learned them from a stream, in the order in "
            "which they came; use fit, name all labels first (partial_fit with classes), or use "
            "rank(texts).probabilities"
        )
