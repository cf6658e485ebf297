"""How a TextVectorizer is set: its parameters, checked, and what it chooses itself by the first texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from shortlist.arrays.validation import as_choice, as_real, as_whole
from shortlist.text.weighting import IDF, NORM, TF
from shortlist.texts import as_texts, lengths_of

SHORT = 400  # letters: texts shorter than that say little in single words
MOST_WORDS = 100  # of an n-gram: a text has that many times as many of them as it has words
PAIRS, PREFIX = 2, 5  # what short texts are given besides


class Settings(NamedTuple):
    """The parameters, checked, as they were when learning began. In the types that JSON has."""

    lowercase: bool
    min_length: int
    fold_digits: bool
    stop_words: str | list[str] | None
    ngrams: int | str
    prefix: int | None
    min_df: int
    hashed: int | None
    tf: str
    idf: str | None
    norm: str | None
    slope: float

    @property
    def longest(self) -> int:
        """The longest run of words that is a feature."""
        return 1 if isinstance(self.ngrams, str) else self.ngrams

    def suiting(self, texts: Sequence[str]) -> Settings:
        """These settings with the n-grams and prefixes that suit such texts."""
        short = lengths_of(texts).sum() < SHORT * len(texts)
        return self._replace(ngrams=PAIRS, prefix=PREFIX) if short else self._replace(ngrams=1)

    @classmethod
    def of(cls, given: Any) -> Settings:
        stop_words = given.stop_words
        if isinstance(stop_words, str):
            as_choice(stop_words, "stop_words", (None, "english"))
        elif stop_words is not None:
            stop_words = [str(word) for word in as_texts(stop_words, "stop_words")]
        return cls(
            lowercase=bool(as_choice(given.lowercase, "lowercase", (True, False))),
            min_length=as_whole(given.min_length, "min_length", least=1),
            fold_digits=bool(as_choice(given.fold_digits, "fold_digits", (True, False))),
            stop_words=stop_words,
            ngrams="auto" if given.ngrams == "auto" else as_whole(given.ngrams, "ngrams", least=1, most=MOST_WORDS),
            prefix=None if given.prefix is None else as_whole(given.prefix, "prefix", least=1),
            min_df=as_whole(given.min_df, "min_df", least=1),
            hashed=None if given.hashed is None else as_whole(given.hashed, "hashed", least=1),
            tf=as_choice(given.tf, "tf", TF),
            idf=as_choice(given.idf, "idf", (None, *IDF)),
            norm=as_choice(given.norm, "norm", (None, *NORM)),
            slope=as_real(given.slope, "slope", least=0, most=1),
        )
