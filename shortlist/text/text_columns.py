"""The columns of texts: which features texts have, and in which column each is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Ints
from shortlist.data.rows import Rows
from shortlist.data.texts import Fielded
from shortlist.text.counts import count
from shortlist.text.feature_names import Vocabulary, encoded
from shortlist.text.features import (
    Codes,
    Features,
    Hashes,
    Words,
    character_table,
    features_of,
    letter_table,
    spell,
    split,
    with_characters,
    with_fields,
)
from shortlist.text.phrases import Phrases
from shortlist.text.text_settings import TextSettings


class TextColumns:
    """The columns of the features that texts have under some settings.

    A column is the number of a feature in the vocabulary, or with ``hashed`` the upper half of its
    hash, scaled down to that many columns.
    """

    def __init__(self, settings: TextSettings, struck: Phrases | None = None) -> None:
        self.settings = settings
        self.struck = struck  # words that are read as if no text had them
        self.vocabulary = Vocabulary()
        self._table = letter_table(settings.lowercase, settings.fold_digits)
        self._stop_words = stop_words(settings, self._table)

    def __len__(self) -> int:
        return len(self.vocabulary) if self.settings.hashed is None else self.settings.hashed

    def words(self, texts: Sequence[str]) -> Words:
        """The words of texts, those to leave out included."""
        settings = self.settings
        return split(texts, self._table, settings.min_length, settings.lowercase, settings.composed)

    def features(self, texts: Sequence[Any]) -> Features:
        """The features of texts, or of documents of several fields."""
        settings = self.settings
        if type(texts) is Fielded:
            main = settings.fields[0] if settings.fields else None
            return with_fields(self.features(texts.in_turn()), texts, main)
        words = self.words(texts)
        if self._stop_words is not None:
            words = words.keep(self._stop_words.find(words.hashes) < 0)
        features = features_of(words, self._table, settings.ngrams, settings.prefix or 0)
        if settings.characters is not None:
            characters = character_table(settings.lowercase)
            features = with_characters(features, characters, *settings.characters)
        if self.struck is None:
            return features
        return features.keep(~self.struck.touched(features, settings.prefix or 0))

    def counts(self, features: Features) -> Rows:
        """How often each text has the features that are known."""
        return count(self.numbers(features.hashes), features.indptr, len(self))

    def learn(self, features: Features) -> Rows:
        """How often each text has each feature; new ones are added to the vocabulary."""
        if self.settings.hashed is not None:
            return self.counts(features)
        numbers = self.learn_into(self.vocabulary, features)
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

    def learn_into(self, vocabulary: Vocabulary, features: Features) -> Ints:
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
