"""CSV and TSV with named columns.

The first line names the columns. Where columns are given by number (from 0) there is no such line; and where there is
none that names ``text`` or ``labels`` but each line has two columns, they are taken to be labels and text, as in
``p213 p1851<TAB>The ecology of Kalimantan``, and a note says so.

CSV fields may be quoted, with quotes doubled inside and lines broken inside (RFC 4180). TSV has no quotes unless
``quote='"'`` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.quoting import Quoting
from shortlist.inputs.source import Source
from shortlist.inputs.table import BadValue, Table


@dataclass
class Csv(Table):
    name = "csv"
    description = "comma-separated values with named columns; several labels in one column with label_separator"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    separator: str = ","
    quote: str | None = '"'

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.endswith(cls.endings)

    def examples(self, source: Source) -> Iterator[Examples]:
        for option in (self.separator, *([self.quote] if self.quote is not None else [])):
            if not isinstance(option, str) or len(option) != 1 or option in "\r\n":
                raise InputError(f"separator and quote must each be one character, not {option!r}")
        if self.separator == self.quote:
            raise InputError("separator and quote must differ")
        layout = None
        for numbers, rows in self._records(source):
            if layout is None and rows:
                layout = self._layout(source, rows)
                if layout.has_header:
                    numbers, rows = numbers[1:], rows[1:]
            if layout is not None:
                yield self._examples(source, layout, numbers, rows)

    def _layout(self, source: Source, rows: list[list[str]]) -> Layout:
        """Where the columns are, from the first rows."""
        wanted, first = self.wanted(), rows[0]
        if all(isinstance(column, int) for column in wanted.values() if column != "labels"):
            places = {what: column for what, column in wanted.items() if isinstance(column, int)}
            for what, place in places.items():
                if not 0 <= place < len(first):
                    raise InputError(f"{source.name}: there is no column {place} for {what}; there are {len(first)}")
            return Layout(len(first), places, False)
        places = {what: first.index(column) for what, column in wanted.items() if column in first}
        if not places and len(first) == 2 and (self.text, self.labels) == ("text", "labels"):
            source.progress.notes.append(
                f"{source.name}: no first line names the columns, so they were taken to be labels and text"
            )
            if self.label_separator is None:
                self.label_separator = " "
            return Layout(2, {"labels": 0, "text": 1}, False)
        for what, column in wanted.items():
            if what not in places and not (what == "labels" and column == "labels"):
                found = ", ".join(map(repr, first))
                raise InputError(f"{source.name}, line 1: expected a column {column!r} for {what}, found {found}")
        return Layout(len(first), places, True)

    def _examples(self, source: Source, layout: Layout, numbers: Sequence[int], rows: list[list[str]]) -> Examples:
        width, places = layout.width, layout.places
        if any(len(row) != width for row in rows):
            numbers, rows = self._of_width(source, width, numbers, rows)
        text, labels = places["text"], places.get("labels")
        if "id" not in places and "rating" not in places:
            split = str.split if self.label_separator == " " else self.split_labels
            return Examples(
                texts=[row[text] for row in rows],
                labels=None if labels is None else [split(row[labels]) for row in rows],
            )
        read = []
        for number, row in zip(numbers, rows, strict=True):
            try:
                rating = self.to_rating(row[places["rating"]]) if "rating" in places else None
            except BadValue as problem:
                source.bad(number, None, str(problem))
                continue
            name = row[places["id"]] if "id" in places else None
            read.append((row[text], None if labels is None else self.split_labels(row[labels]), name, rating))
        return self.batch(read)

    def _of_width(
        self, source: Source, width: int, numbers: Sequence[int], rows: list[list[str]]
    ) -> tuple[list[int], list[list[str]]]:
        """The rows that have as many fields as there are columns; the others are bad."""
        kept = []
        for number, row in zip(numbers, rows, strict=True):
            if len(row) == width:
                kept.append((number, row))
            else:
                end = len(self.separator.join(row[:width])) + 1
                source.bad(number, end, f"expected {width} columns, found {len(row)}")
        return [number for number, _ in kept], [row for _, row in kept]

    def _records(self, source: Source) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
        """Blocks of rows of fields, with the line that each begins on. Empty lines are no rows."""
        separator, quote = self.separator, self.quote
        quoting = Quoting(source, separator, quote) if quote is not None else None
        for numbers, lines in source.line_blocks():
            if quoting and (quoting.waiting or any(quoting.quote in line for line in lines)):
                yield quoting.rows(numbers, lines)
            else:
                if "" in lines:
                    full = [(number, line) for number, line in zip(numbers, lines, strict=True) if line]
                    numbers, lines = [number for number, _ in full], [line for _, line in full]
                yield numbers, [line.split(separator) for line in lines]
        if quoting and quoting.waiting:
            yield quoting.rows([], [], last=True)


class Layout(NamedTuple):
    """How many columns there are, where those asked for stand, and whether the first line names them."""

    width: int
    places: dict[str, int]
    has_header: bool


@dataclass
class Tsv(Csv):
    name = "tsv"
    description = "tab-separated values with named columns, or labels, a tab and a text on each line"
    endings = (".tsv", ".tab")

    separator: str = "\t"
    quote: str | None = None
