"""CSV and TSV with named columns.

The first line names the columns. Where columns are given by number (from 0) there is no such line; and where there is
none that names ``text`` or ``labels`` in a TSV of two columns, they are taken to be labels and text, as in
``p213 p1851<TAB>The ecology of Kalimantan``, or a text and labels in angle brackets, as Annif has them,
``The ecology of Kalimantan<TAB><http://…/p213> <http://…/p1851>``; and a note says so.

CSV fields may be quoted, with quotes doubled inside and lines broken inside (RFC 4180). TSV has no quotes unless
``quote='"'`` says so. What separates the cells of a CSV is recognised (separators.py) unless it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import nan
from typing import Any, ClassVar

import numpy as np

from shortlist.errors import InputError, counted
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.parsing.columns import (
    NAMED,
    Column,
    bare,
    listed,
    names_in,
    recognised,
    shown,
    unguarded,
    with_point,
)
from shortlist.inputs.parsing.quoting import Quoting, place_of
from shortlist.inputs.parsing.table import BadValue, Table, numbered
from shortlist.inputs.source import Source
from shortlist.texts.fields import Fielded, Value, Vectors, WithVectors, cell_value

BRACKETED = re.compile(r"<[^<>\s]+>(?: +<[^<>\s]+>)*\s*")  # Annif's subjects
UNSAID = -1.0  # where a column says neither yes nor no


@dataclass
class Csv(Table):
    name = "csv"
    description = "comma-separated values with named columns, or semicolons; several labels with label_separator"
    endings: ClassVar[tuple[str, ...]] = (".csv",)
    separators: ClassVar[tuple[str, ...]] = (",", ";")

    separator: str | None = None
    quote: str | None = '"'
    brackets: bool = False  # around each label, as in Annif's files

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        first = head.partition("\n")[0].rstrip("\r")
        named = any("text" in [cell.strip('"') for cell in first.split(one)[:100]] for one in cls.separators)
        spaced = any({"text", "labels"} <= set(names_in(first, one)[:100]) for one in cls.separators)
        return name.endswith(cls.endings) or named or spaced  # "some words, text, and more" is a sentence

    @property
    def by_line(self) -> bool:
        return self.quote is None  # a quoted field may hold the end of a line

    def of_pieces(self, source: Source, first: str) -> tuple[str, bool, Csv]:
        own = self._separated(source)
        layout = own._layout(source, first.split(own._between))
        if layout.has_header:
            return first, True, own
        numbers = own._between.join(map(str, range(layout.width)))
        places: dict[str, list[str]] = {}
        for column, place in layout.columns.items():
            places.setdefault(column.what, []).append(str(place))
        single = {what: own_places[0] for what, own_places in places.items() if len(own_places) == 1}
        asked: dict[str, Any] = places | single
        return numbers, False, replace(own, **asked)

    def examples(self, source: Source) -> Iterator[Examples]:
        yield from self._separated(source)._examples_of(source)

    def _separated(self, source: Source) -> Csv:
        """The same format, knowing what separates its cells."""
        if self.separator is not None:
            return self
        asked = [column for column in self.wanted() if column.what == "labels" or not column.may_be_absent]
        names = [name for column in asked for name in listed(column.name)]
        separator = recognised(source.head(), names)
        source.progress.separator = separator
        return replace(self, separator=separator)

    def _examples_of(self, source: Source) -> Iterator[Examples]:
        quoting, separator = self._quoting(source), self._between
        layout = None
        for first, block in source.blocks(as_they_are=quoting is not None):
            if first == 1 and (said := _first_line(block)) and NAMED.fullmatch(said):
                first, block = first + 1, block[block.index(b"\n") + 1 :]
            if quoting and (quoting.waiting or quoting.quote.encode() in block):
                numbers, rows = quoting.rows(*source.decoded(first, block))
            else:
                lines = zip(*source.decoded(first, block.replace(b"\r\n", b"\n")), strict=True)
                full = [(number, line.split(separator)) for number, line in lines if line]
                numbers, rows = [number for number, _ in full], [row for _, row in full]
            if rows:
                layout, examples = self._examples_of_rows(source, layout, numbers, rows)
                yield examples
        if quoting and quoting.waiting:
            numbers, rows = quoting.rows([], [], last=True)
            if rows:
                yield self._examples_of_rows(source, layout, numbers, rows)[1]

    @property
    def _between(self) -> str:
        assert self.separator is not None
        return self.separator

    def _quoting(self, source: Source) -> Quoting | None:
        """What reads quoted fields; the options are checked here."""
        for option in (self.separator, *([self.quote] if self.quote is not None else [])):
            if not isinstance(option, str) or len(option.encode()) != 1 or option in "\r\n":
                raise InputError(f"separator and quote must each be one ASCII character, not {option!r}")
        if self.separator == self.quote:
            raise InputError("separator and quote must differ")
        return None if self.quote is None else Quoting(source, self._between, self.quote)

    def _first_row(self, source: Source, number: int, row: list[str]) -> Layout:
        """Where the columns are. A bad line that should have said so is not skipped."""
        if source.first_bad is not None and source.first_bad[0] < number:
            raise InputError(f"{source.first_bad[1]}; the first line cannot be skipped")
        return self._layout(source, row)

    def _layout(self, source: Source, first: list[str]) -> Layout:
        """Where the columns are, from the first row."""
        wanted = [column._replace(name=_number(column.name, first)) for column in self.wanted()]
        if all(isinstance(column.name, int) or column.may_be_absent for column in wanted):
            places = {column: column.name for column in wanted if isinstance(column.name, int)}
            for column, place in places.items():
                if not 0 <= place < len(first):
                    there = f"there is no column {place} for {column.what}; there are {len(first)}"
                    raise InputError(f"{source.name}: {there}")
            return Layout(len(first), places, False)
        asked_for = {bare(column.name) for column in wanted if column.what not in ("wrong", "complete")}
        unnamed = self.separator == "\t" and len(first) == 2 and not asked_for & set(map(bare, first))
        if unnamed and (self.text, self.labels) == ("text", "labels"):
            bracketed = [bool(BRACKETED.fullmatch(cell)) for cell in first]
            labels = 1 if bracketed == [False, True] else 0
            self.brackets = any(bracketed)
            order = "text and labels, as Annif's" if labels else "labels and text"
            source.progress.notes.append(
                f"{source.name}: no first line names the columns, so they were taken to be {order}"
            )
            if self.label_separator is None:
                self.label_separator = " "
            return Layout(2, {Column("labels", labels): labels, Column("text", 1 - labels): 1 - labels}, False)
        for name in first if self.quote is not None else ():
            if name != name.lstrip() and name.lstrip().startswith(self.quote or ""):
                between = f"between {self._between!r} and {self.quote!r}"
                raise InputError(
                    f"{source.name}, line 1: expected nothing {between}, found spaces, here and perhaps "
                    "in all lines; leave them out, or cells keep their quotes"
                )
        return Layout(len(first), self.present(first, f"{source.name}, line 1", source.progress), True)

    def _examples_of_rows(
        self, source: Source, layout: Layout | None, numbers: Sequence[int], rows: list[list[str]]
    ) -> tuple[Layout, Examples]:
        """The examples of rows, of which those with too few or too many fields are bad.

        Where there is no layout yet, the first row gives it; either way, it is given back.
        """
        rows = [[unguarded(cell) if cell[:1] == "'" else cell for cell in row] for row in rows]
        if layout is None:
            layout = self._first_row(source, numbers[0], rows[0])
            if layout.has_header:
                numbers, rows = numbers[1:], rows[1:]
        kept = []
        for number, row in zip(numbers, rows, strict=True):
            if len(row) == layout.width:
                kept.append((number, row))
            else:
                end = len(self._between.join(row[: layout.width])) + 1
                source.bad(number, end, f"expected {counted(layout.width, 'columns')}, found {len(row)}")
        if not kept:
            return layout, Examples(texts=[])
        columns = [list(column) for column in zip(*(row for _, row in kept), strict=True)]
        return layout, self._examples(source, layout, [number for number, _ in kept], columns)

    def _examples(
        self, source: Source, layout: Layout, numbers: Sequence[int], columns: Sequence[Sequence[str]]
    ) -> Examples:
        judged = any(column.what == "wrong" for column in layout.columns)
        checks = {"rating": self._rating, "one_hot": self._flag} | ({"complete": self._complete} if judged else {})
        values: dict[Column, list[float]] = {}
        for column, place in layout.columns.items():
            if column.what in checks:
                rows = zip(numbers, zip(*columns, strict=True), strict=True)
                check = checks[column.what]
                found = np.array([check(source, number, row, column, place) for number, row in rows])
                if np.isnan(found).any():  # bad, and already reported
                    good = np.flatnonzero(~np.isnan(found)).tolist()
                    kept = [[cells[i] for i in good] for cells in columns]
                    return self._examples(source, layout, [numbers[i] for i in good], kept)
                values[column] = found.tolist()
        vectors = self._vectors(source, layout, numbers, columns)
        if vectors is not None and np.isnan(vectors).any():
            good = np.flatnonzero(~np.isnan(vectors).any(axis=1)).tolist()
            kept = [[cells[i] for i in good] for cells in columns]
            return self._examples(source, layout, [numbers[i] for i in good], kept)
        cells = {what: [columns[place] for column, place in layout.columns.items() if column.what == what]
                 for what in ("text", "labels", "wrong", "id")}  # fmt: skip
        if self.brackets:
            cells |= {what: [_without_brackets(own) for own in cells[what]] for what in ("labels", "wrong")}
        ratings = [found for column, found in values.items() if column.what == "rating"]
        labels = [[self.split_labels(cell) for cell in own] for own in cells["labels"]]
        hot = {column.label: found for column, found in values.items() if column.what == "one_hot"}
        labels += [[[label] if yes else [] for yes in found] for label, found in hot.items()]
        wrong = [[self.split_labels(cell) for cell in own] for own in cells["wrong"]]
        complete = [found for column, found in values.items() if column.what == "complete"]
        texts = self._documents(layout, columns) if self.has_fields else cells["text"][0]
        return Examples(
            texts=texts if vectors is None else WithVectors(texts, vectors),
            labels=numbered([[*chain(*own)] for own in zip(*labels, strict=True)]) if labels else None,
            wrong=numbered(wrong[0]) if wrong else None,
            complete=[None if one == UNSAID else bool(one) for one in complete[0]] if complete else None,
            ids=list(cells["id"][0]) if cells["id"] else None,
            ratings=np.array(ratings[0]) if ratings else None,
            places=Places(source.name, numbers),
        )

    def _vectors(
        self, source: Source, layout: Layout, numbers: Sequence[int], columns: Sequence[Sequence[str]]
    ) -> Vectors | None:
        """The vector that the columns of it make up for each row, with NaN in a bad one, which is reported."""
        places = {column: place for column, place in layout.columns.items() if column.what == "vector"}
        if not places:
            return None
        found = np.empty((len(numbers), len(places)), dtype=np.float32)
        for at, (column, place) in enumerate(places.items()):
            for i, cell in enumerate(columns[place]):
                found[i, at] = number = self._number_of_vector(cell)
                if number != number:
                    expected = f"expected a finite number in {column.name!r}, found {shown(cell)}"
                    source.bad(numbers[i], place_of(place, [own[i] for own in columns]), expected)
        return found

    def _number_of_vector(self, cell: str) -> float:
        """The number in a cell of a vector, or NaN."""
        try:
            return self.to_numbers(float(self._with_point(cell)), "")[0]
        except (BadValue, ValueError):
            return nan

    def _documents(self, layout: Layout, columns: Sequence[Sequence[str]]) -> Fielded:
        """The texts of several columns, and the values that belong to them."""
        texts: dict[str, Sequence[str]] = {}
        values: dict[str, list[Value | None]] = {}
        for column, place in layout.columns.items():
            if column.what == "text":
                texts[str(column.name)] = columns[place]
            elif column.what == "features":
                values[str(column.name)] = [cell_value(self._with_point(cell)) for cell in columns[place]]
        return Fielded(texts, values)

    def _rating(self, source: Source, number: int, row: Sequence[str], column: Column, place: int) -> float:
        try:
            return self.to_rating(self._with_point(row[place]))
        except BadValue as problem:
            source.bad(number, place_of(place, row), str(problem))
            return nan

    def _flag(self, source: Source, number: int, row: Sequence[str], column: Column, place: int) -> float:
        try:
            return float(self.to_flag(column, row[place]))
        except BadValue as problem:
            source.bad(number, place_of(place, row), str(problem))
            return nan

    def _complete(self, source: Source, number: int, row: Sequence[str], column: Column, place: int) -> float:
        return self._flag(source, number, row, column, place) if row[place].strip() else UNSAID

    def _with_point(self, cell: str) -> str:
        """A number as Python reads it: where semicolons separate cells, it may have a decimal comma."""
        return with_point(cell) if self.separator == ";" else cell


def _without_brackets(cells: Sequence[str]) -> list[str]:
    return [re.sub(r"<([^<>\s]*)>", r"\1", cell) for cell in cells]


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
    columns: dict[Column, int]
    has_header: bool


@dataclass
class Tsv(Csv):
    name = "tsv"
    description = "tab-separated values with named columns; or labels, a tab and a text in each line, or Annif's"
    endings = (".tsv", ".tab")
    separators = ("\t",)

    separator: str | None = "\t"
    quote: str | None = None
