"""Lines of ``target qid:1 3:0.5 7:2 # comment`` -> sparse rows. What svmlight, LETOR and the XMC repository share.

A kernel goes over the bytes once, and stops at each bad line to have it reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_rows, as_whole
from shortlist.errors import InputError
from shortlist.inputs.parsing import sparse_kernel as at
from shortlist.inputs.source import Source

# A model has room for every column up to the highest, so that one number in a small file could ask for gigabytes.
MOST_COLUMNS = 1 << 22
MANY_COLUMNS = (
    "a model takes memory for every column up to the highest: if there are so many, say how many with n_features, or "
    "fold them into fewer with hashed, for example hashed=1048576"
)


class Layout(NamedTuple):
    """How the indices are counted, and what is allowed."""

    first_index: int = 1
    n_features: int | None = None
    nonnegative: bool = False
    blank_lines: bool = False  # whether a blank line is an example without labels and features
    hashed: int | None = None  # the number of columns that all are folded into

    @classmethod
    def of(cls, first_index: int, n_features: int | None, hashed: int | None, **more: bool) -> Layout:
        """With the options of the formats, checked."""
        if n_features is not None and hashed is not None:
            raise InputError("n_features and hashed both say how many columns there are; give one of them")
        if n_features is not None:
            n_features = as_whole(n_features, "n_features", least=1)
        if hashed is not None:
            hashed = as_whole(hashed, "hashed", least=1)
        return cls(first_index, n_features, hashed=hashed, **more)

    @property
    def most(self) -> int:
        """How many columns there may be."""
        if self.hashed is not None:
            return at.LARGEST
        return MOST_COLUMNS if self.n_features is None else self.n_features


class SparseBlock(NamedTuple):
    """The examples of a block: their rows and line numbers, and the other parts of their lines."""

    rows: Rows
    numbers: list[int]
    targets: list[str]
    queries: list[str]
    comments: list[str]

    def only(self, good: list[int]) -> SparseBlock:
        """The examples at these places."""
        return SparseBlock(
            self.rows.take(good),
            [self.numbers[i] for i in good],
            *([part[i] for i in good] for part in (self.targets, self.queries, self.comments)),
        )


def sparse_blocks(source: Source, blocks: Iterable[tuple[int, bytes]], layout: Layout) -> Iterator[SparseBlock]:
    """Parse blocks of whole lines. Indices are counted from 0 in the rows, whatever they were in the file."""
    n_features = 0
    for first, block in _in_utf8(source, blocks):
        parsed = _Parsed(source, first, block, layout, n_features)
        n_features = parsed.n_features
        yield parsed.block()


def with_numbers(source: Source, block: SparseBlock, what: str) -> tuple[SparseBlock, NDArray[np.float64]]:
    """The examples whose target is a number, and these numbers; the others are bad."""
    numbers = []
    good = []
    for i, target in enumerate(block.targets):
        try:
            number = float(target)
        except ValueError:
            number = np.nan
        if np.isfinite(number):
            good.append(i)
            numbers.append(number)
        else:
            found = repr(target[:40]) if target else "nothing"
            source.bad(block.numbers[i], 1, f"expected {what}, a number, found {found}")
    return (block if len(good) == len(block.targets) else block.only(good)), np.array(numbers, dtype=np.float64)


def _in_utf8(source: Source, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The blocks, without lines that are not UTF-8, which are bad."""
    for first, block in blocks:
        numbers, lines = source.decoded(first, block) if not block.isascii() else (range(0), [])
        if isinstance(numbers, range):
            yield first, block
        else:
            for number, line in zip(numbers, lines, strict=True):
                yield number, line.encode() + b"\n"


class _Parsed:
    """One block, gone over by the kernel until its end, from bad line to bad line."""

    def __init__(self, source: Source, first: int, block: bytes, layout: Layout, n_features: int) -> None:
        self._source, self._first, self._layout = source, first, layout
        self._bytes = block
        data = np.frombuffer(block, dtype=np.uint8)
        assert data[-1] == ord("\n")  # the kernel relies on it
        lines, pairs = np.count_nonzero(data == ord("\n")), np.count_nonzero(data == ord(":"))
        self._output = output = at.Output(
            spans=np.empty((lines, 7), dtype=np.int64),
            indptr=np.zeros(lines + 1, dtype=np.int64),
            indices=np.empty(pairs, dtype=np.int32),
            values=np.empty(pairs, dtype=np.float64),
            difficult=np.empty((pairs, 3), dtype=np.int64),
        )
        rules = at.Rules(layout.first_index, layout.most, layout.nonnegative, layout.blank_lines)
        state = np.zeros(8, dtype=np.int64)
        state[at.FEATURES] = n_features
        while state[at.POSITION] < data.size:
            with np.errstate(over="ignore"):  # a number with too many digits overflows, and is left to Python
                at.parse(data, rules, output, state)
            if state[at.PROBLEM] != at.GOOD:
                self._report(int(state[at.PROBLEM]), int(state[at.PROBLEM_AT]), first + int(state[at.LINES]) - 1)
        self._n_rows = int(state[at.ROWS])
        self._n_values = int(state[at.VALUES])
        said = layout.n_features if layout.hashed is None else layout.hashed
        self.n_features = int(state[at.FEATURES]) if said is None else said
        for slot, start, end in output.difficult[: state[at.DIFFICULT]].tolist():
            output.values[slot] = float(block[start:end])

    def block(self) -> SparseBlock:
        spans = self._output.spans[: self._n_rows]
        return SparseBlock(
            self._rows(),
            (spans[:, at.LINE] + self._first).tolist(),
            self._texts(spans[:, at.TARGET], spans[:, at.TARGET_END]),
            self._texts(spans[:, at.QUERY], spans[:, at.QUERY_END]),
            self._texts(spans[:, at.COMMENT], spans[:, at.END]),
        )

    def _rows(self) -> Rows:
        indptr = self._output.indptr[: self._n_rows + 1]
        indices, values = self._output.indices[: self._n_values], self._output.values[: self._n_values]
        if not np.all(values):  # some numbers are so small that they were rounded to 0
            kept = np.flatnonzero(values)
            indptr, indices, values = np.searchsorted(kept, indptr), indices[kept], values[kept]
        if self._layout.hashed is not None:
            shape = (self._n_rows, self.n_features)
            return as_rows(scipy.sparse.csr_array((values, indices % self.n_features, indptr), shape=shape))
        return Rows(indptr, indices, values, self.n_features)

    def _texts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        if self._bytes.isascii():
            text = self._bytes.decode()
            return [text[start:end] for start, end in pairs]
        return [self._bytes[start:end].decode() for start, end in pairs]

    def _report(self, problem: int, place: int, number: int) -> None:
        start = self._bytes.rfind(b"\n", 0, place) + 1
        line = self._bytes[start : self._bytes.find(b"\n", place)]
        column = len(line[: place - start].decode()) + 1
        rest = line[place - start :].decode().split()
        found = repr(rest[0][:40]) if rest and not line[place - start : place - start + 1].isspace() else "nothing"
        most = self._layout.most + self._layout.first_index - 1
        zero_based = "; if the first feature of the file is number 0, give zero_based=True"
        expected = {
            at.PAIR: "expected index:value",
            at.LOW: f"expected an index of at least {self._layout.first_index}",
            at.HIGH: f"expected an index of at most {most}",
            at.ORDER: "expected indices in ascending order",
            at.TWICE: "expected each index once",
            at.VALUE: "expected a number after the colon",
            at.INFINITE: f"expected a number between -1e{at.REACH} and 1e{at.REACH}",
            at.NEGATIVE: "expected a value of at least 0",
            at.EMPTY: "expected a label before and after each comma",
            at.NO_QUERY: "expected a query after qid:",
        }[problem]
        more = zero_based if problem == at.LOW and self._layout.first_index == 1 else ""
        if problem == at.HIGH and self._layout.n_features is None:
            more = f"; {MANY_COLUMNS}"
        self._source.bad(number, column, f"{expected}, found {found}{more}")
