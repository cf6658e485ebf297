"""Batches of texts and labels to learn, and the names of the features learned from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from shortlist.data.label_input import Columns, Label, LabelsLike, joined_columns
from shortlist.data.labels import LabelIndex, LabelSets, NumberedLabels, judged, numbered
from shortlist.data.ranking import Explanation
from shortlist.data.rows import Vectors
from shortlist.data.texts import Document
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.learners.category_learner import BIAS
from shortlist.text.counts import CountedRows
from shortlist.text.text_settings import ALL_AUTO
from shortlist.text.vectorizer import TextVectorizer

Batch: TypeAlias = Examples | tuple[Sequence[Document], LabelsLike]  # texts and their labels


def texts_and_labels(batch: Batch) -> tuple[Sequence[Document], LabelsLike]:
    """The texts of a batch and their labels."""
    if not isinstance(batch, Examples):
        return batch
    return texts_of(batch), judged(batch.labels or [], len(batch), batch.wrong, batch.complete)


def texts_of(examples: Examples) -> Sequence[Document]:
    """The texts of a batch, refused where it holds rows."""
    if examples.texts is None:
        raise InputError(
            "the model takes texts, and the data hold rows of features; train another model on them"
        )
    return examples.texts


class LabelBatches:
    """The labels of one batch after the other, put together."""

    def __init__(self) -> None:
        self._names = LabelIndex()
        self._sets: list[LabelSets] = []
        self._columns: list[Columns | None] = []

    def add(self, Y: LabelsLike, n: int) -> LabelSets:
        """Add the labels of the next n examples, and return them as numbers."""
        labels = numbered(Y, n)
        self._sets.append(self._names.learn(labels, n))
        self._columns.append(labels.columns)
        return self._sets[-1]

    def counts(self) -> dict[Label, int]:
        """How many examples each label has so far."""
        ids = [one.ids for one in self._sets]
        found = (
            np.bincount(np.concatenate(ids), minlength=len(self._names))
            if ids
            else np.zeros(0, dtype=np.int64)
        )
        return dict(zip(self._names.names, found.tolist(), strict=True))

    def all(self) -> NumberedLabels:
        """The labels of all batches as one; as those of an indicator matrix if all batches came
        as such.
        """
        columns = reduce(joined_columns, self._columns) if self._columns else None
        self._sets = [LabelSets.stack(self._sets)]
        return NumberedLabels(self._names.names, self._sets[0], columns, sorted=True)


def behind(vectors: list[Vectors], rows: CountedRows) -> CountedRows:
    """The rows of all texts, with their vectors before them if there are any."""
    rows.vectors = np.concatenate(vectors) if vectors else None
    return rows


def default_text() -> TextVectorizer:
    """The default text part of a Categorizer."""
    return TextVectorizer(**ALL_AUTO, composed=True, tf="log", idf="smooth")


OFFERED = 200  # categories of a field to choose from


class FieldsBeside:
    """The fields of categories and numbers that a model has met. Only new words of the
    vocabulary are read.
    """

    def __init__(self) -> None:
        self._vocabulary: object = None
        self._read = 0
        self._found: dict[str, dict[str, bool]] = {}  # field -> value -> whether it is a number

    def of(self, text: TextVectorizer) -> list[dict[str, Any]]:
        """Each such field, what kind of value it has, and the first of its categories in
        alphabetical order.
        """
        vocabulary = text.vocabulary_
        if vocabulary is not self._vocabulary or len(vocabulary) < self._read:
            self._vocabulary, self._read, self._found = vocabulary, 0, {}
        n_features = len(vocabulary)
        for field, value, is_number in text.values(self._read):
            self._found.setdefault(field, {})[value] = is_number
        self._read = n_features
        return [
            {
                "field": field,
                "kind": _kind(found),
                "known": sorted(one for one in found if not found[one])[:OFFERED],
            }
            for field, found in self._found.items()
        ]


def _kind(values: dict[str, bool]) -> str:
    numbers = sum(values.values())
    return "category" if not numbers else "number" if numbers == len(values) else "either"


# Features of texts as people would name them, in lists of a label's strongest features and in
# explanations.
#
# A word comes with its prefix, its runs of characters, and the pairs that it is in. A person would
# name the word: so a pair gives way to a word in it, and a prefix or run to a word that it is a
# part of, if the word has half the weight. Of other features that are parts of each other the
# strongest is named. Where words carry little weight, as in languages written without spaces, runs
# of characters stay.


MORE = 12  # features to choose from, for each that is named
HALF = 0.5


def worth_naming(names: Sequence[str], strengths: Sequence[float]) -> list[int]:
    """The places of the features to name, strongest first."""
    # without the marks of prefixes and runs
    letters = [name.strip('"').strip("*").strip() for name in names]
    words = {
        word: much
        for name, word, much in zip(names, letters, strengths, strict=True)
        if not is_part(name)
    }
    kept: list[int] = []
    for place in sorted(range(len(names)), key=lambda at: (-strengths[at], len(names[at]))):
        name, enough = letters[place], HALF * strengths[place]
        if is_part(names[place]):
            hidden = any(name in word and much >= enough for word, much in words.items())
        else:
            hidden = " " in name and any(words.get(word, 0.0) >= enough for word in name.split())
        if not hidden and not any(
            name in letters[other] or letters[other] in name for other in kept
        ):
            kept.append(place)
    return kept


def is_part(name: str) -> bool:
    """Whether a feature is the beginning of words, or a run of characters."""
    return name.startswith('"') or name.endswith("*")


VECTOR = "(vector)"  # the name of the votes of a text's vector in an explanation


def in_words(
    found: Explanation, n_vector: int, text_part: TextVectorizer, text: Document
) -> Explanation:
    """An explanation with words and their places in the text in place of columns.

    The first n_vector columns are a vector, whose votes are added up. Voters with names stay as
    they are.
    """
    of_vector = sorted((voter, vote) for voter, vote in found.votes if voter in range(n_vector))
    given = [(voter, vote) for voter, vote in found.votes if voter not in range(n_vector)]
    if of_vector:
        given = sorted(
            [*given, (0, sum(vote for _, vote in of_vector))], key=lambda one: -abs(one[1])
        )
    # From here on the columns are those of the text.
    columns: list[Any] = [
        voter if isinstance(voter, str) else int(voter) - n_vector for voter, _ in given
    ]
    known = [column for column in columns if not isinstance(column, str) and column >= 0]
    names: dict[Any, str] = {BIAS - n_vector: "(any text)", -n_vector: VECTOR}
    names |= dict(zip(known, text_part.names(known, text), strict=True))
    votes: list[tuple[Label, float]] = [
        (names.get(column, column), vote) for column, (_, vote) in zip(columns, given, strict=True)
    ]
    spans = text_part.spans(text)
    return Explanation(
        found.label, found.score, votes, [spans.get(column, []) for column in columns]
    )
