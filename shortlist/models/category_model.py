"""Models that rank labels, of texts or of rows of features, say how sure they are, and decide.

A model holds its learner, and a confidence that was taught by rankings made before their examples were learned. What it
is asked about, texts or rows, is its own to say.
"""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.given_labels import Label
from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_choice, as_whole
from shortlist.categories.learner import Allowed, CategoryLearner
from shortlist.categories.relabelling import counts_of
from shortlist.concepts import LabelVocabulary
from shortlist.concurrency import lock_of, prefetch, reading
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.labels import LabelSets, NumberedLabels
from shortlist.measures import Evaluation, depth, evaluate, measure, per_label, propensities_for
from shortlist.models.answers import (
    Assigned,
    AssignedLabels,
    JudgedRanking,
    RankedLabels,
    check_order,
    check_table,
    of_columns,
    summing_to_one,
)
from shortlist.models.base import Model, Report, Table
from shortlist.models.confidence import F1, Aim, Confidence, Costs, Precision, Reason
from shortlist.models.confidence.calibration import TOGETHER
from shortlist.models.confidence.thresholds import Automation
from shortlist.models.judging import Decisions, as_table, near_misses
from shortlist.models.observing import DEPTH
from shortlist.models.rules import Kinds, KnownRules, Rules, within_kinds
from shortlist.ranking import Ranking

Given = TypeVar("Given")  # some examples, as a model is asked about them: texts, or rows of features


class CategoryModel(Model[JudgedRanking], Generic[Given]):
    """Base class: ranks labels, with probabilities, and decides. A model says how examples become rows."""

    task = "categories"
    _predicts_labels = True
    _usual_measures = ("R1", "R5", "MRR", "P@5", "nDCG@5")
    _detail = "label"
    learner_: CategoryLearner
    vocabulary_: LabelVocabulary | None = None  # what its labels are called, where somebody has said

    def _new_learner(self) -> CategoryLearner:
        learner: CategoryLearner = super()._new_learner()
        return learner

    _nothing_known: ClassVar[Reason] = Reason.NO_KNOWN_WORD  # what it says of an example of which nothing is known
    _known_confidence: Confidence | None = None  # None where nothing was learned on a stream, or in ``fit``

    @property
    @reading
    def confidence_(self) -> Confidence:
        """How sure its rankings are, as far as examples that were ranked before they were learned can tell."""
        return self._confidence()

    def _confidence(self) -> Confidence:
        """``confidence_`` for who reads the model already."""
        return Confidence() if self._known_confidence is None else self._known_confidence.settled(lock_of(self))

    @abstractmethod
    def _given_in(self, examples: Examples) -> Given:
        """What it is asked about in a batch, refused where that holds something else."""

    @abstractmethod
    def _rows_of(self, given: Given) -> Rows:
        """The rows of what is given."""

    @abstractmethod
    def _has_known(self, given: Given) -> NDArray[np.bool_]:
        """Whether anything in each example is known, as far as that can be told."""

    @abstractmethod
    def _known_share(self, given: Given) -> NDArray[np.float32]:
        """Which share of the features of each example is known, as far as that can be told; 1 where it cannot."""

    def _rows(self, examples: Examples) -> Rows:
        return self._rows_of(self._given_in(examples))

    # Ranking.

    def _answer(self, batches: Iterable[Examples], k: int = 5) -> Iterator[RankedLabels]:
        for ranking, batch in self._rank_batches(batches, k):
            yield RankedLabels(ranking, batch.ids)

    def _rank_batches(self, batches: Iterable[Examples], k: int) -> Iterator[tuple[Ranking, Examples]]:
        """The k best labels of one batch after the other; while one is ranked, the next are tokenised and made."""
        self._check_fitted()
        with closing(prefetch(batches)) as read, closing(prefetch((self._rows(one), one) for one in read)) as tokenised:
            for rows, batch in tokenised:
                yield self._held(partial(self._ranked, rows, k)), batch

    def _rank_examples(self, examples: Examples, k: int) -> Ranking:
        """The k best labels of each example of a batch."""
        self._check_fitted()
        ranking: Ranking = self._held(partial(self._ranked, self._rows(examples), k))
        return ranking

    def _ranked(self, rows: Rows, k: int, rules: Rules | None = None) -> Ranking:
        """The k best labels that the rules allow, with probabilities: that of the best depends on some other scores."""
        k = as_whole(k, "k", least=1, most=sys.maxsize)
        learner, every, deep = self.learner_, self._every_rule(rules), max(k, TOGETHER)
        allowed, kinds = self._allowed(every) if every or self.retired_ else (None, None)
        if kinds:
            ranking = within_kinds(lambda n: learner._rank_rows(rows, n, allowed), deep, len(learner._labels), kinds)
        else:
            ranking = learner._rank_rows(rows, deep, allowed)
        shown = ranking if k >= TOGETHER else ranking.first(k)
        shown._probabilities = self._confidence().promised(ranking.scores, shown.scores.shape[1])
        return shown

    @property
    def can_learn(self) -> bool:
        return self.learner_.updatable

    retired_: tuple[Label, ...] = ()

    def _every_rule(self, rules: Rules | None) -> list[Rules]:
        """The rules that a ranking keeps to: those of the model, and those of whoever asks."""
        return [] if rules is None else [rules]

    _known_rules: KnownRules | None = None

    def _allowed(self, every: list[Rules]) -> tuple[Allowed, Kinds]:
        """What the rules allow. Those who ask by the same rules again need not wait for it again."""
        learner, known = self.learner_, self._known_rules
        now = (learner._labels, len(learner._labels), self.vocabulary_, self.retired_)
        if known is None or known.of != now:
            known = self._known_rules = KnownRules(now)
        return known.joined(every, learner)

    # Deciding.

    @reading
    def _cut(self, given: Given, coverage: float) -> list[Ranking]:
        """For each example a ranking that is as long as it must be."""
        ranking = self._deep(given)
        self._check_promise(coverage)
        return ranking.only(self._listed(ranking, coverage))

    @reading
    def _listed(self, ranking: Ranking, coverage: float) -> NDArray[np.bool_]:
        """Which labels of each ranking, of a hundred labels or all there are, to list: see ``shortlist``."""
        lengths = self.confidence_.lengths(ranking.scores, coverage, ranking.probabilities)
        kept: NDArray[np.bool_] = np.arange(ranking.scores.shape[1]) < lengths[:, None]
        return kept

    @reading
    def _check_promise(self, coverage: float) -> None:
        """Warn where no list is long enough to hold all true labels in a share of ``coverage`` of all texts."""
        confidence = self.confidence_
        self._warn_of_runs(confidence)
        if confidence.are_too_few(coverage):
            warnings.warn(
                f"coverage={coverage:g} cannot be promised yet: too few examples were ranked before they were learned, "
                "and lists hold all labels; teach more, or ask for less", UserWarning, stacklevel=4,
            )  # fmt: skip
        elif confidence.ready and confidence.reachable() < coverage < 1.0:
            warnings.warn(
                f"coverage={coverage:g} cannot be promised: lists of at most {DEPTH} labels hold all true ones of "
                f"{confidence.reachable():.1%} of the examples that were ranked ahead, and these are all listed; ask "
                "for less", UserWarning, stacklevel=4,
            )  # fmt: skip

    def _warn_of_runs(self, confidence: Confidence) -> None:
        if confidence.runs.now:
            warnings.warn(
                "the last examples came sorted by label, from which nothing can be promised for other texts: no "
                "label is assigned, and lists hold all labels; shuffle the stream, or learn all at once (fit, "
                "shortlist train)", UserWarning, stacklevel=5,
            )  # fmt: skip

    @reading
    def _assigned(self, given: Given, aim: Aim) -> list[Assigned]:
        self._warn_of_runs(self.confidence_)
        return self._decide(given, self._deep(given), aim)

    @reading
    def _decide(self, given: Given, ranking: Ranking, aim: Aim) -> list[Assigned]:
        """What to assign to examples that have been ranked; nothing to one of which nothing is known.

        Where a precision is promised, also nothing to one of which too little is known.
        """
        known = self._has_known(given)
        unlike = np.zeros(known.size, dtype=np.bool_)
        if isinstance(aim, Precision):
            unlike = self.confidence_.are_unlike(self._known_share(given))
        kept = self._chosen(ranking, aim) & (known & ~unlike)[:, None]
        reasons = self.confidence_.reasons(ranking.scores, kept, aim)
        nothing = ~known | (reasons == Reason.NO_KNOWN_WORD)
        reasons[unlike] = Reason.UNLIKE_ANYTHING_LEARNED
        reasons[nothing] = self._nothing_known
        return [Assigned(one, Reason(why)) for one, why in zip(ranking.only(kept), reasons.tolist(), strict=True)]

    @reading
    def _chosen(self, ranking: Ranking, aim: Aim) -> NDArray[np.bool_]:
        """Which labels of rankings to assign for an aim."""
        kept = self.confidence_.assigned(ranking.scores, aim, ranking.probabilities)
        if self._one_label_each:
            kept[:, 1:] = False
        return kept

    def _aim(self, aim: str | Aim, precision: float | None = None, costs: tuple[float, float] | None = None) -> Aim:
        """The aim that is meant."""
        if precision is not None and costs is not None:
            raise InputError("labels are assigned for a precision or by costs, not both; leave one out")
        if precision is not None:
            return Precision(precision, alone=self._one_label_each)
        if costs is not None:
            return Costs(*costs)
        return F1() if isinstance(aim, str) and as_choice(aim, "aim", ("f1",)) else aim  # type: ignore[return-value]

    @property
    def _one_label_each(self) -> bool:
        """Whether no example had several labels, as far as counts can tell."""
        return int(self.learner_.label_counts_.sum()) <= int(self.learner_.n_examples_)

    @reading
    def automation(self, precisions: Sequence[float] = (0.9, 0.95, 0.99)) -> list[Automation]:
        """For each precision, from which probability on to decide alone, and for which share of texts that would be."""
        self._check_fitted()
        return self.confidence_.automation([Precision(one).share for one in precisions])

    def _deep(self, given: Given) -> Ranking:
        self._check_fitted()
        return self._ranked(self._rows_of(given), DEPTH)

    # Predicting, in scikit-learn's forms.

    def _predicted(self, rows: Rows) -> NDArray[Any]:
        """The best label of each; if all labels came as indicator matrices, such a matrix of what is assigned."""
        columns = self.learner_._label_columns
        if columns is not None and self.confidence_.ready:
            ranking = self._ranked(rows, DEPTH)
            return self.learner_._indicate(np.where(self._chosen(ranking, F1()), ranking.ids, -1), columns)
        if not self.retired_ and not self._every_rule(None):
            return self.learner_._predict_rows(rows)
        if columns is not None:
            return self.learner_._indicate(self._ranked(rows, self.learner_._usual_number()).ids, columns)
        allowed, _ = self._allowed(self._every_rule(None))
        usual = int(np.argmax(np.where(allowed.labels, counts_of(self.learner_), -1)))
        best = self._ranked(rows, 1).ids[:, 0]
        chosen: NDArray[Any] = self.classes_[np.where(best < 0, usual, best)]
        return chosen

    def _class_probabilities(self, given: Given, n: int) -> Floats:
        """How likely each label is for each of n examples, dense (answers.py)."""
        learner = self.learner_
        columns = learner._label_columns
        check_table(n, len(columns or learner.classes_))
        if not self.confidence_.ready:
            raise InputError("the model has not seen enough examples to say how sure it is; it needs some hundred")
        if self._one_label_each:
            if columns is None or list(columns) != learner.classes_.tolist():
                check_order(learner.classes_)
            return summing_to_one(self._deep(given), learner.label_counts_)
        if columns is None:
            raise InputError(
                "predict_proba needs texts of one label each, or labels that came as an indicator matrix; "
                "rank(texts).probabilities has the probabilities of the best labels"
            )
        return of_columns(self._deep(given), learner._columns(columns), len(columns))

    def _assign_batches(self, batches: Iterable[Examples], aim: Aim) -> Iterator[AssignedLabels]:
        """The labels assigned to the examples of one batch after the other."""
        for ranking, batch in self._rank_batches(batches, DEPTH):
            yield AssignedLabels(self._decide(self._given_in(batch), ranking, aim), batch.ids)

    def _shortlist_batches(self, batches: Iterable[Examples], coverage: float) -> Iterator[RankedLabels]:
        """The shortlists of the examples of batch after batch; ``_check_promise`` tells what they can promise."""
        for ranking, batch in self._rank_batches(batches, DEPTH):
            yield RankedLabels(ranking.only(self._listed(ranking, coverage)), batch.ids)

    def _likely_batches(self, batches: Iterable[Examples], k: int, least: float) -> Iterator[RankedLabels]:
        """Of the k best labels of each example those that are at least so probable."""
        for ranking, batch in self._rank_batches(batches, k):
            with np.errstate(invalid="ignore"):
                yield RankedLabels(ranking.only(ranking.probabilities >= least), batch.ids)

    # Measuring.

    def _judge(self, batches: Iterable[Examples], measures: Sequence[str]) -> Iterator[JudgedRanking]:
        for ranking, batch in self._rank_batches(batches, self._judged_depth(measures)):
            yield JudgedRanking(ranking, batch.labels or [])

    def _judged_depth(self, measures: Sequence[str]) -> int:
        """How many labels to rank where these are measured."""
        return max(self._depth(measures), DEPTH if self.confidence_.ready else 1)

    def _depth(self, measures: Sequence[str]) -> int:
        """How many labels these measures look at."""
        return depth([measure(name) for name in measures], len(self.learner_.classes_))

    def _report(self, judged: Iterable[JudgedRanking], measures: Sequence[str], *, details: bool = False) -> Report:
        judged = list(judged)
        ranking, truth = self._together(judged, measures)
        found = Report(self._measured(ranking, truth, measures))
        if details:
            found_for = per_label(ranking, truth, n_labels=len(self.learner_.classes_)).to_dicts()
            table: list[dict[str, Any]] = [dict(row) for row in found_for]
            keys = ["label", "true", "assigned", "precision", "recall", "f1"]
            if self.vocabulary_ is not None:
                table = [{**row, "name": self.vocabulary_.name(row["label"])} for row in table]
                keys.insert(1, "name")
            rows = [[row[key] for key in keys] for row in table]
            found.tables = [Table("Each text is given as many labels as it has", keys, rows, "labels")]
            found.details = {"labels": table}
        if self.vocabulary_ is not None and self.vocabulary_.broader:
            labels = chain.from_iterable(one.labels for one in judged)
            near = near_misses((one.ranking for one in judged), labels, self.vocabulary_)
            found.tables.append(as_table(near))
            found.details["hierarchy"] = near
        if self.confidence_.ready:  # how well it and its decisions fare
            deep = Ranking.stack([one.ranking for one in judged], min(DEPTH, len(self.learner_.classes_)))
            decisions = Decisions(self.confidence_, self._chosen, deep, truth)
            found.details["confidence"] = of_confidence = decisions.details()
            found.tables = decisions.tables(of_confidence) + found.tables
        return found

    def _together(self, judged: Iterable[JudgedRanking], measures: Sequence[str]) -> tuple[Ranking, LabelSets]:
        """The rankings of all batches as one, and the labels as numbers."""
        rankings: list[Ranking] = []
        labels: list[Sequence[list[Any]]] = []
        for one in judged:
            rankings.append(one.ranking)
            labels.append(one.labels)
        if not any(labels):
            raise InputError("there are no examples to evaluate")
        numbers = self.learner_.label_numbers(NumberedLabels.stack(labels))
        return Ranking.stack(rankings, self._depth(measures)), numbers

    def _measured(self, ranking: Ranking, truth: LabelSets, measures: Sequence[str]) -> Evaluation:
        """Measures of rankings as deep as these look."""
        learner, chosen = self.learner_, [measure(name) for name in measures]
        propensities = propensities_for(chosen, learner.label_counts_, learner.n_examples_)
        return evaluate(ranking, truth, chosen, n_labels=len(learner.classes_), propensities=propensities)

    # Looking inside.

    def describe(self) -> dict[str, Any]:
        learner = self.learner_
        facts: dict[str, Any] = {
            "learner": type(learner).__name__,
            "examples": learner.n_examples_,
            "labels": len(learner.label_counts_),
            "features": learner.n_features_in_,
        }
        return facts | ({"edges": learner.n_edges_} if hasattr(learner, "n_edges_") else {})

    def _feature_names(self, columns: Sequence[int]) -> list[Any]:
        """What people call the features of these columns."""
        return list(columns)

    def strongest(self, label: Label, n: int = 10) -> list[tuple[Any, float]]:
        """The n features that speak for a label the most, by weight and by how often they were seen; their weights."""
        self._check_index()
        return self._named(self.learner_.strongest(label, n))

    def _check_index(self) -> None:
        self._check_fitted()
        if not hasattr(self.learner_, "strongest"):
            raise InputError(f"{type(self.learner_).__name__} has no index whose connections could be shown")

    def leaks(self, n: int = 10) -> list[tuple[Any, float]]:
        """The n features that are seen with everything and predict nothing, and the share of weight that they lose."""
        self._check_fitted()
        return self._named(self.learner_.leaks(n)) if hasattr(self.learner_, "leaks") else []

    def _named(self, pairs: Sequence[tuple[int, float]]) -> list[tuple[Any, float]]:
        names = self._feature_names([column for column, _ in pairs])
        return [(name, weight) for name, (_, weight) in zip(names, pairs, strict=True)]

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, in order of first appearance."""
        self._check_fitted()
        return self.learner_.classes_

    @property
    def label_counts_(self) -> Longs:
        """How many examples each label was learned from, in the order of ``classes_``."""
        self._check_fitted()
        return self.learner_.label_counts_

    def name_of(self, label: Label) -> str:
        return str(label) if self.vocabulary_ is None else self.vocabulary_.name(label)

    def _knows(self, label: object) -> bool:
        """Whether the label was learned."""
        return bool(self.learner_.label_numbers([[label]]).ids[0] < self.label_counts_.size)
