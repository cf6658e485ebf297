"""Cells of a table, and the labels in them, found where they lie in a block of lines.

What these kernels do in one go over the code points of a block is what ``str.split`` and ``str.strip`` do for each
line and each cell; no ``str`` is made but one for each different label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel
from shortlist.labels import LabelSets, NumberedLabels
from shortlist.texts import Texts, to_codes
from shortlist.vocabulary import Vocabulary

Codes = NDArray[np.uint32]

SPACES = np.array([chr(code).isspace() for code in range(0x3001)])  # U+3000 is the last space of Unicode
LINE_FEED = 10
SEED = np.uint64(0xCBF29CE484222325)  # not 0, which leading letters of code 0 would leave unchanged
FACTOR = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)


def even_columns(block: bytes, separator: str, width: int) -> list[Texts] | None:
    """The columns of lines that all have ``width`` fields, two or more; None where that, or UTF-8, is not so."""
    try:
        whole = block.decode()
    except UnicodeDecodeError:
        return None
    codes = to_codes(whole)
    n_lines = int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == LINE_FEED))
    ends = _ends_of_fields(codes, ord(separator), width, n_lines)
    if width < 2 or ends.size == 0:
        return None
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    return [Texts(whole, starts[column::width], ends[column::width], codes) for column in range(width)]


class LabelCells:
    """Labels where they lie in a file -> numbers, in order of first appearance. Each becomes a ``str`` once.

    A label is known by a 64-bit hash, as words are (text/tokens.py).
    """

    def __init__(self) -> None:
        self._known = Vocabulary()
        self._names: list[str] = []

    def split(self, cells: Sequence[str], separator: str | None) -> Sequence[list[str]]:
        """The labels in each cell: what is between separators, without the spaces around it, if anything is left.

        Without a separator, a cell is one label; if it is a space, any white space separates.
        """
        laid = Texts.of(cells)
        letters = to_codes(separator if separator is not None and separator != " " else "")
        starts, ends, indptr = _parts(laid.codes, laid.starts, laid.ends, letters, separator == " ", SPACES)
        return self.number(Texts(laid.whole, starts, ends, laid.codes), indptr)

    def together(self, columns: list[Sequence[list[str]]]) -> Sequence[list[str]]:
        """The labels that each example has in several columns, one column after the other."""
        if len(columns) == 1:
            return columns[0]
        sets = [cast("NumberedLabels", column).sets for column in columns]
        indptr = np.sum([one.indptr for one in sets], axis=0)
        ids, place = np.empty(indptr[-1], dtype=np.int32), indptr[:-1].copy()
        for one in sets:
            lengths = np.diff(one.indptr)
            ids[np.repeat(place - one.indptr[:-1], lengths) + np.arange(one.ids.size)] = one.ids
            place += lengths
        return cast("Sequence[list[str]]", NumberedLabels(self._names, LabelSets(indptr, ids)))

    def number(self, labels: Texts, indptr: Longs) -> Sequence[list[str]]:
        """The labels of examples, of which number i has labels[indptr[i]:indptr[i+1]]."""
        with np.errstate(over="ignore"):  # hashes overflow on purpose; NumPy warns of it where kernels run uncompiled
            hashes = _hashes(labels.codes, labels.starts, labels.ends)
        ids, new = self._known.learn(hashes)
        self._names += labels.pick(new)
        return cast("Sequence[list[str]]", NumberedLabels(self._names, LabelSets(indptr, ids)))


@kernel
def _ends_of_fields(codes: Codes, separator: int, width: int, n_lines: int) -> Longs:
    """Where each field of n_lines lines ends (int64[n_lines · width]); empty if a line has not ``width`` fields."""
    ends = np.empty(n_lines * width, np.int64)
    n, column = 0, 1
    for i in range(codes.size):
        if codes[i] == separator or codes[i] == LINE_FEED:
            if (codes[i] == LINE_FEED) != (column == width):
                return ends[:0]
            ends[n] = i
            n += 1
            column = 1 if column == width else column + 1
    return ends


@kernel
def _parts(
    codes: Codes, firsts: Longs, lasts: Longs, separator: Codes, at_spaces: bool, spaces: NDArray[np.bool_]
) -> tuple[Longs, Longs, Longs]:
    """Start and end of each part of the cells codes[firsts[i]:lasts[i]], and where the parts of each begin."""
    room = 0
    for cell in range(firsts.size):
        room += (lasts[cell] - firsts[cell] + 1) // 2  # a part is at least a letter and a separator
    starts = np.empty(room, np.int64)
    ends = np.empty(room, np.int64)
    indptr = np.zeros(firsts.size + 1, np.int64)
    n = 0
    for cell in range(firsts.size):
        i, last = firsts[cell], lasts[cell]
        while i < last:
            end = i
            while end < last:  # find what ends the part
                if at_spaces:
                    if codes[end] < spaces.size and spaces[codes[end]]:
                        break
                elif separator.size and codes[end] == separator[0] and end + separator.size <= last:
                    j = 1
                    while j < separator.size and codes[end + j] == separator[j]:
                        j += 1
                    if j == separator.size:
                        break
                end += 1
            start, stop = i, end
            while start < stop and codes[start] < spaces.size and spaces[codes[start]]:
                start += 1
            while start < stop and codes[stop - 1] < spaces.size and spaces[codes[stop - 1]]:
                stop -= 1
            if start < stop:
                starts[n] = start
                ends[n] = stop
                n += 1
            i = end + max(separator.size, 1)
        indptr[cell + 1] = n
    return starts[:n], ends[:n], indptr


@kernel
def _hashes(codes: Codes, starts: Longs, ends: Longs) -> NDArray[np.uint64]:
    """A hash of the letters codes[starts[j]:ends[j]] of each label."""
    hashes = np.empty(starts.size, np.uint64)
    for j in range(starts.size):
        h = SEED
        for i in range(starts[j], ends[j]):
            h = (h ^ codes[i]) * FACTOR
        hashes[j] = h ^ h >> HALF
    return hashes
