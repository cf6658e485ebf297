"""Models that may take the present one's place: opened from a file, or made anew with other settings."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from sklearn.base import clone

from shortlist.errors import InputError
from shortlist.inputs import Stream, read
from shortlist.inputs.labelled import teaching
from shortlist.models.categorizer import Categorizer
from shortlist.models.learners import changed, named
from shortlist.models.making import TEXT, open_model

# What the command line calls the columns that a model remembers, and what read calls them.
COLUMNS = {
    "text_column": "text", "label_column": "labels", "one_hot_column": "one_hot", "wrong_column": "wrong",
    "label_separator": "label_separator",
}  # fmt: skip


def opened(path: Path) -> Categorizer:
    """The model in a file, which must be able to learn a journal."""
    model = open_model(path)
    if not isinstance(model, Categorizer) or not model.can_learn:
        raise InputError(f"{path} is not a model of texts with labels that can learn a journal")
    return model


def candidate_like(present: Categorizer, learner: str | None, values: dict[str, Any]) -> Categorizer:
    """A model that has learned nothing, with the settings of the present one but for these."""
    for_text = {name.removeprefix(TEXT): value for name, value in values.items() if name.startswith(TEXT)}
    others = {name: value for name, value in values.items() if not name.startswith(TEXT)}
    own = clone(present.learner_) if learner is None else named("categories", learner)
    made = Categorizer(changed(own, others), changed(clone(present.text_), for_text, prefix=TEXT))
    if present.vocabulary_ is not None:
        made.set_vocabulary(present.vocabulary_)
    return made.learn_many([], [])  # a learner that cannot go on learning refuses


def taught(model: Categorizer, data: str, stream: Stream) -> Categorizer:
    """A candidate that has learned what the present model learned before it was served."""
    model.fit_batches(teaching("categories", data, stream, iter(stream)))
    return model


def as_trained(present: Categorizer, data: str) -> Stream:
    """A file read by the columns that the present model was trained from, if it has them."""
    given = {COLUMNS[name]: value for name, value in (present._trained_from or {}).items() if name in COLUMNS}
    options: dict[str, Any] = {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in given.items()
    }
    if present.fields_ is not None:
        options |= {"text": present.fields_, "known_features": present._fields_beside_ or None}
    with contextlib.suppress(InputError):
        if options and read(data, prefer=options).begins():
            return read(data, prefer=options)
    return read(data)
