"""Making a candidate for a rehearsal: a model of other settings, or from a file."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from shortlist.errors import InputError
from shortlist.inputs import Stream, read
from shortlist.inputs.labelled import teaching
from shortlist.models.categorizer import Categorizer
from shortlist.models.model import changed, named
from shortlist.models.training_settings import TEXT, open_model

# What the command line calls the columns that a model remembers, and what read calls them.
READ_OPTIONS = {
    "text_column": "text",
    "label_column": "labels",
    "one_hot_column": "one_hot",
    "wrong_column": "wrong",
    "label_separator": "label_separator",
}


def opened(path: Path) -> Categorizer:
    """Open a model file that must be able to learn a journal."""
    model = open_model(path)
    if not isinstance(model, Categorizer) or not model.can_learn:
        raise InputError(f"{path} is not a model of texts with labels that can learn a journal")
    return model


def candidate_like(
    present: Categorizer, learner_name: str | None, settings: dict[str, Any]
) -> Categorizer:
    """Return a model that has learned nothing, with the settings of the present one and some
    others.
    """
    of_text = {}
    of_learner = {}
    for name, value in settings.items():
        if name.startswith(TEXT):
            of_text[name.removeprefix(TEXT)] = value
        else:
            of_learner[name] = value
    learner = named("categories", learner_name) if learner_name else present.new_learner()
    text = changed(present.new_text(), of_text, prefix=TEXT)
    candidate = Categorizer(changed(learner, of_learner), text)
    if present.vocabulary_ is not None:
        candidate.set_vocabulary(present.vocabulary_)
    return candidate.learn_many([], [])  # a learner that cannot go on learning refuses


def taught(model: Categorizer, data: str, stream: Stream) -> int:
    """Have a candidate learn what the present model learned until it was served; count the
    records left out.
    """
    model.fit_batches(teaching("categories", data, stream, iter(stream)))
    return stream.skipped.count


def as_trained(present: Categorizer, data: str, skip_bad: bool = False) -> Stream:
    """Open a file with the columns that the present model was trained from, if the file has
    them.
    """
    options: dict[str, Any] = {}
    for name, value in (present.training_columns_ or {}).items():
        if name in READ_OPTIONS:
            is_single = isinstance(value, list) and len(value) == 1
            options[READ_OPTIONS[name]] = value[0] if is_single else value
    if present.fields_ is not None:
        options["text"] = present.fields_
        options["known_features"] = present.extra_fields_ or None
    text_options: dict[str, Any] = {
        name: value for name, value in options.items() if name in ("text", "known_features")
    }
    for chosen in (options, text_options):  # an export has its own columns of labels
        with contextlib.suppress(InputError):
            if chosen and read(data, prefer=chosen, skip_bad=True).begins(labelled=True):
                return read(data, prefer=chosen, skip_bad=skip_bad)
    return read(data, skip_bad=skip_bad)
