"""Numbers of few bits, one behind the other in an array of words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import step

Words = NDArray[np.uint64]

WORD = 64  # bits
ONE, SIX = np.uint64(1), np.uint64(6)
LAST = np.uint64(WORD - 1)
ALL = np.uint64(2**WORD - 1)


@step
def bits_of(number: np.uint64) -> int:
    """The fewest bits that hold a number."""
    n = 0
    while number:
        number >>= ONE
        n += 1
    return n


@step
def write_bits(words: Words, at: int, width: int, number: np.uint64) -> int:
    """Write a number of at most so many bits at a place where all bits are 0; gives the place behind it."""
    word, bit = at >> 6, np.uint64(at) & LAST
    words[word] |= number << bit
    if at % WORD + width > WORD:
        words[word + 1] = number >> (np.uint64(WORD) - bit)
    return at + width


@step
def read_bits(words: Words, at: int, width: int) -> np.uint64:
    """The number of so many bits at that place, behind which there is at least one more word."""
    word, bit = np.uint64(at) >> SIX, np.uint64(at) & LAST
    both = (words[word] >> bit) | ((words[word + ONE] << ONE) << (LAST - bit))  # a shift by 64 bits would do nothing
    return both & first_bits(width)


@step
def first_bits(width: int) -> np.uint64:
    """All bits of a number of so many."""
    return ALL >> np.uint64(WORD - width) if width else np.uint64(0)
