"""The features of a model of texts: words, and vectors beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.data.batch import RowBatch, TextBatch
from shortlist.data.rows import Rows, beside
from shortlist.data.texts import Document, Fielded, Vectors, WithVectors, as_documents
from shortlist.models.encoding import VectorPart
from shortlist.text.phrases import Phrases, columns_touched
from shortlist.text.vectorizer import TextVectorizer

OUTSIDE_MARKS = 0.5  # what features outside of marked words count of their values


class TextFeatures:
    """Makes rows of texts: the columns of the vector first, then those of the words."""

    def __init__(self, text: TextVectorizer, vectors: VectorPart) -> None:
        self.text = text
        self.vectors = vectors

    def apart(self, texts: Sequence[Document]) -> tuple[Any, Vectors | None]:
        """The texts without their vectors, and the vectors that the learner takes."""
        if type(texts) is list and self.vectors.size == 0 and self.vectors.encoder is None:
            return texts, None  # the usual case
        return self.vectors.apart(texts)

    def rows(self, texts: Sequence[Document], n_threads: int = 1) -> Rows:
        """The rows of texts, to be ranked."""
        plain, vectors = self.apart(texts)
        return beside(vectors, self.text.rows(plain, n_threads))

    @contextmanager
    def take(
        self, batch: TextBatch, n_learned: Callable[[], int], n_threads: int
    ) -> Iterator[RowBatch]:
        """The rows of texts that are learned in this context, whose words are counted.

        The words of texts that were not learned are forgotten if learning fails; ``n_learned``
        tells how many examples the learner has learned.
        """
        plain, vectors = self.apart(batch.texts)
        n_before = n_learned()
        recurring = batch.labels.sets.recurring
        counted = self.text.take(plain, recurring=recurring, n_jobs=n_threads)
        try:
            rows = self.text.weighted(counted.rows)
            unmarked = beside(vectors, rows) if batch.because else None
            if batch.because:
                rows = self._with_marks(rows, plain, batch.because)
            yield RowBatch(beside(vectors, rows), batch.labels, unmarked)
        except BaseException:
            self.text.give_back(counted, n_learned() - n_before)
            raise

    def _with_marks(self, rows: Rows, texts: Sequence[Document], because: Sequence[str]) -> Rows:
        """The rows with half the values of the features outside of the marked words."""
        columns = self.text.columns_
        features = columns.features(as_documents(texts))
        phrases = Phrases.of(because, self.text, "because")
        _, marked = columns_touched(columns, features, phrases)
        is_marked = np.isin(rows.indices, marked)
        return rows._replace(data=np.where(is_marked, rows.data, OUTSIDE_MARKS * rows.data))

    def has_known(self, texts: Sequence[Document]) -> NDArray[np.bool_]:
        """Whether each text has a known feature."""
        documents = as_documents(texts)
        if isinstance(documents, WithVectors):
            return self.has_known(documents.texts) | documents.vectors.any(axis=1)
        if self.vectors.size:
            return np.ones(len(documents), dtype=bool)
        if not isinstance(documents, Fielded):
            return self.text.has_known_word(documents)
        has_values = [bool(values) for values in documents.features()]  # categories and numbers
        return self.text.has_known_word(documents.joined()) | np.array(has_values)

    def known_shares(self, texts: Sequence[Document]) -> NDArray[np.float32]:
        """The share of the words of each text that are known; 1 for texts with vectors."""
        documents = as_documents(texts)
        if self.vectors.size or isinstance(documents, WithVectors):
            return np.ones(len(documents), dtype=np.float32)
        return self.text.known_share(documents)

    def names(self, columns: Sequence[int]) -> list[str]:
        """The names of the features in these columns of the rows."""
        return self.text.names([column - self.vectors.size for column in columns])
