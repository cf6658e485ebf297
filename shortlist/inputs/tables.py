"""The base of the formats with named columns: which columns are wanted, and what their cells
hold.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from shortlist.data.label_input import shown
from shortlist.data.labels import NumberedLabels
from shortlist.data.texts import Document, Fielded, Value, WithVectors, cell_value, features_of
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.source import Format, Progress

# Cells that a spreadsheet would run as formulas are written with an apostrophe before them, and
# read without it.

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
GUARDED = re.compile(r"''*[=+\-@\t\r\n]")


def guarded(cell: str) -> str:
    """Return a text as a cell that no spreadsheet runs."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """Return the text of a guarded cell."""
    return cell[1:] if cell[:1] == "'" and GUARDED.match(cell) else cell


def as_line(cells: Iterable[Any], separator: str = ",") -> str:
    """Return a line of a table; cells with a line break are quoted."""
    written = io.StringIO()
    # quotes cells with \r or \n
    csv.writer(written, delimiter=separator, lineterminator="\r\n").writerow(cells)
    return written.getvalue()[:-2] + "\n"


# Separators of cells, and decimal commas.

SEPARATORS = (",", ";", "\t", "|")
NAMED = re.compile(r"sep=([^\w\s]|\t)\s*", re.ASCII)
QUOTED = re.compile(r'"(?:[^"]|"")*"')
DECIMAL_COMMA = re.compile(r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+)?,\d+([eE][-+]?\d+)?\s*", re.ASCII)


def recognised(head: str, wanted: Sequence[str | int]) -> str:
    """Return the separator of a table that begins so: the one that its first line names, or that
    yields a wanted name.

    Otherwise it is the most frequent separator of the first line; of equally frequent ones the
    comma.
    """
    first = head.lstrip("\n").partition("\n")[0].rstrip("\r")
    if line := NAMED.fullmatch(first):
        return line[1]
    bare = QUOTED.sub('""', first)
    for one in SEPARATORS:
        if not set(names_in(first, one)).isdisjoint(str(name).strip() for name in wanted):
            return one
    if wanted and all(str(column).isdigit() for column in wanted):  # the first line is data
        return next((one for one in SEPARATORS if one in bare), ",")
    return max(SEPARATORS, key=bare.count)


def names_in(line: str, separator: str) -> list[str]:
    """Return the names in a first line, without quotes and spaces around them."""
    return [cell.strip().strip('"').strip() for cell in line.split(separator)]


def with_point(cell: str) -> str:
    """Return a number as Python writes it, 1234.5 for 1.234,5, and any other text as it is."""
    return cell.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


Name = str | int
Names = Name | list[str] | list[int] | list[Name]
MOST_NAMED = 10  # columns that an error lists
OPTIONS = {
    "text": "text= (--text-column)",
    "labels": "labels= (--label-column)",
    "one_hot": "one_hot= (--one-hot-column)",
    "wrong": "wrong= (--wrong-column)",
    "complete": "complete= (--option complete=NAME)",
    "features": "features= (--feature-column)",
    "id": "id= (--id-column)",
    "rating": "rating= (--option rating=NAME)",
    "vector": "vector= (--vector-column)",
}
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
USUAL = {"labels", "wrong", "complete"}  # columns that are read under these names if they exist


class Column(NamedTuple):
    """A wanted column: what it holds, its name or number, the label of a one-hot column, and if
    it may be absent.
    """

    what: str
    name: Name
    label: str = ""
    optional: bool = False

    @property
    def may_be_absent(self) -> bool:
        """Whether a table without the column is accepted."""
        return self.optional or (self.what == self.name and self.what in USUAL)


def listed(columns: Names | None) -> list[Name]:
    """Return one column or several as a list."""
    if columns is None:
        return []
    return list(columns) if isinstance(columns, (list, tuple)) else [columns]


def bare(name: Name) -> Name:
    """Return the name of a column without spaces around it, as in the first line ``text,
    labels``.
    """
    return name.strip() if isinstance(name, str) else name


def found_among(
    wanted: Sequence[Column], names: Sequence[Name]
) -> tuple[list[Column], list[Column]]:
    """Return the wanted columns that exist, with those of a pattern (``subject_*``) one by one,
    and the others.
    """
    exact = {column.name for column in wanted if column.name in names}
    found: list[Column] = []
    missing: list[Column] = []
    for column in wanted:
        if column.name in exact:
            found.append(column._replace(label=str(column.name)))
            continue
        matches = (
            []
            if column.name in names
            else _matches(column, [name for name in names if name not in exact])
        )
        found += matches
        missing += [] if matches else [column]
    return found, missing


def _matches(column: Column, names: Sequence[Name]) -> list[Column]:
    """Return the columns of a pattern. What the star matches is the label of a one-hot column."""
    if not isinstance(column.name, str) or "*" not in column.name:
        return []
    pattern = re.compile("(.*?)".join(map(re.escape, column.name.split("*"))), re.DOTALL)
    fitting = [(name, pattern.fullmatch(name)) for name in names if isinstance(name, str)]
    return [column._replace(name=name, label=hit[1] or name) for name, hit in fitting if hit]


def absent(where: str, column: Column, names: Sequence[Name]) -> InputError:
    """Return the error about a missing column, with the existing ones and the option that names
    it.
    """
    what = column.what.replace("_", "-")
    a_column = "columns" if isinstance(column.name, str) and "*" in column.name else "a column"
    expected = f"expected {a_column} {column.name!r} for {what}, found {named(names)}"
    return InputError(f"{where}: {expected}; name the right one with {OPTIONS[column.what]}")


def twice(where: str, name: Name, names: Sequence[Name]) -> InputError:
    """Return the error about two columns of one name, which may differ by spaces."""
    spaces = "" if list(names).count(name) > 1 else " (spaces around names do not count)"
    return InputError(f"{where} has more than one column {name!r}{spaces}; rename all but one")


def is_yes(value: object) -> bool | None:
    """Whether a cell of a one-hot column means yes; None if it means neither yes nor no."""
    if value is None or isinstance(value, bool):
        return bool(value)
    said = str(value).strip().casefold()
    return True if said in YES else False if said in NO else None


def named(columns: Sequence[Name]) -> str:
    """Return the names of columns for an error; not all if there are many."""
    return ", ".join(map(shown, columns[:MOST_NAMED])) + (
        ", …" if len(columns) > MOST_NAMED else ""
    )


MOST = float(np.finfo(np.float32).max)  # the largest number of a vector


class Row(NamedTuple):
    """An example of a table."""

    text: Document
    labels: list[str] | None
    wrong: list[str] | None = None  # those that were crossed out
    complete: bool | None = None  # whether all others are wrong
    id: str | None = None
    rating: float | None = None
    vector: list[float] | None = None


@dataclass
class Table(Format):
    """A format with named columns.

    ``text`` names the column of the text; several are its fields. ``labels`` names one or more
    columns of labels; a cell is one label, unless ``label_separator`` splits it. ``one_hot`` names
    columns that each represent a label, with yes or no in each cell. A star in a name stands for
    any characters. ``wrong`` names the column of crossed-out labels, and ``complete`` one that says
    whether all other labels are wrong; without it they are unless a label was crossed out.
    ``features`` names columns of categories or numbers, ``known_features`` such that may be absent.
    ``vector`` names a column of lists of numbers, or several columns of numbers (``embedding_*``).
    ``id`` and ``rating`` name columns of a name and a number. With ``fractions`` labels may be
    numbers such as 3.5.
    """

    text: Names = "text"
    labels: Names = "labels"
    label_separator: str | None = None
    one_hot: Names | None = None
    wrong: Name | None = "wrong"
    complete: Name | None = "complete"
    features: Names | None = None
    known_features: Names | None = None
    id: Name | None = None
    rating: Name | None = None
    vector: Names | None = None
    fractions: bool = False

    _n_vector: ClassVar[int] = 0  # the length of the first vector, which all others must have
    carries: ClassVar[tuple[str, ...]] = ("texts", "labels", "wrong", "complete", "ids", "ratings")

    def wanted(self) -> list[Column]:
        """Return the wanted columns; the options are checked here."""
        given: dict[str, Names | None] = {
            "text": self.text,
            "labels": self.labels,
            "one_hot": self.one_hot,
            "features": self.features,
            "id": self.id,
            "rating": self.rating,
            "vector": self.vector,
        }
        columns = [Column(what, name) for what, names in given.items() for name in listed(names)]
        used = {str(column.name) for column in columns}
        known = [name for name in listed(self.known_features) if str(name) not in used]
        columns += [Column("features", name, optional=True) for name in known]
        if self.wrong is not None and not (str(self.wrong) in used and self.wrong == "wrong"):
            columns.append(Column("wrong", self.wrong))
            if self.complete is not None and not (
                str(self.complete) in used and self.complete == "complete"
            ):
                columns.append(Column("complete", self.complete))
        for column in columns:
            if not isinstance(column.name, (str, int)) or isinstance(column.name, bool):
                raise InputError(f"{column.what} must name a column, not {column.name!r}")
        texts = {str(name) for name in listed(self.text)}
        for name in listed(self.labels):
            if str(name) in texts:
                raise InputError(f"text and labels must be two columns, not both {name!r}")
        if not texts:
            raise InputError("text must name a column, not none")
        if self.label_separator is not None and not (
            isinstance(self.label_separator, str) and self.label_separator
        ):
            raise InputError(
                f"label_separator must be text such as ';', not {self.label_separator!r}"
            )
        return columns

    def split_labels(self, cell: str) -> list[str]:
        """Return the labels in a cell of text."""
        separator = self.label_separator
        if separator is None:
            cell = cell.strip()
            return [cell] if cell else []
        if separator == " ":
            return cell.split()
        return [label for part in cell.split(separator) if (label := part.strip())]

    def to_labels(self, value: object, column: Name) -> list[str]:
        """Return the labels in a value: None, text, a whole number, or a list of these."""
        if value is None:
            return []
        if isinstance(value, str):
            return self.split_labels(value)
        if (
            isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        ) or self._is_fraction(value):
            return [str(value)]
        if isinstance(value, (list, tuple, np.ndarray)):
            for label in value:
                if not (isinstance(label, (str, int, np.integer)) or self._is_fraction(label)):
                    raise BadValue(
                        column,
                        f"expected labels that are text or whole numbers, found {shown(label)}",
                    )
            # blank labels are left out, as in cells
            return [name for name in map(str, value) if name.strip()]
        if isinstance(value, float) and math.isnan(value):
            return []  # pandas writes None so
        raise BadValue(
            column, f"expected a label or a list of labels in {column!r}, found {shown(value)}"
        )

    def _is_fraction(self, value: object) -> bool:
        return self.fractions and isinstance(value, (float, np.floating)) and math.isfinite(value)

    def to_id(self, value: object, column: Name) -> str:
        """Return the name in a value of the column of ids."""
        if not isinstance(value, (str, int, np.integer)):
            raise BadValue(
                column, f"expected text or a whole number in {column!r}, found {shown(value)}"
            )
        return str(value)

    def to_rating(self, value: object, column: Name) -> float:
        """Return the number in a value of the column of ratings."""
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise BadValue(
                column, f"expected a number in {column!r}, found {shown(value)}"
            ) from None
        if not math.isfinite(number):
            raise BadValue(column, f"expected a finite number in {column!r}, found {shown(value)}")
        return number

    def present(self, names: Sequence[Name], where: str, progress: Progress) -> dict[Column, int]:
        """Return the wanted columns and their places. Spaces around names do not count."""
        there = [bare(name) for name in names]
        found, missing = found_among(
            [column._replace(name=bare(column.name)) for column in self.wanted()], there
        )
        for column in missing:
            if not column.may_be_absent:
                raise absent(where, column, there)
        for column in found:
            if there.count(column.name) > 1:
                raise twice(where, column.name, names)
        if not any(column.what in ("labels", "one_hot") for column in found):
            progress.fields = [str(name) for name in there]
        return {column: there.index(column.name) for column in found}

    def to_flag(self, value: object, column: Name) -> bool:
        """Whether a value of a one-hot column means yes."""
        said = is_yes(value)
        if said is None:
            raise BadValue(
                column, f"expected yes or no, 1 or 0, in {column!r}, found {shown(value)}"
            )
        return said

    def to_row(self, values: Iterable[tuple[Column, object]]) -> Row:
        """Return the example of the values of its columns."""
        labels, wrong, complete, own_id, rating, vector = None, None, None, None, None, None
        document: dict[str, Value] = {}
        for (what, name, label, _), value in values:
            if what == "text":
                if not isinstance(value, str):
                    raise BadValue(name, f"expected text in {name!r}, found {shown(value)}")
                document[str(name)] = value
            elif what == "features":
                if (own := self.to_value(value, name)) is not None:
                    document[str(name)] = own
            elif what == "labels":
                labels = [*(labels or ()), *self.to_labels(value, name)]
            elif what == "one_hot":
                labels = [*(labels or ()), *([label] if self.to_flag(value, name) else ())]
            elif what == "wrong":
                wrong = self.to_labels(value, name)
            elif what == "complete":
                complete = (value, name)
            elif what == "id":
                own_id = self.to_id(value, name)
            elif what == "vector":
                vector = [] if vector is None else vector
                vector += self.to_numbers(value, name)
            else:
                rating = self.to_rating(value, name)
        text = document if self.has_fields else cast("str", next(iter(document.values()), ""))
        said, name = complete or (None, "")
        unsaid = (
            wrong is None
            or said is None
            or said == ""
            or (isinstance(said, float) and math.isnan(said))
        )
        all_judged = None if unsaid else self.to_flag(said, name)
        return Row(text, labels, wrong, all_judged, own_id, rating, self._as_long(vector))

    def to_numbers(self, value: object, column: Name) -> list[float]:
        """Return the numbers in a value of a column of vectors: a list of them, or one."""
        numbers: list[Any] = (
            list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
        )
        for number in numbers:
            is_number = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
            if not is_number or not abs(number) <= MOST:
                raise BadValue(
                    column, f"expected finite numbers in {column!r}, found {shown(number)}"
                )
        return [float(number) for number in numbers]

    def _as_long(self, vector: list[float] | None) -> list[float] | None:
        """Return the vector, which must have as many numbers as the first one."""
        if vector is not None:
            wanted = self._n_vector or len(vector)
            if not vector or len(vector) != wanted:
                name = listed(self.vector)[0]
                raise BadValue(
                    name,
                    f"expected a vector of {wanted or 'some'} numbers in {name!r}, found "
                    f"{len(vector)}",
                )
            self._n_vector = wanted  # type: ignore[misc]
        return vector

    @cached_property
    def has_fields(self) -> bool:
        """Whether a text has several fields, or categories or numbers."""
        return (
            len(listed(self.text)) > 1
            or bool(listed(self.features))
            or bool(listed(self.known_features))
        )

    def to_value(self, value: object, column: Name) -> Value | None:
        """Return the categories or the number in a value of a column of features."""
        if isinstance(value, str):
            return cell_value(value)
        if isinstance(value, (float, np.floating)) and math.isnan(value):
            return None  # pandas writes None so
        try:
            features_of(str(column), value, "")
        except InputError:
            expected = (
                f"expected text, a number or a list of texts in {column!r}, found {shown(value)}"
            )
            raise BadValue(column, expected) from None
        return cast("Value | None", value)

    def batch(self, rows: list[Row], places: Places | None = None) -> Examples:
        """Return the examples of some rows; labels are None if no row has any."""
        if not rows:
            return Examples(texts=[])
        texts, labels, wrong, complete, ids, ratings, vectors = zip(*rows, strict=True)
        judged = any(one is not None for one in wrong)
        lists = [one or [] for one in labels] if any(one is not None for one in labels) else None
        documents: Sequence[Any] = Fielded.of(texts, None) if self.has_fields else list(texts)
        return Examples(
            texts=documents
            if self.vector is None
            else WithVectors(documents, np.array(vectors, dtype=np.float32)),
            # each name once
            labels=None if lists is None else cast("Sequence[list[str]]", NumberedLabels.of(lists)),
            wrong=[one or [] for one in wrong] if judged else None,
            complete=list(complete) if judged else None,
            ids=list(ids) if self.id is not None else None,
            ratings=np.array(ratings, dtype=np.float64) if self.rating is not None else None,
            places=places,
        )


class BadValue(Exception):
    """A value that its column may not hold; the reader adds the place."""

    def __init__(self, column: Name | None, sentence: str) -> None:
        super().__init__(sentence)
        self.column = column
