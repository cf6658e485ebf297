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
from typing import Any, NamedTuple

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
N_CODES = 0x110000  # code points of Unicode
# No letter, digit or space is above: those planes are empty, private, or hold marks only.
END_OF_LETTERS = 0x40000
DIGIT = np.uint32(1 << 31)  # set in the table for digits, where numbers are folded
NUMBER_HASH = np.uint64(0x9AE16A3B2F90404F)  # the hash of every folded number
NUMBER_NAME = "<digit>"  # no word can look like this

# The hash is part of the model file's format: models that were saved know their features by it.
HASH_SEED = np.uint64(0xCBF29CE484222325)
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


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

    def keep(self, marks: NDArray[np.bool_]) -> Words:
        """Return the marked words."""
        return self._replace(
            hashes=self.hashes[marks],
            starts=self.starts[marks],
            ends=self.ends[marks],
            indptr=np.append(0, np.cumsum(marks))[self.indptr],
        )


def split(
    texts: Sequence[str], table: Codes, min_length: int, lowercase: bool, composed: bool = False
) -> Words:
    """Cut texts into words of at least ``min_length`` letters; ``composed``: letters and marks
    put together first.
    """
    laid_out = Texts.of(texts)
    if not laid_out.whole.isascii():
        if composed and laid_out.codes.max() >= FIRST_MARK:
            laid_out = Texts.of([unicodedata.normalize("NFC", text) for text in laid_out])
        if lowercase and any(letter in laid_out.whole for letter in NOT_ONE_TO_ONE):
            laid_out = Texts.of([text.lower() for text in laid_out])
    codes = laid_out.codes
    with hashing():
        words = _split(codes, laid_out.starts, laid_out.ends, table, min_length)
    return Words(*words, codes, laid_out.starts, laid_out.ends)


def places_before(
    text: str, starts: Longs, ends: Longs, composed: bool, lowercase: bool
) -> tuple[Longs, Longs]:
    """Places in a text, from those in what ``split`` makes of it where that has more letters,
    or fewer.
    """
    clusters = as_composed(text) if composed else list(text)
    widths = []
    for cluster in clusters:
        letters = unicodedata.normalize("NFC", cluster) if composed else cluster
        widths.append(len(letters.lower()) if lowercase else len(letters))
    split_ends = np.cumsum(widths)
    borders = np.cumsum([0, *map(len, clusters)])
    first = np.searchsorted(split_ends, starts, side="right")
    last = np.searchsorted(split_ends, ends - 1, side="right")
    return borders[first], borders[last + 1]


def as_composed(text: str) -> list[str]:
    """A text in pieces that composing leaves apart: letters, each with the marks that it takes
    up.
    """
    clusters: list[str] = []
    for letter in text:
        previous = clusters[-1] if clusters else ""
        apart = unicodedata.normalize("NFC", previous) + unicodedata.normalize("NFC", letter)
        together = unicodedata.normalize("NFC", previous + letter)
        if clusters and (unicodedata.combining(letter) or together != apart):
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


@functools.cache
def every_character(lowercase: bool) -> str:
    """The code points of the planes that hold letters, in order, or the lower case of each."""
    characters = to_text(np.arange(END_OF_LETTERS, dtype=np.uint32))
    if lowercase:
        for character in NOT_ONE_TO_ONE:
            characters = characters.replace(character, character.lower()[0])
        characters = characters.lower()
    return characters


@functools.cache
def letter_table(lowercase: bool, fold_digits: bool = False) -> Codes:
    """For each code point the letter it counts as in a word, 0 where it is no part of one."""
    letters = every_character(lowercase)
    codes = to_codes(letters)
    table = np.zeros(N_CODES, dtype=np.uint32)  # untouched pages take no memory
    for run in re.finditer(r"\w+", letters):
        table[slice(*run.span())] = codes[slice(*run.span())]
    if fold_digits:
        for run in re.finditer(r"\d+", letters):
            table[slice(*run.span())] |= DIGIT
    table.flags.writeable = False
    return table


@kernel
def _split(
    codes: Codes, text_starts: Longs, text_ends: Longs, table: Codes, min_length: int
) -> tuple[Hashes, Longs, Longs, Longs]:
    """Hash, start and end of each word, and where each text's words start.

    codes uint32[n] < 0x110000, table uint32[0x110000]; text i is
    codes[text_starts[i]:text_ends[i]], behind the one before it.
    """
    # a word and what ends it take two code points; a text's last word, one
    room = codes.size // 2 + text_starts.size + 1
    hashes = np.empty(room, np.uint64)
    starts = np.empty(room, np.int64)
    ends = np.empty(room, np.int64)
    indptr = np.zeros(text_starts.size + 1, np.int64)
    n = 0
    for text in range(text_starts.size):
        i = text_starts[text]
        end = text_ends[text]
        while i < end:
            if table[codes[i]] == 0:
                i += 1
                continue
            start = i
            h = HASH_SEED
            digits = DIGIT
            while i < end:
                letter = table[codes[i]]
                if letter == 0:
                    break
                h = (h ^ letter) * HASH_FACTOR
                digits &= letter
                i += 1
            if digits == 0 and i - start < min_length:
                continue
            hashes[n] = mixed(h) if digits == 0 else NUMBER_HASH
            starts[n] = start
            ends[n] = i
            n += 1
        indptr[text + 1] = n
    return hashes[:n], starts[:n], ends[:n], indptr


@kernel
def mixed(h: np.uint64) -> np.uint64:
    """Spread a hash over all its bits, so that any of them can choose a slot."""
    h ^= h >> np.uint64(32)
    h *= HASH_FACTOR
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
    (``_with_runs``). The rest is for documents of several fields (``with_fields``).
    """

    words: Words
    hashes: Hashes
    firsts: Longs
    sizes: Longs
    indptr: Longs
    # its field by number, WORD or VALUE; firsts[j] of a VALUE is its place in ``values``
    field: Longs | None = None
    field_names: Sequence[str] = ()
    values: Sequence[str] = ()

    def keep(self, marks: NDArray[np.bool_]) -> Features:
        """Return the marked features, of texts without fields."""
        return self._replace(
            hashes=self.hashes[marks],
            firsts=self.firsts[marks],
            sizes=self.sizes[marks],
            indptr=np.append(0, np.cumsum(marks))[self.indptr],
        )


def features_of(words: Words, table: Codes, ngrams: int, prefix: int) -> Features:
    """All features of texts; ``ngrams`` is the longest run of words, ``prefix`` 0 for none."""
    if ngrams == 1 and prefix == 0:
        n = words.hashes.size
        return Features(words, words.hashes, np.arange(n), np.ones(n, dtype=np.int64), words.indptr)
    with hashing():
        return Features(words, *_features(*words[:5], table, ngrams, prefix))


def with_characters(features: Features, table: Codes, least: int, most: int) -> Features:
    """The features of texts, those of each followed by its runs of ``least`` to ``most``
    characters.
    """
    words = features.words
    texts = words.codes, words.text_starts, words.text_ends
    with hashing():
        return Features(words, *_with_runs(*features[1:5], *texts, table, least, most))


def places(features: Features, which: NDArray[np.bool_], prefix: int) -> tuple[Longs, Longs]:
    """Where in the codes of the texts some features begin, and end."""
    words = features.words
    starts = features.firsts[which]
    sizes = features.sizes[which]
    ends = starts + (-sizes >> 2)  # of runs of characters
    of_words = sizes >= 0
    first = starts[of_words]
    size = sizes[of_words]
    starts[of_words] = words.starts[first]
    ends[of_words] = np.where(
        size == 0, words.starts[first] + prefix, words.ends[first + np.maximum(size, 1) - 1]
    )
    return starts, ends


def spell(
    features: Features, chosen: Longs, table: Codes, prefix: int, characters: Codes
) -> tuple[Codes, Longs]:
    """The letters of the chosen features end to end, and where each ends. table: of words;
    characters: of runs.
    """
    words = features.words
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
        characters,
    )
    if field is None:
        return letters, ends
    texts = iter(Texts(to_text(letters), np.append(0, ends[:-1]), ends))
    names = []
    for feature in chosen.tolist():
        number = field[feature]
        if number == VALUE:
            names.append(features.values[features.firsts[feature]])
        elif number == WORD:
            names.append(next(texts))
        else:
            names.append(f"{features.field_names[number]}: {next(texts)}")
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
                    h = mixed(h * HASH_FACTOR + hashes[word + size - 1])
                feature_hashes[n] = h
                firsts[n] = word
                sizes[n] = size
                n += 1
            if prefix > 0 and ends[word] - starts[word] >= prefix and hashes[word] != NUMBER_HASH:
                h = HASH_SEED
                for i in range(starts[word], starts[word] + prefix):
                    h = (h ^ table[codes[i]]) * HASH_FACTOR
                feature_hashes[n] = mixed((h ^ STAR) * HASH_FACTOR)
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
    characters: Codes,
) -> tuple[Codes, Longs]:
    """Letters uint32[...] and ends int64[len(chosen)] of the spelled features."""
    room = 0
    for feature in chosen:
        if sizes[feature] < 0:
            room += 4 - sizes[feature]
            continue
        for word in range(firsts[feature], firsts[feature] + max(sizes[feature], 1)):
            room += max(ends[word] - starts[word], NUMBER_LETTERS.size) + 1
    letters = np.empty(room, np.uint32)
    stops = np.empty(chosen.size, np.int64)
    n = 0
    for j in range(chosen.size):
        first = firsts[chosen[j]]
        size = sizes[chosen[j]]
        if size < 0:
            letters[n] = QUOTE
            n += 1
            if -size & EDGE_BEFORE:
                letters[n] = SPACE
                n += 1
            for i in range(first, first + (-size >> 2)):
                letters[n] = characters[codes[i]]
                n += 1
            if -size & EDGE_BEHIND:
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
            if hashes[word] == NUMBER_HASH:
                for letter in NUMBER_LETTERS:
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


SPACE = np.uint32(ord(" "))
QUOTE = np.uint32(ord('"'))
# The edges that a run has are added to four times its letters.
EDGE_BEFORE = 2
EDGE_BEHIND = 1


@functools.cache
def character_table(lowercase: bool) -> Codes:
    """For each code point the character it counts as; a space for all white space."""
    characters = every_character(lowercase)
    table = np.arange(N_CODES, dtype=np.uint32)
    table[:END_OF_LETTERS] = to_codes(characters)
    for run in re.finditer(r"\s+", characters):
        table[slice(*run.span())] = SPACE
    table.flags.writeable = False
    return table


@kernel
def _with_runs(
    feature_hashes: Hashes,
    feature_firsts: Longs,
    feature_sizes: Longs,
    feature_indptr: Longs,
    codes: Codes,
    text_starts: Longs,
    text_ends: Longs,
    table: Codes,
    least: int,
    most: int,
) -> tuple[Hashes, Longs, Longs, Longs]:
    """The features of each text, given as the arrays of Features, and behind them the runs of the
    text.

    Of a run: its hash, where its first letter stands, and its size, which is −(4·letters +
    EDGE_BEFORE + EDGE_BEHIND), of each edge if the run has it. Below, a word has the places 0 to n
    + 1, and 0 and n + 1 are its edges. codes uint32[...] < 0x110000; text i is
    codes[text_starts[i]:text_ends[i]].
    """
    letters = 0
    for text in range(text_starts.size):
        # a letter and what ends its word, with two edges, are four
        letters += 2 * (text_ends[text] - text_starts[text]) + 1
    room = feature_hashes.size + letters * (most - least + 1)
    hashes = np.empty(room, np.uint64)
    firsts = np.empty(room, np.int64)
    sizes = np.empty(room, np.int64)
    indptr = np.zeros(text_starts.size + 1, np.int64)
    n = 0
    for text in range(text_starts.size):
        for j in range(feature_indptr[text], feature_indptr[text + 1]):
            hashes[n] = feature_hashes[j]
            firsts[n] = feature_firsts[j]
            sizes[n] = feature_sizes[j]
            n += 1
        i = text_starts[text]
        end = text_ends[text]
        while i < end:
            if table[codes[i]] == SPACE:
                i += 1
                continue
            start = i
            while i < end and table[codes[i]] != SPACE:
                i += 1
            behind_word = i - start + 1
            shortest = min(least, behind_word + 1)
            for place in range(behind_word + 2 - shortest):
                h = (HASH_SEED ^ QUOTE) * HASH_FACTOR
                for last in range(place, min(place + most, behind_word + 1)):
                    is_edge = last == 0 or last == behind_word
                    h = (h ^ (SPACE if is_edge else table[codes[start + last - 1]])) * HASH_FACTOR
                    if last + 1 - place >= shortest:
                        first_letter = max(place, 1)
                        n_letters = min(last, behind_word - 1) - first_letter + 1
                        edges = EDGE_BEFORE * (place == 0) + EDGE_BEHIND * (last == behind_word)
                        hashes[n] = mixed(h)
                        firsts[n] = start + first_letter - 1
                        sizes[n] = -(4 * n_letters + edges)
                        n += 1
        indptr[text + 1] = n
    return hashes[:n], firsts[:n], sizes[:n], indptr


# Documents of several fields -> features: the words of all fields together, and again as words of
# their field. A word of the title votes twice: as a word, wherever it stands, and as a word of the
# title (``title: wheat``). The learner weighs both. Words of the longest field, of which most
# documents consist, are words only. Categories and numbers are features under the names that they
# have (texts.py).


# In place of the number of a field.
WORD = -1  # a word of any field
VALUE = -2  # a category or number


def with_fields(features: Features, documents: Fielded, main: str | None) -> Features:
    """All features of documents from those of their texts (``in_turn``); ``main`` is the
    longest field.
    """
    names = list(documents.texts)
    n_fields = max(1, len(names))
    text = np.repeat(np.arange(features.indptr.size - 1), np.diff(features.indptr))
    document = text // n_fields
    field = text % n_fields
    is_main = np.array([name == main for name in names] or [True])
    again = np.flatnonzero(~is_main[field])  # as words of their field
    value_documents = []
    values = []
    for number, names_of in enumerate(documents.features()):
        value_documents += [number] * len(names_of)
        values += names_of
    seeds = np.array([_hash(f"field {name}") for name in names], dtype=np.uint64)
    of_fields = (features.hashes[again] ^ seeds[field[again]]) * HASH_FACTOR  # then as in ``mixed``
    of_fields = (of_fields ^ of_fields >> np.uint64(32)) * HASH_FACTOR
    of_fields ^= of_fields >> np.uint64(29)
    n_values = len(values)
    documents_of = np.concatenate(
        [document, document[again], np.array(value_documents, dtype=np.int64)]
    )
    order = np.argsort(documents_of, kind="stable")
    n_features = np.bincount(documents_of, minlength=len(documents))

    def ordered(of_words: NDArray[Any], of_fields: NDArray[Any], of_values: NDArray[Any]) -> Any:
        return np.concatenate([of_words, of_fields, of_values])[order]

    return Features(
        features.words,
        ordered(features.hashes, of_fields, value_hashes(values)),
        ordered(features.firsts, features.firsts[again], np.arange(n_values)),
        ordered(features.sizes, features.sizes[again], np.zeros(n_values, dtype=np.int64)),
        np.append(0, np.cumsum(n_features)),
        ordered(np.full(text.size, WORD), field[again], np.full(n_values, VALUE)),
        names,
        values,
    )


def value_hashes(names: Sequence[str]) -> Hashes:
    """The hashes of categories, numbers and their bands."""
    return np.array([_hash(f"value {name}") for name in names], dtype=np.uint64)


def _hash(name: str) -> int:
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
