"""What the formats with named columns share: which column is the text, which hold the labels, how they are split."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.format import Format
from shortlist.inputs.parsing.columns import (
    Column,
    Name,
    Names,
    absent,
    bare,
    found_among,
    is_yes,
    listed,
    shown,
    twice,
)
from shortlist.inputs.source import Progress
from shortlist.labels import NumberedLabels
from shortlist.texts.fields import Document, Fielded, Value, WithVectors, cell_value, features_of

MOST = float(np.finfo(np.float32).max)  # of a number of a vector


class Row(NamedTuple):
    """An example as a table has it."""

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

    ``text`` names the column of the text, ``labels`` that of the labels, or several, ``id`` and ``rating`` those of a
    name and of a number for each example. A cell of labels is one label, or as many as ``label_separator`` splits it
    into. ``one_hot`` names columns that each stand for a label, and say yes or no in each cell. A star in the name of a
    column of labels stands for any letters. ``wrong`` names the column of labels that were crossed out, which are split
    in the same way, and ``complete`` one that says whether all other labels are wrong (it is read beside the other one
    only): where that says nothing, they are if nothing was crossed out. Several columns of text are fields of one text;
    ``features`` names columns of categories or numbers that belong to it, ``known_features`` such as are read where
    they are there. ``vector`` names a column of lists of numbers, or several of numbers, ``embedding_*``: the vector
    that stands beside the text. With ``fractions`` labels may be numbers such as 3.5, as ratings are.
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

    _n_vector: ClassVar[int] = 0  # how many numbers the first vector has, and so must all others
    carries: ClassVar[tuple[str, ...]] = ("texts", "labels", "wrong", "complete", "ids", "ratings")

    def wanted(self) -> list[Column]:
        """What is asked for, column by column; the options are checked here."""
        given: dict[str, Names | None] = {
            "text": self.text, "labels": self.labels, "one_hot": self.one_hot, "features": self.features,
            "id": self.id, "rating": self.rating, "vector": self.vector,
        }  # fmt: skip
        columns = [Column(what, name) for what, names in given.items() for name in listed(names)]
        used = {str(column.name) for column in columns}
        known = [name for name in listed(self.known_features) if str(name) not in used]
        columns += [Column("features", name, optional=True) for name in known]
        if self.wrong is not None and not (str(self.wrong) in used and self.wrong == "wrong"):
            columns.append(Column("wrong", self.wrong))
            if self.complete is not None and not (str(self.complete) in used and self.complete == "complete"):
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
        if self.label_separator is not None and not (isinstance(self.label_separator, str) and self.label_separator):
            raise InputError(f"label_separator must be text such as ';', not {self.label_separator!r}")
        return columns

    def split_labels(self, cell: str) -> list[str]:
        """The labels in one cell of text."""
        separator = self.label_separator
        if separator is None:
            cell = cell.strip()
            return [cell] if cell else []
        if separator == " ":
            return cell.split()
        return [label for part in cell.split(separator) if (label := part.strip())]

    def to_labels(self, value: object, column: Name) -> list[str]:
        """The labels in one value of a column: None, text, a whole number, or a list of these."""
        if value is None:
            return []
        if isinstance(value, str):
            return self.split_labels(value)
        if (isinstance(value, (int, np.integer)) and not isinstance(value, bool)) or self._is_fraction(value):
            return [str(value)]
        if isinstance(value, (list, tuple, np.ndarray)):
            for label in value:
                if not (isinstance(label, (str, int, np.integer)) or self._is_fraction(label)):
                    raise BadValue(column, f"expected labels that are text or whole numbers, found {shown(label)}")
            return [name for name in map(str, value) if name.strip()]  # as of cells, what is blank is none
        if isinstance(value, float) and math.isnan(value):
            return []  # pandas' way of saying None
        raise BadValue(column, f"expected a label or a list of labels in {column!r}, found {shown(value)}")

    def _is_fraction(self, value: object) -> bool:
        return self.fractions and isinstance(value, (float, np.floating)) and math.isfinite(value)

    def to_id(self, value: object) -> str:
        """The name in one value of the column of ids."""
        if not isinstance(value, (str, int, np.integer)):
            raise BadValue(self.id, f"expected text or a whole number in {self.id!r}, found {shown(value)}")
        return str(value)

    def to_rating(self, value: object) -> float:
        """The number in one value of the column of ratings."""
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise BadValue(self.rating, f"expected a number in {self.rating!r}, found {shown(value)}") from None
        if not math.isfinite(number):
            raise BadValue(self.rating, f"expected a finite number in {self.rating!r}, found {shown(value)}")
        return number

    def present(self, names: Sequence[Name], where: str, progress: Progress) -> dict[Column, int]:
        """The columns asked for, and where they stand among those there are; only the usual labels may be absent.

        Spaces around a name do not count, neither there nor where it is asked for.
        """
        there = [bare(name) for name in names]
        found, missing = found_among([column._replace(name=bare(column.name)) for column in self.wanted()], there)
        for column in missing:
            if not column.may_be_absent:
                raise absent(where, column, there)
        for column in found:
            if there.count(column.name) > 1:
                raise twice(where, column.name, names)
        if not any(column.what in ("labels", "one_hot") for column in found):
            progress.fields = [str(name) for name in there]
        return {column: there.index(column.name) for column in found}

    def to_flag(self, column: Column, value: object) -> bool:
        """Whether one value of a one-hot column says yes."""
        said = is_yes(value)
        if said is None:
            raise BadValue(column.name, f"expected yes or no, 1 or 0, in {column.name!r}, found {shown(value)}")
        return said

    def to_row(self, values: Iterable[tuple[Column, object]]) -> Row:
        """An example from the values of its columns."""
        labels, wrong, complete, name, rating, vector = None, None, None, None, None, None
        document: dict[str, Value] = {}
        for column, value in values:
            if column.what == "text":
                if not isinstance(value, str):
                    raise BadValue(column.name, f"expected text in {column.name!r}, found {shown(value)}")
                document[str(column.name)] = value
            elif column.what == "features":
                if (own := self.to_value(value, column.name)) is not None:
                    document[str(column.name)] = own
            elif column.what == "labels":
                labels = (labels or []) + self.to_labels(value, column.name)
            elif column.what == "one_hot":
                labels = (labels or []) + ([column.label] if self.to_flag(column, value) else [])
            elif column.what == "wrong":
                wrong = self.to_labels(value, column.name)
            elif column.what == "complete":
                complete = value
            elif column.what == "id":
                name = self.to_id(value)
            elif column.what == "vector":
                vector = (vector or []) + self.to_numbers(value, column.name)
            else:
                rating = self.to_rating(value)
        text = document if self.has_fields else cast("str", next(iter(document.values()), ""))
        return Row(text, labels, wrong, self.to_complete(wrong, complete), name, rating, self._as_long(vector))

    def to_complete(self, wrong: list[str] | None, value: object) -> bool | None:
        """Whether all labels beside the right ones are wrong, where the example says so."""
        if wrong is None or value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
            return None
        return self.to_flag(Column("complete", self.complete or ""), value)

    def to_numbers(self, value: object, column: Name) -> list[float]:
        """The numbers in one value of a column of vectors: a list of them, or one."""
        numbers: list[Any] = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
        for number in numbers:
            is_number = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
            if not is_number or not abs(number) <= MOST:
                raise BadValue(column, f"expected finite numbers in {column!r}, found {shown(number)}")
        return [float(number) for number in numbers]

    def _as_long(self, vector: list[float] | None) -> list[float] | None:
        """A vector that has as many numbers as the first one."""
        if vector is not None:
            wanted = self._n_vector or len(vector)
            if not vector or len(vector) != wanted:
                name = listed(self.vector)[0]
                raise BadValue(
                    name, f"expected a vector of {wanted or 'some'} numbers in {name!r}, found {len(vector)}"
                )
            self._n_vector = wanted  # type: ignore[misc]
        return vector

    @property
    def has_fields(self) -> bool:
        """Whether a text has several fields, or something else that belongs to it."""
        return len(listed(self.text)) > 1 or bool(listed(self.features)) or bool(listed(self.known_features))

    def to_value(self, value: object, column: Name) -> Value | None:
        """The categories or the number in one value of a column of features."""
        if isinstance(value, str):
            return cell_value(value)
        if isinstance(value, (float, np.floating)) and math.isnan(value):
            return None  # pandas' way of saying None
        try:
            features_of(str(column), value, "")
        except InputError:
            expected = f"expected text, a number or a list of texts in {column!r}, found {shown(value)}"
            raise BadValue(column, expected) from None
        return cast("Value | None", value)

    def batch(self, rows: list[Row], places: Places | None = None) -> Examples:
        """The examples of some rows; labels are None where no row has any."""
        if not rows:
            return Examples(texts=[])
        texts, labels, wrong, complete, ids, ratings, vectors = zip(*rows, strict=True)
        judged = any(one is not None for one in wrong)
        documents: Sequence[Any] = Fielded.of(texts) if self.has_fields else list(texts)
        return Examples(
            texts=documents if self.vector is None else WithVectors(documents, np.array(vectors, dtype=np.float32)),
            labels=[one or [] for one in labels] if any(one is not None for one in labels) else None,
            wrong=[one or [] for one in wrong] if judged else None,
            complete=list(complete) if judged else None,
            ids=list(ids) if self.id is not None else None,
            ratings=np.array(ratings, dtype=np.float64) if self.rating is not None else None,
            places=places,
        )

    def columns_examples(
        self, where: str, first: int, columns: Sequence[tuple[Column, Sequence[object]]], progress: Progress
    ) -> Iterator[Examples]:
        """Examples from columns in memory; ``first`` is the number of the first row."""
        rows: list[Row] = []
        numbers: list[int] = []
        held = 0
        for i in range(len(columns[0][1])):
            try:
                row = self.to_row((column, values[i]) for column, values in columns)
            except BadValue as problem:
                progress.bad(f"{where}, row {first + i}: {problem}")
                continue
            rows.append(row)
            numbers.append(first + i)
            held += sum(len(str(value)) for value in row[0].values()) if isinstance(row[0], dict) else len(row[0])
            if held >= progress.batch:
                yield self.batch(rows, Places(where, numbers, "row"))
                rows, numbers, held = [], [], 0
        yield self.batch(rows, Places(where, numbers, "row"))


def numbered(labels: Sequence[list[str]]) -> Sequence[list[str]]:
    """The same lists in little room: each name once."""
    return cast("Sequence[list[str]]", NumberedLabels.of(labels))


class BadValue(Exception):
    """A value that is not what its column should hold; the reader adds the place."""

    def __init__(self, column: Name | None, sentence: str) -> None:
        super().__init__(sentence)
        self.column = column
