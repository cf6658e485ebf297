"""The columns of texts: which features texts have, in which column each is counted, and where it
stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Ints
from shortlist.data.rows import Rows
from shortlist.data.texts import Document, Fielded, as_documents, band, cell_value, laid
from shortlist.errors import InputError
from shortlist.text.counts import count
from shortlist.text.feature_names import Vocabulary, encoded
from shortlist.text.features import (
    VALUE,
    Codes,
    Features,
    Hashes,
    character_table,
    features_of,
    letter_table,
    places,
    places_before,
    spell,
    split,
    value_hashes,
    with_characters,
    with_fields,
)
from shortlist.text.text_settings import TextSettings

LEAST_IN_WORDS = 3  # characters: shorter runs stand for words


class TextColumns:
    """The columns of the features that texts have under some settings.

    A column is the number of a feature in the vocabulary, or with ``hashed`` the upper half of its
    hash, scaled down to that many columns.
    """

    def __init__(self, settings: TextSettings) -> None:
        self.settings = settings
        self.vocabulary = Vocabulary()
        self._table = letter_table(settings.lowercase, settings.fold_digits)
        self._stop_words = stop_words(settings, self._table)

    def __len__(self) -> int:
        return len(self.vocabulary) if self.settings.hashed is None else self.settings.hashed

    def features(self, texts: Sequence[Any]) -> Features:
        """The features of texts, or of documents of several fields."""
        settings = self.settings
        if type(texts) is Fielded:
            main = settings.fields[0] if settings.fields else None
            return with_fields(self.features(texts.in_turn()), texts, main)
        words = split(
            texts, self._table, settings.min_length, settings.lowercase, settings.composed
        )
        if self._stop_words is not None:
            words = words.keep(self._stop_words.find(words.hashes) < 0)
        features = features_of(words, self._table, settings.ngrams, settings.prefix or 0)
        if settings.characters is None:
            return features
        return with_characters(features, character_table(settings.lowercase), *settings.characters)

    def counts(self, features: Features) -> Rows:
        """How often each text has the features that are known."""
        return count(self.numbers(features.hashes), features.indptr, len(self))

    def learn(self, features: Features) -> Rows:
        """How often each text has each feature; new ones are added to the vocabulary."""
        if self.settings.hashed is not None:
            return self.counts(features)
        numbers = self._learn(self.vocabulary, features)
        return count(numbers, features.indptr, len(self))

    def numbers(self, hashes: Hashes) -> Ints:
        """The columns of features, −1 of unknown ones."""
        if self.settings.hashed is None:
            return self.vocabulary.find(hashes)
        half = np.uint64(32)
        return ((hashes >> half) * np.uint64(self.settings.hashed) >> half).astype(np.int32)

    def keep(self, marks: NDArray[np.bool_]) -> None:
        """Forget the features that are not marked; the others are renumbered in their order."""
        self.vocabulary = self.vocabulary.keep(marks)

    def names(self, columns: Iterable[int], text: Document | None) -> list[str]:
        """The features behind columns, as ``TextVectorizer.names`` describes."""
        columns = [int(column) for column in columns]
        for column in columns:
            if not 0 <= column < len(self):
                raise InputError(
                    f"there is no column {column}; there are {len(self)}, counted from 0"
                )
        if self.settings.hashed is None:
            return self.vocabulary.names(columns)
        behind: dict[int, list[str]] = {}
        if text is not None:
            vocabulary = Vocabulary()
            self._learn(vocabulary, self.features(as_documents([text])))
            numbers = self.numbers(vocabulary.hashes).tolist()
            for name, column in zip(vocabulary.names(), numbers, strict=True):
                behind.setdefault(column, []).append(name)
        return [" | ".join(behind.get(column, [f"#{column}"])) for column in columns]

    def spans(self, text: Document) -> dict[int, list[tuple[int, int]]]:
        """Where features stand in a text, as ``TextVectorizer.spans`` describes."""
        documents = as_documents([text])
        features = self.features(documents)
        columns = self.numbers(features.hashes)
        has_place = (columns >= 0) & (features.field != VALUE)
        starts, ends = places(features, has_place, self.settings.prefix or 0)
        original = laid(documents)
        # composing or lower-casing changed letters
        if not np.array_equal(features.words.codes, original.codes):
            starts, ends = places_before(
                original.whole, starts, ends, self.settings.composed, self.settings.lowercase
            )
        line_feeds = np.searchsorted(original.ends[:-1], starts, side="right")
        places_of = zip((starts + line_feeds).tolist(), (ends + line_feeds).tolist(), strict=True)
        spans: dict[int, list[tuple[int, int]]] = {}
        for column, place in zip(columns[has_place].tolist(), places_of, strict=True):
            spans.setdefault(column, []).append(place)
        return spans

    def has_known_word(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether any word of each text is known, as ``TextVectorizer.has_known_word``
        describes.
        """
        settings = self.settings
        run = settings.characters
        if settings.hashed is not None or run is None or run[0] < LEAST_IN_WORDS:
            return np.ones(len(texts), dtype=bool)
        words = split(
            texts, self._table, settings.min_length, settings.lowercase, settings.composed
        )
        n_known = np.append(0, np.cumsum(self.vocabulary.find(words.hashes) >= 0))
        return np.diff(n_known[words.indptr]) > 0

    def known_share(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The known share of the different features of each text."""
        if self.settings.hashed is not None:
            return np.ones(len(texts), dtype=np.float32)
        features = self.features(texts)
        vocabulary = Vocabulary()
        numbers, _ = vocabulary.learn(features.hashes)
        rows = count(numbers, features.indptr, len(vocabulary))  # each different feature once
        is_known = self.vocabulary.find(vocabulary.hashes) >= 0
        n_known = np.append(0, np.cumsum(is_known[rows.indices]))
        n_features = rows.lengths()
        share = np.ones(rows.n_rows)
        np.divide(np.diff(n_known[rows.indptr]), n_features, out=share, where=n_features > 0)
        return share.astype(np.float32)

    def values(self, first: int) -> list[tuple[str, str, bool]]:
        """The categories and numbers learned from column ``first`` on: field, value, and
        whether it is a number.
        """
        if self.settings.hashed is not None:
            return []
        numbers = self.vocabulary.having("=", first)
        names = self.vocabulary.names(numbers.tolist())
        # not runs of characters that look alike
        is_value = self.vocabulary.find(value_hashes(names)) == numbers
        values = []
        for i in np.flatnonzero(is_value).tolist():
            field, _, value = names[i].partition("=")
            values.append((field, value, self._is_number(field, value)))
        return values

    def _is_number(self, field: str, value: str) -> bool:
        """Whether a value was learned as a number: then its band was, too."""
        number = cell_value(value)
        bands = band(field, number) if isinstance(number, float) else []
        return bool((self.vocabulary.find(value_hashes(bands)) >= 0).any())

    def _learn(self, vocabulary: Vocabulary, features: Features) -> Ints:
        """The numbers of the features in the vocabulary, to which new ones are added with their
        names.
        """
        numbers, new = vocabulary.learn(features.hashes)
        if new.size:
            settings = self.settings
            characters = self._table
            if settings.characters is not None:
                characters = character_table(settings.lowercase)
            letters = spell(features, new, self._table, settings.prefix or 0, characters)
            vocabulary.name(*encoded(*letters))
        return numbers


def stop_words(settings: TextSettings, table: Codes) -> Vocabulary | None:
    """The words to leave out, read as those of texts are; None where there are none."""
    listed = settings.stop_words
    if listed is None:
        return None
    if listed == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        listed = sorted(ENGLISH_STOP_WORDS)
    vocabulary = Vocabulary()
    for text in listed:
        words = split([text], table, 1, settings.lowercase, settings.composed)
        if words.ends.size == 1 and words.ends[0] - words.starts[0] == words.codes.size:
            vocabulary.learn(words.hashes)
    return vocabulary
