"""CSV and TSV with named columns.

The first line names the columns. Where columns are given by number (from 0) there is no such line;
and where there is none that names ``text`` or ``labels`` in a TSV of two columns, they are taken to
be labels and text, as in ``p213 p1851<TAB>The ecology of Kalimantan``, or a text and labels in
angle brackets, as Annif has them, ``The ecology of Kalimantan<TAB><http://…/p213>
<http://…/p1851>``; and a note says so.

CSV fields may be quoted, with quotes doubled inside and lines broken inside (RFC 4180). TSV has no
quotes unless ``quote='"'`` says so. What separates the cells of a CSV is recognised unless it is
given.

Python's csv module does not read them because it cannot say in which column a mistake stands, loses
the lines behind an open quote, and refuses fields of more than 128 KiB unless a setting of the
whole process is changed. It would save no time: 200,000 rows take 0.3 s either way, 0.5 s if every
second row is quoted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, ClassVar, cast

import numpy as np

from shortlist.data.label_input import shown
from shortlist.data.validation import as_rows
from shortlist.errors import InputError, counted
from shortlist.inputs.examples import ExamplePlaces, Examples
from shortlist.inputs.sheets import (
    SPREADSHEET_ENDINGS,
    NumberedRows,
    is_spreadsheet,
    sheet_rows,
)
from shortlist.inputs.source import Source
from shortlist.inputs.tables import (
    LARGEST_NUMBER,
    SEPARATOR_LINE,
    BadValue,
    Column,
    ColumnName,
    TableFormat,
    bare,
    listed,
    names_in,
    names_in_words,
    recognised,
    twice,
    unguarded,
    with_point,
)

ANNIF_SUBJECTS = re.compile(r"<[^<>\s]+>(?: +<[^<>\s]+>)*\s*")
BRACKETS = re.compile(r"<([^<>\s]*)>")


@dataclass
class TableLayout:
    """The number of columns, the places of those to read, and whether the first line names them."""

    width: int
    columns: dict[Column, int]
    has_header: bool


@dataclass
class Csv(TableFormat):
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
    sheet: str | int = 0  # of a spreadsheet, its name or number

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        if name.endswith(cls.endings):
            return True
        first = head.partition("\n")[0].rstrip("\r")
        for separator in cls.separators:
            cells = [cell.strip('"') for cell in first.split(separator)[:100]]
            # "some words, text, and more" is a sentence
            if "text" in cells or {"text", "labels"} <= set(names_in(first, separator)[:100]):
                return True
        return False

    @property
    def by_line(self) -> bool:
        return self.quote is None  # a quoted field may hold the end of a line

    def of_pieces(self, source: Source, first: str) -> tuple[str, bool, Csv]:
        table = self.separated(source)
        layout = table.layout(source, first.split(table._separator))
        if layout.has_header:
            return first, True, table
        options: dict[str, Any] = defaultdict(list)
        for column, place in layout.columns.items():
            options[column.role].append(str(place))
        for role, places in options.items():
            if len(places) == 1:
                options[role] = places[0]
        header = table._separator.join(map(str, range(layout.width)))
        return header, False, replace(table, **options)

    def examples(self, source: Source) -> Iterator[Examples]:
        table = self.separated(source)
        layout = None
        for guarded_rows in table.raw_rows(source):
            rows = guarded_rows
            if source.unit == "line":  # a spreadsheet's cells of text run no formulas
                rows = [
                    (number, [unguarded(cell) if "'" in cell else cell for cell in row])
                    for number, row in guarded_rows
                ]
            if layout is None:
                number, row = rows[0]
                if source.first_bad is not None and source.first_bad[0] < number:
                    raise InputError(f"{source.first_bad[1]}; the first line cannot be skipped")
                layout = table.layout(source, row)
                if layout.has_header:
                    del rows[0]
            good = []
            for number, row in rows:
                if len(row) == layout.width:
                    good.append((number, row))
                else:
                    expected = f"expected {counted(layout.width, 'columns')}, found {len(row)}"
                    end = len(table._separator.join(row[: layout.width])) + 1
                    source.bad(number, end, expected)
            yield table._examples(source, layout, good) if good else Examples(texts=[])

    def reads_sheet(self, source: Source) -> bool:
        """Whether a source is a spreadsheet, not lines of text."""
        return False

    def separated(self, source: Source) -> Csv:
        """Return the format with its separator, which is recognised if it is not given."""
        if self.reads_sheet(source):
            source.unit = "row"
            return replace(self, separator=",", quote=None)
        if self.separator is not None:
            return self
        names = [
            name
            for column in self.columns()
            if column.role == "labels" or not column.may_be_absent
            for name in listed(column.name)
        ]
        separator = recognised(source.head(), names)
        source.progress.separator = separator
        return replace(self, separator=separator)

    def raw_rows(self, source: Source) -> Iterator[NumberedRows]:
        """Yield blocks of rows that are not blank."""
        if source.unit == "row":
            yield from sheet_rows(source, str(self.sheet))
            return
        quoting = self._quoting(source)
        for first, block in source.blocks(as_they_are=quoting is not None):
            line, _, rest = block.partition(b"\n")
            if first == 1 and SEPARATOR_LINE.fullmatch(line.decode("utf-8", "replace")):
                first += 1
                block = rest
            if quoting and (quoting.waiting or quoting.quote.encode() in block):
                rows = quoting.rows(first, source.decoded_text(first, block))
            else:
                lines = zip(*source.decoded(first, block.replace(b"\r\n", b"\n")), strict=True)
                rows = [(number, line.split(self._separator)) for number, line in lines if line]
            if rows:
                yield rows
        if quoting and quoting.waiting:
            rows = quoting.rows(0, "", last=True)
            if rows:
                yield rows

    @property
    def _separator(self) -> str:
        assert self.separator is not None
        return self.separator

    def _quoting(self, source: Source) -> Quoting | None:
        """Return the reader of quoted fields; the options are checked here."""
        for option in (self.separator, '"' if self.quote is None else self.quote):
            if not isinstance(option, str) or len(option.encode()) != 1 or option in "\r\n":
                raise InputError(
                    f"separator and quote must each be one ASCII character, not {option!r}"
                )
        if self.separator == self.quote:
            raise InputError("separator and quote must differ")
        return None if self.quote is None else Quoting(source, self._separator, self.quote)

    def layout(self, source: Source, first: list[str]) -> TableLayout:
        """Return the places of the columns by the first row."""
        width = len(first)
        columns = [column._replace(name=_number(column.name, first)) for column in self.columns()]
        places = {column: column.name for column in columns if isinstance(column.name, int)}
        if places and all(column in places or column.may_be_absent for column in columns):
            for column, place in places.items():
                if not 0 <= place < width:
                    raise InputError(
                        f"{source.name}: there is no column {place} for {column.role}; there are "
                        f"{width}"
                    )
            return TableLayout(width, places, False)
        names = {
            bare(column.name) for column in columns if column.role not in ("wrong", "complete")
        }
        if (
            self.separator == "\t"
            and width == 2
            and (self.text, self.labels) == ("text", "labels")
            and names.isdisjoint(map(bare, first))
        ):
            return self._unnamed_layout(source, first)
        quote = self.quote
        if quote and any(
            name.lstrip().startswith(quote) > name.startswith(quote) for name in first
        ):
            raise InputError(
                f"{source.name}, line 1: expected nothing between {self.separator!r} and "
                f"{quote!r}, found spaces, here and perhaps in all lines; leave them out, or cells "
                "keep their quotes"
            )
        named = self.present(first, f"{source.name}, {source.unit} 1", source.progress)
        return TableLayout(width, named, True)

    def _unnamed_layout(self, source: Source, first: list[str]) -> TableLayout:
        """Return the places of text and labels in two columns without names; note the order."""
        bracketed = [bool(ANNIF_SUBJECTS.fullmatch(cell)) for cell in first]
        self.brackets = any(bracketed)
        labels = 0
        order = "labels and text"
        if bracketed == [False, True]:
            labels = 1
            order = "text and labels, as Annif's"
        source.progress.notes.append(
            f"{source.name}: no first line names the columns, so they were taken to be {order}"
        )
        if self.label_separator is None:
            self.label_separator = " "
        places = {Column("labels", labels): labels, Column("text", 1 - labels): 1 - labels}
        return TableLayout(2, places, False)

    def _examples(self, source: Source, layout: TableLayout, rows: NumberedRows) -> Examples:
        """Return the examples of rows of the right width; report the bad ones."""
        examples = []
        lines = []
        places = {column.name: place for column, place in layout.columns.items()}
        for number, row in rows:
            cells = (
                (column, self._value(column, row[place]))
                for column, place in layout.columns.items()
            )
            try:
                examples.append(self.to_row(cells))
                lines.append(number)
            except BadValue as problem:
                place = places[cast("ColumnName", problem.column)]
                source.bad(number, place_of(place, row), str(problem))
        return self.batch(examples, ExamplePlaces(source.name, lines, source.unit))

    def _value(self, column: Column, cell: str) -> object:
        """Return the value of a cell."""
        match column.role:
            case "text":
                return cell
            case "vector":
                number = self._with_point(cell)
                if not _is_number(number) or abs(float(number)) > LARGEST_NUMBER:
                    raise BadValue(column.name, "a finite number", number)
                return float(number)
            case "rating" | "features":
                return self._with_point(cell)
            case "labels" | "wrong":
                return self.label_cell(cell)
            case "complete":
                return cell.strip()
        return cell

    def label_cell(self, cell: str) -> str:
        """Return a cell of labels without the brackets around them."""
        return BRACKETS.sub(r"\1", cell) if self.brackets else cell

    def _with_point(self, cell: str) -> str:
        """Return a number as Python writes it; with semicolons between cells, it may have a
        decimal comma.
        """
        return with_point(cell) if self.separator == ";" else cell


def _number(column: ColumnName, first: list[str]) -> ColumnName:
    """Return the number of a column that is given as text, unless it is a name."""
    if isinstance(column, str) and re.fullmatch("[0-9]{1,9}", column) and column not in first:
        return int(column)
    return column


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


# Spreadsheets: their first sheet, or another. Cells are texts, as those of CSV.


@dataclass
class Spreadsheet(Csv):
    name = "spreadsheet"
    description = "a sheet of Excel or LibreOffice, whose first row names the columns"
    endings = SPREADSHEET_ENDINGS
    encoding = "binary"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return is_spreadsheet(name, head)

    def reads_sheet(self, source: Source) -> bool:
        return True

    @property
    def by_line(self) -> bool:
        return False


# Tables of numbers: the first line names the columns. The target, a number or a text, is the label
# or rating; all other columns are features.


@dataclass
class NumberTable(Csv):
    name = "numbers"
    description = "comma-separated numbers with named columns, of which target names the label"
    carries: ClassVar[tuple[str, ...]] = ("rows", "labels")
    endings = ()
    separators = ()

    target: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.target, str):
            self.target = self.target.strip()  # as the names of the columns are

    def reads_sheet(self, source: Source) -> bool:
        return is_spreadsheet(source.name, source.head())

    def columns(self) -> list[Column]:
        return [] if self.target is None else [Column("target", self.target)]

    def layout(self, source: Source, first: list[str]) -> TableLayout:
        """Return the places of the target and of the features."""
        where = f"{source.name}, {source.unit} 1"
        names = [name.strip() for name in first]
        if len(set(names)) < len(names):
            name = next(name for name in names if names.count(name) > 1)
            raise twice(where, name, first)
        if all(_is_number(name) for name in names):
            raise InputError(f"{where}: expected the names of the columns, found numbers")
        if self.target is not None and self.target not in names:
            raise InputError(
                f"{where}: expected a column {self.target!r} for the target, found "
                f"{names_in_words(names)}; name the right one with target= (--target)"
            )
        source.progress.columns = [name for name in names if name != self.target]
        places = {Column("feature", name): place for place, name in enumerate(names)}
        return TableLayout(len(names), places, True)

    def _examples(self, source: Source, layout: TableLayout, rows: NumberedRows) -> Examples:
        target = None
        features = {}
        for column, place in layout.columns.items():
            if column.name == self.target:
                target = place
            else:
                features[place] = str(column.name)
        cells = [[self._with_point(row[place]) for place in features] for _, row in rows]
        try:
            table = np.array(cells, dtype=np.float64)
        except ValueError:
            table = np.full(1, np.nan)
        if not np.isfinite(table).all():
            good = [i for i, row in enumerate(rows) if self._is_good(source, *row, features)]
            rows = [rows[i] for i in good]
            table = np.array([cells[i] for i in good], dtype=np.float64)
        labels = None
        if target is not None:
            labels = [self._label(row[target]) for _, row in rows]
        return Examples(
            rows=as_rows(table.reshape(len(rows), len(features))),
            labels=labels,
            places=ExamplePlaces(source.name, [number for number, _ in rows], source.unit),
        )

    def _label(self, cell: str) -> list[str]:
        label = self._with_point(cell.strip())
        return [label] if label else []

    def _is_good(
        self, source: Source, number: int, row: list[str], features: dict[int, str]
    ) -> bool:
        """Whether the cells of a row are numbers; report the first that is not."""
        for place, name in features.items():
            cell = self._with_point(row[place])
            if _is_number(cell):
                continue
            hint = ""
            if any(letter.isspace() for letter in cell.strip()):
                hint = "; to learn from texts, name their column with --text-column"
            elif not self.target:
                hint = "; the column of what is learned is named with --target"
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
    return sum(len(cell) + 1 for cell in row[:field]) + 1


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
        q = re.escape(quote)
        s = re.escape(separator)
        quoted = f"{q}([^{q}]*(?:{q}{q}[^{q}]*)*){q}"
        self._odd_quotes = re.compile(f"{q}(?<!{q}{q})(?:{q}{q})*(?!{q})")
        self._quoted = re.compile(f"{quoted}(?!{q})")
        self._field = re.compile(f"(?:{quoted}|(?!{q})([^{s}\n]*))({s}|\r?\n)")  # and what ends it

    def rows(self, first: int, text: str, last: bool = False) -> NumberedRows:
        """Return the rows of the waiting record and these whole lines."""
        longest = self.source.progress.max_record
        number = first
        if self.waiting:
            self.waiting.append(text)
            is_open = not last and not self._odd_quotes.search(text)
            if is_open and sum(map(len, self.waiting)) <= longest:
                return []
            number = self._begins
            text = "".join(self.waiting)
            self.waiting = []
        rows: NumberedRows = []
        at = 0
        while at < len(text):
            end = text.index("\n", at) + 1
            fields: list[str] = []
            if text.find(self.quote, at, end) < 0:
                line = text[at:end].removesuffix("\n").removesuffix("\r")
                if line:
                    fields = line.split(self.separator)
            else:
                try:
                    fields, end = self._record(text, at)
                except _BadQuote as problem:
                    if problem.is_open and not last and len(text) - at <= longest:
                        self.waiting = [text[at:]]
                        self._begins = number
                        break
                    place = problem.place
                    column = place - text.rfind("\n", 0, place)
                    self.source.bad(number + text.count("\n", at, place), column, str(problem))
                    end = text.index("\n", place) + 1  # the lines after the mistake may be good
            if fields:
                rows.append((number, fields))
            number += text.count("\n", at, end)
            at = end
        return rows

    def _record(self, text: str, at: int) -> tuple[list[str], int]:
        """Return the fields of the record that begins here, and where the next record begins."""
        fields = []
        field = self._field.match(text, at)
        while field:
            quoted, plain, separator = field.groups()
            at = field.end()
            if quoted is not None:
                fields.append(quoted.replace(self.quote * 2, self.quote))
            elif separator == self.separator:
                fields.append(plain)
            else:
                fields.append(plain.removesuffix("\r"))
            if separator != self.separator:
                return fields, at
            field = self._field.match(text, at)
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
    def __init__(self, place: int, sentence: str, is_open: bool = False) -> None:
        super().__init__(sentence)
        self.place = place
        self.is_open = is_open
