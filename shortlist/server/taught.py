"""Who taught a vote: the journal is replayed with an eye on a few connections of the index.

A connection from a word to a label has a counted weight and a correction (docs/tuned-index.md).
What each entry adds to both is the difference of before and after. So the lines of a connection sum
to its weight and to its correction exactly; the first line is what the base model had learned.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from shortlist.errors import InputError
from shortlist.models.categorizer import Categorizer
from shortlist.models.training_settings import open_model
from shortlist.server.entries import Entry
from shortlist.server.journal import BASE, Journal

BEFORE_THE_JOURNAL = 0  # the number of the first line


class Taught(NamedTuple):
    """What an entry has added to a connection."""

    number: int
    counted: Fraction  # to the counted weight
    corrected: Fraction  # to the correction


class Connection(NamedTuple):
    """A word or a pair of words, by its hash, and the number of a label."""

    feature: np.uint64
    label: int


def connection(model: Categorizer, word: str, label: Any) -> Connection:
    """The connection of a model from a word, or a pair of words, to a label."""
    if not hasattr(model.learner_, "index_"):
        raise InputError(f"{type(model.learner_).__name__} has no connections that could be shown")
    columns = model.text_.columns_
    features = columns.features([word])
    n_words = features.words.hashes.size
    whole = np.flatnonzero(features.sizes == max(n_words, 1))
    if whole.size != 1 or columns.numbers(features.hashes[whole])[0] < 0:
        raise InputError(f"the model knows no word or pair of words {word!r}")
    return Connection(features.hashes[whole[0]], model.learner_.label_index_.find(label))


def weights(model: Categorizer, watched: Connection) -> tuple[Fraction, Fraction]:
    """The counted weight and the correction of a connection; 0 where there is none."""
    nothing = Fraction(0), Fraction(0)
    if not model.__sklearn_is_fitted__():
        return nothing
    learner: Any = model.learner_
    column = int(model.text_.columns_.numbers(np.array([watched.feature]))[0])
    column += model.n_vector_
    features = learner.index_.features
    if column < model.n_vector_ or column >= features.size:
        return nothing
    start = int(features["start"][column])
    edges = learner.index_.edges[start : start + int(features["length"][column])]
    found = np.flatnonzero(edges["label"] == watched.label)
    if not found.size:
        return nothing
    edge = edges[found[0]]
    return Fraction(float(edge["weight"])), Fraction(float(edge["tuned"]))


def replayed(
    model: Categorizer,
    entries: Iterable[Entry],
    watched: Sequence[Connection],
    go_on: Callable[[], bool] = lambda: True,
) -> list[list[Taught]]:
    """Teach a model entries; return what each has added to each connection, in order.

    Stops early when ``go_on`` says so, with the lines so far.
    """
    before = [weights(model, one) for one in watched]
    lines = [[Taught(BEFORE_THE_JOURNAL, *both)] if any(both) else [] for both in before]
    for entry in entries:
        if not go_on():
            break
        with contextlib.suppress(InputError):  # passed over by every replica
            entry.teach(model)
        for place, one in enumerate(watched):
            counted, corrected = weights(model, one)
            if (counted, corrected) != before[place]:
                old_counted, old_corrected = before[place]
                added = Taught(entry.number, counted - old_counted, corrected - old_corrected)
                lines[place].append(added)
                before[place] = counted, corrected
    return lines


def who_taught(
    folder: Path, watched: Connection, go_on: Callable[[], bool] = lambda: True
) -> list[Taught]:
    """What each entry of a journal that was not undone has added to a connection."""
    model = cast("Categorizer", open_model(folder / BASE))
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        last = journal.version().examples
        return replayed(model, journal.each(0, last), [watched], go_on)[0]


def vote_of(
    model: Categorizer, watched: Connection, counted: Fraction, corrected: Fraction
) -> float:
    """What parts of a connection add to the vote of a word of value 1."""
    learner: Any = model.learner_
    column = int(model.text_.columns_.numbers(np.array([watched.feature]))[0]) + model.n_vector_
    feature = learner.index_.features[column]
    rating = 1.0 if feature["seen"] >= learner.rare else feature["seen"] / learner.rare
    return float(counted) * float(rating) / float(feature["total"]) + float(corrected)
