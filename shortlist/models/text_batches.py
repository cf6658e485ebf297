"""Batches of texts and labels to learn, put together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from shortlist.data.label_input import Columns, Label, LabelsLike, joined_columns
from shortlist.data.labels import LabelIndex, LabelSets, NumberedLabels, judged
from shortlist.data.rows import Vectors
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.text.counts import CountedRows
from shortlist.text.text_settings import ALL_AUTO
from shortlist.text.vectorizer import TextVectorizer

TextsAndLabels: TypeAlias = Examples | tuple[Sequence[Any], LabelsLike]


def texts_and_labels(batch: TextsAndLabels) -> tuple[Sequence[Any], LabelsLike]:
    """The texts of a batch and their labels."""
    if not isinstance(batch, Examples):
        return batch
    return texts_of(batch), judged(batch.labels or [], len(batch), batch.wrong, batch.complete)


def texts_of(examples: Examples) -> Sequence[Any]:
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

    def add(self, labels: NumberedLabels) -> LabelSets:
        """Add the labels of the next examples, and return them as numbers."""
        label_sets = self._names.learn(labels, len(labels))
        self._sets.append(label_sets)
        self._columns.append(labels.columns)
        return label_sets

    def counts(self) -> dict[Label, int]:
        """How many examples each label has so far."""
        ids = np.concatenate([np.zeros(0, dtype=np.int32), *(sets.ids for sets in self._sets)])
        counts = np.bincount(ids, minlength=len(self._names))
        return dict(zip(self._names.names, counts.tolist(), strict=True))

    def all(self) -> NumberedLabels:
        """The labels of all batches as one; as those of an indicator matrix if all batches came as
        such.
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
