"""The base of the formats with named columns: which columns are read, and what their cells hold."""

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
from shortlist.inputs.examples import ExamplePlaces, Examples
from shortlist.inputs.source import Format, Progress

# Texts that a spreadsheet would run as formulas are written with an apostrophe before them, and
# read without it. A spreadsheet may open a file with semicolons (as in much of Europe) or tabs
# where commas were written: these begin cells within cells, and so do line breaks, as only the
# quotes around the first cell of a line count then.

SIGN = r"[=+\-@＝＋－＠]"
# spaces and characters that nobody sees, but neither tabs nor line breaks
UNSEEN = (
    r"[^\S\t\r\n]|[\x00-\x08\x0e-\x1f\x7f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
AT_START = rf"'*(?:{UNSEEN})*(?:{SIGN}|[\t\r\n])"
WITHIN = rf"'*(?:{UNSEEN}|\")*{SIGN}"
FORMULA = re.compile(rf"^(?={AT_START})|(?<=[;\t\r\n])(?={WITHIN})")
# what looks guarded is guarded once more
FORMULA_IN_FIRST_CELL = re.compile(
    rf"^(?={AT_START})|(?<=[;\t])(?={WITHIN})|(?<=[\r\n])(?='{WITHIN})"
)
GUARD = re.compile(rf"'(?:(?<=^')(?={AT_START})|(?<=[;\t\r\n]')(?={WITHIN}))")


def guarded(cell: str, is_first: bool = False) -> str:
    """Return a text as a cell that no spreadsheet runs, be it opened with commas, semicolons or
    tabs.

    ``is_first``: the first cell of its line, where no line break begins another.
    """
    formula = FORMULA_IN_FIRST_CELL if is_first else FORMULA
    return formula.sub("'", cell)


def unguarded(cell: str) -> str:
    """Return the text of a guarded cell."""
    return GUARD.sub("", cell)


def as_line(cells: Iterable[Any], separator: str = ",") -> str:
    """Return a line of a table; cells with a line break are quoted."""
    written = io.StringIO()
    # quotes cells with \r or \n
    csv.writer(written, delimiter=separator, lineterminator="\r\n").writerow(cells)
    return written.getvalue()[:-2] + "\n"


# Separators of cells, and decimal commas.

SEPARATORS = (",", ";", "\t", "|")
SEPARATOR_LINE = re.compile(r"sep=([^\w\s]|\t)\s*", re.ASCII)
QUOTED_CELL = re.compile(r'"(?:[^"]|"")*"')
DECIMAL_COMMA = re.compile(r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+)?,\d+([eE][-+]?\d+)?\s*", re.ASCII)


def recognised(head: str, columns: Sequence[str | int]) -> str:
    """Return the separator of a table that begins so: the one that its first line names, or that
    yields one of the columns.

    Otherwise it is the most frequent separator of the first line; of equally frequent ones the
    comma.
    """
    first = head.lstrip("\n").partition("\n")[0].rstrip("\r")
    line = SEPARATOR_LINE.fullmatch(first)
    if line:
        return line[1]
    unquoted = QUOTED_CELL.sub('""', first)
    names = {str(name).strip() for name in columns}
    for separator in SEPARATORS:
        if not names.isdisjoint(names_in(first, separator)):
            return separator
    if columns and all(name.isdigit() for name in names):  # the first line is data
        return next((separator for separator in SEPARATORS if separator in unquoted), ",")
    return max(SEPARATORS, key=unquoted.count)


def names_in(line: str, separator: str) -> list[str]:
    """Return the names in a first line, without quotes and spaces around them."""
    return [cell.strip().strip('"').strip() for cell in line.split(separator)]


def with_point(cell: str) -> str:
    """Return a number as Python writes it, 1234.5 for 1.234,5, and any other text as it is."""
    return cell.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


ColumnName = str | int
ColumnNames = ColumnName | list[str] | list[int] | list[ColumnName]
MOST_NAMED = 10  # columns that an error lists
COLUMN_OPTIONS = {
    "text": "text= (--text-column)",
    "labels": "labels= (--label-column)",
    "one_hot": "one_hot= (--one-hot-column)",
    "wrong": "wrong= (--wrong-column)",
    "complete": "complete= (--option complete=NAME)",
    "features": "features= (--feature-column)",
    "id": "id= (--id-column)",
    "keep": "keep= (--id-column, --keep-columns)",
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
ALL_OTHERS = "*"  # of ``keep``: all columns that are not read as something else
READ_IF_PRESENT = {"labels", "wrong", "complete"}  # columns that need not be named


class Column(NamedTuple):
    """A column to read: its role, its name or number, the label of a one-hot column, and if it
    may be absent.
    """

    role: str
    name: ColumnName
    label: str = ""
    optional: bool = False

    @property
    def may_be_absent(self) -> bool:
        """Whether a table without the column is accepted."""
        return self.optional or (self.role == self.name and self.role in READ_IF_PRESENT)


def listed(columns: ColumnNames | None) -> list[ColumnName]:
    """Return one column or several as a list."""
    if columns is None:
        return []
    return list(columns) if isinstance(columns, (list, tuple)) else [columns]


def column_names(words: str) -> list[str]:
    """Return the names of columns that stand in one text with commas between."""
    return [name.strip() for name in words.split(",") if name.strip()]


def bare(name: Any) -> Any:
    """Return the name of a column without spaces around it, as in the first line ``text,
    labels``.
    """
    return name.strip() if isinstance(name, str) else name


def matching_columns(
    columns: Sequence[Column], names: Sequence[ColumnName]
) -> tuple[list[Column], list[Column]]:
    """Return the columns that exist, with those of a pattern (``subject_*``) one by one, and the
    missing ones.
    """
    exact = {column.name for column in columns if column.name in names}
    free = [name for name in names if name not in exact]
    present: list[Column] = []
    missing: list[Column] = []
    for column in columns:
        if column.name in exact:
            present.append(column._replace(label=str(column.name)))
            continue
        matches = _matches(column, free)
        present += matches
        if not matches:
            missing.append(column)
    return present, missing


def _matches(column: Column, names: Sequence[ColumnName]) -> list[Column]:
    """Return the columns of a pattern. What the star matches is the label of a one-hot column."""
    if not _is_pattern(column):
        return []
    parts = str(column.name).split("*")
    pattern = re.compile("(.*?)".join(map(re.escape, parts)), re.DOTALL)
    fitting = [(name, pattern.fullmatch(name)) for name in names if isinstance(name, str)]
    return [column._replace(name=name, label=hit[1] or name) for name, hit in fitting if hit]


def _is_pattern(column: Column) -> bool:
    return isinstance(column.name, str) and "*" in column.name


def twice(where: str, name: ColumnName, names: Sequence[ColumnName]) -> InputError:
    """Return the error about two columns of one name, which may differ by spaces."""
    spaces = "" if list(names).count(name) > 1 else " (spaces around names do not count)"
    return InputError(f"{where} has more than one column {name!r}{spaces}; rename all but one")


def is_yes(value: object) -> bool | None:
    """Whether a cell of a one-hot column means yes; None if it means neither yes nor no."""
    if value is None or isinstance(value, bool):
        return bool(value)
    word = str(value).strip().casefold()
    if word in YES:
        return True
    return False if word in NO else None


def names_in_words(columns: Sequence[ColumnName]) -> str:
    """Return the names of columns for an error; not all if there are many."""
    names = [shown(column) for column in columns[:MOST_NAMED]]
    if len(columns) > MOST_NAMED:
        names.append("…")
    return ", ".join(names)


LARGEST_NUMBER = float(np.finfo(np.float32).max)  # of a vector


class Row(NamedTuple):
    """An example of a table."""

    text: Document
    labels: list[str] | None
    wrong: list[str] | None = None  # those that were crossed out
    complete: bool | None = None  # whether all others are wrong
    id: str | None = None
    rating: float | None = None
    vector: list[float] | None = None
    kept: dict[str, str] | None = None


@dataclass
class TableFormat(Format):
    """A format with named columns.

    ``text`` names the column of the text; several are its fields. ``labels`` names one or more
    columns of labels; a cell is one label, unless ``label_separator`` splits it. ``one_hot`` names
    columns that each represent a label, with yes or no in each cell. A star in a name stands for
    any characters. ``wrong`` names the column of crossed-out labels, and ``complete`` one that says
    whether all other labels are wrong; without it they are unless a label was crossed out.
    ``features`` names columns of categories or numbers, ``known_features`` such that may be absent.
    ``vector`` names a column of lists of numbers, or several columns of numbers (``embedding_*``).
    ``id`` and ``rating`` name columns of a name and a number, ``keep`` columns that are passed on
    as they are. With ``fractions`` labels may be numbers such as 3.5.
    """

    text: ColumnNames = "text"
    labels: ColumnNames = "labels"
    label_separator: str | None = None
    one_hot: ColumnNames | None = None
    wrong: ColumnName | None = "wrong"
    complete: ColumnName | None = "complete"
    features: ColumnNames | None = None
    known_features: ColumnNames | None = None
    id: ColumnName | None = None
    rating: ColumnName | None = None
    vector: ColumnNames | None = None
    keep: ColumnNames | None = None
    fractions: bool = False

    _n_vector: ClassVar[int] = 0  # the length of the first vector, which all others must have
    carries: ClassVar[tuple[str, ...]] = (
        "texts",
        "labels",
        "wrong",
        "complete",
        "ids",
        "ratings",
        "kept",
    )

    def columns(self) -> list[Column]:
        """Return the columns to read; the options are checked here."""
        columns = [
            Column(role, name)
            for role in ("text", "labels", "one_hot", "features", "id", "rating", "vector")
            for name in listed(getattr(self, role))
        ]
        used = {str(column.name) for column in columns}
        known_features = [name for name in listed(self.known_features) if str(name) not in used]
        columns += [Column("features", name, optional=True) for name in known_features]
        columns += [Column("keep", name, optional=name == ALL_OTHERS) for name in listed(self.keep)]
        for role in ("wrong", "complete"):
            name = getattr(self, role)
            if name is None or (name == role and role in used):
                break
            columns.append(Column(role, name))
        for column in columns:
            if not isinstance(column.name, (str, int)) or isinstance(column.name, bool):
                raise InputError(f"{column.role} must name a column, not {column.name!r}")
        texts = {str(name) for name in listed(self.text)}
        for name in listed(self.labels):
            if str(name) in texts:
                raise InputError(f"text and labels must be two columns, not both {name!r}")
        if not texts and not listed(self.keep):
            raise InputError("text must name a column, not none")
        separator = self.label_separator
        if separator is not None and not (isinstance(separator, str) and separator):
            raise InputError(f"label_separator must be text such as ';', not {separator!r}")
        return columns

    def split_labels(self, cell: str) -> list[str]:
        """Return the labels in a cell of text."""
        if self.label_separator is None:
            parts = [cell]
        elif self.label_separator == " ":
            parts = cell.split()
        else:
            parts = cell.split(self.label_separator)
        return [part.strip() for part in parts if part.strip()]

    def to_labels(self, value: object, column: ColumnName) -> list[str]:
        """Return the labels in a value: None, text, a whole number, or a list of these."""
        if isinstance(value, str):
            return self.split_labels(value)
        if _is_empty(value):
            return []
        if self._is_number(value) and not isinstance(value, bool):
            return [str(value)]
        if not isinstance(value, (list, tuple, np.ndarray)):
            raise BadValue(column, "a label or a list of labels", value)
        for label in value:
            if not isinstance(label, str) and not self._is_number(label):
                raise BadValue(column, "labels that are text or whole numbers", label)
        # blank labels are left out, as in cells
        return [label for label in map(str, value) if label.strip()]

    def _is_number(self, value: Any) -> bool:
        """Whether a value is a number that may be a label."""
        if isinstance(value, (float, np.floating)):
            return self.fractions and math.isfinite(value)
        return isinstance(value, (int, np.integer))

    def to_id(self, value: object, column: ColumnName) -> str:
        """Return the name in a value of the column of ids."""
        if not isinstance(value, (str, int, np.integer)):
            raise BadValue(column, "text or a whole number", value)
        return str(value)

    def to_rating(self, value: Any, column: ColumnName) -> float:
        """Return the number in a value of the column of ratings."""
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise BadValue(column, "a number", value) from None
        if not math.isfinite(number):
            raise BadValue(column, "a finite number", value)
        return number

    def present(
        self, names: Sequence[ColumnName], where: str, progress: Progress
    ) -> dict[Column, int]:
        """Return the columns to read and their places. Spaces around names do not count."""
        bare_names = [bare(name) for name in names]
        columns = [column._replace(name=bare(column.name)) for column in self.columns()]
        present, missing = matching_columns(columns, bare_names)
        for column in missing:
            if not column.may_be_absent:
                role = column.role.replace("_", "-")
                kind = "columns" if _is_pattern(column) else "a column"
                raise InputError(
                    f"{where}: expected {kind} {column.name!r} for {role}, found "
                    f"{names_in_words(bare_names)}; name the right one with "
                    f"{COLUMN_OPTIONS[column.role]}"
                )
        for column in present:
            if bare_names.count(column.name) > 1:
                raise twice(where, column.name, names)
        if not any(column.role in ("labels", "one_hot") for column in present):
            progress.fields = [str(name) for name in bare_names]
        return {column: bare_names.index(column.name) for column in present}

    def to_flag(self, value: object, column: ColumnName) -> bool:
        """Whether a value of a one-hot column means yes."""
        flag = is_yes(value)
        if flag is None:
            raise BadValue(column, "yes or no, 1 or 0,", value)
        return flag

    def to_row(self, values: Iterable[tuple[Column, object]]) -> Row:
        """Return the example of the values of its columns."""
        document: dict[str, Value] = {}
        labels: list[str] | None = None
        wrong = None
        complete = None
        example_id = None
        rating = None
        vector: list[float] | None = None
        kept: dict[str, str] = {}
        for column, value in values:
            name = column.name
            match column.role:
                case "text":
                    if not isinstance(value, str):
                        raise BadValue(name, "text", value)
                    document[str(name)] = value
                case "features":
                    feature = self.to_value(value, name)
                    if feature is not None:
                        document[str(name)] = feature
                case "labels":
                    labels = (labels or []) + self.to_labels(value, name)
                case "one_hot":
                    labels = labels or []
                    if self.to_flag(value, name):
                        labels.append(column.label)
                case "wrong":
                    wrong = self.to_labels(value, name)
                case "complete":
                    if wrong is not None and value != "" and not _is_empty(value):
                        complete = self.to_flag(value, name)
                case "id":
                    example_id = self.to_id(value, name)
                case "vector":
                    vector = (vector or []) + self.to_numbers(value, name)
                case "rating":
                    rating = self.to_rating(value, name)
                case "keep":
                    kept[str(name)] = as_cell(value)
        if vector is not None:
            self._check_length(vector)
        text = document if self.has_fields else cast("str", next(iter(document.values()), ""))
        return Row(text, labels, wrong, complete, example_id, rating, vector, kept)

    def to_numbers(self, value: object, column: ColumnName) -> list[float]:
        """Return the numbers in a value of a column of vectors: a list of them, or one."""
        numbers: list[Any] = (
            list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
        )
        for number in numbers:
            is_number = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
            if not is_number or not abs(number) <= LARGEST_NUMBER:
                raise BadValue(column, "finite numbers", number)
        return [float(number) for number in numbers]

    def _check_length(self, vector: list[float]) -> None:
        """Refuse a vector that has not as many numbers as the first one."""
        expected = self._n_vector or len(vector)
        if not vector or len(vector) != expected:
            name = listed(self.vector)[0]
            raise BadValue(
                name,
                f"expected a vector of {expected or 'some'} numbers in {name!r}, found "
                f"{len(vector)}",
            )
        self._n_vector = expected  # type: ignore[misc]

    @cached_property
    def has_fields(self) -> bool:
        """Whether a text has several fields, or categories or numbers."""
        features = listed(self.features) + listed(self.known_features)
        return len(listed(self.text)) > 1 or bool(features)

    def to_value(self, value: object, column: ColumnName) -> Value | None:
        """Return the categories or the number in a value of a column of features."""
        if isinstance(value, str):
            return cell_value(value)
        if _is_empty(value):
            return None
        try:
            features_of(str(column), value, "")
        except InputError:
            raise BadValue(column, "text, a number or a list of texts", value) from None
        return cast("Value", value)

    def batch(self, rows: list[Row], places: ExamplePlaces | None = None) -> Examples:
        """Return the examples of some rows; labels are None if no row has any."""
        if not rows:
            return Examples(texts=[])
        texts, labels, wrong, complete, ids, ratings, vectors, kept = zip(*rows, strict=True)
        examples = Examples(places=places)
        examples.texts = Fielded.of(texts, None) if self.has_fields else list(texts)
        if self.vector is not None:
            examples.texts = WithVectors(examples.texts, np.array(vectors, dtype=np.float32))
        if any(names is not None for names in labels):
            # holds each name once
            numbered = NumberedLabels.of([names or [] for names in labels])
            examples.labels = cast("Sequence[list[str]]", numbered)
        if any(names is not None for names in wrong):
            examples.wrong = [names or [] for names in wrong]
            examples.complete = list(complete)
        if self.id is not None:
            examples.ids = list(ids)
        if self.rating is not None:
            examples.ratings = np.array(ratings, dtype=np.float64)
        if self.keep is not None:
            examples.kept = list(kept)
        return examples


def as_cell(value: object) -> str:
    """Return a value as a spreadsheet shows it: nothing for an empty one, 17 for 17.0."""
    if _is_empty(value):
        return ""
    if isinstance(value, (float, np.floating)) and value.is_integer():
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ", ".join(map(as_cell, value))
    return str(value)


def _is_empty(value: object) -> bool:
    """Whether a cell of a frame is empty: None, or NaN, which pandas writes for it."""
    return value is None or (isinstance(value, (float, np.floating)) and math.isnan(value))


NO_VALUE = object()


class BadValue(Exception):
    """A value that its column may not hold; the reader adds the place.

    ``expected`` is the whole sentence if no value is given.
    """

    def __init__(self, column: ColumnName | None, expected: str, value: object = NO_VALUE) -> None:
        if value is not NO_VALUE:
            expected = f"expected {expected} in {column!r}, found {shown(value)}"
        super().__init__(expected)
        self.column = column
