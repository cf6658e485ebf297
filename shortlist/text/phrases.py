"""Words and phrases that people name, and the features of texts that are made of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Longs
from shortlist.data.texts import Document, as_texts, laid, many, to_text
from shortlist.errors import InputError
from shortlist.text.features import VALUE, Features, Words, places, places_before
from shortlist.text.text_settings import UNSPACED_SCRIPTS

if TYPE_CHECKING:
    from shortlist.text.text_columns import TextColumns
    from shortlist.text.vectorizer import TextVectorizer


class Phrases:
    """Words and phrases, which are found in texts as whole words.

    Upper and lower case count as texts are read, and any white space may stand between the words of
    a phrase.
    """

    def __init__(self, phrases: Sequence[str], *, lowercase: bool, composed: bool) -> None:
        self.phrases = phrases
        self._lowercase = lowercase
        self._composed = composed
        self._patterns = [re.compile(self._pattern(phrase)) for phrase in phrases]

    @classmethod
    def of(cls, phrases: object, text: TextVectorizer, name: str) -> Phrases:
        """The phrases of a user, checked, for the texts that a vectorizer reads."""
        checked = as_texts(phrases, name)  # type: ignore[arg-type]
        if not all(phrase.strip() for phrase in checked):
            raise InputError(f"{name} holds a blank text, where words are needed")
        return cls(checked, lowercase=text.lowercase, composed=text.composed)

    def _pattern(self, phrase: str) -> str:
        words = self._as_read(self._put_together(phrase)).split()
        before = r"(?<!\w)" if has_borders(words[0][0]) else ""
        behind = r"(?!\w)" if has_borders(words[-1][-1]) else ""
        return before + r"\s+".join(map(re.escape, words)) + behind

    def _put_together(self, text: str) -> str:
        if not self._composed or text.isascii():
            return text
        return unicodedata.normalize("NFC", text)

    def _as_read(self, text: str) -> str:
        return text.lower() if self._lowercase else text

    def occurs(self, document: Document) -> bool:
        """Whether any of the phrases occurs in a document."""
        texts = [document] if isinstance(document, str) else laid(many(document))
        as_read = [self._as_read(self._put_together(text)) for text in texts]
        return any(pattern.search(text) for pattern in self._patterns for text in as_read)

    def spans(self, document: Document) -> list[tuple[int, int]]:
        """Where the phrases stand in a document, whose fields are joined by line feeds."""
        spans = []
        offset = 0
        for text in laid(many(document)):
            letters = self._as_read(self._put_together(text))
            found = [
                match.span() for pattern in self._patterns for match in pattern.finditer(letters)
            ]
            starts = np.array([start for start, _ in found], dtype=np.int64)
            ends = np.array([end for _, end in found], dtype=np.int64)
            if letters != text:
                starts, ends = places_before(text, starts, ends, self._composed, self._lowercase)
            pairs = zip((starts + offset).tolist(), (ends + offset).tolist(), strict=True)
            spans += sorted(pairs)
            offset += len(text) + 1
        return spans

    def check_in(self, document: Document, name: str) -> None:
        """Refuse phrases that do not occur in a document."""
        texts = [self._as_read(self._put_together(text)) for text in laid(many(document))]
        for phrase, pattern in zip(self.phrases, self._patterns, strict=True):
            if not any(map(pattern.search, texts)):
                raise InputError(f"{name}: {phrase!r} does not occur in the text")

    def letters(self, words: Words) -> NDArray[np.bool_]:
        """Which letters of the texts are part of a phrase."""
        marks = np.zeros(words.codes.size, dtype=np.bool_)
        for start, text in zip(words.text_starts.tolist(), texts_of(words), strict=True):
            letters = self._as_read(text)
            for pattern in self._patterns:
                for match in pattern.finditer(letters):
                    marks[start + match.start() : start + match.end()] = True
        return marks

    def touched(self, features: Features, prefix: int) -> NDArray[np.bool_]:
        """Which features share a letter with a phrase: words, pairs of words and parts of words."""
        n_marked = np.append(0, np.cumsum(self.letters(features.words)))
        touched = np.zeros(features.hashes.size, dtype=np.bool_)
        has_place = np.ones(features.hashes.size, dtype=np.bool_)
        if features.field is not None:
            has_place = features.field != VALUE
        starts, ends = places(features, has_place, prefix)
        touched[has_place] = n_marked[ends] > n_marked[starts]
        return touched


def has_borders(letter: str) -> bool:
    """Whether words of this letter stand apart from others."""
    is_unspaced = (UNSPACED_SCRIPTS[:, 0] <= ord(letter)) & (ord(letter) < UNSPACED_SCRIPTS[:, 1])
    return letter.isalnum() and not is_unspaced.any()


def texts_of(words: Words) -> list[str]:
    """The texts of words, as their letters were laid out."""
    pairs = zip(words.text_starts.tolist(), words.text_ends.tolist(), strict=True)
    return [to_text(words.codes[start:end]) for start, end in pairs]


def columns_touched(
    columns: TextColumns, features: Features, phrases: Phrases, *, always: bool = False
) -> tuple[Longs, Longs]:
    """The known columns of texts that stand for features that share a letter with a phrase: the
    number of the text, and the column.

    A feature may stand in several places: one of them is enough, or with ``always`` all must.
    """
    numbers = columns.numbers(features.hashes)
    touched = phrases.touched(features, columns.settings.prefix or 0) & (numbers >= 0)
    is_candidate = np.zeros(
        len(columns) + 1, dtype=np.bool_
    )  # the last one stands for unknown ones
    is_candidate[numbers[touched]] = True
    which = np.flatnonzero(is_candidate[numbers])
    text = np.searchsorted(features.indptr, which, side="right") - 1
    keys = text * np.int64(len(columns)) + numbers[which]
    found = np.unique(keys[touched[which]])
    if always:
        found = np.setdiff1d(found, keys[~touched[which]])
    texts, in_columns = np.divmod(found, max(len(columns), 1))
    return texts, in_columns
