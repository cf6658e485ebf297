"""How a TextVectorizer is set: its parameters, checked, and what it chooses itself by the first texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.validation import as_choice, as_real, as_whole
from shortlist.errors import InputError
from shortlist.text.tokens import split
from shortlist.text.weighting import IDF, NORM, TF
from shortlist.texts import Texts, as_texts, blocks, lengths_of
from shortlist.texts.fields import Fielded, as_documents
from shortlist.vocabulary import Vocabulary

# Words to leave out.


def stop_table(settings: Settings, table: NDArray[np.uint32]) -> Vocabulary | None:
    """The words to leave out, read as those of texts are; None where there are none."""
    listed = settings.stop_words
    if listed is None:
        return None
    if listed == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        listed = sorted(ENGLISH_STOP_WORDS)
    stops = Vocabulary()
    for text in listed:
        words = split([text], table, 1, settings.lowercase, settings.composed)
        if words.ends.size == 1 and words.ends[0] - words.starts[0] == words.codes.size:
            stops.learn(words.hashes)
    return stops


# What may be left to the first texts: each where it is "auto"; where n-grams alone are, what nobody has set is, too.
AUTO = "auto"
PLAIN: dict[str, Any] = {"ngrams": 1, "min_length": 2, "prefix": None, "characters": None, "character_weight": 1.0}
ALL_AUTO: dict[str, Any] = dict.fromkeys(PLAIN, AUTO)
LEFT_OPEN = (*PLAIN, "fields")
SHORT = 400  # letters: texts shorter than that say little in single words
MOST_WORDS = 100  # of an n-gram: a text has that many times as many of them as it has words
PAIRS, PREFIX = 2, 5  # what short texts are given besides
STEM, CHARACTERS, CHARACTER_WEIGHT = 4, [3, 3], 0.7  # and where each has one label, with shorter prefixes
MOST = 32  # characters of a run
LEAST_WEIGHT, MOST_WEIGHT = 1e-3, 1e3  # of a run
UNSPACED = [2, 4]  # what texts have besides that are written without spaces
# Where such scripts lie: Thai and Lao, Myanmar, Khmer, Kana, Han.
SCRIPTS = np.array(
    [
        (0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x3040, 0x3100), (0x3400, 0x4DC0), (0x4E00, 0xA000),
        (0xF900, 0xFB00), (0x20000, 0x40000),
    ]
)  # fmt: skip


class Settings(NamedTuple):
    """The parameters, checked, as they were when learning began. In the types that JSON has."""

    lowercase: bool
    composed: bool
    min_length: int
    fold_digits: bool
    stop_words: str | list[str] | None
    ngrams: int
    prefix: int | None
    characters: list[int] | None
    min_df: int
    hashed: int | None
    tf: str
    idf: str | None
    norm: str | None
    slope: float
    fields: list[str] | None = None
    character_weight: float = 1.0
    left: tuple[str, ...] = ()  # what the first texts are to choose

    @property
    def longest(self) -> int:
        """The longest run of words that is a feature."""
        return self.ngrams

    def of_fields(self, texts: Sequence[object]) -> Settings:
        """These settings with the fields of such texts, if they have any, the longest first."""
        if self.fields is not None or type(texts) is not Fielded:
            return self
        longest = texts.longest()
        return self._replace(fields=sorted(texts.names, key=lambda name: name != longest))

    def suiting(self, texts: Sequence[Any], recurring: bool) -> Settings:
        """These settings with what suits such texts; ``recurring``: their labels come up again and again.

        What was set stays as it is; all else is as if nothing had been.
        """
        short = lengths_of(texts).sum() < SHORT * len(texts)
        chosen: dict[str, Any] = {"ngrams": 1}
        if unspaced(texts):
            chosen |= {"characters": UNSPACED}
        elif short and recurring:
            weight = CHARACTER_WEIGHT if self.hashed is None else self.character_weight
            chosen |= {"min_length": 1, "ngrams": PAIRS, "prefix": STEM}
            chosen |= {"characters": CHARACTERS, "character_weight": weight}
        elif short:
            chosen |= {"ngrams": PAIRS, "prefix": PREFIX}
        return self._replace(**{name: chosen[name] for name in chosen if name in self.left}, left=())

    def saved(self) -> dict[str, Any]:
        """The parameters as a model file has them."""
        kept = {name: value for name, value in self._asdict().items() if name != "left"}
        return kept | dict.fromkeys(self.left, AUTO)

    @classmethod
    def of(cls, given: Any) -> Settings:
        own = {name: getattr(given, name) for name in PLAIN}
        left = [name for name, value in own.items() if isinstance(value, str) and value == AUTO]
        if left == ["ngrams"]:
            left += [name for name, value in own.items() if name not in left and value == PLAIN[name]]
        own |= {name: PLAIN[name] for name in left}
        stop_words = given.stop_words
        if isinstance(stop_words, str):
            as_choice(stop_words, "stop_words", (None, "english"))
        elif stop_words is not None:
            stop_words = [str(word) for word in as_texts(stop_words, "stop_words")]
        weight = as_real(own["character_weight"], "character_weight", least=LEAST_WEIGHT, most=MOST_WEIGHT)
        if weight != 1 and given.hashed is not None:
            raise InputError("character_weight must be 1 with hashed columns, which characters share with words")
        return cls(
            lowercase=bool(as_choice(given.lowercase, "lowercase", (True, False))),
            min_length=as_whole(own["min_length"], "min_length", least=1),
            composed=bool(as_choice(given.composed, "composed", (True, False))),
            fold_digits=bool(as_choice(given.fold_digits, "fold_digits", (True, False))),
            stop_words=stop_words,
            ngrams=as_whole(own["ngrams"], "ngrams", least=1, most=MOST_WORDS),
            prefix=None if own["prefix"] is None else as_whole(own["prefix"], "prefix", least=1),
            characters=None if own["characters"] is None else as_range(own["characters"]),
            min_df=as_whole(given.min_df, "min_df", least=1),
            hashed=None if given.hashed is None else as_whole(given.hashed, "hashed", least=1),
            tf=as_choice(given.tf, "tf", TF),
            idf=as_choice(given.idf, "idf", (None, *IDF)),
            norm=as_choice(given.norm, "norm", (None, *NORM)),
            slope=as_real(given.slope, "slope", least=0, most=1),
            fields=None if given.fields is None else [str(name) for name in as_texts(given.fields, "fields")],
            character_weight=weight,
            left=tuple(left),
        )


def as_range(given: Iterable[int]) -> list[int]:
    """The fewest and the most characters of a run."""
    try:
        least, most = given
    except (TypeError, ValueError):
        raise InputError(f"characters must be two whole numbers such as (3, 4), or None, not {given!r}") from None
    least = as_whole(least, "characters[0]", least=1)
    return [least, as_whole(most, "characters[1]", least=least, most=MOST)]


def unspaced(texts: Sequence[Any]) -> bool:
    """Whether a quarter or more of what these texts begin with is written without spaces between words."""
    first = as_documents(texts[next(blocks(texts), slice(0, 0))])
    beginning = first.laid() if isinstance(first, Fielded) else Texts.of(first)
    if beginning.whole.isascii():
        return False
    codes = beginning.codes
    if 4 * np.count_nonzero(codes >= SCRIPTS[0, 0]) < codes.size:  # as in most alphabets, which is known sooner
        return False
    script = np.searchsorted(SCRIPTS[:, 0], codes, side="right") - 1
    return bool(4 * np.count_nonzero((script >= 0) & (codes < SCRIPTS[script, 1])) >= codes.size)
