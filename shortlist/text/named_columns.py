"""What the columns of a vectorizer stand for: the names of their features, and their places in
texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.data.texts import Document, as_documents, band, cell_value, laid
from shortlist.errors import InputError
from shortlist.estimators import Estimator, not_fitted
from shortlist.text.counts import count
from shortlist.text.feature_names import Vocabulary
from shortlist.text.features import VALUE, places, places_before, value_hashes
from shortlist.text.text_columns import TextColumns
from shortlist.text.text_settings import TextSettings

LEAST_IN_WORDS = 3  # characters: shorter runs stand for words


class NamedColumns(Estimator):
    """The part of a vectorizer that answers what its columns stand for; it learns nothing."""

    columns_: TextColumns

    @property
    def settings_(self) -> TextSettings:
        """The settings that texts are read with."""
        return self.columns_.settings

    @property
    def vocabulary_(self) -> Vocabulary:
        """The features, numbered by column."""
        return self.columns_.vocabulary

    @property
    def n_features_(self) -> int:
        """The number of columns so far."""
        return len(self.columns_)

    @property
    def is_fitted(self) -> bool:
        """Whether learning has begun."""
        return "columns_" in self.__dict__

    def check_fitted(self) -> None:
        """Raise an error unless something was learned."""
        if not self.is_fitted:
            raise not_fitted(
                "this TextVectorizer has learned nothing yet; call fit or partial_fit first"
            )

    def names(self, columns: Iterable[int], text: Document | None = None) -> list[str]:
        """The feature behind each column.

        With ``hashed=...`` a column has no name of its own: given a ``text``, its features that
        fall into the column are named, with " | " between them, otherwise the column's number, as
        "#7".
        """
        self.check_fitted()
        columns = [int(column) for column in columns]
        for column in columns:
            if not 0 <= column < self.n_features_:
                raise InputError(
                    f"there is no column {column}; there are {self.n_features_}, counted from 0"
                )
        if self.settings_.hashed is None:
            return self.vocabulary_.names(columns)
        behind: dict[int, list[str]] = {}
        if text is not None:
            vocabulary = Vocabulary()
            self.columns_.learn_into(vocabulary, self.columns_.features(as_documents([text])))
            numbers = self.columns_.numbers(vocabulary.hashes).tolist()
            for name, column in zip(vocabulary.names(), numbers, strict=True):
                behind.setdefault(column, []).append(name)
        return [" | ".join(behind.get(column, [f"#{column}"])) for column in columns]

    def spans(self, text: Document) -> dict[int, list[tuple[int, int]]]:
        """Where the features of each column stand in a text: first letter and the one after the
        last, by column.

        The fields of a text are joined, with a line feed between two fields.
        """
        settings = self.settings_
        documents = as_documents([text])
        features = self.columns_.features(documents)
        columns = self.columns_.numbers(features.hashes)
        has_place = (columns >= 0) & (features.field != VALUE)
        starts, ends = places(features, has_place, settings.prefix or 0)
        original = laid(documents)
        # composing or lower-casing changed letters
        if not np.array_equal(features.words.codes, original.codes):
            starts, ends = places_before(
                original.whole, starts, ends, settings.composed, settings.lowercase
            )
        line_feeds = np.searchsorted(original.ends[:-1], starts, side="right")
        pairs = zip((starts + line_feeds).tolist(), (ends + line_feeds).tolist(), strict=True)
        spans: dict[int, list[tuple[int, int]]] = {}
        for column, span in zip(columns[has_place].tolist(), pairs, strict=True):
            spans.setdefault(column, []).append(span)
        return spans

    def has_known_word(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether any word of each text is known.

        Only needed with runs of characters, some of which are known in nearly every text. Without
        them, in hashed columns and beside runs of one or two characters, every text counts as
        known.
        """
        run = self.settings_.characters
        if self.settings_.hashed is not None or run is None or run[0] < LEAST_IN_WORDS:
            return np.ones(len(texts), dtype=bool)
        words = self.columns_.words(texts)
        n_known = np.append(0, np.cumsum(self.vocabulary_.find(words.hashes) >= 0))
        return np.diff(n_known[words.indptr]) > 0

    def known_share(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The known share of the different features of each text; 1 if it has none, and in
        hashed columns.
        """
        if self.settings_.hashed is not None:
            return np.ones(len(texts), dtype=np.float32)
        features = self.columns_.features(texts)
        vocabulary = Vocabulary()
        numbers, _ = vocabulary.learn(features.hashes)
        rows = count(numbers, features.indptr, len(vocabulary))  # each different feature once
        is_known = self.vocabulary_.find(vocabulary.hashes) >= 0
        n_known = np.append(0, np.cumsum(is_known[rows.indices]))
        n_features = rows.lengths()
        share = np.ones(rows.n_rows)
        np.divide(np.diff(n_known[rows.indptr]), n_features, out=share, where=n_features > 0)
        return share.astype(np.float32)

    def values(self, first: int = 0) -> list[tuple[str, str, bool]]:
        """The categories and numbers learned from column ``first`` on: field, value, and
        whether it is a number.
        """
        if self.settings_.hashed is not None:
            return []
        numbers = self.vocabulary_.having("=", first)
        names = self.vocabulary_.names(numbers.tolist())
        # not runs of characters that look alike
        is_value = self.vocabulary_.find(value_hashes(names)) == numbers
        values = []
        for i in np.flatnonzero(is_value).tolist():
            field, _, value = names[i].partition("=")
            values.append((field, value, self._is_number(field, value)))
        return values

    def _is_number(self, field: str, value: str) -> bool:
        """Whether a value was learned as a number: then its band was, too."""
        number = cell_value(value)
        bands = band(field, number) if isinstance(number, float) else []
        return bool((self.vocabulary_.find(value_hashes(bands)) >= 0).any())

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The feature behind each column, in order."""
        self.check_fitted()
        return np.array(self.names(range(self.n_features_)), dtype=object)
