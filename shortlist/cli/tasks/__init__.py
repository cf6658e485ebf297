"""The three tasks, behind the same verbs. Each file of this room is one task, with the same functions:

open_data(reading, source)                    the stream of a data argument
labelled(source, stream, batches)             the same batches, refused where there is nothing to learn from
train(batches, stream, settings)              a model
unfitted(settings, texts)                     the same before training, which a cluster does (cli/elsewhere.py)
learn(model, batches, stream)                 go on learning
lines(model, batches, stream, k, as_json)     what ``rank`` prints, line by line
evaluate(model, batches, stream, asked)       what ``evaluate`` prints
evaluate_there(model, there, asked)           the same from a cluster
describe(model)                               the numbers of a model
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from shortlist.errors import InputError

TASKS = ("categories", "ratings", "documents")


@dataclass
class Settings:
    """What to train, as the user asked for it."""

    learner: str | None = None
    measure: str | None = None  # what to optimise, where the learner can
    values: dict[str, Any] = field(default_factory=dict)  # NAME=VALUE, and text.NAME=VALUE
    max_memory: str | None = None  # of the whole process


@dataclass
class Asked:
    """What to measure and show."""

    measures: list[str] | None = None
    per_label: bool = False
    per_query: bool = False
    plot: Path | None = None
    as_json: bool = False


def task(name: str) -> Any:
    """The file of a task."""
    if name not in TASKS:
        raise InputError(f"--task must be one of {', '.join(TASKS)}, not {name!r}")
    return import_module(f"shortlist.cli.tasks.{name}")


def load_model(path: Path, n_jobs: int | None = None) -> tuple[Any, Any]:
    """The model of a file, set to use that many threads where it can, and its task."""
    from shortlist import load

    model = load(path)
    learner = getattr(model, "learner_", model)
    if n_jobs is not None and "n_jobs" in learner.get_params():
        learner.set_params(n_jobs=n_jobs)
    room = type(learner).__module__.split(".")[1]
    return model, task(room)


def bound_memory(model: Any, max_memory: str) -> None:
    """Bound what the process takes while a model learns, the libraries included."""
    from shortlist.arrays.validation import as_size
    from shortlist.models.memory import LEAST, LIBRARIES

    if not hasattr(model, "max_memory"):
        raise InputError("--max-memory is for labels of texts; for rows of features use --set max_total_edges=N")
    model.max_memory = as_size(max_memory, "--max-memory", least=LIBRARIES + LEAST) - LIBRARIES


def choose(learners: dict[str, str], name: str | None) -> str:
    """The public name of a learner that the user calls by its short name; the first is the usual one."""
    if name is None:
        return next(iter(learners.values()))
    if name not in learners:
        raise InputError(f"--learner must be one of {', '.join(learners)}, not {name!r}")
    return learners[name]


def change(estimator: Any, settings: dict[str, Any], prefix: str = "") -> Any:
    """The estimator with these settings, refused if it has no such setting."""
    known = estimator.get_params(deep=False)
    for name in settings:
        if name not in known:
            names = ", ".join(prefix + one for one in known)
            raise InputError(f"{type(estimator).__name__} has no setting {prefix}{name}; its settings are {names}")
    return estimator.set_params(**settings)
