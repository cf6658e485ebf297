"""Models that say how sure they are, and decide: lists of labels with a promise, labels assigned, or none.

What they are asked about, texts or rows of features, is theirs to say.
"""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_choice, as_whole
from shortlist.categories.relabelling import counts_of
from shortlist.concurrency.locks import lock_of, reading
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.labels import NumberedLabels
from shortlist.models.base import Report
from shortlist.models.category_model import CategoryModel, JudgedRanking, RankedLabels
from shortlist.models.class_probabilities import check_order, check_table, of_columns, summing_to_one
from shortlist.models.confidence import F1, Aim, Confidence, Costs, Precision, Reason
from shortlist.models.confidence.calibration import TOGETHER
from shortlist.models.confidence.thresholds import Automation
from shortlist.models.judging import Decisions
from shortlist.models.observing import DEPTH, Notes
from shortlist.models.rules import Rules
from shortlist.ranking import Ranking

AIMS: dict[str, Aim] = {"f1": F1("micro"), "f1-macro": F1("macro"), "f1-example": F1("example")}
FORMS = ("example", "wrong")
Given = TypeVar("Given")  # some examples, as a model is asked about them: texts, or rows of features


class Assigned(list[Any]):
    """The labels assigned to an example, best first; empty where it abstains, and ``reason`` says why."""

    def __init__(self, ranking: Ranking, reason: Reason) -> None:
        super().__init__(label for label, _ in ranking)
        self.reason = reason
        self.probabilities: Floats = ranking.probabilities


class AssignedLabels(RankedLabels):
    """Labels assigned to some examples, as answers."""

    def __init__(self, assigned: list[Assigned], ids: Sequence[str] | None) -> None:
        self.assigned, self.ids = assigned, ids

    def lines(self) -> Iterator[str]:
        """The labels of each example and their probabilities, separated by tabs; nothing where it abstains."""
        for one in self.assigned:
            pairs = zip(one, one.probabilities.tolist(), strict=True)
            yield "\t".join(f"{' '.join(str(label).split())}\t{p:.4f}" for label, p in pairs)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.assigned):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": list(one), "probabilities": one.probabilities.tolist()}
            yield named | found | ({} if one else {"reason": str(one.reason)})


class DecidingModel(CategoryModel, Generic[Given]):
    """Base class: ranks labels, with probabilities, and decides."""

    nothing_known: ClassVar[Reason] = Reason.NO_KNOWN_WORD  # what it says of an example of which nothing is known
    _notes: Notes | None = None

    @property
    @reading
    def confidence_(self) -> Confidence:
        """How sure its rankings are, as far as examples that were ranked before they were learned can tell."""
        return self._confidence()

    def _confidence(self) -> Confidence:
        """``confidence_`` for who reads the model already."""
        return Confidence() if self._notes is None else self._notes.settled(lock_of(self))

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

    @reading
    def _ranked(self, rows: Rows, k: int, rules: Rules | None = None) -> Ranking:
        """The k best labels, with probabilities: that of the best depends on the scores of some others."""
        k = as_whole(k, "k", least=1, most=sys.maxsize)
        ranking = self._found(rows, max(k, TOGETHER), rules)
        shown = ranking if k >= TOGETHER else ranking.first(k)
        shown._probabilities = self._confidence().promised(ranking.scores)
        return shown

    # Deciding.

    @reading
    def _cut(self, given: Given, coverage: float, by: str) -> list[Ranking]:
        """For each example a ranking that is as long as it must be."""
        as_choice(by, "by", FORMS)
        ranking = self._deep(given)
        self.check_promise(coverage, by)
        return ranking.only(self.listed(ranking, coverage, by))

    @reading
    def listed(self, ranking: Ranking, coverage: float, by: str = "example") -> NDArray[np.bool_]:
        """Which labels of each ranking, of a hundred labels or all there are, to list: see ``shortlist``."""
        confidence, scores = self.confidence_, ranking.scores
        if by == "wrong":
            return confidence.assigned(scores, Precision(coverage))
        lengths = confidence.lengths(scores, coverage)
        kept: NDArray[np.bool_] = np.arange(scores.shape[1]) < lengths[:, None]
        return kept

    @reading
    def check_promise(self, coverage: float, by: str = "example") -> None:
        """Warn where no list is long enough to hold all true labels in a share of ``coverage`` of all texts."""
        confidence = self.confidence_
        if by == "example" and confidence.ready and confidence.reachable() < coverage < 1.0:
            warnings.warn(
                f"coverage={coverage:g} cannot be promised: lists of at most {DEPTH} labels hold all true ones of "
                f"{confidence.reachable():.1%} of the examples that were ranked ahead, and these are all listed; ask "
                "for less", UserWarning, stacklevel=4,
            )  # fmt: skip

    @reading
    def _assigned(self, given: Given, aim: Aim) -> list[Assigned]:
        return self.decide(given, self._deep(given), aim)

    @reading
    def decide(self, given: Given, ranking: Ranking, aim: Aim) -> list[Assigned]:
        """What to assign to examples that have been ranked; nothing to one of which nothing is known.

        Where a precision is promised, also nothing to one of which too little is known.
        """
        known = self._has_known(given)
        unlike = np.zeros(known.size, dtype=np.bool_)
        if isinstance(aim, Precision):
            unlike = self.confidence_.are_unlike(self._known_share(given))
        kept = self.chosen(ranking, aim) & (known & ~unlike)[:, None]
        reasons = self.confidence_.reasons(ranking.scores, kept)
        nothing = ~known | (reasons == Reason.NO_KNOWN_WORD)
        reasons[unlike] = Reason.UNLIKE_ANYTHING_LEARNED
        reasons[nothing] = self.nothing_known
        return [Assigned(one, Reason(why)) for one, why in zip(ranking.only(kept), reasons.tolist(), strict=True)]

    @reading
    def chosen(self, ranking: Ranking, aim: Aim) -> NDArray[np.bool_]:
        """Which labels of rankings to assign for an aim."""
        kept = self.confidence_.assigned(ranking.scores, aim)
        if self.one_label_each:
            kept[:, 1:] = False
        return kept

    def aim(self, aim: str | Aim, precision: float | None = None, costs: tuple[float, float] | None = None) -> Aim:
        """The aim that is meant."""
        if precision is not None and costs is not None:
            raise InputError("labels are assigned for a precision or by costs, not both; leave one out")
        if precision is not None:
            return Precision(precision, alone=self.one_label_each)
        if costs is not None:
            return Costs(*costs)
        return AIMS[as_choice(aim, "aim", tuple(AIMS))] if isinstance(aim, str) else aim

    @property
    def one_label_each(self) -> bool:
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
            return self.learner_._indicate(np.where(self.chosen(ranking, F1("micro")), ranking.ids, -1), columns)
        if not self.retired_ and not self._every_rule(None):
            return self.learner_._predict_rows(rows)
        if columns is not None:
            return self.learner_._indicate(self._found(rows, self.learner_._usual_number()).ids, columns)
        allowed, _ = self._allowed(self._every_rule(None))
        usual = int(np.argmax(np.where(allowed.labels, counts_of(self.learner_), -1)))
        best = self._found(rows, 1).ids[:, 0]
        chosen: NDArray[Any] = self.classes_[np.where(best < 0, usual, best)]
        return chosen

    def _class_probabilities(self, given: Given, n: int) -> Floats:
        """How likely each label is for each of n examples, dense (class_probabilities.py)."""
        learner = self.learner_
        columns = learner._label_columns
        check_table(n, len(columns or learner.classes_))
        if not self.confidence_.ready:
            raise InputError("the model has not seen enough examples to say how sure it is; it needs some hundred")
        if self.one_label_each:
            if columns is None or list(columns) != learner.classes_.tolist():
                check_order(learner.classes_)
            return summing_to_one(self._deep(given), learner.label_counts_)
        if columns is None:
            raise InputError(
                "predict_proba needs texts of one label each, or labels that came as an indicator matrix; "
                "rank(texts).probabilities has the probabilities of the best labels"
            )
        return of_columns(self._deep(given), learner._columns(columns), len(columns))

    # Measuring.

    def judged_depth(self, measures: Sequence[str]) -> int:
        return max(self.depth(measures), DEPTH if self.confidence_.ready else 1)

    def report(self, judged: Iterable[JudgedRanking], measures: Sequence[str], *, details: bool = False) -> Report:
        """The measures, and where there is a confidence, how well it and its decisions fare."""
        judged = list(judged)
        found = super().report(judged, measures, details=details)
        if self.confidence_.ready:
            truth = self.learner_.label_numbers(NumberedLabels.stack([one.labels for one in judged]))
            deep = Ranking.stack([one.ranking for one in judged], min(DEPTH, len(self.learner_.classes_)))
            decisions = Decisions(self.confidence_, self.chosen, deep, truth)
            found.details["confidence"] = of_confidence = decisions.details()
            found.tables = decisions.tables(of_confidence) + found.tables
        return found

    # Batches.

    def assign_batches(self, batches: Iterable[Examples], aim: Aim) -> Iterator[AssignedLabels]:
        """The labels assigned to the examples of one batch after the other."""
        for ranking, batch in self.rank_batches(batches, DEPTH):
            yield AssignedLabels(self.decide(self._given_in(batch), ranking, aim), batch.ids)

    def shortlist_batches(self, batches: Iterable[Examples], coverage: float) -> Iterator[RankedLabels]:
        """The shortlists of the examples of batch after batch; ``check_promise`` tells what they can promise."""
        for ranking, batch in self.rank_batches(batches, DEPTH):
            yield RankedLabels(ranking.only(self.listed(ranking, coverage)), batch.ids)

    def likely_batches(self, batches: Iterable[Examples], k: int, least: float) -> Iterator[RankedLabels]:
        """Of the k best labels of each example those that are at least so probable."""
        for ranking, batch in self.rank_batches(batches, k):
            with np.errstate(invalid="ignore"):
                yield RankedLabels(ranking.only(ranking.probabilities >= least), batch.ids)
