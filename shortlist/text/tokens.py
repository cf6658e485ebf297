"""Texts -> words.

A word is a longest run of characters that ``str.isalnum`` accepts, or ``_``: Python's ``\\w+``, and with
``min_length=2`` scikit-learn's default rule ``(?u)\\b\\w\\w+\\b``. All texts are laid end to end as one array of code
points, with offsets rather than separators between them, so that any character may occur in a text. One table tells,
for each of Unicode's code points, which letter it counts as: itself, its lower case, or none. The table is made by
Python's own ``\\w`` and ``str.lower``.

A word is known by a 64-bit hash of its letters. Two words with the same hash would be taken for one: among a
million words, that has about one chance in 37 million (n²/2⁶⁵).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InputError
from shortlist.kernels import kernel

# Lower-casing is one letter for one, except for these: U+0130 becomes two letters, and a capital sigma becomes one
# letter at the end of a word and another elsewhere. Texts that hold them are lower-cased by Python first.
NOT_ONE_TO_ONE = "\u0130\u03a3"

DIGIT = np.uint32(1 << 31)  # set in the table for digits, where numbers are folded
NUMBER = np.uint64(0x9AE16A3B2F90404F)  # the hash of every folded number
NUMBER_NAME = "<digit>"  # no word can look like this

# The hash is part of the model file's format: models that were saved know their features by it.
SEED = np.uint64(0xCBF29CE484222325)
FACTOR = np.uint64(0x9E3779B97F4A7C15)

BLOCK = 1 << 17  # letters that go through the kernels at a time: what fits in a processor's cache


class Words(NamedTuple):
    """The words of some texts. Text i has the words indptr[i]:indptr[i+1]; word j the letters starts[j]:ends[j]."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    indptr: NDArray[np.int64]
    codes: NDArray[np.uint32]

    def keep(self, kept: NDArray[np.bool_]) -> Words:
        """Only some of the words."""
        before = np.zeros(kept.size + 1, dtype=np.int64)
        np.cumsum(kept, out=before[1:])
        return Words(self.hashes[kept], self.starts[kept], self.ends[kept], before[self.indptr], self.codes)


def blocks(texts: list[str]) -> Iterator[slice]:
    """Runs of texts of about BLOCK letters together; a longer text is a run of its own."""
    first = letters = 0
    for position, text in enumerate(texts):
        letters += len(text)
        if letters >= BLOCK:
            yield slice(first, position + 1)
            first, letters = position + 1, 0
    if first < len(texts):
        yield slice(first, len(texts))


def hashing() -> AbstractContextManager[Any]:
    """Hashes overflow on purpose; where kernels run uncompiled, NumPy would warn of it."""
    return np.errstate(over="ignore") if numba.config.DISABLE_JIT else nullcontext()


def as_texts(texts: Any, name: str = "texts") -> list[str]:
    """Check that these are texts, and give them as a list."""
    try:
        if isinstance(texts, str | bytes):
            raise TypeError
        listed: list[str] = texts if type(texts) is list else list(texts)
    except TypeError:
        kind = type(texts).__name__
        raise InputError(f"{name} must be a list of texts, not one {kind}; for one text, write [text]") from None
    if not set(map(type, listed)) <= {str}:
        for position, text in enumerate(listed):
            if not isinstance(text, str):
                hint = "; decode it first" if isinstance(text, bytes) else ""
                raise InputError(f"{name}[{position}] is a {type(text).__name__}, not a text{hint}")
    return listed


def split(texts: Sequence[str], table: NDArray[np.uint32], min_length: int, *, lowercase: bool) -> Words:
    """Cut texts into words of at least ``min_length`` letters."""
    joined = "".join(texts)
    if lowercase and any(letter in joined for letter in NOT_ONE_TO_ONE):
        texts = [text.lower() if any(letter in text for letter in NOT_ONE_TO_ONE) else text for text in texts]
        joined = "".join(texts)
    codes = to_codes(joined)
    offsets = np.fromiter(accumulate(map(len, texts), initial=0), dtype=np.int64, count=len(texts) + 1)
    with hashing():
        hashes, starts, ends, indptr = _split(codes, offsets, table, min_length)
    return Words(hashes, starts, ends, indptr, codes)


@functools.cache
def letter_table(lowercase: bool, fold_digits: bool = False) -> NDArray[np.uint32]:
    """For each code point the letter it counts as in a word, 0 where it is no part of one."""
    letters = to_text(np.arange(0x110000, dtype=np.uint32))
    if lowercase:
        for letter in NOT_ONE_TO_ONE:
            letters = letters.replace(letter, letter.lower()[0])
        letters = letters.lower()
    codes = to_codes(letters)
    table = np.zeros_like(codes)
    for run in re.finditer(r"\w+", letters):
        table[slice(*run.span())] = codes[slice(*run.span())]
    if fold_digits:
        for run in re.finditer(r"\d+", letters):
            table[slice(*run.span())] |= DIGIT
    table.flags.writeable = False
    return table


def to_codes(text: str) -> NDArray[np.uint32]:
    """The code points of a text, lone surrogates too."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def to_text(codes: NDArray[np.uint32]) -> str:
    """The inverse of ``to_codes``."""
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


@kernel
def _split(
    codes: NDArray[np.uint32], offsets: NDArray[np.int64], table: NDArray[np.uint32], min_length: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Hash, start and end of each word, and where each text's words start.

    codes uint32[n] < 0x110000, offsets int64[t + 1] ascending from 0 to n, table uint32[0x110000].
    """
    room = codes.size // 2 + offsets.size  # a word and what ends it take two code points; a text's last word, one
    hashes = np.empty(room, np.uint64)
    starts = np.empty(room, np.int64)
    ends = np.empty(room, np.int64)
    indptr = np.zeros(offsets.size, np.int64)
    n = 0
    for text in range(offsets.size - 1):
        i = offsets[text]
        last = offsets[text + 1]
        while i < last:
            if table[codes[i]] == 0:
                i += 1
                continue
            start = i
            h = SEED
            digits = DIGIT
            while i < last:
                letter = table[codes[i]]
                if letter == 0:
                    break
                h = (h ^ letter) * FACTOR
                digits &= letter
                i += 1
            if digits == 0 and i - start < min_length:
                continue
            hashes[n] = mixed(h) if digits == 0 else NUMBER
            starts[n] = start
            ends[n] = i
            n += 1
        indptr[text + 1] = n
    return hashes[:n], starts[:n], ends[:n], indptr


@kernel
def mixed(h: np.uint64) -> np.uint64:
    """Spread a hash over all its bits, so that any of them can choose a slot."""
    h ^= h >> np.uint64(32)
    h *= FACTOR
    h ^= h >> np.uint64(29)
    return h
