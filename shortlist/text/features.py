"""Texts -> features: their words, the prefixes of words, runs of words (n-grams) and of characters.

A feature is known by its 64-bit hash, like a word, and can be spelled: an n-gram as its words with spaces between
them ("new york"), a prefix as its letters and a star ("expor*"), characters in quotation marks. Only
words of at least ``prefix`` letters give a prefix: that of a shorter word would say no more than the word.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel, part
from shortlist.text.tokens import DIGIT, FACTOR, NUMBER, NUMBER_NAME, SEED, Words, every_character, hashing, mixed
from shortlist.texts import to_codes

STAR = np.uint32(ord("*"))
NUMBER_LETTERS = np.array([ord(letter) for letter in NUMBER_NAME], dtype=np.uint32)


class Features(NamedTuple):
    """The features of some texts, in order. Feature j is made of words firsts[j] to firsts[j] + sizes[j] - 1; where
     sizes[j] is 0 it is the prefix of word firsts[j], where it is less, a run of characters from that place on
    . Text i has the features indptr[i]:indptr[i+1]."""

    hashes: NDArray[np.uint64]
    firsts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    indptr: NDArray[np.int64]


def features_of(words: Words, table: NDArray[np.uint32], ngrams: int, prefix: int) -> Features:
    """All features of some texts; ``ngrams`` is the longest run of words, ``prefix`` 0 for none."""
    if ngrams == 1 and prefix == 0:
        n = words.hashes.size
        return Features(words.hashes, np.arange(n), np.ones(n, dtype=np.int64), words.indptr)
    with hashing():
        return Features(*_features(*words[:5], table, ngrams, prefix))


def with_characters(features: Features, words: Words, table: NDArray[np.uint32], least: int, most: int) -> Features:
    """The features of some texts, those of each followed by its runs of ``least`` to ``most`` characters."""
    with hashing():
        return Features(*with_runs(*features, words.codes, words.text_starts, words.text_ends, table, least, most))


def places(words: Words, features: Features, prefix: int) -> tuple[Longs, Longs]:
    """Where in the codes each feature begins, and ends."""
    starts, ends = features.firsts.copy(), features.firsts + (-features.sizes >> 2)  # of runs of characters
    of_words = features.sizes >= 0
    first, size = features.firsts[of_words], features.sizes[of_words]
    starts[of_words] = words.starts[first]
    ends[of_words] = np.where(size == 0, words.starts[first] + prefix, words.ends[first + np.maximum(size, 1) - 1])
    return starts, ends


def spell(
    words: Words, features: Features, chosen: Longs, table: NDArray[np.uint32], prefix: int,
    characters: NDArray[np.uint32],
) -> tuple[NDArray[np.uint32], Longs]:  # fmt: skip
    """The letters of the chosen features end to end, and where each ends. table: of words; characters: of runs."""
    return _spell(
        words.hashes, words.starts, words.ends, words.codes, features.firsts, features.sizes, chosen, table, prefix,
        NUMBER_LETTERS, characters,
    )  # fmt: skip


@kernel
def _features(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    indptr: NDArray[np.int64],
    codes: NDArray[np.uint32],
    table: NDArray[np.uint32],
    ngrams: int,
    prefix: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
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
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    codes: NDArray[np.uint32],
    firsts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    chosen: NDArray[np.int64],
    table: NDArray[np.uint32],
    prefix: int,
    number: NDArray[np.uint32],
    characters: NDArray[np.uint32],
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
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
            n = spell_run(codes, first, -size, characters, letters, n)
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


@part
def spell_run(
    codes: NDArray[np.uint32],
    first: int,
    size: int,
    characters: NDArray[np.uint32],
    letters: NDArray[np.uint32],
    n: int,
) -> int:
    """Write the run of characters of that size (with_runs, without its sign) to letters[n:]; gives its end."""
    letters[n] = QUOTE
    n += 1
    if size & BEFORE:
        letters[n] = SPACE
        n += 1
    for i in range(first, first + (size >> 2)):
        letters[n] = characters[codes[i]]
        n += 1
    if size & BEHIND:
        letters[n] = SPACE
        n += 1
    letters[n] = QUOTE
    return n + 1


# Runs of characters inside words and over their edges: what scikit-learn's ``char_wb`` counts.


SPACE, QUOTE = np.uint32(ord(" ")), np.uint32(ord('"'))
BEFORE, BEHIND = 2, 1  # the edges that a run has, beside four times its letters


@functools.cache
def character_table(lowercase: bool) -> NDArray[np.uint32]:
    """For each code point the character it counts as; a space for all white space."""
    characters = every_character(lowercase)
    table = to_codes(characters).copy()
    for run in re.finditer(r"\s+", characters):
        table[slice(*run.span())] = SPACE
    table.flags.writeable = False
    return table


@kernel
def with_runs(
    of_words: NDArray[np.uint64],
    own_firsts: Longs,
    own_sizes: Longs,
    own_indptr: Longs,
    codes: NDArray[np.uint32],
    firsts: Longs,
    lasts: Longs,
    table: NDArray[np.uint32],
    least: int,
    most: int,
) -> tuple[NDArray[np.uint64], Longs, Longs, Longs]:
    """The features of each text, given as the arrays of Features, and behind them the runs of the text.

    Of a run: its hash, where its first letter stands, and its size, which is −(4·letters + BEFORE + BEHIND), of each
    edge if the run has it. Below, a word has the places 0 to n + 1, and 0 and n + 1 are its edges. codes uint32[...] <
    0x110000; text i is codes[firsts[i]:lasts[i]].
    """
    letters = 0
    for text in range(firsts.size):
        letters += 2 * (lasts[text] - firsts[text]) + 1  # a letter and what ends its word, with two edges, are four
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
                        sizes[found] = -(4 * (behind - first + 1) + BEFORE * (place == 0) + BEHIND * (at == n + 1))
                        found += 1
        indptr[text + 1] = found
    return hashes[:found], starts[:found], sizes[:found], indptr
