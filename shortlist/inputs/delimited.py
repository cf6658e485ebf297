"""CSV and TSV with named columns.

The first line names the columns. Where columns are given by number (from 0) there is no such line;
and where there is none that names ``text`` or ``labels`` in a TSV of two columns, they are taken to
be labels and text, as in ``p213 p1851<TAB>The ecology of Kalimantan``, or a text and labels in
angle brackets, as Annif has them, ``The ecology of Kalimantan<TAB><http://…/p213>
<http://…/p1851>``; and a note says so.

CSV fields may be quoted, with quotes doubled inside and lines broken inside (RFC 4180). TSV has no
quotes unless ``quote='"'`` says so. What separates the cells of a CSV is recognised unless it is
given.

Python's csv module does not read them because it cannot say in which column a mistake stands, and
refuses fields of more than 128 KiB unless a setting of the whole process is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from shortlist.data.label_input import shown
from shortlist.data.validation import as_rows
from shortlist.errors import InputError, counted
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.source import Source
from shortlist.inputs.tables import (
    MOST,
    NAMED,
    BadValue,
    Column,
    Table,
    bare,
    listed,
    named,
    names_in,
    recognised,
    twice,
    unguarded,
    with_point,
)

BRACKETED = re.compile(r"<[^<>\s]+>(?: +<[^<>\s]+>)*\s*")  # Annif's subjects
BRACKETS = re.compile(r"<([^<>\s]*)>")


@dataclass
class Csv(Table):
    name = "csv"
    description = (
        "comma-separated values with named columns, or semicolons; several labels with "
        "label_separator"
    )
    endings: ClassVar[tuple[str, ...]] = (".csv",)
    separators: ClassVar[tuple[str, ...]] = (",", ";")

    separator: str | None = None
    quote: str | None = '"'
    brackets: bool = False  # around each label, as in Annif's files

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        first = head.partition("\n")[0].rstrip("\r")
        named = any(
            "text" in [cell.strip('"') for cell in first.split(one)[:100]] for one in cls.separators
        )
        spaced = any(
            {"text", "labels"} <= set(names_in(first, one)[:100]) for one in cls.separators
        )
        # "some words, text, and more" is a sentence
        return name.endswith(cls.endings) or named or spaced

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
        single = {
            what: own_places[0] for what, own_places in places.items() if len(own_places) == 1
        }
        asked: dict[str, Any] = places | single
        return numbers, False, replace(own, **asked)

    def examples(self, source: Source) -> Iterator[Examples]:
        own, layout = self._separated(source), None
        for numbers, guarded_rows in own._rows(source):
            rows = [
                [unguarded(cell) if cell[:1] == "'" else cell for cell in row]
                for row in guarded_rows
            ]
            if layout is None:
                if source.first_bad is not None and source.first_bad[0] < numbers[0]:
                    raise InputError(f"{source.first_bad[1]}; the first line cannot be skipped")
                layout = own._layout(source, rows[0])
                first = 1 if layout.has_header else 0
                numbers, rows = numbers[first:], rows[first:]
            kept = []
            for number, row in zip(numbers, rows, strict=True):
                if len(row) == layout.width:
                    kept.append((number, row))
                else:
                    end = len(own._between.join(row[: layout.width])) + 1
                    source.bad(
                        number,
                        end,
                        f"expected {counted(layout.width, 'columns')}, found {len(row)}",
                    )
            numbers, rows = [number for number, _ in kept], [row for _, row in kept]
            yield own._examples(source, layout, numbers, rows) if rows else Examples(texts=[])

    def _separated(self, source: Source) -> Csv:
        """Return the format with its separator, which is recognised if it is not given."""
        if self.separator is not None:
            return self
        asked = [
            column
            for column in self.wanted()
            if column.what == "labels" or not column.may_be_absent
        ]
        names = [name for column in asked for name in listed(column.name)]
        separator = recognised(source.head(), names)
        source.progress.separator = separator
        return replace(self, separator=separator)

    def _rows(self, source: Source) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Yield blocks of rows that are not blank, with the line on which each begins."""
        quoting, separator = self._quoting(source), self._between
        for first, block in source.blocks(as_they_are=quoting is not None):
            said, _, rest = block.partition(b"\n")
            if first == 1 and NAMED.fullmatch(said.decode("utf-8", "replace")):
                first, block = first + 1, rest
            if quoting and (quoting.waiting or quoting.quote.encode() in block):
                numbers, rows = quoting.rows(first, source.decoded_text(first, block))
            else:
                lines = zip(*source.decoded(first, block.replace(b"\r\n", b"\n")), strict=True)
                full = [(number, line.split(separator)) for number, line in lines if line]
                numbers, rows = [number for number, _ in full], [row for _, row in full]
            if rows:
                yield numbers, rows
        if quoting and quoting.waiting:
            numbers, rows = quoting.rows(0, "", last=True)
            if rows:
                yield numbers, rows

    @property
    def _between(self) -> str:
        assert self.separator is not None
        return self.separator

    def _quoting(self, source: Source) -> Quoting | None:
        """Return the reader of quoted fields; the options are checked here."""
        for option in (self.separator, *([self.quote] if self.quote is not None else [])):
            if not isinstance(option, str) or len(option.encode()) != 1 or option in "\r\n":
                raise InputError(
                    f"separator and quote must each be one ASCII character, not {option!r}"
                )
        if self.separator == self.quote:
            raise InputError("separator and quote must differ")
        return None if self.quote is None else Quoting(source, self._between, self.quote)

    def _layout(self, source: Source, first: list[str]) -> Layout:
        """Return the places of the columns by the first row."""
        wanted = [column._replace(name=_number(column.name, first)) for column in self.wanted()]
        if all(isinstance(column.name, int) or column.may_be_absent for column in wanted):
            places = {column: column.name for column in wanted if isinstance(column.name, int)}
            for column, place in places.items():
                if not 0 <= place < len(first):
                    there = f"there is no column {place} for {column.what}; there are {len(first)}"
                    raise InputError(f"{source.name}: {there}")
            return Layout(len(first), places, False)
        asked_for = {
            bare(column.name) for column in wanted if column.what not in ("wrong", "complete")
        }
        unnamed = (
            self.separator == "\t" and len(first) == 2 and not asked_for & set(map(bare, first))
        )
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
            return Layout(
                2, {Column("labels", labels): labels, Column("text", 1 - labels): 1 - labels}, False
            )
        for name in first if self.quote is not None else ():
            if name != name.lstrip() and name.lstrip().startswith(self.quote or ""):
                between = f"between {self._between!r} and {self.quote!r}"
                raise InputError(
                    f"{source.name}, line 1: expected nothing {between}, found spaces, here and "
                    "perhaps "
                    "in all lines; leave them out, or cells keep their quotes"
                )
        return Layout(
            len(first), self.present(first, f"{source.name}, line 1", source.progress), True
        )

    def _examples(
        self, source: Source, layout: Layout, numbers: list[int], rows: list[list[str]]
    ) -> Examples:
        """Return the examples of rows of the right width; report the bad ones."""
        found, lines = [], []
        for number, row in zip(numbers, rows, strict=True):
            cells = (
                (column, self._value(column, row[place]))
                for column, place in layout.columns.items()
            )
            try:
                found.append(self.to_row(cells))
                lines.append(number)
            except BadValue as problem:
                place = next(
                    place
                    for column, place in layout.columns.items()
                    if column.name == problem.column
                )
                source.bad(number, place_of(place, row), str(problem))
        return self.batch(found, Places(source.name, lines))

    def _value(self, column: Column, cell: str) -> object:
        """Return the value of a cell."""
        what = column.what
        if what in ("vector", "rating", "features"):
            cell = self._with_point(cell)
        if what == "vector":
            if not _is_number(cell) or abs(float(cell)) > MOST:
                raise BadValue(
                    column.name, f"expected a finite number in {column.name!r}, found {shown(cell)}"
                )
            return float(cell)
        if self.brackets and what in ("labels", "wrong"):
            return BRACKETS.sub(r"\1", cell)
        return cell.strip() if what == "complete" else cell

    def _with_point(self, cell: str) -> str:
        """Return a number as Python writes it; with semicolons between cells, it may have a
        decimal comma.
        """
        return with_point(cell) if self.separator == ";" else cell


def _number(column: str | int, first: list[str]) -> str | int:
    """Return the number of a column that is given as text, unless it is a name."""
    is_number = (
        isinstance(column, str) and re.fullmatch("[0-9]{1,9}", column) and column not in first
    )
    return int(column) if is_number else column


@dataclass
class Layout:
    """The number of columns, the places of the wanted ones, and whether the first line names
    them.
    """

    width: int
    columns: dict[Column, int]
    has_header: bool


@dataclass
class Tsv(Csv):
    name = "tsv"
    description = (
        "tab-separated values with named columns; or labels, a tab and a text in each line, or "
        "Annif's"
    )
    endings = (".tsv", ".tab")
    separators = ("\t",)

    separator: str | None = "\t"
    quote: str | None = None


# Tables of numbers: the first line names the columns. The target, a number or a text, is the label
# or rating; all other columns are features.

TEXTS = "; to learn from texts, name their column with --text-column"
LEARNED = "; the column of what is learned is named with --target"


@dataclass
class Numbers(Csv):
    name = "numbers"
    description = "comma-separated numbers with named columns, of which target names the label"
    carries: ClassVar[tuple[str, ...]] = ("rows", "labels")
    endings = ()
    separators = ()

    target: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.target, str):
            self.target = self.target.strip()  # as the names of the columns are

    def wanted(self) -> list[Column]:
        return [] if self.target is None else [Column("target", self.target)]

    def _layout(self, source: Source, first: list[str]) -> Layout:
        """Return the places of the target and of the features."""
        written, first = first, [name.strip() for name in first]
        if len(set(first)) != len(first):
            name = next(name for name in first if first.count(name) > 1)
            raise twice(f"{source.name}, line 1", name, written)
        places = {Column("feature", name): place for place, name in enumerate(first)}
        if all(_is_number(name) for name in first):
            raise InputError(
                f"{source.name}, line 1: expected the names of the columns, found numbers"
            )
        if self.target is not None and self.target not in first:
            expected = f"expected a column {self.target!r} for the target, found {named(first)}"
            raise InputError(
                f"{source.name}, line 1: {expected}; name the right one with target= (--target)"
            )
        source.progress.columns = [name for name in first if name != self.target]
        return Layout(len(first), places, True)

    def _examples(
        self, source: Source, layout: Layout, numbers: list[int], rows: list[list[str]]
    ) -> Examples:
        names = {
            place: str(column.name)
            for column, place in layout.columns.items()
            if column.name != self.target
        }
        cells = [[self._with_point(row[place]) for place in names] for row in rows]
        try:
            table = np.array(cells, dtype=np.float64)
        except ValueError:
            table = np.full(1, np.nan)
        if not np.isfinite(table).all():
            good = [
                i for i, row in enumerate(rows) if self._is_good(source, numbers[i], row, names)
            ]
            numbers, rows = [numbers[i] for i in good], [rows[i] for i in good]
            table = np.array([cells[i] for i in good], dtype=np.float64).reshape(
                len(good), len(names)
            )
        labels = None
        if self.target is not None:
            at = next(
                place for column, place in layout.columns.items() if column.name == self.target
            )
            targets = [self._with_point(row[at].strip()) for row in rows]
            labels = [[cell] if cell else [] for cell in targets]
        return Examples(rows=as_rows(table), labels=labels, places=Places(source.name, numbers))

    def _is_good(self, source: Source, number: int, row: list[str], names: dict[int, str]) -> bool:
        """Whether the cells of a row are numbers; report the first that is not."""
        for place, name in names.items():
            cell = self._with_point(row[place])
            if not _is_number(cell):
                hint = (
                    TEXTS
                    if any(letter.isspace() for letter in cell.strip())
                    else ""
                    if self.target
                    else LEARNED
                )
                expected = f"expected a finite number in {shown(name)}, found {shown(cell)}{hint}"
                source.bad(number, place_of(place, row), expected)
                return False
        return True


def _is_number(cell: str) -> bool:
    try:
        return isfinite(float(cell))
    except ValueError:
        return False


# Quoted fields: quotes are doubled inside, and lines may break inside.


def place_of(field: int, row: Sequence[str]) -> int:
    """Return the column, from 1, in which a field begins, if one character separates fields."""
    return sum(len(before) + 1 for before in row[:field]) + 1


class Quoting:
    """Split lines into rows of fields, some of which are quoted.

    A carriage return before a line feed belongs to the field inside quotes, and to the end of the
    line elsewhere.
    """

    def __init__(self, source: Source, separator: str, quote: str) -> None:
        self.source = source
        self.separator = separator
        self.quote = quote
        self.waiting: list[str] = []  # the beginning of a record whose quote is still open
        self._begins = 0  # the line on which that record begins
        q, s = re.escape(quote), re.escape(separator)
        quoted = f"{q}([^{q}]*(?:{q}{q}[^{q}]*)*){q}"
        self._odd_quotes = re.compile(f"{q}(?<!{q}{q})(?:{q}{q})*(?!{q})")
        self._quoted = re.compile(f"{quoted}(?!{q})")
        self._field = re.compile(f"(?:{quoted}|(?!{q})([^{s}\n]*))({s}|\r?\n)")  # and what ends it

    def rows(self, first: int, text: str, last: bool = False) -> tuple[list[int], list[list[str]]]:
        """Return the rows of the waiting record and these whole lines, and the line on which
        each row begins.
        """
        longest = self.source.progress.max_record
        if self.waiting:
            self.waiting.append(text)
            if (
                not last
                and not self._odd_quotes.search(text)
                and sum(map(len, self.waiting)) <= longest
            ):
                return [], []
            first, text, self.waiting = self._begins, "".join(self.waiting), []
        starts: list[int] = []
        rows: list[list[str]] = []
        at, number = 0, first
        while at < len(text):
            end = text.index("\n", at) + 1
            if text.find(self.quote, at, end) < 0:
                fields = (
                    line.split(self.separator)
                    if (line := text[at:end].removesuffix("\n").removesuffix("\r"))
                    else []
                )
            else:
                try:
                    fields, end = self._record(text, at)
                except _BadQuote as problem:
                    if problem.may_go_on and not last and len(text) - at <= longest:
                        self.waiting, self._begins = [text[at:]], number
                        break
                    place = problem.place
                    column = place - text.rfind("\n", 0, place)
                    self.source.bad(number + text.count("\n", at, place), column, str(problem))
                    # the lines after the mistake may be good
                    fields, end = [], text.index("\n", place) + 1
            if fields:
                starts.append(number)
                rows.append(fields)
            number, at = number + text.count("\n", at, end), end
        return starts, rows

    def _record(self, text: str, at: int) -> tuple[list[str], int]:
        """Return the fields of the record that begins here, and where the next record begins."""
        fields = []
        while field := self._field.match(text, at):
            inside, plain, behind = field.groups()
            at = field.end()
            fields.append(plain if inside is None else inside.replace(self.quote * 2, self.quote))
            if behind != self.separator:
                fields[-1] = fields[-1] if plain is None else plain.removesuffix("\r")
                return fields, at
        closed = self._quoted.match(text, at)
        if closed is None:
            raise _BadQuote(
                at, "expected a closing quote for the one that opens here, found none", True
            )
        at = closed.end()
        raise _BadQuote(
            at, f"expected {self.separator!r} after the closing quote, found {text[at]!r}"
        )


class _BadQuote(Exception):
    def __init__(self, place: int, sentence: str, may_go_on: bool = False) -> None:
        super().__init__(sentence)
        self.place, self.may_go_on = place, may_go_on
