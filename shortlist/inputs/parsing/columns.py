"""Which columns are asked for, by name, number or pattern, and what people write into cells for yes and no."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from shortlist.errors import InputError

# Cells that a spreadsheet would run as formulas: they are written with an apostrophe before them, and read without.


FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
GUARDED = re.compile(r"''*[=+\-@\t\r\n]")


def guarded(cell: str) -> str:
    """A text as a cell that no spreadsheet runs."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """The text of such a cell."""
    return cell[1:] if cell[:1] == "'" and GUARDED.match(cell) else cell


def as_line(cells: Iterable[Any], separator: str = ",") -> str:
    """The line of a table: cells with a line break of any kind in them are quoted."""
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="\r\n").writerow(cells)  # it quotes what holds any of this
    return written.getvalue()[:-2] + "\n"


# How spreadsheets write tables: what stands between cells, and between the whole part of a number and its fraction.


SEPARATORS = (",", ";", "\t", "|")
NAMED = re.compile(r"sep=([^\w\s]|\t)\s*", re.ASCII)
QUOTED = re.compile(r'"(?:[^"]|"")*"')
DECIMAL_COMMA = re.compile(r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+)?,\d+([eE][-+]?\d+)?\s*", re.ASCII)


def recognised(head: str, wanted: Sequence[str | int]) -> str:
    """What separates the cells of a table that begins so: what its first line names, or lets a wanted name be found.

    Where no name is wanted, or none is there, it is what stands there most often; of equals a comma.
    """
    first = head.lstrip("\n").partition("\n")[0].rstrip("\r")
    if said := NAMED.fullmatch(first):
        return said[1]
    bare = QUOTED.sub('""', first)
    for one in SEPARATORS:
        if not set(names_in(first, one)).isdisjoint(str(name).strip() for name in wanted):
            return one
    if wanted and all(str(column).isdigit() for column in wanted):  # there is no line of names, but one of data
        return next((one for one in SEPARATORS if one in bare), ",")
    return max(SEPARATORS, key=bare.count)


def names_in(line: str, separator: str) -> list[str]:
    """The names in a first line, as it looks before quoted fields are read: without quotes and spaces around them."""
    return [cell.strip().strip('"').strip() for cell in line.split(separator)]


def with_point(cell: str) -> str:
    """A number as Python reads it: 1.234,5 is 1234.5. Anything else stays as it is."""
    return cell.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


Name = str | int
Names = Name | list[str] | list[int] | list[Name]
MOST_NAMED = 10  # columns that an error lists
OPTIONS = {
    "text": "text= (--text-column)", "labels": "labels= (--label-column)", "one_hot": "one_hot= (--one-hot-column)",
    "wrong": "wrong= (--wrong-column)", "complete": "complete= (--option complete=NAME)",
    "features": "features= (--feature-column)", "id": "id= (--id-column)", "rating": "rating= (--option rating=NAME)",
    "vector": "vector= (--vector-column)",
}  # fmt: skip
YES = {
    "1",
    "1.0",
    "true",
    "t",
    "yes",
    "y",
    "x",
    "✓",
    "✔",
    "ja",
    "wahr",
    "oui",
    "vrai",
    "sí",
    "si",
    "verdadero",
    "vero",
    "sì",
    "sim",
}
NO = {
    "",
    "0",
    "0.0",
    "false",
    "f",
    "no",
    "n",
    "-",
    "–",
    "none",
    "null",
    "nan",
    "nein",
    "falsch",
    "non",
    "faux",
    "falso",
    "nee",
}


USUAL = {"labels", "wrong", "complete"}  # columns that may be there under these names without being asked for


class Column(NamedTuple):
    """A column that is asked for: what it holds, its name or number, the label that a one-hot column stands for, and
    whether it is read only where it is there."""

    what: str
    name: Name
    label: str = ""
    optional: bool = False

    @property
    def may_be_absent(self) -> bool:
        """Whether nobody has asked for it: a usual column under its usual name, or one that is read if it is there."""
        return self.optional or (self.what == self.name and self.what in USUAL)


def listed(columns: Names | None) -> list[Name]:
    """One column or several, as a list."""
    if columns is None:
        return []
    return list(columns) if isinstance(columns, (list, tuple)) else [columns]


def bare(name: Name) -> Name:
    """The name of a column without the spaces around it, as in the first line ``text, labels``."""
    return name.strip() if isinstance(name, str) else name


def found_among(wanted: Sequence[Column], names: Sequence[Name]) -> tuple[list[Column], list[Column]]:
    """The columns asked for that there are, those of a pattern (``subject_*``) one by one, and those that are not."""
    exact = {column.name for column in wanted if column.name in names}
    found: list[Column] = []
    missing: list[Column] = []
    for column in wanted:
        if column.name in exact:
            found.append(column._replace(label=str(column.name)))
            continue
        matches = [] if column.name in names else _matches(column, [name for name in names if name not in exact])
        found += matches
        missing += [] if matches else [column]
    return found, missing


def _matches(column: Column, names: Sequence[Name]) -> list[Column]:
    """The columns of a pattern. What the star stands for is the label of a one-hot column."""
    if not isinstance(column.name, str) or "*" not in column.name:
        return []
    pattern = re.compile("(.*?)".join(map(re.escape, column.name.split("*"))), re.DOTALL)
    fitting = [(name, pattern.fullmatch(name)) for name in names if isinstance(name, str)]
    return [column._replace(name=name, label=hit[1] or name) for name, hit in fitting if hit]


def absent(where: str, column: Column, names: Sequence[Name]) -> InputError:
    """The sentence about a column that is not there: what there is instead, and how to name it."""
    what = column.what.replace("_", "-")
    a_column = "columns" if isinstance(column.name, str) and "*" in column.name else "a column"
    expected = f"expected {a_column} {column.name!r} for {what}, found {named(names)}"
    return InputError(f"{where}: {expected}; name the right one with {OPTIONS[column.what]}")


def twice(where: str, name: Name, names: Sequence[Name]) -> InputError:
    """The sentence about two columns of one name, which may be written with other spaces around it."""
    spaces = "" if list(names).count(name) > 1 else " (spaces around names do not count)"
    return InputError(f"{where} has more than one column {name!r}{spaces}; rename all but one")


def is_yes(value: object) -> bool | None:
    """Whether a cell of a one-hot column says yes; None where it says neither yes nor no."""
    if value is None or isinstance(value, bool):
        return bool(value)
    said = str(value).strip().casefold()
    return True if said in YES else False if said in NO else None


def shown(value: object) -> str:
    """A value as an error shows it: not at full length."""
    try:
        said = repr(value)
    except ValueError:  # a whole number of too many digits
        said = "a very large number"
    return said if len(said) <= 60 else f"{said[:59]}…"


def named(columns: Sequence[Name]) -> str:
    """The names of columns as an error shows them: not all where there are very many."""
    return ", ".join(map(shown, columns[:MOST_NAMED])) + (", …" if len(columns) > MOST_NAMED else "")
