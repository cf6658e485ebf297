"""Whole numbers in as few bits as they need: each run of 64 has the width of its largest, and takes so many words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel, step

# Numbers of few bits, one behind the other in an array of words.


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


Bytes = NDArray[np.uint8]
SOME = 1 << 16  # numbers that are written at a time, in whole runs


def narrowed(numbers: NDArray[np.integer[Any]]) -> Bytes:
    """Numbers from 0 on: the widths of all runs, and behind them the words."""
    widths = np.zeros(-(-numbers.size // WORD), dtype=np.uint8)
    narrow = []
    for first in range(0, numbers.size, SOME):
        some = numbers[first : first + SOME].astype(np.uint64)
        words = np.zeros(some.size + WORD, dtype=np.uint64)
        n_words = _narrow(some, widths[first // WORD : -(-(first + some.size) // WORD)], words)
        narrow.append(words[:n_words].astype("<u8").view(np.uint8))
    return np.concatenate([widths, *narrow])


def widened(data: Bytes, size: int) -> Longs | None:
    """So many numbers again, None where the bytes are not those of so many. They may be any int64."""
    n_runs = -(-size // WORD)
    widths = data[:n_runs]
    n_words = int(widths.sum(dtype=np.int64))
    if widths.size < n_runs or widths.max(initial=0) > WORD or data.size != n_runs + 8 * n_words:
        return None
    words = np.zeros(n_words + 1, dtype=np.uint64)
    words[:n_words] = np.frombuffer(data[n_runs:].tobytes(), dtype="<u8")
    numbers = np.empty(size, dtype=np.uint64)
    _widen(widths, words, numbers)
    return numbers.view(np.int64)


@kernel
def _narrow(numbers: Words, widths: Bytes, words: Words) -> int:
    """words: zeros, of which as many are used as this gives."""
    used = 0
    for run in range(widths.size):
        last = min(numbers.size, (run + 1) * WORD)
        any_bit = np.uint64(0)
        for i in range(run * WORD, last):
            any_bit |= numbers[i]
        width = bits_of(any_bit)
        at = WORD * used
        for i in range(run * WORD, last if width else 0):
            at = write_bits(words, at, width, numbers[i])
        widths[run] = width
        used += width
    return used


@kernel
def _widen(widths: Bytes, words: Words, numbers: Words) -> None:
    """words: as many as all widths together, and one more."""
    used = 0
    for run in range(widths.size):
        width = int(widths[run])
        for k in range(min(numbers.size - run * WORD, WORD)):
            # a run of no bits has no words, and there may be none behind it
            numbers[run * WORD + k] = read_bits(words, WORD * used + k * width, width) if width else np.uint64(0)
        used += width
