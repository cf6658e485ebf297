"""Every learner by the short name that the command line has for it.

A learner names itself: ``short_names`` of its class says which names stand for which settings, and a class without
has its own name, in lower case with hyphens. So a new learner is one new file in categories/, ratings/ or documents/,
and the command line, comparisons, the server and the tests of the contract know it.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone

from shortlist.categories.learner import CategoryLearner
from shortlist.documents.ranker import LinearRanker
from shortlist.errors import InputError
from shortlist.models.base import Task
from shortlist.names import learner_classes, public
from shortlist.ratings.learner import RatingLearner

BASES: dict[Task, type[BaseEstimator]] = {
    "categories": CategoryLearner,
    "ratings": RatingLearner,
    "documents": LinearRanker,
}
USUAL: dict[Task, str] = {"categories": "tuned-index", "ratings": "prank", "documents": "map"}
USUAL_CLASSES: dict[Task, str] = {"categories": "TunedIndex", "ratings": "PRank", "documents": "MapSVM"}


@dataclass(frozen=True)
class Named:
    """A learner with settings that has a short name."""

    name: str
    task: Task
    kind: type[BaseEstimator]
    settings: dict[str, Any]

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return (inspect.getdoc(self.kind) or "").partition("\n")[0]

    def make(self) -> BaseEstimator:
        """One that has learned nothing."""
        return self.kind(**self.settings)


def learners(task: Task) -> dict[str, Named]:
    """The learners of a task, the usual one first."""
    found = {}
    for kind in learner_classes().values():
        if issubclass(kind, BASES[task]):
            names: dict[str, dict[str, Any]] = vars(kind).get("short_names") or {_hyphenated(kind.__name__): {}}
            found.update({name: Named(name, task, kind, settings) for name, settings in names.items()})
    usual = USUAL[task]
    return {usual: found[usual]} | dict(sorted(found.items()))


def named(task: Task, name: str | None = None, option: str = "--learner") -> BaseEstimator:
    """A learner by its short name; the usual one if None."""
    if name is None or name == USUAL[task]:  # to find the others by name, all of them are loaded
        usual: BaseEstimator = public(USUAL_CLASSES[task])()
        return usual
    known = learners(task)
    if name not in known:
        raise InputError(f"{option} must be one of {', '.join(known)}, not {name!r}")
    return known[name].make()


def made(task: Task, given: BaseEstimator | str | None) -> BaseEstimator:
    """A learner as a model is given it (any learner, the short name of one, or None for the usual one), unlearned."""
    if given is None or isinstance(given, str):
        return named(task, given, "learner")
    if not isinstance(given, BASES[task]):
        found = f"the class {given.__name__}, of which it needs one" if isinstance(given, type) else repr(given)
        raise InputError(f"learner must be a learner of {task}, or its name, as {USUAL[task]!r}, not {found}")
    return clone(given)


def changed(estimator: BaseEstimator, settings: dict[str, Any], prefix: str = "") -> BaseEstimator:
    """The estimator with these settings, refused if it has no such setting."""
    known = estimator.get_params(deep=False)
    for name in settings:
        if name not in known:
            names = ", ".join(prefix + one for one in known)
            raise InputError(f"{type(estimator).__name__} has no setting {prefix}{name}; its settings are {names}")
    return estimator.set_params(**settings)


def _hyphenated(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
