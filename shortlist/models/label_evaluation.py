"""How well a model of categories ranks examples that it has not learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.confidence.calibration import Aim
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.observers import DEPTH
from shortlist.data.labels import LabelSets, NumberedLabels
from shortlist.data.ranking import Ranking
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.measures import depth, evaluate, measure, propensities_for
from shortlist.models.answers import JudgedRanking
from shortlist.models.label_report import Decisions, add_hierarchy, add_labels
from shortlist.models.model import Report


class EvaluatesLabels(ABC):
    """Ranks labelled examples and reports on the rankings."""

    learner_: CategoryLearner
    chosen: Callable[[Ranking, Aim], NDArray[np.bool_]]
    rank_batches: Callable[[Iterable[Examples], int], Iterator[tuple[Ranking, Examples]]]

    @property
    @abstractmethod
    def vocabulary_(self) -> LabelVocabulary | None:
        """The names of the labels."""

    @property
    @abstractmethod
    def confidence_(self) -> Confidence:
        """How certain rankings are."""

    def judge_batches(
        self, batches: Iterable[Examples], measures: Sequence[str]
    ) -> Iterator[JudgedRanking]:
        """Rank labelled examples, deep enough for these measures."""
        for ranking, batch in self.rank_batches(batches, self.judged_depth(measures)):
            yield JudgedRanking(ranking, batch.labels or [])

    def judged_depth(self, measures: Sequence[str]) -> int:
        """How many labels to rank for these measures."""
        least = DEPTH if self.confidence_.ready else 1
        return max(self._measured_depth(measures), least)

    def _measured_depth(self, measures: Sequence[str]) -> int:
        """How many labels these measures look at."""
        return depth([measure(name) for name in measures], len(self.learner_.classes_))

    def report_on(
        self, judged: Iterable[JudgedRanking], measures: Sequence[str], *, details: bool = False
    ) -> Report:
        """Measure rankings of labelled examples."""
        judged = list(judged)
        ranking, truth = self.joined_judgements(judged, measures)
        learner = self.learner_
        n_labels = len(learner.classes_)
        chosen = [measure(name) for name in measures]
        propensities = propensities_for(chosen, learner.label_counts_, learner.n_examples_)
        report = Report(
            evaluate(ranking, truth, chosen, n_labels=n_labels, propensities=propensities)
        )
        if details:
            add_labels(report, ranking, truth, n_labels, self.vocabulary_)
        if self.vocabulary_ is not None and self.vocabulary_.broader:
            add_hierarchy(report, judged, self.vocabulary_)
        if self.confidence_.ready:
            deep = Ranking.stack([part.ranking for part in judged], min(DEPTH, n_labels))
            Decisions(self.confidence_, self.chosen, deep, truth).add_to(report)
        return report

    def joined_judgements(
        self, judged: Sequence[JudgedRanking], measures: Sequence[str]
    ) -> tuple[Ranking, LabelSets]:
        """The rankings of all batches as one, and the labels as numbers."""
        labels = [part.labels for part in judged]
        if not any(labels):
            raise InputError("there are no examples to evaluate")
        numbers = self.learner_.label_numbers(NumberedLabels.stack(labels))
        rankings = [part.ranking for part in judged]
        return Ranking.stack(rankings, self._measured_depth(measures)), numbers
