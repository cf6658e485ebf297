"""Texts -> words, and words -> features: n-grams, prefixes, runs of characters, words of fields.

A word is a longest run of characters that ``str.isalnum`` accepts, or ``_``: Python's ``\\w+``, and
with ``min_length=2`` scikit-learn's default rule ``(?u)\b\\w\\w+\b``. All texts lie in one array of
code points, and are known by their places rather than separated, so that any character may occur in
a text. One table tells, for each of Unicode's code points, which letter it counts as: itself, its
lower case, or none. The table is made by Python's own ``\\w`` and ``str.lower``.

A word is known by a 64-bit hash of its letters. Two words with the same hash would be taken for
one: among a million words, that has about one chance in 37 million (n²/2⁶⁵).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Longs, hashing, kernel
from shortlist.data.texts import Fielded, Texts, lengths_of, to_codes, to_text

Codes = NDArray[np.uint32]  # code points, and tables of them
Hashes = NDArray[np.uint64]

# Lower-casing is one letter for one, except for these: U+0130 becomes two letters, and a capital
# sigma becomes one letter at the end of a word and another elsewhere. Texts that hold them are
# lower-cased by Python first.
NOT_ONE_TO_ONE = "\u0130\u03a3"

FIRST_MARK = 0x300  # letters below it do not change when letters and marks are put together
CODES = 0x110000  # code points of Unicode
# behind them is no letter, digit or space: planes that are empty, private, or hold marks only
LETTERS = 0x40000
DIGIT = np.uint32(1 << 31)  # set in the table for digits, where numbers are folded
NUMBER = np.uint64(0x9AE16A3B2F90404F)  # the hash of every folded number
NUMBER_NAME = "<digit>"  # no word can look like this

# The hash is part of the model file's format: models that were saved know their features by it.
SEED = np.uint64(0xCBF29CE484222325)
FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Words(NamedTuple):
    """The words of texts. Text i has the words indptr[i]:indptr[i+1]; word j has the letters
    starts[j]:ends[j]. Text i itself is codes[text_starts[i]:text_ends[i]].
    """

    hashes: Hashes
    starts: Longs
    ends: Longs
    indptr: Longs
    codes: Codes
    text_starts: Longs
    text_ends: Longs

    def keep(self, kept: NDArray[np.bool_]) -> Words:
        """Return some of the words."""
        before = np.zeros(kept.size + 1, dtype=np.int64)
        np.cumsum(kept, out=before[1:])
        hashes, starts, ends = self.hashes[kept], self.starts[kept], self.ends[kept]
        return self._replace(hashes=hashes, starts=starts, ends=ends, indptr=before[self.indptr])


def split(
    texts: Sequence[str], table: Codes, min_length: int, lowercase: bool, composed: bool = False
) -> Words:
    """Cut texts into words of at least ``min_length`` letters; ``composed``: letters and marks
    put together first.
    """
    laid = Texts.of(texts)
    if composed and not laid.whole.isascii() and laid.codes.max() >= FIRST_MARK:
        laid = Texts.of([unicodedata.normalize("NFC", text) for text in laid])
    if (
        lowercase
        and not laid.whole.isascii()
        and any(letter in laid.whole for letter in NOT_ONE_TO_ONE)
    ):
        laid = Texts.of(
            [text.lower() if any(one in text for one in NOT_ONE_TO_ONE) else text for text in laid]
        )
    with hashing():
        hashes, starts, ends, indptr = _split(laid.codes, laid.starts, laid.ends, table, min_length)
    return Words(hashes, starts, ends, indptr, laid.codes, laid.starts, laid.ends)


def places_before(
    text: str, starts: Longs, ends: Longs, composed: bool, lowercase: bool
) -> tuple[Longs, Longs]:
    """Places in a text, from those in what ``split`` makes of it where that has more letters,
    or fewer.
    """
    clusters = as_composed(text) if composed else list(text)
    after = [unicodedata.normalize("NFC", cluster) if composed else cluster for cluster in clusters]
    widths = np.cumsum([len(cluster.lower() if lowercase else cluster) for cluster in after])
    borders = np.cumsum([0, *map(len, clusters)])
    first, last = (
        np.searchsorted(widths, starts, side="right"),
        np.searchsorted(widths, ends - 1, side="right"),
    )
    return borders[first], borders[last + 1]


def as_composed(text: str) -> list[str]:
    """A text in pieces that composing leaves apart: letters, each with the marks that it takes
    up.
    """
    clusters: list[str] = []
    for letter in text:
        before = clusters[-1] if clusters else ""
        apart = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", letter)
        if clusters and (
            unicodedata.combining(letter) or unicodedata.normalize("NFC", before + letter) != apart
        ):
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


@functools.cache
def every_character(lowercase: bool) -> str:
    """The code points of the planes that hold letters, in order, or the lower case of each."""
    characters = to_text(np.arange(LETTERS, dtype=np.uint32))
    if lowercase:
        for character in NOT_ONE_TO_ONE:
            characters = characters.replace(character, character.lower()[0])
        characters = characters.lower()
    return characters


@functools.cache
def letter_table(lowercase: bool, fold_digits: bool = False) -> Codes:
    """For each code point the letter it counts as in a word, 0 where it is no part of one."""
    letters = every_character(lowercase)
    # untouched pages take no memory
    codes, table = to_codes(letters), np.zeros(CODES, dtype=np.uint32)
    for run in re.finditer(r"\w+", letters):
        table[slice(*run.span())] = codes[slice(*run.span())]
    if fold_digits:
        for run in re.finditer(r"\d+", letters):
            table[slice(*run.span())] |= DIGIT
    table.flags.writeable = False
    return table


@kernel
def _split(
    codes: Codes, firsts: Longs, lasts: Longs, table: Codes, min_length: int
) -> tuple[Hashes, Longs, Longs, Longs]:
    """Hash, start and end of each word, and where each text's words start.

    codes uint32[n] < 0x110000, table uint32[0x110000]; text i is codes[firsts[i]:lasts[i]], behind
    the one before it.
    """
    # a word and what ends it take two code points; a text's last word, one
    room = codes.size // 2 + firsts.size + 1
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


# Texts -> features: their words, the prefixes of words, runs of words (n-grams) and of characters.
#
# A feature is known by its 64-bit hash, like a word, and can be spelled: an n-gram as its words
# with spaces between them ("new york"), a prefix as its letters and a star ("expor*"), characters
# in quotation marks. Only words of at least ``prefix`` letters give a prefix: that of a shorter
# word would say no more than the word.


STAR = np.uint32(ord("*"))
NUMBER_LETTERS = np.array([ord(letter) for letter in NUMBER_NAME], dtype=np.uint32)


class Features(NamedTuple):
    """The features of texts, in order. Text i has the features indptr[i]:indptr[i+1].

    Feature j is made of words firsts[j] to firsts[j] + sizes[j] - 1. Where sizes[j] is 0 it is the
    prefix of word firsts[j]; where it is negative, a run of characters from place firsts[j] on
    (``with_runs``). The rest is for documents of several fields (``with_fields``).
    """

    hashes: Hashes
    firsts: Longs
    sizes: Longs
    indptr: Longs
    # its field by number, WORD or VALUE; firsts[j] of a VALUE is its place in ``values``
    field: Longs | None = None
    names: Sequence[str] = ()  # of the fields
    values: Sequence[str] = ()


def features_of(words: Words, table: Codes, ngrams: int, prefix: int) -> Features:
    """All features of texts; ``ngrams`` is the longest run of words, ``prefix`` 0 for none."""
    if ngrams == 1 and prefix == 0:
        n = words.hashes.size
        return Features(words.hashes, np.arange(n), np.ones(n, dtype=np.int64), words.indptr)
    with hashing():
        return Features(*_features(*words[:5], table, ngrams, prefix))


def with_characters(
    features: Features, words: Words, table: Codes, least: int, most: int
) -> Features:
    """The features of texts, those of each followed by its runs of ``least`` to ``most``
    characters.
    """
    with hashing():
        return Features(
            *with_runs(
                *features[:4], words.codes, words.text_starts, words.text_ends, table, least, most
            )
        )


def places(words: Words, firsts: Longs, sizes: Longs, prefix: int) -> tuple[Longs, Longs]:
    """Where in the codes features with these ``firsts`` and ``sizes`` begin, and end."""
    starts, ends = firsts.copy(), firsts + (-sizes >> 2)  # of runs of characters
    of_words = sizes >= 0
    first, size = firsts[of_words], sizes[of_words]
    starts[of_words] = words.starts[first]
    ends[of_words] = np.where(
        size == 0, words.starts[first] + prefix, words.ends[first + np.maximum(size, 1) - 1]
    )
    return starts, ends


def spell(
    words: Words,
    features: Features,
    chosen: Longs,
    table: Codes,
    prefix: int,
    characters: Codes,
) -> tuple[Codes, Longs]:
    """The letters of the chosen features end to end, and where each ends. table: of words;
    characters: of runs.
    """
    field = features.field
    of_texts = chosen if field is None else chosen[field[chosen] != VALUE]
    letters, ends = _spell(
        words.hashes,
        words.starts,
        words.ends,
        words.codes,
        features.firsts,
        features.sizes,
        of_texts,
        table,
        prefix,
        NUMBER_LETTERS,
        characters,
    )
    if field is None:
        return letters, ends
    spelled, names = Texts(to_text(letters), np.append(0, ends[:-1]), ends), []
    texts = iter(spelled)
    for first, own in zip(features.firsts[chosen].tolist(), field[chosen].tolist(), strict=True):
        name = features.values[first] if own == VALUE else next(texts)
        names.append(f"{features.names[own]}: {name}" if own >= 0 else name)
    return to_codes("".join(names)), np.cumsum(lengths_of(names))


@kernel
def _features(
    hashes: Hashes,
    starts: Longs,
    ends: Longs,
    indptr: Longs,
    codes: Codes,
    table: Codes,
    ngrams: int,
    prefix: int,
) -> tuple[Hashes, Longs, Longs, Longs]:
    """The arrays of Features, from those of Words."""
    room = hashes.size * (ngrams + 1)
    feature_hashes = np.empty(room, np.uint64)
    firsts = np.empty(room, np.int64)
    sizes = np.empty(room, np.int64)
    feature_indptr = np.zeros(indptr.size, np.int64)
    n = 0
    for text in range(indptr.size - 1):
        for word in range(indptr[text], indptr[text + 1]):
            h = hashes[word]
            for size in range(1, min(ngrams, indptr[text + 1] - word) + 1):
                if size > 1:
                    h = mixed(h * FACTOR + hashes[word + size - 1])
                feature_hashes[n] = h
                firsts[n] = word
                sizes[n] = size
                n += 1
            if prefix > 0 and ends[word] - starts[word] >= prefix and hashes[word] != NUMBER:
                h = SEED
                for i in range(starts[word], starts[word] + prefix):
                    h = (h ^ table[codes[i]]) * FACTOR
                feature_hashes[n] = mixed((h ^ STAR) * FACTOR)
                firsts[n] = word
                sizes[n] = 0
                n += 1
        feature_indptr[text + 1] = n
    return feature_hashes[:n], firsts[:n], sizes[:n], feature_indptr


@kernel
def _spell(
    hashes: Hashes,
    starts: Longs,
    ends: Longs,
    codes: Codes,
    firsts: Longs,
    sizes: Longs,
    chosen: Longs,
    table: Codes,
    prefix: int,
    number: Codes,
    characters: Codes,
) -> tuple[Codes, Longs]:
    """Letters uint32[...] and ends int64[len(chosen)] of the spelled features."""
    room = 0
    for feature in chosen:
        if sizes[feature] < 0:
            room += 4 - sizes[feature]
            continue
        for word in range(firsts[feature], firsts[feature] + max(sizes[feature], 1)):
            room += max(ends[word] - starts[word], number.size) + 1
    letters = np.empty(room, np.uint32)
    stops = np.empty(chosen.size, np.int64)
    n = 0
    for j in range(chosen.size):
        first = firsts[chosen[j]]
        size = sizes[chosen[j]]
        if size < 0:
            letters[n] = QUOTE
            n += 1
            if -size & BEFORE:
                letters[n] = SPACE
                n += 1
            for i in range(first, first + (-size >> 2)):
                letters[n] = characters[codes[i]]
                n += 1
            if -size & BEHIND:
                letters[n] = SPACE
                n += 1
            letters[n] = QUOTE
            n += 1
            stops[j] = n
            continue
        for word in range(first, first + max(size, 1)):
            if word > first:
                letters[n] = SPACE
                n += 1
            if hashes[word] == NUMBER:
                for letter in number:
                    letters[n] = letter
                    n += 1
            else:
                for i in range(starts[word], ends[word] if size > 0 else starts[word] + prefix):
                    letters[n] = table[codes[i]] & ~DIGIT
                    n += 1
        if size == 0:
            letters[n] = STAR
            n += 1
        stops[j] = n
    return letters[:n], stops


# Runs of characters inside words and over their edges: what scikit-learn's ``char_wb`` counts.


SPACE, QUOTE = np.uint32(ord(" ")), np.uint32(ord('"'))
BEFORE, BEHIND = 2, 1  # the edges that a run has, beside four times its letters


@functools.cache
def character_table(lowercase: bool) -> Codes:
    """For each code point the character it counts as; a space for all white space."""
    characters = every_character(lowercase)
    table = np.arange(CODES, dtype=np.uint32)
    table[:LETTERS] = to_codes(characters)
    for run in re.finditer(r"\s+", characters):
        table[slice(*run.span())] = SPACE
    table.flags.writeable = False
    return table


@kernel
def with_runs(
    of_words: Hashes,
    own_firsts: Longs,
    own_sizes: Longs,
    own_indptr: Longs,
    codes: Codes,
    firsts: Longs,
    lasts: Longs,
    table: Codes,
    least: int,
    most: int,
) -> tuple[Hashes, Longs, Longs, Longs]:
    """The features of each text, given as the arrays of Features, and behind them the runs of the
    text.

    Of a run: its hash, where its first letter stands, and its size, which is −(4·letters + BEFORE +
    BEHIND), of each edge if the run has it. Below, a word has the places 0 to n + 1, and 0 and n +
    1 are its edges. codes uint32[...] < 0x110000; text i is codes[firsts[i]:lasts[i]].
    """
    letters = 0
    for text in range(firsts.size):
        # a letter and what ends its word, with two edges, are four
        letters += 2 * (lasts[text] - firsts[text]) + 1
    room = of_words.size + letters * (most - least + 1)
    hashes = np.empty(room, np.uint64)
    starts = np.empty(room, np.int64)
    sizes = np.empty(room, np.int64)
    indptr = np.zeros(firsts.size + 1, np.int64)
    found = 0
    for text in range(firsts.size):
        for j in range(own_indptr[text], own_indptr[text + 1]):
            hashes[found], starts[found], sizes[found] = of_words[j], own_firsts[j], own_sizes[j]
            found += 1
        i, last = firsts[text], lasts[text]
        while i < last:
            if table[codes[i]] == SPACE:
                i += 1
                continue
            start = i
            while i < last and table[codes[i]] != SPACE:
                i += 1
            n = i - start
            shortest = min(least, n + 2)
            for place in range(n + 3 - shortest):
                h = (SEED ^ QUOTE) * FACTOR
                for at in range(place, min(place + most, n + 2)):
                    edge = at == 0 or at == n + 1
                    h = (h ^ (SPACE if edge else table[codes[start + at - 1]])) * FACTOR
                    if at + 1 - place >= shortest:
                        first, behind = max(place, 1), min(at, n)
                        hashes[found] = mixed(h)
                        starts[found] = start + first - 1
                        sizes[found] = -(
                            4 * (behind - first + 1)
                            + BEFORE * (place == 0)
                            + BEHIND * (at == n + 1)
                        )
                        found += 1
        indptr[text + 1] = found
    return hashes[:found], starts[:found], sizes[:found], indptr


# Documents of several fields -> features: the words of all fields together, and again as words of
# their field. A word of the title votes twice: as a word, wherever it stands, and as a word of the
# title (``title: wheat``). The learner weighs both. Words of the longest field, of which most
# documents consist, are words only. Categories and numbers are features under the names that they
# have (texts.py).


WORD, VALUE = -1, -2  # in place of a field: a word of any field; a category or number


def with_fields(found: Features, documents: Fielded, main: str | None) -> Features:
    """All features of documents from those of their texts (``in_turn``); ``main`` is the
    longest field.
    """
    names, n = list(documents.texts), len(documents)
    width = max(1, len(names))
    text = np.repeat(np.arange(found.indptr.size - 1), np.diff(found.indptr))
    document, field = text // width, text % width
    in_field = np.flatnonzero(
        np.array([name != main for name in names], dtype=bool)[field] if names else field
    )
    values = [(i, value) for i, names_of in enumerate(documents.features()) for value in names_of]
    of_values = np.arange(len(values))
    seeds = np.array([_hash(f"field {name}") for name in names], dtype=np.uint64)
    of_fields = (found.hashes[in_field] ^ seeds[field[in_field]]) * FACTOR  # then as in ``mixed``
    of_fields = (of_fields ^ of_fields >> np.uint64(32)) * FACTOR
    of_fields ^= of_fields >> np.uint64(29)
    hashes = np.concatenate([found.hashes, of_fields, value_hashes([value for _, value in values])])
    firsts = np.concatenate([found.firsts, found.firsts[in_field], of_values])
    sizes = np.concatenate([found.sizes, found.sizes[in_field], np.zeros_like(of_values)])
    kinds = np.concatenate([np.full(text.size, WORD), field[in_field], np.full(len(values), VALUE)])
    documents_of = np.concatenate(
        [document, document[in_field], np.array([i for i, _ in values], dtype=np.int64)]
    )
    order = np.argsort(documents_of, kind="stable")
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(documents_of, minlength=n), out=indptr[1:])
    own = hashes[order], firsts[order], sizes[order], indptr, kinds[order]
    return Features(*own, names, [value for _, value in values])


def value_hashes(names: Sequence[str]) -> Hashes:
    """The hashes of categories, numbers and their bands."""
    return np.array([_hash(f"value {name}") for name in names], dtype=np.uint64)


def _hash(name: str) -> int:
    return int.from_bytes(
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )
