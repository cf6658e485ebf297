"""Models of texts that say how sure they are, and decide: lists of labels with a promise, labels assigned, or none."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.kernels import Floats
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_choice
from shortlist.concurrency.locks import lock_of, reading
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.labels import NumberedLabels
from shortlist.models.base import Report
from shortlist.models.category_model import CategoryModel, JudgedRanking, RankedLabels
from shortlist.models.confidence import F1, Aim, Confidence, Costs, Precision, Reason, groups_of
from shortlist.models.confidence.thresholds import Automation
from shortlist.models.encoding import with_vectors
from shortlist.models.judging import Decisions
from shortlist.models.observing import DEPTH, Notes
from shortlist.models.rules import Rules
from shortlist.models.text_batches import texts_of
from shortlist.ranking import Ranking
from shortlist.texts.fields import Document, is_one, many

AIMS: dict[str, Aim] = {"f1": F1("micro"), "f1-macro": F1("macro"), "f1-example": F1("example")}
FORMS = ("example", "group", "wrong")


class Assigned(list[Any]):
    """The labels assigned to a text, best first; empty where it abstains, and ``reason`` says why."""

    def __init__(self, ranking: Ranking, reason: Reason) -> None:
        super().__init__(label for label, _ in ranking)
        self.reason = reason
        self.probabilities: Floats = ranking.probabilities


class AssignedLabels(RankedLabels):
    """Labels assigned to some texts, as answers."""

    def __init__(self, assigned: list[Assigned], ids: Sequence[str] | None) -> None:
        self.assigned, self.ids = assigned, ids

    def lines(self) -> Iterator[str]:
        """The labels of each text and their probabilities, separated by tabs; nothing where it abstains."""
        for one in self.assigned:
            pairs = zip(one, one.probabilities.tolist(), strict=True)
            yield "\t".join(f"{' '.join(str(label).split())}\t{p:.4f}" for label, p in pairs)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.assigned):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": list(one), "probabilities": one.probabilities.tolist()}
            yield named | found | ({} if one else {"reason": str(one.reason)})


class DecidingModel(CategoryModel):
    """Base class: ranks texts, with probabilities, and decides."""

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
    def _rows_of(self, texts: Sequence[Document]) -> Rows:
        """The rows of texts."""

    @abstractmethod
    def _has_known_word(self, texts: Sequence[Document]) -> NDArray[np.bool_]:
        """Whether any word of each text is known, as far as that can be told."""

    @abstractmethod
    def _known_share(self, texts: Sequence[Document]) -> NDArray[np.float32]:
        """Which share of the features of each text is known, as far as that can be told; 1 where it cannot."""

    @reading
    def _ranked(self, rows: Rows, k: int, rules: Rules | None = None) -> Ranking:
        """The k best labels, with probabilities: that of the best depends on the score of the second."""
        ranking = self._found(rows, 2 if k == 1 else k, rules)
        ranking._probabilities = self._confidence().promised(ranking.scores)
        return ranking if k != 1 else ranking.first(1)

    # Deciding.

    def shortlist(
        self,
        texts: Document | Sequence[Document],
        coverage: float = 0.95,
        by: str = "example",
        *,
        vectors: ArrayLike | None = None,
    ) -> Ranking | list[Ranking]:
        """For each text a ranking that is as long as it must be; for one text, one.

        by="example" : all true labels of a text are listed, for this share of all texts.
        by="group" : this share of the true labels is listed, of rare labels as well as of frequent ones.
        by="wrong" : of all labels listed, this share is right. A list may be empty.

        No list is longer than 100 labels. Until enough examples have been learned one by one or fitted, nothing can be
        promised: lists hold all, by="wrong" none.
        """
        as_choice(by, "by", FORMS)
        found = self._cut(texts if vectors is None else with_vectors(many(texts), vectors), coverage, by)
        return found[0] if is_one(texts) else found

    @reading
    def _cut(self, texts: Document | Sequence[Document], coverage: float, by: str) -> list[Ranking]:
        ranking = self._deep(texts)
        return ranking.only(self.listed(ranking, coverage, by))

    @reading
    def listed(self, ranking: Ranking, coverage: float, by: str = "example") -> NDArray[np.bool_]:
        """Which labels of each ranking, of a hundred labels or all there are, to list: see ``shortlist``."""
        confidence, scores = self.confidence_, ranking.scores
        if by == "wrong":
            return confidence.assigned(scores, Precision(coverage))
        if by == "group":
            groups = np.append(groups_of(self.learner_.label_counts_), np.uint8(0))[ranking.ids]
            return confidence.listed_by_group(scores, groups, coverage)
        lengths = confidence.lengths(scores, coverage)
        kept: NDArray[np.bool_] = np.arange(scores.shape[1]) < lengths[:, None]
        return kept

    def assign(
        self,
        texts: Document | Sequence[Document],
        aim: str | Aim = "f1",
        *,
        precision: float | None = None,
        costs: tuple[float, float] | None = None,
        vectors: ArrayLike | None = None,
    ) -> Assigned | list[Assigned]:
        """For each text its labels, none where nothing is sure enough; the list's ``reason`` says why.

        Labels are chosen for an aim: "f1" (over all labels together), "f1-macro" (its mean over labels), "f1-example"
        (over texts); or so that a share of ``precision`` of them is right; or by the costs of a wrong and of a missing
        label. Where each text that was learned has one label, none gets more.
        """
        wanted = self.aim(aim, precision, costs)
        found = self._assigned(texts if vectors is None else with_vectors(many(texts), vectors), wanted)
        return found[0] if is_one(texts) else found

    @reading
    def _assigned(self, texts: Document | Sequence[Document], aim: Aim) -> list[Assigned]:
        return self.decide(many(texts), self._deep(texts), aim)

    @reading
    def decide(self, texts: Sequence[Document], ranking: Ranking, aim: Aim) -> list[Assigned]:
        """What to assign to texts that have been ranked; nothing to one of which no word is known.

        Where a precision is promised, also nothing to one of which too little is known.
        """
        known, unlike = self._has_known_word(texts), np.zeros(len(texts), dtype=np.bool_)
        if isinstance(aim, Precision):
            unlike = self.confidence_.are_unlike(self._known_share(texts))
        kept = self.chosen(ranking, aim) & (known & ~unlike)[:, None]
        reasons = self.confidence_.reasons(ranking.scores, kept)
        reasons[unlike & (reasons != Reason.NO_KNOWN_WORD)] = Reason.UNLIKE_ANYTHING_LEARNED
        reasons[~known] = Reason.NO_KNOWN_WORD
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

    def _deep(self, texts: Document | Sequence[Document]) -> Ranking:
        self._check_fitted()
        return self._ranked(self._rows_of(many(texts)), DEPTH)

    # Measuring.

    def judge(self, batches: Iterable[Examples], measures: Sequence[str]) -> Iterator[JudgedRanking]:
        deep = max(self.depth(measures), DEPTH if self.confidence_.ready else 1)
        for ranking, batch in self.rank_batches(batches, deep):
            yield JudgedRanking(ranking, batch.labels or [])

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
        """The labels assigned to the texts of one batch after the other."""
        for ranking, batch in self.rank_batches(batches, DEPTH):
            yield AssignedLabels(self.decide(texts_of(batch), ranking, aim), batch.ids)

    def shortlist_batches(self, batches: Iterable[Examples], coverage: float) -> Iterator[RankedLabels]:
        """The shortlists of the texts of one batch after the other."""
        for ranking, batch in self.rank_batches(batches, DEPTH):
            yield RankedLabels(ranking.only(self.listed(ranking, coverage)), batch.ids)

    def likely_batches(self, batches: Iterable[Examples], k: int, least: float) -> Iterator[RankedLabels]:
        """Of the k best labels of each text those that are at least so probable."""
        for ranking, batch in self.rank_batches(batches, k):
            with np.errstate(invalid="ignore"):
                yield RankedLabels(ranking.only(ranking.probabilities >= least), batch.ids)
