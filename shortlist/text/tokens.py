"""Texts -> words.

A word is a longest run of characters that ``str.isalnum`` accepts, or ``_``: Python's ``\\w+``, and with
``min_length=2`` scikit-learn's default rule ``(?u)\\b\\w\\w+\\b``. All texts lie in one array of code points, and are
known by their places rather than separated, so that any character may occur in a text. One table tells, for each of
Unicode's code points, which letter it counts as: itself, its lower case, or none. The table is made by Python's own
``\\w`` and ``str.lower``.

A word is known by a 64-bit hash of its letters. Two words with the same hash would be taken for one: among a
million words, that has about one chance in 37 million (n²/2⁶⁵).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel
from shortlist.texts import Texts, to_codes, to_text

# Lower-casing is one letter for one, except for these: U+0130 becomes two letters, and a capital sigma becomes one
# letter at the end of a word and another elsewhere. Texts that hold them are lower-cased by Python first.
NOT_ONE_TO_ONE = "\u0130\u03a3"

DIGIT = np.uint32(1 << 31)  # set in the table for digits, where numbers are folded
NUMBER = np.uint64(0x9AE16A3B2F90404F)  # the hash of every folded number
NUMBER_NAME = "<digit>"  # no word can look like this

# The hash is part of the model file's format: models that were saved know their features by it.
SEED = np.uint64(0xCBF29CE484222325)
FACTOR = np.uint64(0x9E3779B97F4A7C15)
NOTHING = nullcontext()


class Words(NamedTuple):
    """The words of some texts. Text i has the words indptr[i]:indptr[i+1]; word j the letters starts[j]:ends[j]. Text i
    itself is codes[text_starts[i]:text_ends[i]]."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    indptr: NDArray[np.int64]
    codes: NDArray[np.uint32]
    text_starts: NDArray[np.int64]
    text_ends: NDArray[np.int64]

    def keep(self, kept: NDArray[np.bool_]) -> Words:
        """Only some of the words."""
        before = np.zeros(kept.size + 1, dtype=np.int64)
        np.cumsum(kept, out=before[1:])
        hashes, starts, ends = self.hashes[kept], self.starts[kept], self.ends[kept]
        return self._replace(hashes=hashes, starts=starts, ends=ends, indptr=before[self.indptr])


def hashing() -> AbstractContextManager[Any]:
    """Hashes overflow on purpose; where kernels run uncompiled, NumPy would warn of it."""
    return np.errstate(over="ignore") if numba.config.DISABLE_JIT else NOTHING


def split(
    texts: Sequence[str], table: NDArray[np.uint32], min_length: int, lowercase: bool, composed: bool = False
) -> Words:
    """Cut texts into words of at least ``min_length`` letters."""
    laid = composed_texts(Texts.of(texts)) if composed else Texts.of(texts)
    if lowercase and not laid.whole.isascii() and any(letter in laid.whole for letter in NOT_ONE_TO_ONE):
        found = [i for i, text in enumerate(laid) if any(letter in text for letter in NOT_ONE_TO_ONE)]
        laid = with_others(laid, np.array(found, dtype=np.int64), [laid[i].lower() for i in found])
    with hashing():
        hashes, starts, ends, indptr = _split(laid.codes, laid.starts, laid.ends, table, min_length)
    return Words(hashes, starts, ends, indptr, laid.codes, laid.starts, laid.ends)


def places_before(
    text: str, starts: NDArray[np.int64], ends: NDArray[np.int64], composed: bool, lowercase: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places in a text, from those in what ``split`` makes of it where that has more letters, or fewer."""
    clusters = as_composed(text) if composed else list(text)
    after = [unicodedata.normalize("NFC", cluster) if composed else cluster for cluster in clusters]
    widths = np.cumsum([len(cluster.lower() if lowercase else cluster) for cluster in after])
    borders = np.cumsum([0, *map(len, clusters)])
    first, last = np.searchsorted(widths, starts, side="right"), np.searchsorted(widths, ends - 1, side="right")
    return borders[first], borders[last + 1]


def as_composed(text: str) -> list[str]:
    """A text in pieces that composing leaves apart: letters, each with the marks that it takes up."""
    clusters: list[str] = []
    for letter in text:
        before = clusters[-1] if clusters else ""
        apart = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", letter)
        if clusters and (unicodedata.combining(letter) or unicodedata.normalize("NFC", before + letter) != apart):
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


@functools.cache
def every_character(lowercase: bool) -> str:
    """All of Unicode's code points, in order, or the lower case of each."""
    characters = to_text(np.arange(0x110000, dtype=np.uint32))
    if lowercase:
        for character in NOT_ONE_TO_ONE:
            characters = characters.replace(character, character.lower()[0])
        characters = characters.lower()
    return characters


@functools.cache
def letter_table(lowercase: bool, fold_digits: bool = False) -> NDArray[np.uint32]:
    """For each code point the letter it counts as in a word, 0 where it is no part of one."""
    letters = every_character(lowercase)
    codes = to_codes(letters)
    table = np.zeros(codes.size, dtype=np.uint32)  # those that nobody writes to take no memory
    for run in re.finditer(r"\w+", letters):
        table[slice(*run.span())] = codes[slice(*run.span())]
    if fold_digits:
        for run in re.finditer(r"\d+", letters):
            table[slice(*run.span())] |= DIGIT
    table.flags.writeable = False
    return table


@kernel
def _split(
    codes: NDArray[np.uint32],
    firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
    table: NDArray[np.uint32],
    min_length: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Hash, start and end of each word, and where each text's words start.

    codes uint32[n] < 0x110000, table uint32[0x110000]; text i is codes[firsts[i]:lasts[i]], behind the one before it.
    """
    room = codes.size // 2 + firsts.size + 1  # a word and what ends it take two code points; a text's last word, one
    hashes = np.empty(room, np.uint64)
    starts = np.empty(room, np.int64)
    ends = np.empty(room, np.int64)
    indptr = np.zeros(firsts.size + 1, np.int64)
    n = 0
    for text in range(firsts.size):
        i = firsts[text]
        last = lasts[text]
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


# Letters and the marks on them put together: Unicode's normal form C, where a text is not in it already.


# First and last of runs of code points that no composition changes: all before the marks; letters of the Greek,
# Cyrillic, Hebrew and Arabic scripts; dashes and quotation marks; kana; Chinese characters; syllables of Hangul.
INERT = np.array(
    [
        [0x0000, 0x02FF], [0x0391, 0x03CE], [0x0400, 0x0482], [0x05D0, 0x05EA], [0x0620, 0x064A], [0x2010, 0x2027],
        [0x3041, 0x3096], [0x30A1, 0x30FA], [0x4E00, 0x9FFF], [0xAC00, 0xD7A3],
    ],
    dtype=np.uint32,
)  # fmt: skip


def composed_texts(texts: Texts) -> Texts:
    """The texts in normal form C."""
    if texts.whole.isascii():
        return texts
    doubtful = np.flatnonzero(_may_change(texts.codes, texts.starts, texts.ends, INERT))
    return with_others(texts, doubtful, [unicodedata.normalize("NFC", text) for text in texts.pick(doubtful)])


def with_others(texts: Texts, which: Longs, others: Sequence[str]) -> Texts:
    """The texts, with others in the place of some."""
    before = texts.pick(which)
    changed = np.array([n for n, other in enumerate(others) if other != before[n]], dtype=np.int64)
    if not changed.size:
        return texts
    pieces, end, longer = [], 0, np.zeros(len(texts), dtype=np.int64)
    for n in changed.tolist():
        text = which[n]
        pieces += [texts.whole[end : texts.starts[text]], others[n]]
        end, longer[text] = texts.ends[text], len(others[n]) - len(before[n])
    moved = np.cumsum(longer)
    return Texts("".join([*pieces, texts.whole[end:]]), texts.starts + moved - longer, texts.ends + moved)


@kernel
def _may_change(codes: NDArray[np.uint32], starts: Longs, ends: Longs, inert: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which of the texts codes[starts[i]:ends[i]] hold a code point in none of the runs (uint32[n, 2], ascending)."""
    found = np.zeros(starts.size, np.bool_)
    for text in range(starts.size):
        i = starts[text]
        while i < ends[text] and not found[text]:
            code = codes[i]
            i += 1
            if code <= inert[0, 1]:
                continue
            run = 0
            while run < inert.shape[0] and code > inert[run, 1]:
                run += 1
            found[text] = run == inert.shape[0] or code < inert[run, 0]
    return found
