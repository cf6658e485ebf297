"""What an example of the journal teaches, for each kind of model that learns from one.

The journal keeps texts and labels. A rating is an example's only label. A row of numbers stands in the place of the
text, as JSON, which gives back the same numbers.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.base import clone

from shortlist.arrays.given_labels import Label
from shortlist.errors import InputError
from shortlist.models.base import Model
from shortlist.models.categorizer import Categorizer
from shortlist.models.rater import Rater
from shortlist.models.relabelling import Change
from shortlist.server.journal import Lesson, read_vector
from shortlist.texts.fields import Document


def learns_here(model: Model[Any]) -> bool:
    """Whether the journal can hold what such a model learns from."""
    return isinstance(model, Categorizer | Rater)


def teach(model: Model[Any], lesson: Lesson) -> None:
    """Have a model learn one example, or change its labels."""
    if isinstance(model, Rater):
        model.learn([lesson.text] if model._of_texts else row_of(lesson.text), [rating_of(lesson.labels)])
    elif isinstance(model, Categorizer) and isinstance(lesson.labels, dict):
        model.change_labels(Change.of(lesson.labels))
    elif isinstance(model, Categorizer):
        model.learn(lesson.text, lesson.labels, lesson.wrong, lesson.complete, vector=read_vector(lesson.vector))
    else:
        raise InputError(f"{type(model).__name__} does not learn from a journal")


def learn_anything(model: Model[Any]) -> None:
    """Have a model of that kind, which is then forgotten, learn something: its loops are compiled, or loaded."""
    if isinstance(model, Categorizer):
        clone(model).learn("a first example", ["a label"]).rank("example")
    elif isinstance(model, Rater) and model.can_learn:
        two = ["a first example", "another"] if model._of_texts else np.eye(2, model.n_features_in_)
        clone(model).fit(two, model.classes_[[0, -1]]).learn(two[:1], model.classes_[:1])


def written_row(row: list[float]) -> str:
    """A row as the journal keeps it."""
    return json.dumps(row)


def row_of(kept: Document) -> list[list[float]]:
    """The row again, as a table of one."""
    try:
        row = json.loads(kept) if isinstance(kept, str) else None
    except ValueError:
        row = None
    if not isinstance(row, list) or not all(type(value) in (int, float) for value in row):
        raise InputError("what stands in the place of its row is none")
    return [row]


def rating_of(labels: list[Any] | dict[str, Any]) -> Label:
    """The rating of an example, its only label."""
    if isinstance(labels, dict) or len(labels) != 1:
        raise InputError("it has no rating, or several")
    rating: Label = labels[0]
    return rating
