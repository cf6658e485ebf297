"""Quoted fields (RFC 4180): a field may stand in quotes, with quotes doubled inside, and lines may break inside.

Python's csv module is not used because it cannot say in which column a mistake stands, and refuses fields of more
than 128 KiB unless a setting of the whole process is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import counted
from shortlist.inputs.source import Source

# Lines with a fixed number of fields and no quotes: what MovieLens, EachMovie and all judgements share.


Rows = list[list[str]]


def field_blocks(
    source: Source, names: tuple[str, ...], separator: str | None = None
) -> Iterator[tuple[list[int], Rows]]:
    """Blocks of rows, one field for each name, with their line numbers; separated by spaces unless said otherwise."""
    for numbers, lines in source.line_blocks():
        kept, rows = [], []
        for number, line in zip(numbers, lines, strict=True):
            row = line.split(separator)
            if len(row) == len(names):
                kept.append(number)
                rows.append(row)
            elif line.strip():
                fields = re.finditer(r"\S+" if separator is None else r"[^,:\t]+", line)
                column = [*(field.start() + 1 for field in fields), len(line) + 1][: len(names) + 1][-1]
                source.bad(number, column, f"expected {', '.join(names)}, found {counted(len(row), 'fields')}")
        yield kept, rows


def with_numbers(
    source: Source, numbers: list[int], rows: Rows, field: int, what: str, among: tuple[float, ...] = ()
) -> tuple[Rows, NDArray[np.float64]]:
    """The rows whose field is a finite number, and these numbers; the others are bad."""

    def to_number(line: int, row: list[str]) -> float:
        text = row[field]
        try:
            number = float(text)
        except ValueError:
            number = nan
        if not isfinite(number) or (among and number not in among):
            source.bad(line, place_of(field, row), f"expected {what}, a number, found {text[:40]!r}")
            return nan
        return number

    found = np.array([to_number(line, row) for line, row in zip(numbers, rows, strict=True)], dtype=np.float64)
    good = ~np.isnan(found)
    if good.all():
        return rows, found
    return [row for row, is_good in zip(rows, good, strict=True) if is_good], found[good]


def place_of(field: int, row: Sequence[str]) -> int:
    """The column of the line, from 1, in which a field begins, where one character stands between fields."""
    return sum(len(before) + 1 for before in row[:field]) + 1


class Quoting:
    """Lines -> rows of fields. ``waiting`` holds the lines of a record whose quote is still open.

    A carriage return at the end of a line belongs to a field that is still open, and else to the end of the line.
    """

    def __init__(self, source: Source, separator: str, quote: str) -> None:
        self.source = source
        self.separator = separator
        self.quote = quote
        self.waiting: list[tuple[int, str]] = []
        self._held = 0
        q, s = re.escape(quote), re.escape(separator)
        self._odd_quotes = re.compile(f"{q}(?<!{q}{q})(?:{q}{q})*(?!{q})")
        self._field = re.compile(f"{q}([^{q}]*(?:{q}{q}[^{q}]*)*){q}(?!{q})|(?!{q})[^{s}]*")

    def rows(self, numbers: Sequence[int], lines: list[str], last: bool = False) -> tuple[list[int], list[list[str]]]:
        """The rows of the lines that waited and of these, with the number of the line on which each begins."""
        queue, waited = self.waiting, bool(self.waiting)
        queue.extend(zip(numbers, lines, strict=True))
        if waited and not last and not any(map(self._closes, lines)) and self._fits(lines):
            return [], []
        self.waiting, self._held = [], 0
        starts: list[int] = []
        rows: list[list[str]] = []
        at = 0
        while at < len(queue):
            number, first = queue[at]
            try:
                fields, at = self._record(queue, at)
                if first not in ("", "\r"):
                    starts.append(number)
                    rows.append(fields)
            except _BadQuote as problem:
                may_close = isinstance(problem, _Unclosed) and not last
                if may_close and self._fits([line for _, line in queue[at:]]):
                    self.waiting = queue[at:]
                    break
                self.source.bad(queue[problem.line][0], problem.column, str(problem))
                at = problem.line + 1  # the lines after the one that opens a quote may still be good
        return starts, rows

    def _fits(self, lines: list[str]) -> bool:
        """Whether the record that is open may go on: it is not too long with these lines."""
        self._held += sum(map(len, lines))
        return self._held <= self.source.progress.max_record

    def _closes(self, line: str) -> bool:
        """Whether a line that begins inside quotes closes them: some of its quotes are an odd number in a row."""
        return self.quote in line and self._odd_quotes.search(line) is not None

    def _record(self, queue: list[tuple[int, str]], at: int) -> tuple[list[str], int]:
        """The fields of the record that begins on line ``at`` of the queue, and the line after its last."""
        line = queue[at][1]
        if self.quote not in line:
            return line.removesuffix("\r").split(self.separator), at + 1
        fields = []
        column, end = 0, len(line.removesuffix("\r"))
        while True:
            field = self._field.match(line, column, end)
            if field is None:  # a quote opens that another line closes
                last = next((i for i in range(at + 1, len(queue)) if self._closes(queue[i][1])), None)
                if last is None:
                    raise _Unclosed(at, column, "expected a closing quote for the one that opens here, found none")
                opened = "\n".join([line[column:], *(inner for _, inner in queue[at + 1 : last]), ""])
                at, line = last, queue[last][1]
                end = len(line.removesuffix("\r"))
                field = self._field.match(opened + line, 0, len(opened) + end)
                assert field is not None
                column = field.end() - len(opened)
            else:
                column = field.end()
            fields.append(field[0] if field[1] is None else field[1].replace(self.quote * 2, self.quote))
            if column == end:
                return fields, at + 1
            if line[column] != self.separator:
                wrong = f"expected {self.separator!r} after the closing quote, found {line[column]!r}"
                raise _BadQuote(at, column, wrong)
            column += 1


class _BadQuote(Exception):
    def __init__(self, line: int, place: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line  # of the queue
        self.column = place + 1


class _Unclosed(_BadQuote):
    pass
