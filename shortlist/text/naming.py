"""Texts -> features, and features -> their names and places in a text: what a TextVectorizer does with single texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist.arrays.kernels import Longs
from shortlist.arrays.rows import Rows
from shortlist.concurrency.locks import reading
from shortlist.errors import InputError
from shortlist.text.characters import character_table
from shortlist.text.counting import count
from shortlist.text.features import Features, features_of, places, spell, with_characters
from shortlist.text.fielded import VALUE, FieldFeatures, fielded_features, value_hashes
from shortlist.text.saving import SavedVectorizer
from shortlist.text.settings import Settings
from shortlist.text.stops import stop_table
from shortlist.text.tokens import Words, letter_table, places_before, split
from shortlist.text.weighting import Weighting
from shortlist.texts import to_codes
from shortlist.texts.fields import Document, Fielded, as_documents, band, cell_value
from shortlist.vocabulary import Vocabulary

LEAST_IN_WORDS = 3  # characters: shorter runs stand for words


class NamingVectorizer(SavedVectorizer):
    """Base class: knows features by name."""

    @reading
    def names(self, columns: Iterable[int], text: Document | None = None) -> list[str]:
        """The feature behind each column.

        With ``hashed=...`` a column has no name of its own: given a ``text``, its features that fall into the column
        are named, with " | " between them, otherwise the column's number, as "#7".
        """
        check_is_fitted(self, "vocabulary_")
        columns = [int(column) for column in columns]
        for column in columns:
            if not 0 <= column < self.n_features_:
                raise InputError(f"there is no column {column}; there are {self.n_features_}, counted from 0")
        if self._settings.hashed is None:
            return self.vocabulary_.names(columns)
        behind: dict[int, list[str]] = {}
        if text is not None:
            words, features = self._features(as_documents([text]))
            vocabulary = Vocabulary()
            self._name_new(vocabulary, words, features, vocabulary.learn(features.hashes)[1])
            for name, column in zip(vocabulary.names(), self._columns(vocabulary.hashes).tolist(), strict=True):
                behind.setdefault(column, []).append(name)
        return [" | ".join(behind.get(column, [f"#{column}"])) for column in columns]

    @reading
    def spans(self, text: Document) -> dict[int, list[tuple[int, int]]]:
        """Where the features of each column stand in a text: first letter and the one after the last, by column.

        A text of several fields is taken as one, with a line feed between two fields.
        """
        if not isinstance(text, str):
            return self._spans_in_fields(cast(Fielded, as_documents([text])))  # refuses what is neither
        words, features = self._text_features([text])
        columns = self._columns(features.hashes) if self.hashed is not None else self.vocabulary_.find(features.hashes)
        return self._places(text, words, features, columns)

    def _spans_in_fields(self, document: Fielded) -> dict[int, list[tuple[int, int]]]:
        words, features = self._field_features(document)
        columns = self._columns(features.hashes) if self.hashed is not None else self.vocabulary_.find(features.hashes)
        whole, edges = document.laid().whole, document.laid().ends
        origin = features.origin[features.field != VALUE]
        of_texts = self._places(whole, words, features.of_texts, np.arange(features.of_texts.hashes.size))
        found: dict[int, list[tuple[int, int]]] = {}
        for column, feature in zip(columns[features.field != VALUE].tolist(), origin.tolist(), strict=True):
            for start, end in of_texts.get(feature, ()) if column >= 0 else ():
                before = int(np.searchsorted(edges, start, side="right"))  # line feeds
                found.setdefault(column, []).append((start + before, end + before))
        return found

    def _places(
        self, text: str, words: Words, features: Features, columns: NDArray[Any]
    ) -> dict[int, list[tuple[int, int]]]:
        """Where the features stand, by the columns that they have; −1 stands for none."""
        starts, ends = places(words, features, self._settings.prefix or 0)
        if not np.array_equal(words.codes, to_codes(text)):  # composing or lower-casing has made other letters of some
            starts, ends = places_before(text, starts, ends, self._settings.composed, self._settings.lowercase)
        found: dict[int, list[tuple[int, int]]] = {}
        for column, start, end in zip(columns.tolist(), starts.tolist(), ends.tolist(), strict=True):
            if column >= 0:
                found.setdefault(column, []).append((start, end))
        return found

    @reading
    def has_known_word(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether any word of each text is known, where its row cannot tell: of runs of characters, some nearly always
        are. Elsewhere every text counts as known; so it does where words are not kept apart from other features: in
        hashed columns, and beside runs of one or two characters, as in scripts without spaces.
        """
        chosen = self._settings
        if chosen.hashed is not None or chosen.characters is None or chosen.characters[0] < LEAST_IN_WORDS:
            return np.ones(len(texts), dtype=bool)
        words = self._split(texts, chosen.min_length)
        known = np.append(0, np.cumsum(self.vocabulary_.find(words.hashes) >= 0))
        found: NDArray[np.bool_] = known[words.indptr[1:]] > known[words.indptr[:-1]]
        return found

    @reading
    def known_share(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Which share of the different features of each text, or of its fields, is known; 1 of a text that has none.

        In hashed columns every feature counts as known.
        """
        if self._settings.hashed is not None:
            return np.ones(len(texts), dtype=np.float32)
        _, features = self._features(texts)
        text, hashes = np.repeat(np.arange(len(texts)), np.diff(features.indptr)), features.hashes
        order = np.lexsort((hashes, text))
        text, hashes = text[order], hashes[order]
        new = np.append(True, (text[1:] != text[:-1]) | (hashes[1:] != hashes[:-1]))[: text.size]
        text, known = text[new], self.vocabulary_.find(hashes[new]) >= 0
        n_features, n_known = (np.bincount(own, minlength=len(texts)) for own in (text, text[known]))
        share = np.where(n_features > 0, n_known / np.maximum(1, n_features), 1.0)
        return share.astype(np.float32)

    @reading
    def values(self, first: int = 0) -> list[tuple[str, str, bool]]:
        """What was learned of fields beside texts, from that column on: field, category or number, which of the two."""
        if self._settings.hashed is not None:
            return []
        numbers = self.vocabulary_.having("=", first)
        names = self.vocabulary_.names(numbers.tolist())
        own = self.vocabulary_.find(value_hashes(names)) == numbers  # and no runs of characters that look like it
        pairs = [name.partition("=")[::2] for name, is_value in zip(names, own.tolist(), strict=True) if is_value]
        return [(field, value, self._is_number(field, value)) for field, value in pairs]

    def _is_number(self, field: str, value: str) -> bool:
        """Whether it was learned as a number: then its band was, too."""
        number = cell_value(value)
        bands = band(field, number) if isinstance(number, float) else []
        return bool((self.vocabulary_.find(value_hashes(bands)) >= 0).any())

    @reading
    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The feature behind each column, in order."""
        check_is_fitted(self, "vocabulary_")
        hashed = self._settings.hashed is not None
        return np.array(self.names(range(self.n_features_)) if hashed else self.vocabulary_.names(), dtype=object)

    def _begin(self) -> None:
        """Check the parameters, and forget everything."""
        self._settings = chosen = Settings.of(self)
        self._weighting = Weighting(chosen.tf, chosen.idf, chosen.norm, chosen.slope, chosen.min_df)
        self._table = letter_table(chosen.lowercase, chosen.fold_digits)
        self._stops = stop_table(chosen, self._table)
        self.vocabulary_ = Vocabulary()

    # The stages, in the order in which texts go through them

    def _count(self, texts: Sequence[Any], *, learning: bool) -> Rows:
        chosen = self._settings
        only_words = chosen.longest == 1 and not chosen.prefix and not chosen.characters
        if not learning and chosen.hashed is None and only_words and type(texts) is not Fielded:
            # Single words are looked up as they are: the vocabulary has no stop words, so they find nothing.
            words = self._split(texts, chosen.min_length)
            return count(self.vocabulary_.find(words.hashes), words.indptr, self.n_features_)
        words, features = self._features(texts)
        if self._settings.hashed is not None:
            numbers = self._columns(features.hashes)
        elif learning:
            numbers, new = self.vocabulary_.learn(features.hashes)
            self._name_new(self.vocabulary_, words, features, new)
        else:
            numbers = self.vocabulary_.find(features.hashes)
        return count(numbers, features.indptr, self.n_features_)

    def _split(self, texts: Sequence[str], min_length: int) -> Words:
        return split(texts, self._table, min_length, self._settings.lowercase, self._settings.composed)

    def _features(self, texts: Sequence[Any]) -> tuple[Words, Features | FieldFeatures]:
        return self._field_features(texts) if type(texts) is Fielded else self._text_features(texts)

    def _field_features(self, documents: Fielded) -> tuple[Words, FieldFeatures]:
        main = self._settings.fields[0] if self._settings.fields else None
        return fielded_features(documents, main, self._text_features)

    def _text_features(self, texts: Sequence[str]) -> tuple[Words, Features]:
        chosen = self._settings
        words = self._split(texts, chosen.min_length)
        if self._stops is not None:
            words = words.keep(self._stops.find(words.hashes) < 0)
        features = features_of(words, self._table, chosen.longest, chosen.prefix or 0)
        if chosen.characters is None:
            return words, features
        return words, with_characters(features, words, character_table(chosen.lowercase), *chosen.characters)

    def _columns(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The hashed columns of features: the upper half of the hash, scaled down to the width."""
        half = np.uint64(32)
        return ((hashes >> half) * np.uint64(self.n_features_) >> half).astype(np.int32)

    def _name_new(
        self, vocabulary: Vocabulary, words: Words, features: Features | FieldFeatures, new: NDArray[np.int64]
    ) -> None:
        if new.size:
            vocabulary.name(*self._spelled(words, features, new))

    def _spelled(
        self, words: Words, features: Features | FieldFeatures, new: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], Longs]:
        """The letters of some features end to end, and where each ends."""
        chosen = self._settings
        characters = self._table if chosen.characters is None else character_table(chosen.lowercase)
        of_texts = features if isinstance(features, Features) else features.of_texts

        def spell_words(some: NDArray[np.int64]) -> tuple[NDArray[np.uint32], Longs]:
            return spell(words, of_texts, some, self._table, chosen.prefix or 0, characters)

        return spell_words(new) if isinstance(features, Features) else features.spelled(new, spell_words)
