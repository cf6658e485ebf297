"""A vocabulary: the names of features, as UTF-8 laid end to end, and their numbers by hash."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Ints, Longs, hashing, kernel, loop, step
from shortlist.data.rows import grown
from shortlist.data.texts import to_text
from shortlist.errors import InputError
from shortlist.files.store import State

Letters = NDArray[np.uint8]  # of names, as UTF-8
Hashes = NDArray[np.uint64]
BYTES_CHECKED = 1 << 16  # of names, at a time
QUOTE_BYTE = np.uint8(ord('"'))
EQUALS_BYTE = np.uint8(ord("="))


def as_text(letters: Letters) -> str:
    return letters.tobytes().decode("utf-8", "surrogatepass")


def check_letters(letters: Letters) -> None:
    """Raise UnicodeDecodeError unless the letters are UTF-8."""
    first = 0
    while first < letters.size:  # in pieces: a text may take four bytes for each character
        end = first + BYTES_CHECKED
        while (
            end < letters.size and letters[end] & 0xC0 == 0x80 and end < first + BYTES_CHECKED + 4
        ):
            end += 1
        as_text(letters[first:end])
        first = end


@kernel
def in_quotes(letters: Letters, ends: Longs) -> NDArray[np.bool_]:
    """Mark the names letters[ends[i]:ends[i+1]] in quotation marks, with or without a field
    (``title: "whe"``).

    Those of categories (``author="Smith"``), with "=" before the quotation mark, are not marked.
    """
    marks = np.zeros(ends.size - 1, np.bool_)
    for name in range(marks.size):
        at = ends[name]
        last = ends[name + 1] - 1
        if at < last and letters[last] == QUOTE_BYTE:
            while letters[at] != QUOTE_BYTE and letters[at] != EQUALS_BYTE:
                at += 1
            marks[name] = at < last and letters[at] == QUOTE_BYTE
    return marks


# Features are numbered in order of first appearance. An open-addressing table finds the number of a
# 64-bit hash.
#
# The slot of a hash depends on a random factor of each table, so that nobody can choose hashes or
# words that all belong in one slot, where each would be compared with all others. Numbers do not
# depend on slots.

EMPTY = np.int32(-1)
MOST_FEATURES = 2**30  # numbers are int32, and the table has at least twice as many slots
MOST_NAME_BYTES = 2**32 - 1  # places in the names are uint32


class Vocabulary:
    """Hash -> number, and number -> name."""

    def __init__(self, n: int = 0) -> None:
        """An empty vocabulary with room for n features."""
        room = max(512, 1 << (n - 1).bit_length())
        # changed by the kernel, consistent when it is interrupted
        self._size = np.zeros(1, dtype=np.int64)
        self._factor = odd_number()
        self._slots = empty_table(room)
        self._hashes = np.empty(room, dtype=np.uint64)
        self._letters: Letters = np.empty(4096, dtype=np.uint8)
        # name i is _letters[_ends[i]:_ends[i+1]]
        self._ends: Longs = np.zeros(room + 1, dtype=np.uint32)
        # ``quoted`` for the first names, and how many these are
        self._quoted = np.zeros(0, dtype=np.bool_)
        self._n_marked = 0

    def __len__(self) -> int:
        return int(self._size[0])

    @property
    def n_bytes(self) -> int:
        """The number of bytes of all names."""
        return int(self._ends[len(self)])

    @property
    def hashes(self) -> Hashes:
        return self._hashes[: len(self)]

    def find(self, hashes: Hashes) -> Ints:
        """Return the numbers of these features, −1 for unknown ones."""
        numbers = np.empty(hashes.size, dtype=np.int32)
        with hashing():
            _find(hashes, self._factor, self._slots, self._hashes, numbers)
        return numbers

    def learn(self, hashes: Hashes) -> tuple[Ints, Longs]:
        """Return the numbers of these features, and where each new one first stands. New ones
        have empty names.
        """
        numbers = np.empty(hashes.size, dtype=np.int32)
        new = np.empty(hashes.size, dtype=np.int64)
        n_new = done = 0
        while True:
            room = self._slots, self._hashes, self._ends, self._size
            with hashing():
                done, n_new = _learn(hashes, done, numbers, new, n_new, self._factor, *room)
            if done == hashes.size:
                return numbers, new[:n_new]
            self._grow()

    def name(self, names: Letters, ends: Longs) -> None:
        """Name the newest features: the names as UTF-8 end to end, and where each ends."""
        first = len(self) - ends.size
        used = int(self._ends[first])
        self._letters = grown(self._letters, used + names.size)
        self._letters[used : used + names.size] = names
        self._ends[first + 1 : len(self) + 1] = used + ends

    def names(self, numbers: Sequence[int] | None = None) -> list[str]:
        """Return the names of these features, or of all."""
        if numbers is None:
            numbers = range(len(self))
        return [as_text(self._letters[self._ends[i] : self._ends[i + 1]]) for i in numbers]

    def having(self, letter: str, first: int = 0) -> Longs:
        """Return the numbers, from ``first`` on, of the features whose names have this ASCII
        character.
        """
        at = int(self._ends[first]) + np.flatnonzero(
            self._letters[self._ends[first] : self.n_bytes] == ord(letter)
        )
        return np.unique(np.searchsorted(self._ends[1 : len(self) + 1], at, side="right"))

    def quoted(self) -> NDArray[np.bool_]:
        """Mark the features whose names are in quotation marks, as runs of characters are;
        cached.
        """
        first = self._n_marked
        n = len(self)
        if first < n:
            marks = grown(self._quoted, n)
            marks[first:n] = in_quotes(self._letters, self._ends[first : n + 1])
            self._quoted = marks
            self._n_marked = n
        return self._quoted

    def keep(self, marks: NDArray[np.bool_]) -> Vocabulary:
        """Return a vocabulary of the marked features, in the same order."""
        vocabulary = Vocabulary(int(np.count_nonzero(marks)))
        vocabulary.learn(self.hashes[marks])
        letters, ends = self._names_of(marks)
        vocabulary._letters = letters
        vocabulary._ends[1 : ends.size + 1] = ends
        return vocabulary

    def _names_of(self, marks: NDArray[np.bool_]) -> tuple[Letters, Longs]:
        """Return the names of the marked features end to end, and where each ends."""
        lengths = np.diff(self._ends[: len(self) + 1])
        return self._letters[: self.n_bytes][np.repeat(marks, lengths)], np.cumsum(lengths[marks])

    def first(self, n: int) -> Vocabulary:
        """Return a vocabulary of the first n features."""
        return self if n == len(self) else self.keep(np.arange(len(self)) < n)

    def merge(self, other: Vocabulary) -> Ints:
        """Add the features of another vocabulary, in its order, and return the number of each
        here.
        """
        numbers, new = self.learn(other.hashes)
        is_new = np.zeros(len(other), dtype=np.bool_)
        is_new[new] = True
        self.name(*other._names_of(is_new))
        return numbers

    def _grow(self) -> None:
        if 2 * self._hashes.size > MOST_FEATURES:
            raise InputError(
                f"the vocabulary cannot hold more than {MOST_FEATURES:,} features; use hashed=..."
            )
        hashes = grown(self._hashes, 2 * self._hashes.size)
        ends = grown(self._ends, hashes.size + 1)
        slots = empty_table(hashes.size)
        with hashing():
            _fill(self._factor, slots, self.hashes)
        self._hashes = hashes
        self._ends = ends
        self._slots = slots

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays for a model file."""
        lengths = np.diff(self._ends[: len(self) + 1]).astype(np.int32)
        return {
            "hashes": self.hashes,
            "letters": self._letters[: self.n_bytes],
            "name_lengths": lengths,
        }

    @classmethod
    def from_state(cls, state: State) -> Vocabulary:
        """Make the vocabulary of a state, which is checked; the inverse of ``arrays``."""
        hashes = state.array("hashes", np.uint64)
        letters = state.array("letters", np.uint8)
        lengths = state.array("name_lengths", np.int32).astype(np.int64)
        state.require(lengths.size == hashes.size, "every feature has one name")
        inside = lengths.min(initial=0) >= 0 and lengths.max(initial=0) <= letters.size
        state.require(inside and int(lengths.sum()) == letters.size, "the names follow one another")
        ends = np.cumsum(lengths)
        check_letters(letters)
        cut = letters[ends[ends < letters.size]] & 0xC0 == 0x80
        state.require(not cut.any(), "names are whole letters")
        few = hashes.size <= MOST_FEATURES and letters.size <= MOST_NAME_BYTES
        state.require(few, "there are not too many features")
        vocabulary = cls(hashes.size)
        vocabulary._hashes[: hashes.size] = hashes
        vocabulary._size[0] = hashes.size
        with hashing():
            differ = _fill(vocabulary._factor, vocabulary._slots, vocabulary.hashes)
        state.require(differ, "no two features are the same")
        vocabulary._letters = letters
        vocabulary._ends[1 : hashes.size + 1] = ends
        return vocabulary


def empty_table(n: int) -> Ints:
    """Return an empty table for n hashes; n is a power of 2."""
    return np.full(2 * n, EMPTY, dtype=np.int32)


def odd_number() -> Hashes:
    """Return a random odd factor, as an array, which Numba takes faster than a NumPy number."""
    return np.frombuffer(os.urandom(8), dtype=np.uint64) | np.uint64(1)


def encoded(letters: NDArray[np.uint32], ends: Longs) -> tuple[Letters, Longs]:
    """Return characters as UTF-8, and where the names end in it."""
    names = np.frombuffer(bytearray(to_text(letters), "utf-8", "surrogatepass"), dtype=np.uint8)
    if names.size == letters.size:  # ASCII
        return names, ends
    widths = 1 + (letters >= 0x80).astype(np.int64) + (letters >= 0x800) + (letters >= 0x10000)
    return names, np.append(0, np.cumsum(widths))[ends]


@step
def _shift(slots: Ints) -> np.uint64:
    """Return by how many bits a product is shifted to get a slot; slots int32[power of 2]."""
    shift = 64
    size = slots.size
    while size > 1:
        shift -= 1
        size >>= 1
    return np.uint64(shift)


@step
def _slot(
    searched: np.uint64,
    factor: np.uint64,
    shift: np.uint64,
    slots: Ints,
    hashes: Hashes,
) -> np.uint64:
    """Return the slot that holds the number of a hash, or the empty one where it belongs.

    slots int32[power of 2] hold numbers or EMPTY, hashes uint64[...] are in the order of the
    numbers.
    """
    mask = np.uint64(slots.size - 1)
    slot = (searched * factor) >> shift
    while slots[slot] != EMPTY and hashes[slots[slot]] != searched:
        slot = (slot + np.uint64(1)) & mask
    return slot


@loop
def _find(
    searched: Hashes,
    factor: Hashes,
    slots: Ints,
    hashes: Hashes,
    numbers: Ints,
) -> None:
    """Write the number of each searched hash, or EMPTY, to numbers int32[as many]."""
    shift = _shift(slots)
    for j in range(searched.size):
        numbers[j] = slots[_slot(searched[j], factor[0], shift, slots, hashes)]


@loop
def _learn(
    searched: Hashes,
    done: int,
    numbers: Ints,
    new: Longs,
    n_new: int,
    factor: Hashes,
    slots: Ints,
    hashes: Hashes,
    ends: Longs,
    size: Longs,
) -> tuple[int, int]:
    """Number the searched hashes from ``done`` on; write to ``new`` where each new one stands; stop
    if there is no room.

    Return how many are done, and how many of them are new. New features get empty names.
    """
    shift = _shift(slots)
    for j in range(done, searched.size):
        slot = _slot(searched[j], factor[0], shift, slots, hashes)
        number = slots[slot]
        if number == EMPTY:
            if size[0] == hashes.size:
                return j, n_new
            number = np.int32(size[0])
            slots[slot] = number
            hashes[number] = searched[j]
            ends[number + 1] = ends[number]
            size[0] += 1
            new[n_new] = j
            n_new += 1
        numbers[j] = number
    return searched.size, n_new


@loop
def _fill(factor: Hashes, slots: Ints, hashes: Hashes) -> bool:
    """Enter all hashes in an empty table; return whether all differ."""
    shift = _shift(slots)
    for number in range(hashes.size):
        slot = _slot(hashes[number], factor[0], shift, slots, hashes)
        if slots[slot] != EMPTY:
            return False
        slots[slot] = number
    return True
