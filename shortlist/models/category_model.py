"""Models that rank labels, of texts or of rows, with probabilities, and decide; their answers
and their evaluation.
"""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.concurrency import lock_of, prefetch, reading
from shortlist.confidence.calibration import (
    F1,
    TOGETHER,
    Aim,
    Precision,
    calibration_error,
    reliability,
)
from shortlist.confidence.confidence import Automation, Confidence, Reason
from shortlist.confidence.observers import DEPTH
from shortlist.data.label_input import Label, LabelsLike
from shortlist.data.labels import LabelSets, NumberedLabels, sorting
from shortlist.data.ranking import Ranking, places_of
from shortlist.data.rows import Rows
from shortlist.data.validation import as_whole
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import Allowed, CategoryLearner
from shortlist.learners.label_surgery import counts_of
from shortlist.measures import (
    depth,
    evaluate,
    hierarchical_f1,
    measure,
    per_label,
    propensities_for,
)
from shortlist.models.model import Model, Report, Table, finite_or_none
from shortlist.models.rules import Kinds, KnownRules, Rules, within_kinds

# Answers, as lines for people and records for machines.


class JudgedRanking(NamedTuple):
    """Rankings of some examples, and their true labels."""

    ranking: Ranking
    labels: Sequence[list[Any]]


ONE_LINE = str.maketrans("\t\n\r", "   ")  # so that a label can stand between tabs


class RankedLabels:
    """The best labels of some examples."""

    def __init__(self, ranking: Iterable[Ranking], ids: Sequence[str] | None) -> None:
        self.ranking, self.ids = ranking, ids

    def lines(self) -> Iterator[str]:
        """Label, score, label, score, … of each example, separated by tabs."""
        for one in self.ranking:
            yield "\t".join(
                f"{str(label).translate(ONE_LINE)}\t{score:.6g}" for label, score in one
            )

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.ranking):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": [label for label, _ in one], "scores": [score for _, score in one]}
            chances = one.probabilities[one.ids >= 0].tolist()
            known = chances and chances[0] == chances[0]
            yield named | found | ({"probabilities": chances} if known else {})


class Assigned(list[Any]):
    """The labels assigned to an example, best first; empty where it abstains, and ``reason``
    says why.
    """

    def __init__(self, ranking: Ranking, reason: Reason) -> None:
        super().__init__(label for label, _ in ranking)
        self.reason = reason
        self.probabilities: Floats = ranking.probabilities


class AssignedLabels(RankedLabels):
    """Labels assigned to some examples."""

    def __init__(self, assigned: list[Assigned], ids: Sequence[str] | None) -> None:
        self.assigned, self.ids = assigned, ids

    def lines(self) -> Iterator[str]:
        """The labels of each example and their probabilities, separated by tabs; nothing where
        it abstains.
        """
        for one in self.assigned:
            pairs = zip(one, one.probabilities.tolist(), strict=True)
            yield "\t".join(f"{' '.join(str(label).split())}\t{p:.4f}" for label, p in pairs)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.assigned):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": list(one), "probabilities": one.probabilities.tolist()}
            yield named | found | ({} if one else {"reason": str(one.reason)})


# Models.


Given = TypeVar("Given")  # examples to rank labels for: texts, or rows of features


class CategoryModel(Model[JudgedRanking], Generic[Given]):
    """Base class: ranks labels with probabilities, and decides. A subclass makes rows of
    examples.
    """

    task = "categories"
    _predicts_labels = True
    default_measures = ("R1", "R5", "MRR", "P@5", "nDCG@5")
    detail_kind = "label"
    learner_: CategoryLearner
    vocabulary_: LabelVocabulary | None = None  # names of the labels
    retired_: tuple[Label, ...] = ()
    rules_: Rules | None = None
    # None where nothing was learned on a stream, or in ``fit``
    _known_confidence: Confidence | None = None
    _known_rules: KnownRules | None = None

    @property
    @reading
    def confidence_(self) -> Confidence:
        """How certain rankings are, learned from examples that were ranked before they were
        learned.
        """
        return self._confidence()

    def _confidence(self) -> Confidence:
        """``confidence_`` inside of a method that holds the model's lock."""
        return (
            Confidence()
            if self._known_confidence is None
            else self._known_confidence.settled(lock_of(self))
        )

    @abstractmethod
    def _given_in(self, examples: Examples) -> Given:
        """The texts or rows of a batch; a batch of the other kind is refused."""

    @abstractmethod
    def _rows_of(self, given: Given) -> Rows:
        """The rows of the examples."""

    @abstractmethod
    def _has_known(self, given: Given) -> NDArray[np.bool_]:
        """Whether each example has a known feature."""

    @abstractmethod
    def _known_share(self, given: Given) -> NDArray[np.float32]:
        """The share of the features of each example that are known; 1 where this cannot be told."""

    def rows_of_examples(self, examples: Examples) -> Rows:
        return self._rows_of(self._given_in(examples))

    # Ranking.

    def answer_batches(self, batches: Iterable[Examples], k: int = 5) -> Iterator[RankedLabels]:
        for ranking, batch in self._rank_batches(batches, k):
            yield RankedLabels(ranking, batch.ids)

    def _rank_batches(
        self, batches: Iterable[Examples], k: int
    ) -> Iterator[tuple[Ranking, Examples]]:
        """The k best labels of batch after batch; while one is ranked, the next are read and
        tokenised.
        """
        self.check_fitted()
        with (
            closing(prefetch(batches)) as read,
            closing(prefetch((self.rows_of_examples(one), one) for one in read)) as tokenised,
        ):
            for rows, batch in tokenised:
                yield self.hold(partial(self.rank_checked, rows, k)), batch

    def rank_examples(self, examples: Examples, k: int) -> Ranking:
        """The k best labels of each example of a batch."""
        self.check_fitted()
        ranking: Ranking = self.hold(partial(self.rank_checked, self.rows_of_examples(examples), k))
        return ranking

    def rank_checked(self, rows: Rows, k: int, rules: Rules | None = None) -> Ranking:
        """The k best labels that the rules allow, with probabilities. That of the best depends
        on TOGETHER scores.
        """
        k = as_whole(k, "k", least=1, most=sys.maxsize)
        learner, every, deep = self.learner_, self._every_rule(rules), max(k, TOGETHER)
        allowed, kinds = self.allowed_labels(every) if every or self.retired_ else (None, None)
        if kinds:
            ranking = within_kinds(
                lambda n: learner.rank_rows(rows, n, allowed),
                deep,
                len(learner.label_index_),
                kinds,
            )
        else:
            ranking = learner.rank_rows(rows, deep, allowed)
        shown = ranking if k >= TOGETHER else ranking.first(k)
        shown._probabilities = self._confidence().promised(ranking.scores, shown.scores.shape[1])
        return shown

    def _every_rule(self, rules: Rules | None) -> list[Rules]:
        """The rules of a ranking: those of the model, and the given ones."""
        if self.rules_ is None and rules is None:
            return []
        return [one for one in (self.rules_, rules) if one]

    def allowed_labels(self, every: list[Rules]) -> tuple[Allowed, Kinds]:
        """The labels and kinds that the rules allow; the last results are cached."""
        learner, known = self.learner_, self._known_rules
        now = (learner.label_index_, len(learner.label_index_), self.vocabulary_, self.retired_)
        if known is None or known.of != now:
            known = self._known_rules = KnownRules(now)
        return known.joined(every, learner)

    # Deciding.

    @reading
    def shortlist(self, X: Given, coverage: float = 0.95) -> list[Ranking]:
        """For each row the shortest list that keeps a promise, as ``Categorizer.shortlist`` for
        texts.
        """
        ranking = self._deep(X)
        self.warn_of_broken_promise(coverage)
        return ranking.only(self.shortlisted(ranking, coverage))

    @reading
    def shortlisted(self, ranking: Ranking, coverage: float) -> NDArray[np.bool_]:
        """Which labels of each ranking (of DEPTH labels, or all there are) the shortlist
        contains.
        """
        lengths = self.confidence_.lengths(ranking.scores, coverage, ranking.probabilities)
        kept: NDArray[np.bool_] = np.arange(ranking.scores.shape[1]) < lengths[:, None]
        return kept

    @reading
    def warn_of_broken_promise(self, coverage: float) -> None:
        """Warn if no list is long enough to contain all true labels in a share of ``coverage``
        of all texts.
        """
        confidence = self.confidence_
        self._warn_of_runs(confidence)
        if confidence.ready and coverage < 1.0 and not confidence.can_promise(coverage):
            warnings.warn(
                f"coverage={coverage:g} cannot be promised: lists of at most {DEPTH} labels hold "
                "all true ones of "
                f"{confidence.reachable():.1%} of the {confidence.observed} examples that were "
                "ranked before they were "
                "learned, and now hold all labels; teach more, or ask for less",
                UserWarning,
                stacklevel=4,
            )

    def _warn_of_runs(self, confidence: Confidence) -> None:
        if confidence.runs.now:
            warnings.warn(
                "the last examples came sorted by label, from which nothing can be promised for "
                "other texts: no "
                "label is assigned, and lists hold all labels; shuffle the stream, or learn all at "
                "once (fit, "
                "shortlist train)",
                UserWarning,
                stacklevel=5,
            )

    @reading
    def assign(self, X: Given, *, precision: float | None = None) -> list[Assigned]:
        """For each row its labels, or none and a reason, as ``Categorizer.assign`` for texts."""
        self.check_fitted()
        aim = self.aim(precision)
        self._warn_of_runs(self.confidence_)
        return self.decide(X, self._deep(X), aim)

    @reading
    def decide(self, given: Given, ranking: Ranking, aim: Aim) -> list[Assigned]:
        """The labels assigned to ranked examples: none without a known feature, or out of scope
        for a precision.
        """
        known = self._has_known(given)
        unlike = np.zeros(known.size, dtype=np.bool_)
        if isinstance(aim, Precision):
            unlike = self.confidence_.are_unlike(self._known_share(given))
        kept = self._chosen(ranking, aim) & (known & ~unlike)[:, None]
        scores = ranking.scores
        best = scores[:, 0] if scores.shape[1] else np.full(known.size, np.nan)
        reasons = np.full(known.size, Reason.NOTHING_SURE_ENOUGH)
        reasons[unlike | (best < self.confidence_.lowest(aim))] = Reason.UNLIKE_ANYTHING_LEARNED
        reasons[~known | np.isnan(best)] = (
            Reason.NO_KNOWN_WORD if self.takes_texts else Reason.NO_KNOWN_FEATURE
        )
        reasons[kept.any(axis=1)] = Reason.ASSIGNED
        return [
            Assigned(one, Reason(why))
            for one, why in zip(ranking.only(kept), reasons.tolist(), strict=True)
        ]

    @reading
    def _chosen(self, ranking: Ranking, aim: Aim) -> NDArray[np.bool_]:
        """Which labels of rankings to assign for an aim; one that nobody has used yet is
        suggested, never assigned.
        """
        kept = self.confidence_.assigned(ranking.scores, aim, ranking.probabilities)
        kept &= np.append(self.label_counts_, 0)[ranking.ids] > 0
        if self._one_label_each:
            kept[:, 1:] = False
        return kept

    def aim(self, precision: float | None) -> Aim:
        """The aim of an assignment: the given precision, or the largest F1 if None."""
        return F1() if precision is None else Precision(precision, alone=self._one_label_each)

    @property
    def _one_label_each(self) -> bool:
        """Whether the counts show that no example had several labels."""
        return int(self.learner_.label_counts_.sum()) <= int(self.learner_.n_examples_)

    @reading
    def automation(self, precisions: Sequence[float] = (0.9, 0.95, 0.99)) -> list[Automation]:
        """For each precision, the threshold from which labels are assigned without a person,
        and the share of texts.
        """
        self.check_fitted()
        return self.confidence_.automation(precisions)

    def _deep(self, given: Given) -> Ranking:
        self.check_fitted()
        return self.rank_checked(self._rows_of(given), DEPTH)

    # Predicting, in scikit-learn's forms.

    @reading
    def predict(self, X: Given) -> NDArray[Any]:
        """The best label of each row; if all labels came as indicator matrices, such a matrix
        of assigned labels.
        """
        self.check_fitted()
        rows = self._rows_of(X)
        columns = self.learner_.label_columns_
        if columns is not None and self.confidence_.ready:
            ranking = self.rank_checked(rows, DEPTH)
            return self.learner_.indicator(
                np.where(self._chosen(ranking, F1()), ranking.ids, -1), columns
            )
        if not self.retired_ and not self._every_rule(None):
            return self.learner_.predict_rows(rows)
        if columns is not None:
            return self.learner_.indicator(
                self.rank_checked(rows, self.learner_.usual_number()).ids, columns
            )
        allowed, _ = self.allowed_labels(self._every_rule(None))
        usual = int(np.argmax(np.where(allowed.labels, counts_of(self.learner_), -1)))
        best = self.rank_checked(rows, 1).ids[:, 0]
        chosen: NDArray[Any] = self.classes_[np.where(best < 0, usual, best)]
        return chosen

    @reading
    def predict_proba(self, X: Given) -> Floats:
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
        if self._one_label_each:
            if columns is None or list(columns) != learner.classes_.tolist():
                check_order(learner.classes_)
            return summing_to_one(self._deep(X), learner.label_counts_)
        if columns is None:
            raise InputError(
                "predict_proba needs texts of one label each, or labels that came as an indicator "
                "matrix; "
                "rank(texts).probabilities has the probabilities of the best labels"
            )
        return of_columns(self._deep(X), learner.columns_of_labels(columns), len(columns))

    @reading
    def score(self, X: Given, Y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """R1: the share of rows whose best label is one of theirs."""
        self.check_fitted()
        return self.learner_.score_rows(self._rows_of(X), Y, sample_weight)

    def assign_batches(self, batches: Iterable[Examples], aim: Aim) -> Iterator[AssignedLabels]:
        """The labels assigned to the examples of one batch after the other."""
        for ranking, batch in self._rank_batches(batches, DEPTH):
            yield AssignedLabels(self.decide(self._given_in(batch), ranking, aim), batch.ids)

    def shortlist_batches(
        self, batches: Iterable[Examples], coverage: float
    ) -> Iterator[RankedLabels]:
        """The shortlists of the examples of batch after batch, without the warnings of
        ``warn_of_broken_promise``.
        """
        for ranking, batch in self._rank_batches(batches, DEPTH):
            yield RankedLabels(ranking.only(self.shortlisted(ranking, coverage)), batch.ids)

    def likely_batches(
        self, batches: Iterable[Examples], k: int, least: float
    ) -> Iterator[RankedLabels]:
        """Those of the k best labels of each example whose probability is at least ``least``."""
        for ranking, batch in self._rank_batches(batches, k):
            with np.errstate(invalid="ignore"):
                yield RankedLabels(ranking.only(ranking.probabilities >= least), batch.ids)

    # Measuring.

    def judge_batches(
        self, batches: Iterable[Examples], measures: Sequence[str]
    ) -> Iterator[JudgedRanking]:
        for ranking, batch in self._rank_batches(batches, self.judged_depth(measures)):
            yield JudgedRanking(ranking, batch.labels or [])

    def judged_depth(self, measures: Sequence[str]) -> int:
        """How many labels to rank for these measures."""
        return max(self._depth(measures), DEPTH if self.confidence_.ready else 1)

    def _depth(self, measures: Sequence[str]) -> int:
        """How many labels these measures look at."""
        return depth([measure(name) for name in measures], len(self.learner_.classes_))

    def report_on(
        self, judged: Iterable[JudgedRanking], measures: Sequence[str], *, details: bool = False
    ) -> Report:
        judged = list(judged)
        ranking, truth = self.joined_judgements(judged, measures)
        learner, chosen = self.learner_, [measure(name) for name in measures]
        propensities = propensities_for(chosen, learner.label_counts_, learner.n_examples_)
        n_labels = len(learner.classes_)
        found = Report(
            evaluate(ranking, truth, chosen, n_labels=n_labels, propensities=propensities)
        )
        if details:
            found_for = per_label(ranking, truth, n_labels=n_labels).to_dicts()
            table: list[dict[str, Any]] = [dict(row) for row in found_for]
            keys = ["label", "true", "assigned", "precision", "recall", "f1"]
            if self.vocabulary_ is not None:
                table = [{**row, "name": self.vocabulary_.name(row["label"])} for row in table]
                keys.insert(1, "name")
            rows = [[row[key] for key in keys] for row in table]
            found.tables = [
                Table("Each text is given as many labels as it has", keys, rows, "labels")
            ]
            found.details = {"labels": table}
        if self.vocabulary_ is not None and self.vocabulary_.broader:
            labels = chain.from_iterable(one.labels for one in judged)
            near = near_misses((one.ranking for one in judged), labels, self.vocabulary_)
            rows = [[name, *row.values()] for name, row in near.items()]
            title = "By the hierarchy of the vocabulary, broader labels included"
            found.tables.append(Table(title, ["labels given", "hP", "hR", "hF"], rows))
            found.details["hierarchy"] = near
        if self.confidence_.ready:
            deep = Ranking.stack([one.ranking for one in judged], min(DEPTH, n_labels))
            decisions = Decisions(self.confidence_, self._chosen, deep, truth)
            found.details["confidence"] = of_confidence = decisions.details()
            found.tables = decisions.tables(of_confidence) + found.tables
        return found

    def joined_judgements(
        self, judged: Sequence[JudgedRanking], measures: Sequence[str]
    ) -> tuple[Ranking, LabelSets]:
        """The rankings of all batches as one, and the labels as numbers."""
        labels = [one.labels for one in judged]
        if not any(labels):
            raise InputError("there are no examples to evaluate")
        numbers = self.learner_.label_numbers(NumberedLabels.stack(labels))
        return Ranking.stack([one.ranking for one in judged], self._depth(measures)), numbers

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
        """The names of the features in these columns."""
        return list(columns)

    def strongest(self, label: Label, n: int = 10) -> list[tuple[Any, float]]:
        """The n features that speak for a label the most, by weight and by how often they were
        seen; their weights.
        """
        self.check_index()
        return self._named(self.learner_.strongest(label, n))

    def check_index(self) -> None:
        self.check_fitted()
        if not hasattr(self.learner_, "strongest"):
            raise InputError(
                f"{type(self.learner_).__name__} has no index whose connections could be shown"
            )

    def leaks(self, n: int = 10) -> list[tuple[Any, float]]:
        """The n features that occur with all labels and predict none, and the share of weight
        that they lose.
        """
        self.check_fitted()
        return self._named(self.learner_.leaks(n)) if hasattr(self.learner_, "leaks") else []

    def _named(self, pairs: Sequence[tuple[int, float]]) -> list[tuple[Any, float]]:
        names = self._feature_names([column for column, _ in pairs])
        return [(name, weight) for name, (_, weight) in zip(names, pairs, strict=True)]

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, in order of first appearance."""
        self.check_fitted()
        return self.learner_.classes_

    @property
    def label_counts_(self) -> Longs:
        """How many examples each label was learned from, in the order of ``classes_``."""
        self.check_fitted()
        return self.learner_.label_counts_

    def name_of(self, label: Label) -> str:
        return str(label) if self.vocabulary_ is None else self.vocabulary_.name(label)

    def knows_label(self, label: object) -> bool:
        """Whether the label was learned."""
        return bool(self.learner_.label_numbers([[label]]).ids[0] < self.label_counts_.size)


# Probabilities in the form that scikit-learn expects: a column for each class.


def check_order(classes: NDArray[Any]) -> None:
    """Refuse unsorted labels: scikit-learn would mistake their columns for those of others."""
    names = classes.tolist()
    if names != sorted(names, key=sorting):
        raise InputError(
            "scikit-learn takes the columns of predict_proba in the sorted order of the labels, as "
            "fit numbers them, "
            "and this model has learned them from a stream, in the order in which they came; use "
            "fit, name all labels "
            "first (partial_fit with classes), or use rank(texts).probabilities"
        )


def of_columns(ranking: Ranking, column: Longs, n_columns: int) -> Floats:
    """The probability of each label of an indicator matrix; label i has column[i], −1 if none
    (and for label −1).
    """
    table = np.zeros((ranking.ids.shape[0], n_columns))
    row, place = np.nonzero(column[ranking.ids] >= 0)
    table[row, column[ranking.ids[row, place]]] = ranking.probabilities[row, place]
    return table


def summing_to_one(ranking: Ranking, counts: Longs) -> Floats:
    """The probabilities of all labels, where each text has one; ``counts``: how many examples
    each label has.
    """
    shares: Floats = counts / max(1, int(counts.sum()))
    table = np.tile(shares, (ranking.ids.shape[0], 1))
    for row, ids, chances in zip(table, ranking.ids, ranking.probabilities, strict=True):
        known = ids[ids >= 0]
        if known.size == 0:
            continue
        row *= chances[known.size - 1]
        row[known] = chances[: known.size]
        best, others = known[0], row.sum() - row[known[0]]
        if others > 0:
            left = (1.0 - row[best]) / others
            kept = row[best]
            row *= left
            row[best] = kept
        row /= row.sum()
    return table


# Evaluation of probabilities, shortlists and assignments on examples that were not learned.


def near_misses(
    rankings: Iterable[Ranking], truth: Iterable[Sequence[Label]], vocabulary: LabelVocabulary
) -> dict[str, dict[str, float]]:
    """hP, hR and hF of the best label, and of as many as are true. A ranking that is shorter
    gives what it has.
    """
    best = [[str(label) for label, _ in one] for ranking in rankings for one in ranking]
    every = [[str(label) for label in labels] for labels in truth]

    def measured(given: Iterator[Iterable[str]]) -> dict[str, float]:
        return dict(
            zip(("hP", "hR", "hF"), hierarchical_f1(given, every, vocabulary.broader), strict=True)
        )

    as_many = (islice(labels, len(true)) for labels, true in zip(best, every, strict=True))
    return {
        "the best": measured(labels[:1] for labels in best),
        "as many as are true": measured(as_many),
    }


PRECISIONS, COVERAGES = (0.90, 0.95, 0.99), (0.90, 0.95)
SHARES = np.arange(1, 21) / 20

Mask = NDArray[np.bool_]
Chooses = Callable[[Ranking, Aim], Mask]


class Decisions:
    """The decisions of a calibrated model for rankings of examples, compared with the true
    labels.
    """

    def __init__(
        self, confidence: Confidence, chosen: Chooses, ranking: Ranking, truth: LabelSets
    ) -> None:
        self.confidence, self.chosen, self.truth = confidence, chosen, truth
        self.chances = confidence.probabilities(ranking.scores)
        self.ranking = Ranking(ranking.ids, ranking.scores, ranking.label_names, self.chances)
        self.hits = hits_of(ranking, truth)
        self.n_true: Longs = np.diff(truth.indptr)

    def details(self) -> dict[str, Any]:
        """All measures, for machines."""
        best, right = self.chances[:, 0], self.hits[:, 0]
        return {
            "calibration error": finite_or_none(calibration_error(best, right)),
            "reliability": [own._asdict() for own in reliability(best, right)],
            "shortlists": [self._shortlists(coverage) for coverage in COVERAGES],
            "automation": [self._alone(precision) for precision in PRECISIONS],
            "automation by share": self._by_share(),
            "assignments": {"micro-F1": finite_or_none(self._f1())},
        }

    def tables(self, found: dict[str, Any]) -> list[Table]:
        """The same for people."""
        errors = [["calibration error", found["calibration error"]]]
        f1 = [
            [f"{name} of the labels it assigns", value]
            for name, value in found["assignments"].items()
        ]
        lists = [
            [row["coverage"], row["covered"], row["mean size"], "yes" if row["possible"] else "no"]
            for row in found["shortlists"]
        ]
        alone = [list(row.values()) for row in found["automation"]]
        bins = [list(row.values()) for row in found["reliability"]]
        return [
            Table("How sure it is", ["measure", "value"], errors + f1),
            Table(
                "Right as often as it says? (the best label)",
                ["probability", "right", "texts"],
                bins,
            ),
            Table(
                "Shortlists of all true labels",
                ["coverage asked for", "covered", "mean size", "possible"],
                lists,
            ),
            Table(
                "Deciding alone",
                ["precision asked for", "from probability", "share of texts", "right"],
                alone,
            ),
        ]

    def _shortlists(self, coverage: float) -> dict[str, Any]:
        lengths = self.confidence.lengths(self.ranking.scores, coverage, self.chances)
        listed = np.arange(self.hits.shape[1]) < lengths[:, None]
        covered = (self.hits & listed).sum(axis=1) == self.n_true
        found = {
            "coverage": coverage,
            "covered": float(covered.mean()),
            "mean size": float(lengths.mean()),
        }
        return found | {"possible": bool(np.isfinite(self.confidence.limit(coverage)))}

    def _alone(self, precision: float) -> dict[str, float | None]:
        aim = Precision(precision, alone=True)
        threshold, decided = self.confidence.threshold(aim), self.chosen(self.ranking, aim)[:, 0]
        right = float(self.hits[decided, 0].mean()) if decided.any() else np.nan
        found = Automation(precision, threshold, float(decided.mean()), right)
        return {name: finite_or_none(value) for name, value in found._asdict().items()}

    def _by_share(self) -> list[dict[str, float]]:
        """The result of deciding each share of the texts, those with the most probable best
        labels.
        """
        order = np.argsort(-np.nan_to_num(self.chances[:, 0]), kind="stable")
        right = np.cumsum(self.hits[order, 0])
        found = []
        for share in SHARES:
            n = int(np.ceil(share * order.size))
            if n and self.chances[order[n - 1], 0] > 0:
                threshold = float(self.chances[order[n - 1], 0])
                found.append(
                    {
                        "threshold": threshold,
                        "share": n / order.size,
                        "right": float(right[n - 1] / n),
                    }
                )
        return found

    def _f1(self) -> float:
        """F1 of the labels assigned for F1: 2·correct / (assigned + true), over all labels
        together.
        """
        assigned = self.chosen(self.ranking, F1())
        both = int(assigned.sum() + self.n_true.sum())
        return 2.0 * int((assigned & self.hits).sum()) / both if both else np.nan


def hits_of(ranking: Ranking, truth: LabelSets) -> Mask:
    """Which labels of rankings (n × k) are true."""
    found, rows = (
        np.zeros(ranking.ids.shape, dtype=np.bool_),
        np.repeat(np.arange(truth.n_rows), np.diff(truth.indptr)),
    )
    place = places_of(truth.ids, rows, ranking.ids)
    there = place < ranking.ids.shape[1]
    found[rows[there], place[there]] = True
    return found
