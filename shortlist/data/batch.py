"""Batches of examples, checked when they are made: what takes a batch trusts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from shortlist.data.label_input import LabelsLike
from shortlist.data.labels import NumberedLabels, numbered
from shortlist.data.rows import MatrixLike, Rows, RowStore
from shortlist.data.texts import Document, as_documents, blocks
from shortlist.data.validation import as_rows


class TextBatch(NamedTuple):
    """Texts, perhaps with vectors (``WithVectors``), and the labels of each."""

    texts: Sequence[Any]
    labels: NumberedLabels
    because: Sequence[str] = ()  # words that decide, of a batch of one text

    @classmethod
    def of(cls, texts: Sequence[Document], Y: LabelsLike) -> TextBatch:
        documents = as_documents(texts)
        return cls(documents, numbered(Y, len(documents)))

    def blocks(self) -> Iterator[TextBatch]:
        """The batch in small parts, for a model that keeps within a bound on memory."""
        for block in blocks(self.texts):
            yield TextBatch(self.texts[block], self.labels[block], self.because)


class RowBatch(NamedTuple):
    """Rows of features, and the labels of each."""

    rows: Rows | RowStore
    labels: NumberedLabels
    unmarked: Rows | None = None  # the rows as others are ranked, if marks have changed them

    @classmethod
    def of(cls, X: MatrixLike, Y: LabelsLike) -> RowBatch:
        rows = as_rows(X)
        return cls(rows, numbered(Y, rows.n_rows))
