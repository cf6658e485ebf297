"""Every learner by the short name that the command line has for it.

A learner names itself: ``short_names`` of its class says which names stand for which settings, and a class without
has its own name, in lower case with hyphens. So a new learner is one new file in categories/, ratings/ or documents/,
and the command line, comparisons, the server and the tests of the contract know it.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from shortlist.errors import InputError
from shortlist.estimators import Estimator, clone
from shortlist.names import learner_classes, public

Task = Literal["categories", "ratings", "documents"]
TASKS: tuple[Task, ...] = ("categories", "ratings", "documents")

BASES: dict[Task, tuple[str, str]] = {
    "categories": ("shortlist.categories.learner", "CategoryLearner"),
    "ratings": ("shortlist.ratings.learner", "RatingLearner"),
    "documents": ("shortlist.documents.ranker", "LinearRanker"),
}
USUAL: dict[Task, str] = {"categories": "tuned-index", "ratings": "prank", "documents": "map"}
USUAL_CLASSES: dict[Task, str] = {"categories": "TunedIndex", "ratings": "PRank", "documents": "MapSVM"}


@dataclass(frozen=True)
class Named:
    """A learner with settings that has a short name."""

    name: str
    task: Task
    kind: type[Estimator]
    settings: dict[str, Any]

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return (inspect.getdoc(self.kind) or "").partition("\n")[0]

    def make(self) -> Estimator:
        """One that has learned nothing."""
        return self.kind(**self.settings)


def base(task: Task) -> type[Estimator]:
    """The class of all learners of a task; what it needs is loaded only where it is asked for."""
    module, name = BASES[task]
    kind: type[Estimator] = getattr(import_module(module), name)
    return kind


def learners(task: Task) -> dict[str, Named]:
    """The learners of a task, the usual one first."""
    found = {}
    for kind in learner_classes().values():
        if issubclass(kind, base(task)):
            names: dict[str, dict[str, Any]] = vars(kind).get("short_names") or {_hyphenated(kind.__name__): {}}
            found.update({name: Named(name, task, kind, settings) for name, settings in names.items()})
    usual = USUAL[task]
    return {usual: found[usual]} | dict(sorted(found.items()))


def named(task: Task, name: str | None = None, option: str = "--learner") -> Estimator:
    """A learner by its short name; the usual one if None."""
    if name is None or name == USUAL[task]:  # to find the others by name, all of them are loaded
        usual: Estimator = public(USUAL_CLASSES[task])()
        return usual
    known = learners(task)
    if name not in known:
        raise InputError(f"{option} must be one of {', '.join(known)}, not {name!r}")
    return known[name].make()


def made(task: Task, given: Estimator | str | None) -> Estimator:
    """A learner as a model is given it (any learner, the short name of one, or None for the usual one), unlearned."""
    if given is None or isinstance(given, str):
        return named(task, given, "learner")
    if not isinstance(given, base(task)):
        found = f"the class {given.__name__}, of which it needs one" if isinstance(given, type) else repr(given)
        raise InputError(f"learner must be a learner of {task}, or its name, as {USUAL[task]!r}, not {found}")
    return clone(given)


def changed(estimator: Estimator, settings: dict[str, Any], prefix: str = "") -> Estimator:
    """The estimator with these settings, refused if it has no such setting."""
    known = estimator.get_params(deep=False)
    for name in settings:
        if name not in known:
            names = ", ".join(prefix + one for one in known)
            raise InputError(f"{type(estimator).__name__} has no setting {prefix}{name}; its settings are {names}")
    return estimator.set_params(**settings)


def _hyphenated(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
