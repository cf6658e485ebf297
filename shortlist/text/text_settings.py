"""The settings of a TextVectorizer: its parameters, checked, and what the first texts choose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist.data.texts import Fielded, as_documents, as_texts, blocks, laid, lengths_of
from shortlist.data.validation import as_choice, as_real, as_whole
from shortlist.errors import InputError
from shortlist.text.counts import NORM, SMOOTH, TF

# What the first texts choose: each setting that is "auto", or all unset ones of these if n-grams
# alone are "auto".
AUTO = "auto"
PLAIN: dict[str, Any] = {
    "ngrams": 1,
    "min_length": 2,
    "prefix": None,
    "characters": None,
    "character_weight": 1.0,
}
ALL_AUTO: dict[str, Any] = dict.fromkeys(PLAIN, AUTO)
LEFT_OPEN = (*PLAIN, "fields")
SHORT_TEXT = 400  # letters: texts shorter than that say little in single words
# additional features of short texts
SHORT_TEXTS = {"ngrams": 2, "prefix": 5}
# and of those whose labels come up again and again
SHORT_RECURRING = {
    "ngrams": 2,
    "min_length": 1,
    "prefix": 4,
    "characters": [3, 3],
    "character_weight": 0.7,
}
# of texts that are written without spaces
UNSPACED_TEXTS = {"ngrams": 1, "characters": [2, 4]}
# Where the scripts without spaces lie: Thai and Lao, Myanmar, Khmer, Kana, Han.
UNSPACED_SCRIPTS = np.array(
    [
        (0x0E00, 0x0F00),
        (0x1000, 0x10A0),
        (0x1780, 0x1800),
        (0x3040, 0x3100),
        (0x3400, 0x4DC0),
        (0x4E00, 0xA000),
        (0xF900, 0xFB00),
        (0x20000, 0x40000),
    ]
)
MOST_NGRAMS = 100  # words of an n-gram: a text has that many times as many of them as words
LONGEST_RUN = 32  # characters
LEAST_RUN_WEIGHT = 1e-3
MOST_RUN_WEIGHT = 1e3


class TextSettings(NamedTuple):
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
    fields: list[str] | None
    character_weight: float
    undecided: tuple[str, ...]  # settings that the first texts choose

    def suiting(self, texts: Sequence[Any], recurring: bool) -> TextSettings:
        """These settings with what suits such texts; ``recurring``: their labels come up again and
        again.

        The fields of texts, if they have any, are ordered so that the longest is the first.
        """
        if not texts:
            return self
        settings = self
        if self.fields is None and type(texts) is Fielded:
            longest = texts.longest()
            fields = sorted(texts.texts, key=lambda name: name != longest)
            settings = self._replace(fields=fields)
        if not self.undecided:
            return settings
        suiting = self._suiting(texts, recurring)
        chosen = {name: suiting[name] for name in self.undecided if name in suiting}
        return settings._replace(**chosen, undecided=())

    def _suiting(self, texts: Sequence[Any], recurring: bool) -> dict[str, Any]:
        if are_unspaced(texts):
            return UNSPACED_TEXTS
        if lengths_of(texts).sum() >= SHORT_TEXT * len(texts):
            return {"ngrams": 1}
        if not recurring:
            return SHORT_TEXTS
        if self.hashed is not None:  # then runs weigh as much as words
            return SHORT_RECURRING | {"character_weight": self.character_weight}
        return SHORT_RECURRING

    def saved(self) -> dict[str, Any]:
        """The parameters as a model file has them."""
        settings = self._asdict()
        del settings["undecided"]
        return settings | dict.fromkeys(self.undecided, AUTO)

    @classmethod
    def of(cls, vectorizer: Any) -> TextSettings:
        """The settings of a vectorizer, checked."""
        values = {name: getattr(vectorizer, name) for name in cls._fields[:-1]}
        undecided = [
            name for name in PLAIN if isinstance(values[name], str) and values[name] == AUTO
        ]
        if undecided == ["ngrams"]:
            undecided += [name for name in PLAIN if values[name] == PLAIN[name]]
        values |= {name: PLAIN[name] for name in undecided}
        for name in ("lowercase", "composed", "fold_digits"):
            values[name] = bool(as_choice(values[name], name, (True, False)))
        for name in ("min_length", "min_df"):
            values[name] = as_whole(values[name], name, least=1)
        for name in ("prefix", "hashed"):
            if values[name] is not None:
                values[name] = as_whole(values[name], name, least=1)
        values["ngrams"] = as_whole(values["ngrams"], "ngrams", least=1, most=MOST_NGRAMS)
        if values["characters"] is not None:
            values["characters"] = as_run_lengths(values["characters"])
        values["character_weight"] = as_real(
            values["character_weight"],
            "character_weight",
            least=LEAST_RUN_WEIGHT,
            most=MOST_RUN_WEIGHT,
        )
        if values["character_weight"] != 1 and values["hashed"] is not None:
            raise InputError(
                "character_weight must be 1 with hashed columns, which characters share with words"
            )
        if isinstance(values["stop_words"], str):
            as_choice(values["stop_words"], "stop_words", (None, "english"))
        elif values["stop_words"] is not None:
            values["stop_words"] = [
                str(word) for word in as_texts(values["stop_words"], "stop_words")
            ]
        as_choice(values["tf"], "tf", TF)
        as_choice(values["idf"], "idf", (None, *SMOOTH))
        as_choice(values["norm"], "norm", (None, *NORM))
        values["slope"] = as_real(values["slope"], "slope", least=0, most=1)
        if values["fields"] is not None:
            values["fields"] = [str(name) for name in as_texts(values["fields"], "fields")]
        return cls(**values, undecided=tuple(undecided))


def as_run_lengths(characters: Iterable[int]) -> list[int]:
    """The fewest and the most characters of a run."""
    try:
        least, most = characters
    except (TypeError, ValueError):
        raise InputError(
            f"characters must be two whole numbers such as (3, 4), or None, not {characters!r}"
        ) from None
    least = as_whole(least, "characters[0]", least=1)
    return [least, as_whole(most, "characters[1]", least=least, most=LONGEST_RUN)]


def are_unspaced(texts: Sequence[Any]) -> bool:
    """Whether a quarter or more of what these texts begin with is written without spaces
    between words.
    """
    beginning = laid(as_documents(texts[next(blocks(texts), slice(0, 0))]))
    if beginning.whole.isascii():
        return False
    codes = beginning.codes
    codes = codes[codes >= UNSPACED_SCRIPTS[0, 0]]
    script = np.searchsorted(UNSPACED_SCRIPTS[:, 0], codes, side="right") - 1
    n_unspaced = np.count_nonzero(codes < UNSPACED_SCRIPTS[script, 1])
    return bool(4 * n_unspaced >= beginning.codes.size)
