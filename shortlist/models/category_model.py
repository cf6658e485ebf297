"""Models that rank labels, of texts or of rows, with probabilities, and decide."""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.concurrency import lock_of, prefetch, reading
from shortlist.confidence.calibrated import Automation, Reason
from shortlist.confidence.calibration import F1, TOGETHER, Aim, Precision
from shortlist.confidence.confidence import Confidence
from shortlist.confidence.observers import DEPTH
from shortlist.confidence.spot_checks import Examined
from shortlist.data.label_input import Label
from shortlist.data.ranking import Ranking
from shortlist.data.rows import Rows
from shortlist.data.validation import as_whole
from shortlist.inputs.examples import Examples
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.port import Allowed
from shortlist.models.answers import Assigned, AssignedLabels, JudgedRanking, RankedLabels
from shortlist.models.label_descriptions import DescribesLabels
from shortlist.models.label_evaluation import EvaluatesLabels
from shortlist.models.label_predictions import PredictsLabels
from shortlist.models.model import Model
from shortlist.models.policy import AllowedLabels, LabelPolicy
from shortlist.models.rules import Kinds, Rules, within_kinds
from shortlist.models.strikes import Strike, StruckVotes

Inputs = TypeVar("Inputs")  # examples to rank labels for: texts, or rows of features


class CategoryModel(
    DescribesLabels, PredictsLabels, EvaluatesLabels, Model[JudgedRanking], Generic[Inputs]
):
    """Base class: ranks labels with probabilities, and decides.

    It is made of a learner, a confidence and a policy; a subclass adds features, which make rows of
    texts or of a matrix.
    """

    task = "categories"
    predicts_labels = True
    default_measures = ("R1", "R5", "MRR", "P@5", "nDCG@5")
    detail_kind = "label"
    learner_: CategoryLearner
    policy_ = LabelPolicy()
    noted_confidence_: Confidence | None = None  # None where nothing was learned that calibrates
    allowed_labels_: AllowedLabels | None = None

    @property
    @reading
    def confidence_(self) -> Confidence:
        """How certain rankings are, learned from examples that were ranked before they were
        learned.
        """
        return self._confidence()

    def _confidence(self) -> Confidence:
        """``confidence_`` inside of a method that holds the model's lock."""
        if self.noted_confidence_ is None:
            return Confidence()
        return self.noted_confidence_.settled(lock_of(self))

    @property
    def vocabulary_(self) -> LabelVocabulary | None:
        """The names of the labels."""
        return self.policy_.vocabulary

    @property
    def retired_(self) -> tuple[Label, ...]:
        """Labels that are neither ranked nor learned."""
        return self.policy_.retired

    @property
    def rules_(self) -> Rules | None:
        """The rules of all rankings."""
        return self.policy_.rules

    @property
    def strikes_(self) -> tuple[Strike, ...]:
        """The words that people have struck out."""
        return self.policy_.strikes

    # The features of a model, which a subclass defines.

    @abstractmethod
    def inputs_of(self, examples: Examples) -> Inputs:
        """The texts or rows of a batch; a batch of the other kind is refused."""

    @abstractmethod
    def rows_of(self, inputs: Inputs) -> Rows:
        """The rows of the examples."""

    @abstractmethod
    def has_known_features(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Whether each example has a known feature."""

    @abstractmethod
    def known_shares(self, inputs: Inputs) -> NDArray[np.float32]:
        """The share of the features of each example that are known; 1 where this cannot be told."""

    # Ranking.

    def answer_batches(self, batches: Iterable[Examples], k: int = 5) -> Iterator[RankedLabels]:
        for ranking, batch in self.rank_batches(batches, k):
            yield RankedLabels(ranking, batch.ids)

    def rank_batches(
        self, batches: Iterable[Examples], k: int
    ) -> Iterator[tuple[Ranking, Examples]]:
        """The k best labels of batch after batch; while one is ranked, the next are read and
        tokenised.
        """
        self.check_fitted()
        with closing(prefetch(batches)) as read:
            rows_and_batches = ((self.rows_of(self.inputs_of(batch)), batch) for batch in read)
            with closing(prefetch(rows_and_batches)) as tokenised:
                for rows, batch in tokenised:
                    yield self._rank_held(self.inputs_of(batch), rows, k), batch

    def rank_examples(self, examples: Examples, k: int) -> Ranking:
        """The k best labels of each example of a batch."""
        self.check_fitted()
        inputs = self.inputs_of(examples)
        return self._rank_held(inputs, self.rows_of(inputs), k)

    @reading
    def _rank_held(self, inputs: Inputs, rows: Rows, k: int) -> Ranking:
        return self.rank_under_rules(rows, k, struck=self.struck_in(inputs))

    def struck_in(self, inputs: Inputs) -> StruckVotes | None:
        """The votes that people have struck out of the scores of examples; None if there are
        none.
        """
        return None

    def rank_under_rules(
        self,
        rows: Rows,
        k: int,
        rules: Rules | None = None,
        struck: StruckVotes | None = None,
    ) -> Ranking:
        """The k best labels that the rules allow, without struck votes, with probabilities.

        The probability of the best label depends on TOGETHER scores, so as many are ranked.
        """
        k = as_whole(k, "k", least=1, most=sys.maxsize)
        learner = self.learner_
        n_ranked = max(k, TOGETHER)
        all_rules = self.policy_.rules_of(rules)
        allowed: Allowed | None = None
        kinds: Kinds = []
        if all_rules or self.retired_:
            allowed, kinds = self.labels_allowed(all_rules)

        def rank(n: int) -> Ranking:
            if struck is None:
                return learner.rank_rows(rows, n, allowed)
            deeper = learner.rank_rows(rows, n + struck.n_labels, allowed)
            return struck.applied(rows, deeper, n, allowed)

        if kinds:
            ranking = within_kinds(rank, n_ranked, len(learner.label_index_), kinds)
        else:
            ranking = rank(n_ranked)
        first = ranking if k >= TOGETHER else ranking.first(k)
        promise = self._confidence().promised(ranking.scores, first.scores.shape[1])
        return first.with_probabilities(promise)

    def labels_allowed(self, rules: Sequence[Rules]) -> Any:
        """Which labels may be ranked, and the kinds of labels that rules limit."""
        if self.allowed_labels_ is None:
            self.allowed_labels_ = AllowedLabels()
        return self.allowed_labels_(self.learner_, self.policy_, rules)

    def rank_deep(self, inputs: Inputs) -> Ranking:
        """As many labels as a decision or a shortlist can take."""
        self.check_fitted()
        return self.rank_under_rules(self.rows_of(inputs), DEPTH, struck=self.struck_in(inputs))

    # Deciding.

    @reading
    def shortlist(self, X: Inputs, coverage: float = 0.95) -> list[Ranking]:
        """For each row the shortest list that keeps a promise, as ``Categorizer.shortlist`` for
        texts.
        """
        ranking = self.rank_deep(X)
        self.warn_of_broken_promise(coverage)
        return ranking.only(self.shortlisted(ranking, coverage))

    @reading
    def shortlisted(self, ranking: Ranking, coverage: float) -> NDArray[np.bool_]:
        """Which labels of each ranking (of DEPTH labels, or all there are) the shortlist
        contains.
        """
        lengths = self.confidence_.lengths(ranking.scores, coverage, ranking.probabilities)
        is_listed: NDArray[np.bool_] = np.arange(ranking.scores.shape[1]) < lengths[:, None]
        return is_listed

    @reading
    def warn_of_broken_promise(self, coverage: float) -> None:
        """Warn if no list is long enough to contain all true labels in a share of ``coverage`` of
        all texts.
        """
        confidence = self.confidence_
        warn_of_sorted_stream(confidence)
        if confidence.ready and coverage < 1.0 and not confidence.can_promise(coverage):
            warnings.warn(
                f"coverage={coverage:g} cannot be promised: lists of at most {DEPTH} labels hold "
                f"all true ones of {confidence.reachable():.1%} of the {confidence.observed} "
                "examples that were ranked before they were learned, and now hold all labels; "
                "teach more, or ask for less",
                UserWarning,
                stacklevel=4,
            )

    @reading
    def assign(self, X: Inputs, *, precision: float | None = None) -> list[Assigned]:
        """For each row its labels, or none and a reason, as ``Categorizer.assign`` for texts."""
        self.check_fitted()
        aim = self.aim(precision)
        warn_of_sorted_stream(self.confidence_)
        return self.decide(X, self.rank_deep(X), aim)

    @reading
    def decide(self, inputs: Inputs, ranking: Ranking, aim: Aim) -> list[Assigned]:
        """The labels assigned to ranked examples: none without a known feature, or out of scope for
        a precision.
        """
        has_known = self.has_known_features(inputs)
        is_strange = np.zeros(has_known.size, dtype=np.bool_)
        if isinstance(aim, Precision):
            is_strange = self.confidence_.are_unlike(self.known_shares(inputs))
        is_assigned = self.chosen(ranking, aim) & (has_known & ~is_strange)[:, None]
        best = np.full(has_known.size, np.nan)
        if ranking.scores.shape[1]:
            best = ranking.scores[:, 0]
        nothing_known = Reason.NO_KNOWN_WORD if self.takes_texts else Reason.NO_KNOWN_FEATURE
        reasons = np.full(has_known.size, Reason.NOTHING_SURE_ENOUGH)
        is_low = best < self.confidence_.lowest(aim)
        reasons[is_strange | is_low] = Reason.UNLIKE_ANYTHING_LEARNED
        reasons[~has_known | np.isnan(best)] = nothing_known
        if self.confidence_.is_paused(aim):
            reasons[:] = Reason.PAUSED_BY_SPOT_CHECKS
        reasons[is_assigned.any(axis=1)] = Reason.ASSIGNED
        pairs = zip(ranking.only(is_assigned), reasons.tolist(), strict=True)
        return [Assigned(labels, Reason(reason)) for labels, reason in pairs]

    @reading
    def chosen(self, ranking: Ranking, aim: Aim) -> NDArray[np.bool_]:
        """Which labels of rankings to assign for an aim.

        A label that nobody has used yet is suggested, never assigned.
        """
        is_chosen = self.confidence_.assigned(ranking.scores, aim, ranking.probabilities)
        is_chosen &= np.append(self.label_counts_, 0)[ranking.ids] > 0
        if self.has_one_label_each:
            is_chosen[:, 1:] = False
        return is_chosen

    def aim(self, precision: float | None) -> Aim:
        """The aim of an assignment: the given precision, or the largest F1 if None."""
        if precision is None:
            return F1()
        return Precision(precision, alone=self.has_one_label_each)

    @property
    def has_one_label_each(self) -> bool:
        """Whether the counts show that no example had several labels."""
        return int(self.learner_.label_counts_.sum()) <= int(self.learner_.n_examples_)

    @reading
    def automation(self, precisions: Sequence[float] = (0.9, 0.95, 0.99)) -> list[Automation]:
        """For each precision, the threshold from which labels are assigned without a person, and
        the share of texts.
        """
        self.check_fitted()
        return self.confidence_.automation(precisions)

    @reading
    def examined(self, precision: float = 0.95) -> Examined:
        """What spot checks (``learn(…, checked=True)``) say of the labels assigned for a precision:
        how many are right, a lower bound that holds at every look, and whether assigning is paused.
        """
        self.check_fitted()
        return self.confidence_.examined(precision)

    def assign_batches(self, batches: Iterable[Examples], aim: Aim) -> Iterator[AssignedLabels]:
        """The labels assigned to the examples of one batch after the other."""
        for ranking, batch in self.rank_batches(batches, DEPTH):
            yield AssignedLabels(self.decide(self.inputs_of(batch), ranking, aim), batch.ids)

    def shortlist_batches(
        self, batches: Iterable[Examples], coverage: float
    ) -> Iterator[RankedLabels]:
        """The shortlists of the examples of batch after batch, without the warnings of
        ``warn_of_broken_promise``.
        """
        for ranking, batch in self.rank_batches(batches, DEPTH):
            yield RankedLabels(ranking.only(self.shortlisted(ranking, coverage)), batch.ids)

    def likely_batches(
        self, batches: Iterable[Examples], k: int, least: float
    ) -> Iterator[RankedLabels]:
        """Those of the k best labels of each example whose probability is at least ``least``."""
        for ranking, batch in self.rank_batches(batches, k):
            with np.errstate(invalid="ignore"):
                yield RankedLabels(ranking.only(ranking.probabilities >= least), batch.ids)


def warn_of_sorted_stream(confidence: Confidence) -> None:
    """Warn if the last examples came sorted by label."""
    if confidence.is_in_run:
        warnings.warn(
            "the last examples came sorted by label, from which nothing can be promised for other "
            "texts: no label is assigned, and lists hold all labels; shuffle the stream, or learn "
            "all at once (fit, shortlist train)",
            UserWarning,
            stacklevel=5,
        )
