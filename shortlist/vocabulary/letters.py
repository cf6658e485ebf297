"""The names of many features: their letters as UTF-8, laid end to end, and where each name ends in them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel
from shortlist.arrays.narrow import widened
from shortlist.errors import ModelFileError
from shortlist.files.container import Later
from shortlist.files.store import State

Letters = NDArray[np.uint8]
Ends: TypeAlias = NDArray[np.uint32] | Longs  # as few bytes as the last of them needs
SOME = 1 << 16  # bytes of names that are decoded at a time
QUOTE, EQUALS = np.uint8(ord('"')), np.uint8(ord("="))


def names_in(state: State, n: int) -> tuple[Letters | Later, Longs]:
    """The letters of the names of n features, as a model file has them, and where each ends.

    Where the file has them packed they are neither unpacked nor looked at before somebody asks for them.
    """
    if "name_lengths" not in state.arrays:
        return _in_plain_file(state, n)
    narrow, packed = widened(state.array("name_lengths", np.uint8), n), state.arrays.get("letters")
    later = packed if isinstance(packed, Later) and packed.dtype == np.uint8 else None
    letters = state.array("letters", np.uint8) if later is None else later
    lengths = np.full(1, -1) if narrow is None else narrow
    inside = lengths.min(initial=0) >= 0 and lengths.max(initial=0) <= letters.size
    state.require(inside and int(lengths.sum()) == letters.size, "the names follow one another")
    ends = np.cumsum(lengths)
    if not isinstance(letters, Later):
        count_letters(letters)
        state.require(are_whole(letters, ends), "names are whole letters")
    return letters, ends


def _in_plain_file(state: State, n: int) -> tuple[Letters, Longs]:
    letters, ends = state.array("letters", np.uint8), state.array("name_ends", np.int64)
    n_letters = count_letters(letters)
    state.require(ends.size == n, "every feature has one name")
    inside = not ends.size or (ends.min() >= 0 and ends.max() <= n_letters)  # or differences might overflow
    state.require(inside, "the names follow one another")
    lengths = np.diff(ends, prepend=0, append=n_letters)
    state.require(np.all(lengths[:-1] >= 0) and lengths[-1] == 0, "the names follow one another")
    return letters, ends_in_bytes(letters, ends)


def unpacked(packed: Later, ends: Ends) -> Letters:
    """The letters of a file at last, refused as they would have been when it was opened."""
    try:
        letters: Letters = np.asarray(packed)
        count_letters(letters)
        if are_whole(letters, ends):
            return letters
    except ValueError:  # they cannot be unpacked, or are no UTF-8
        pass
    raise ModelFileError("the model file is damaged: the names of its features cannot be read")


def as_text(letters: NDArray[np.uint8]) -> str:
    return letters.tobytes().decode("utf-8", "surrogatepass")


def are_whole(letters: Letters, ends: Ends) -> bool:
    """Whether no name ends within a letter."""
    return not (letters[ends[ends < letters.size]] & 0xC0 == 0x80).any()


def count_letters(letters: Letters) -> int:
    """How many letters there are; a UnicodeDecodeError where it is no UTF-8."""
    n, begin = 0, 0
    while begin < letters.size:  # some at a time, as letters take four bytes each where one of them does
        end = begin + SOME
        while end < letters.size and letters[end] & 0xC0 == 0x80 and end < begin + SOME + 4:
            end += 1
        n, begin = n + len(as_text(letters[begin:end])), end
    return n


@kernel
def ends_in_bytes(letters: NDArray[np.uint8], ends: Longs) -> Longs:
    """Where each of the names, which end after so many letters (ascending), ends in this UTF-8."""
    in_bytes = np.empty(ends.size, np.int64)
    n_letters = byte = 0
    for name in range(ends.size):
        while n_letters < ends[name] or (byte < letters.size and letters[byte] & 0xC0 == 0x80):  # 10xxxxxx goes on
            n_letters += letters[byte] & 0xC0 != 0x80
            byte += 1
        in_bytes[name] = byte
    return in_bytes


@kernel
def ends_in_letters(letters: NDArray[np.uint8], ends: Ends) -> Longs:
    """The inverse of ``ends_in_bytes``."""
    in_letters = np.empty(ends.size, np.int64)
    n_letters = byte = 0
    for name in range(ends.size):
        while byte < ends[name]:
            n_letters += letters[byte] & 0xC0 != 0x80
            byte += 1
        in_letters[name] = n_letters
    return in_letters


@kernel
def in_quotes(letters: Letters, ends: Ends) -> NDArray[np.bool_]:
    """Which of the names letters[ends[i]:ends[i+1]] are in quotation marks, with or without a field (``title: "whe"``).

    Those of categories are not (``author="Smith"``): they have a "=" before.
    """
    found = np.zeros(ends.size - 1, np.bool_)
    for name in range(found.size):
        at, last = np.int64(ends[name]), np.int64(ends[name + 1]) - 1
        if at < last and letters[last] == QUOTE:
            while letters[at] != QUOTE and letters[at] != EQUALS:
                at += 1
            found[name] = at < last and letters[at] == QUOTE
    return found
