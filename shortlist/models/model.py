"""The base class of all models, by which the command line, the server and a cluster use them.

A model learns from and answers batches: ``Examples`` with texts or rows, and labels, ratings or
judgements.
"""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

from shortlist.concurrency import Watcher, reading, watched_by
from shortlist.data.label_input import Label
from shortlist.data.ranking import Explanation
from shortlist.data.texts import Document
from shortlist.errors import InputError
from shortlist.estimators import Estimator, clone, not_fitted
from shortlist.files.store import State, build
from shortlist.files.store import save as save_file
from shortlist.inputs.examples import Examples
from shortlist.measures import Evaluation
from shortlist.public_names import learner_classes, public

# Every learner by its short name. ``short_names`` of its class says which names stand for which
# settings; without it, a class has its own name, in lower case with hyphens. So a new learner is
# one new file in categories/, ratings/ or documents/, and the command line, comparisons, the server
# and the tests of the contract know it.


Task = Literal["categories", "ratings", "documents"]
TASKS: tuple[Task, ...] = ("categories", "ratings", "documents")

BASES: dict[Task, tuple[str, str]] = {
    "categories": ("shortlist.learners.category_learner", "CategoryLearner"),
    "ratings": ("shortlist.learners.ratings.rating_learner", "RatingLearner"),
    "documents": ("shortlist.learners.documents.linear_ranker", "LinearRanker"),
}
USUAL: dict[Task, str] = {"categories": "tuned-index", "ratings": "prank", "documents": "map"}
USUAL_CLASSES: dict[Task, str] = {
    "categories": "TunedIndex",
    "ratings": "PRank",
    "documents": "MapSVM",
}


def base(task: Task) -> type[Estimator]:
    """The class of all learners of a task, imported when needed."""
    module, name = BASES[task]
    kind: type[Estimator] = getattr(import_module(module), name)
    return kind


def learners(task: Task) -> dict[str, partial[Estimator]]:
    """The learners of a task by their short names, the usual one first: classes with settings,
    to be called.
    """
    by_name: dict[str, partial[Estimator]] = {}
    for kind in learner_classes().values():
        if issubclass(kind, base(task)):
            by_name.update(
                {name: partial(kind, **settings) for name, settings in _short_names(kind).items()}
            )
    usual = USUAL[task]
    return {usual: by_name[usual]} | dict(sorted(by_name.items()))


def named(task: Task, name: str | None = None, option: str = "--learner") -> Estimator:
    """A learner by its short name; the usual one if None."""
    if name is None or name == USUAL[task]:  # to find the others by name, all of them are loaded
        kind: type[Estimator] = public(USUAL_CLASSES[task])
        return kind(**_short_names(kind)[USUAL[task]])
    by_name = learners(task)
    if name not in by_name:
        raise InputError(f"{option} must be one of {', '.join(by_name)}, not {name!r}")
    return by_name[name]()


def made(task: Task, learner: Estimator | str | None) -> Estimator:
    """A new learner from the parameter of a model: any learner, its short name, or None for the
    usual one.
    """
    if learner is None or isinstance(learner, str):
        return named(task, learner, "learner")
    if not isinstance(learner, base(task)):
        shown_learner = (
            f"the class {learner.__name__}, of which it needs one"
            if isinstance(learner, type)
            else repr(learner)
        )
        raise InputError(
            f"learner must be a learner of {task}, or its name, as {USUAL[task]!r}, not "
            f"{shown_learner}"
        )
    return clone(learner)


def changed(estimator: Estimator, settings: dict[str, Any], prefix: str = "") -> Estimator:
    """The estimator with these settings, refused if it has no such setting."""
    parameters = estimator.get_params(deep=False)
    for name in settings:
        if name not in parameters:
            names = ", ".join(prefix + parameter for parameter in parameters)
            raise InputError(
                f"{type(estimator).__name__} has no setting {prefix}{name}; its settings are "
                f"{names}"
            )
    return estimator.set_params(**settings)


def _short_names(kind: type[Estimator]) -> dict[str, dict[str, Any]]:
    """The short names of a class, and the settings that each stands for."""
    names: dict[str, dict[str, Any]] | None = vars(kind).get("short_names")
    hyphenated = re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", kind.__name__
    ).lower()
    return names or {hyphenated: {}}


# Models.


Judged = TypeVar("Judged")  # the answers and the truth of a batch, for measuring


class Answers(Protocol):
    """The answers of a model for some examples."""

    def lines(self) -> Iterator[str]:
        """For people and pipes: a line for each answer."""

    def records(self) -> Iterator[dict[str, Any]]:
        """For machines: a JSON object for each answer."""


@dataclass
class ReportTable:
    """A table for people."""

    title: str
    columns: list[str]
    rows: list[list[Any]]
    what: str = "rows"  # what to call the rows that are not shown


@dataclass
class Report:
    """The result of an evaluation: the measures, and more by kind of model."""

    measures: Evaluation
    tables: list[ReportTable] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)  # for machines

    def to_dict(self) -> dict[str, Any]:
        return self.measures.to_dict() | self.details


def finite_or_none(value: float) -> float | None:
    """A number for JSON, which has no infinity and no NaN."""
    return float(value) if math.isfinite(value) else None


class Model(Estimator, ABC, Generic[Judged]):
    """Base class of the models. ``learner_`` is there once something was learned."""

    task: ClassVar[Task]
    default_measures: ClassVar[tuple[str, ...]]
    takes_texts: ClassVar[bool] = False  # whether its examples are texts, not rows of numbers
    detail_kind: ClassVar[str]  # what ``evaluate`` shows one by one with ``details``
    learner: Any
    learner_: Any
    text_: Any  # of a model of texts
    # parameters that are estimators, short names of them, or None
    part_names: ClassVar[tuple[str, ...]] = ("learner",)

    # Parameters. Those of a part have names such as ``learner__passes``, also if the part is the
    # default.

    def new_learner(self) -> Any:
        """A new learner, from the parameter."""
        return made(self.task, self.learner)

    def _part(self, name: str) -> Any:
        part = getattr(self, name)
        if name in self.part_names and (part is None or isinstance(part, str)):
            return getattr(self, f"new_{name}")()
        return super()._part(name)

    # Learning.

    @abstractmethod
    def fit_batches(self, batches: Iterable[Examples]) -> Self:
        """Forget everything and learn all examples."""

    @abstractmethod
    def learn_batches(self, batches: Iterable[Examples]) -> Self:
        """Learn more, in the order of the examples."""

    # Answering.

    @abstractmethod
    def answer_batches(self, batches: Iterable[Examples], k: int = 5) -> Iterator[Answers]:
        """Answer batch after batch; with at most ``k`` labels each, where there are labels."""

    def answer_text(self, text: Document, k: int = 5) -> Answers:
        """Answer one text."""
        raise InputError("the model answers rows, not texts")

    @property
    def fields_(self) -> list[str] | None:
        """The fields of the texts that were learned, if they have several."""
        return self.text_.settings_.fields if self.takes_texts else None

    @property
    def extra_fields_(self) -> list[str]:
        """The fields of categories and numbers that were learned."""
        return (
            []
            if self.fields_ is None
            else list(dict.fromkeys(field for field, _, _ in self.text_.values()))
        )

    def explain_text(self, text: Document, label: str | None = None) -> Explanation:
        """The explanation of the answer to a text, or of a label, given as people type it."""
        raise InputError("the model answers rows, not texts; explain them from Python")

    def name_of(self, label: Label) -> str:
        """The name of a label."""
        return str(label)

    # Measuring.

    @abstractmethod
    def judge_batches(
        self, batches: Iterable[Examples], measures: Sequence[str]
    ) -> Iterator[Judged]:
        """Answer labelled examples, deep enough for these measures."""

    @abstractmethod
    def report_on(
        self, judged: Iterable[Judged], measures: Sequence[str], *, details: bool = False
    ) -> Report:
        """Measure answers, which may come from other machines."""

    def evaluate(
        self,
        batches: Iterable[Examples],
        measures: Sequence[str] | None = None,
        *,
        details: bool = False,
    ) -> Report:
        """Measure the model on examples that it has not learned; with ``details``, for each
        label or query too.
        """
        if hasattr(batches, "__len__") and not all(
            isinstance(batch, Examples) for batch in batches
        ):
            raise InputError(
                "evaluate takes batches as shortlist.read makes them of a file, not lists of texts "
                "and labels; "
                "measure those by shortlist.evaluate(model.rank(texts, k=10), labels, ['R1', "
                "'P@5'])"
            )
        chosen = self.default_measures if measures is None else measures
        if not len(chosen):
            raise InputError(
                "no measure is named; leave them out for the usual ones, or name some, as ['R1', "
                "'P@5']"
            )
        return self.report_on(self.judge_batches(batches, chosen), chosen, details=details)

    # Looking inside.

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Facts about the model, by name."""

    @property
    def can_learn(self) -> bool:
        """Whether it can go on learning."""
        return hasattr(self.learner_, "partial_fit")

    def check_can_learn(self) -> None:
        """Raise an error if the model cannot go on learning."""
        if not self.can_learn:
            raise InputError(f"{type(self.learner_).__name__} cannot go on learning; train it anew")

    def copy(self) -> Self:
        """A copy that shares nothing that learning changes."""
        copied: Self = build(self.to_state())
        return copied

    def part_parameters(self) -> dict[str, Any]:
        """The parameters of the learner and of the text part."""
        return {"parameters": self.learner_.get_params(deep=False)}

    def set_threads(self, n_jobs: int | None) -> None:
        """Let the learner use n_jobs threads, if it can; answers do not depend on it."""
        if "n_jobs" in self.learner_.get_params(deep=False):
            self.learner_.set_params(n_jobs=n_jobs)

    def fit_with_threads(
        self, batches: Iterable[Examples], n_jobs: int, watcher: Watcher | None = None
    ) -> Self:
        """``fit_batches`` with n_jobs threads, if the learner can; the resulting model does not
        depend on them.
        """
        with watched_by(watcher):
            # no such parameter, or set by the user
            if self.get_params().get("learner__n_jobs", n_jobs) is not None:
                return self.fit_batches(batches)
            self.set_params(learner__n_jobs=n_jobs)
            try:
                self.fit_batches(batches)
                self.set_threads(None)
            finally:
                self.set_params(learner__n_jobs=None)
            return self

    # Model files.

    @reading
    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Write everything to one file; ``shortlist.load`` opens it.

        A ``compact`` file takes less than a third of the space, and no longer to open. It keeps 13
        bits of each edge weight of an index, 1 part in 8,192, and of their corrections 1 part in
        8,192 of the largest of a feature; learning goes on from those. Nothing else is lost.
        """
        self.check_fitted()
        save_file(self, path, compact=compact)

    @abstractmethod
    def to_state(self) -> State:
        """The state of the model."""

    # Checks.

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def check_fitted(self) -> None:
        """Refuse a model that has learned nothing."""
        if not self.__sklearn_is_fitted__():
            ways = [way for way in ("fit", "learn", "partial_fit") if hasattr(self, way)][:2]
            raise not_fitted(
                f"this {type(self).__name__} has learned nothing yet; call {' or '.join(ways)} "
                "first"
            )
