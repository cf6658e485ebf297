"""Models that rank labels, of texts or of rows of features: how they answer, and how they are measured."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Any, NamedTuple

from numpy.typing import NDArray

from shortlist.arrays.given_labels import Label
from shortlist.arrays.kernels import Longs
from shortlist.arrays.rows import Rows
from shortlist.categories.allowed import Allowed
from shortlist.categories.learner import CategoryLearner
from shortlist.concepts.vocabulary import LabelVocabulary
from shortlist.concurrency.prefetch import prefetch
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.labels import LabelSets, NumberedLabels
from shortlist.measures import Evaluation, depth, evaluate, measure, per_label, propensities_for
from shortlist.models.base import Model, Report, Table
from shortlist.models.known_rules import KnownRules
from shortlist.models.near_misses import as_table, near_misses
from shortlist.models.rules import Kinds, Rules, within_kinds
from shortlist.ranking import Ranking


class JudgedRanking(NamedTuple):
    """Rankings of some examples, and the labels that they have."""

    ranking: Ranking
    labels: Sequence[list[Any]]


class RankedLabels:
    """The best labels of some examples, as answers."""

    def __init__(self, ranking: Iterable[Ranking], ids: Sequence[str] | None) -> None:
        self.ranking, self.ids = ranking, ids

    def lines(self) -> Iterator[str]:
        """Label, score, label, score, … of each example, separated by tabs."""
        for one in self.ranking:
            yield "\t".join(f"{_on_one_line(label)}\t{score:.6g}" for label, score in one)

    def records(self) -> Iterator[dict[str, Any]]:
        for n, one in enumerate(self.ranking):
            named = {} if self.ids is None else {"id": self.ids[n]}
            found = {"labels": [label for label, _ in one], "scores": [score for _, score in one]}
            chances = one.probabilities[one.ids >= 0].tolist()
            known = chances and chances[0] == chances[0]
            yield named | found | ({"probabilities": chances} if known else {})


class CategoryModel(Model[JudgedRanking]):
    """Base class: ranks labels. A model says how examples become rows."""

    task = "categories"
    usual_measures = ("R1", "R5", "MRR", "P@5", "nDCG@5")
    detail = "label"
    learner_: CategoryLearner
    vocabulary_: LabelVocabulary | None = None  # what its labels are called, where somebody has said

    @abstractmethod
    def new_learner(self) -> CategoryLearner: ...

    @abstractmethod
    def _rows(self, examples: Examples) -> Rows:
        """The rows of a batch, refused where it holds something else."""

    def answer(self, batches: Iterable[Examples], k: int = 5) -> Iterator[RankedLabels]:
        for ranking, batch in self.rank_batches(batches, k):
            yield RankedLabels(ranking, batch.ids)

    def rank_batches(self, batches: Iterable[Examples], k: int) -> Iterator[tuple[Ranking, Examples]]:
        """The k best labels of one batch after the other; while one is ranked, the next are tokenised and made."""
        self._check_fitted()
        with closing(prefetch(batches)) as read, closing(prefetch((self._rows(one), one) for one in read)) as tokenised:
            for rows, batch in tokenised:
                yield self._ranked(rows, k), batch

    def rank_examples(self, examples: Examples, k: int) -> Ranking:
        """The k best labels of each example of a batch."""
        self._check_fitted()
        return self._ranked(self._rows(examples), k)

    def _ranked(self, rows: Rows, k: int) -> Ranking:
        return self._found(rows, k)

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

    def _found(self, rows: Rows, k: int, rules: Rules | None = None) -> Ranking:
        """The k best labels that the rules allow."""
        every, learner = self._every_rule(rules), self.learner_
        if not every and not self.retired_:
            return learner._rank_rows(rows, k)
        allowed, kinds = self._allowed(every)
        if not kinds:
            return learner._rank_rows(rows, k, allowed)
        return within_kinds(lambda depth: learner._rank_rows(rows, depth, allowed), k, len(learner._labels), kinds)

    # Measuring.

    def judge(self, batches: Iterable[Examples], measures: Sequence[str]) -> Iterator[JudgedRanking]:
        for ranking, batch in self.rank_batches(batches, self.judged_depth(measures)):
            yield JudgedRanking(ranking, batch.labels or [])

    def judged_depth(self, measures: Sequence[str]) -> int:
        """How many labels to rank where these are measured."""
        return self.depth(measures)

    def depth(self, measures: Sequence[str]) -> int:
        """How many labels these measures look at."""
        return depth([measure(name) for name in measures], len(self.learner_.classes_))

    def report(self, judged: Iterable[JudgedRanking], measures: Sequence[str], *, details: bool = False) -> Report:
        judged = list(judged)
        ranking, truth = self.together(judged, measures)
        found = Report(self.measured(ranking, truth, measures))
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
        return found

    def together(self, judged: Iterable[JudgedRanking], measures: Sequence[str]) -> tuple[Ranking, LabelSets]:
        """The rankings of all batches as one, and the labels as numbers."""
        rankings: list[Ranking] = []
        labels: list[Sequence[list[Any]]] = []
        for one in judged:
            rankings.append(one.ranking)
            labels.append(one.labels)
        if not any(labels):
            raise InputError("there are no examples to evaluate")
        numbers = self.learner_.label_numbers(NumberedLabels.stack(labels))
        return Ranking.stack(rankings, self.depth(measures)), numbers

    def measured(self, ranking: Ranking, truth: LabelSets, measures: Sequence[str]) -> Evaluation:
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

    @property
    def n_name_bytes(self) -> int:
        """How many bytes the names of the features take."""
        return 0

    def feature_names(self, columns: Sequence[int]) -> list[Any]:
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
        names = self.feature_names([column for column, _ in pairs])
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

    def knows(self, label: object) -> bool:
        """Whether the label was learned."""
        return bool(self.learner_.label_numbers([[label]]).ids[0] < self.label_counts_.size)


def _on_one_line(label: Any) -> str:
    """A label that can stand between tabs."""
    return str(label).replace("\t", " ").replace("\n", " ").replace("\r", " ")
