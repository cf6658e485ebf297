"""Runs of characters inside words and over their edges: what scikit-learn's ``char_wb`` counts.

Here a word is a longest run of characters without white space, punctuation included, with a space put before and
behind it. All its runs of ``least`` to ``most`` characters are features; a word that is shorter with its edges is one
as it is, once. Languages that are written without spaces give runs across their words.

A run is spelled in quotation marks, its edges as spaces: the word "wheat" has the runs `" wh"`, `"whe"` ... `"at "`.
No feature of words has quotation marks, so none has the same name.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel
from shortlist.text.tokens import FACTOR, NOT_ONE_TO_ONE, SEED, mixed
from shortlist.texts import to_codes, to_text

SPACE, QUOTE = np.uint32(ord(" ")), np.uint32(ord('"'))
BEFORE, BEHIND = 2, 1  # the edges that a run has, beside four times its letters


@functools.cache
def character_table(lowercase: bool) -> NDArray[np.uint32]:
    """For each code point the character it counts as; a space for all white space."""
    characters = to_text(np.arange(0x110000, dtype=np.uint32))
    white = np.array([character.isspace() for character in characters])
    if lowercase:
        for character in NOT_ONE_TO_ONE:
            characters = characters.replace(character, character.lower()[0])
        characters = characters.lower()
    table = to_codes(characters).copy()
    table[white] = SPACE
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
