"""CSV and TSV with named columns.

The first line names the columns. Where columns are given by number (from 0) there is no such line; and where there is
none that names ``text`` or ``labels`` in a TSV of two columns, they are taken to be labels and text, as in
``p213 p1851<TAB>The ecology of Kalimantan``, and a note says so.

CSV fields may be quoted, with quotes doubled inside and lines broken inside (RFC 4180). TSV has no quotes unless
``quote='"'`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import ClassVar

import numpy as np

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.parsing.cells import LabelCells, even_columns
from shortlist.inputs.parsing.fields import place_of
from shortlist.inputs.parsing.quoting import Quoting
from shortlist.inputs.parsing.table import USUAL_LABELS, BadValue, Table
from shortlist.inputs.source import Source


@dataclass
class Csv(Table):
    name = "csv"
    description = "comma-separated values with named columns; several labels in one column with label_separator"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    separator: str = ","
    quote: str | None = '"'

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.endswith(cls.endings) or "text" in head.partition("\n")[0].rstrip("\r").split(cls.separator)[:100]

    @property
    def by_line(self) -> bool:
        return self.quote is None  # a quoted field may hold the end of a line

    def of_pieces(self, source: Source, first: str) -> tuple[str, bool, Csv]:
        layout = self._layout(source, first.split(self.separator))
        if layout.has_header:
            return first, True, self
        numbers = self.separator.join(map(str, range(layout.width)))
        return numbers, False, replace(self, **{what: str(place) for what, place in layout.places.items()})

    def examples(self, source: Source) -> Iterator[Examples]:
        quoting = self._quoting(source)
        layout = None
        for first, block in source.blocks():
            if quoting and (quoting.waiting or quoting.quote.encode() in block):
                numbers, rows = quoting.rows(*source.decoded(first, block))
            else:
                if layout is None and (header := _first_line(block)):
                    layout = self._first_row(source, first, header.split(self.separator))
                    if layout.has_header:
                        first, block = first + 1, block[block.index(b"\n") + 1 :]
                if layout and (columns := even_columns(block, self.separator, layout.width)):
                    yield self._examples(source, layout, range(first, first + len(columns[0])), columns)
                    continue
                lines = zip(*source.decoded(first, block), strict=True)
                full = [(number, line.split(self.separator)) for number, line in lines if line]
                numbers, rows = [number for number, _ in full], [row for _, row in full]
            if rows:
                layout, examples = self._examples_of_rows(source, layout, numbers, rows)
                yield examples
        if quoting and quoting.waiting:
            numbers, rows = quoting.rows([], [], last=True)
            if rows:
                yield self._examples_of_rows(source, layout, numbers, rows)[1]

    def _quoting(self, source: Source) -> Quoting | None:
        """What reads quoted fields; the options are checked here."""
        for option in (self.separator, *([self.quote] if self.quote is not None else [])):
            if not isinstance(option, str) or len(option.encode()) != 1 or option in "\r\n":
                raise InputError(f"separator and quote must each be one ASCII character, not {option!r}")
        if self.separator == self.quote:
            raise InputError("separator and quote must differ")
        return None if self.quote is None else Quoting(source, self.separator, self.quote)

    def _first_row(self, source: Source, number: int, row: list[str]) -> Layout:
        """Where the columns are. A bad line that should have said so is not skipped."""
        if source.first_bad is not None and source.first_bad[0] < number:
            raise InputError(f"{source.first_bad[1]}; the first line cannot be skipped")
        return self._layout(source, row)

    def _layout(self, source: Source, first: list[str]) -> Layout:
        """Where the columns are, from the first row."""
        wanted = {what: _number(column, first) for what, column in self.wanted().items()}
        if all(isinstance(column, int) for what, column in wanted.items() if (what, column) != USUAL_LABELS):
            places = {what: column for what, column in wanted.items() if isinstance(column, int)}
            for what, place in places.items():
                if not 0 <= place < len(first):
                    raise InputError(f"{source.name}: there is no column {place} for {what}; there are {len(first)}")
            return Layout(len(first), places, False)
        unnamed = self.separator == "\t" and len(first) == 2 and not set(first) & set(wanted.values())
        if unnamed and (self.text, self.labels) == ("text", "labels"):
            source.progress.notes.append(
                f"{source.name}: no first line names the columns, so they were taken to be labels and text"
            )
            if self.label_separator is None:
                self.label_separator = " "
            return Layout(2, {"labels": 0, "text": 1}, False)
        named = self.present(first, f"{source.name}, line 1")
        return Layout(len(first), {what: first.index(str(column)) for what, column in named.items()}, True)

    def _examples_of_rows(
        self, source: Source, layout: Layout | None, numbers: Sequence[int], rows: list[list[str]]
    ) -> tuple[Layout, Examples]:
        """The examples of rows, of which those with too few or too many fields are bad.

        Where there is no layout yet, the first row gives it; either way, it is given back.
        """
        if layout is None:
            layout = self._first_row(source, numbers[0], rows[0])
            if layout.has_header:
                numbers, rows = numbers[1:], rows[1:]
        kept = []
        for number, row in zip(numbers, rows, strict=True):
            if len(row) == layout.width:
                kept.append((number, row))
            else:
                end = len(self.separator.join(row[: layout.width])) + 1
                source.bad(number, end, f"expected {layout.width} columns, found {len(row)}")
        if not kept:
            return layout, Examples(texts=[])
        columns = [[row[column] for _, row in kept] for column in range(layout.width)]
        return layout, self._examples(source, layout, [number for number, _ in kept], columns)

    def _examples(
        self, source: Source, layout: Layout, numbers: Sequence[int], columns: Sequence[Sequence[str]]
    ) -> Examples:
        column = {what: columns[place] for what, place in layout.places.items()}
        ratings = None
        if "rating" in column:
            rows = zip(numbers, zip(*columns, strict=True), strict=True)
            ratings = np.array([self._rating(source, number, row, layout.places["rating"]) for number, row in rows])
            if np.isnan(ratings).any():  # bad, and already reported
                good = np.flatnonzero(~np.isnan(ratings)).tolist()
                return self._examples(source, layout, good, [[values[i] for i in good] for values in columns])
        return Examples(
            texts=column["text"],
            labels=layout.labels.split(column["labels"], self.label_separator) if "labels" in column else None,
            ids=list(column["id"]) if "id" in column else None,
            ratings=ratings,
        )

    def _rating(self, source: Source, number: int, row: Sequence[str], place: int) -> float:
        try:
            return self.to_rating(row[place])
        except BadValue as problem:
            source.bad(number, place_of(place, row), str(problem))
            return nan


def _first_line(block: bytes) -> str | None:
    """The first line of a block; None where it is empty or not in UTF-8."""
    try:
        return block[: block.index(b"\n")].decode() or None
    except UnicodeDecodeError:
        return None


def _number(column: str | int, first: list[str]) -> str | int:
    """A column's number where it is given as text, as on the command line, and is not itself a name."""
    is_number = isinstance(column, str) and re.fullmatch("[0-9]{1,9}", column) and column not in first
    return int(column) if is_number else column


@dataclass
class Layout:
    """How many columns there are, where those asked for stand, and whether the first line names them."""

    width: int
    places: dict[str, int]
    has_header: bool
    labels: LabelCells = field(default_factory=LabelCells)


@dataclass
class Tsv(Csv):
    name = "tsv"
    description = "tab-separated values with named columns, or labels, a tab and a text on each line"
    endings = (".tsv", ".tab")

    separator: str = "\t"
    quote: str | None = None
