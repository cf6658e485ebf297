"""What the formats with named columns share: which column is the text, which holds the labels, how they are split."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.format import Format
from shortlist.inputs.source import Progress

Name = str | int
MOST_NAMED = 10  # columns that an error lists
USUAL_LABELS = ("labels", "labels")  # the purpose and its column, which may be absent unless it was asked for
Row = tuple[str, list[str] | None, str | None, float | None]


@dataclass
class Table(Format):
    """A format with named columns.

    ``text`` names the column of the text, ``labels`` that of the labels, ``id`` and ``rating`` those of a name and of
    a number for each example. A cell of labels is one label, or as many as ``label_separator`` splits it into.
    """

    text: Name = "text"
    labels: Name = "labels"
    label_separator: str | None = None
    id: Name | None = None
    rating: Name | None = None

    carries: ClassVar[tuple[str, ...]] = ("texts", "labels", "ids", "ratings")

    def wanted(self) -> dict[str, Name]:
        """What is asked for -> the column that has it; the options are checked here."""
        given: dict[str, Name] = {"text": self.text, "labels": self.labels}
        if self.id is not None:
            given["id"] = self.id
        if self.rating is not None:
            given["rating"] = self.rating
        for what, column in given.items():
            if not isinstance(column, (str, int)) or isinstance(column, bool):
                raise InputError(f"{what} must name a column, not {column!r}")
        if str(self.text) == str(self.labels):
            raise InputError(f"text and labels must be two columns, not both {self.text!r}")
        if self.label_separator is not None and not (isinstance(self.label_separator, str) and self.label_separator):
            raise InputError(f"label_separator must be text such as ';', not {self.label_separator!r}")
        return given

    def split_labels(self, cell: str) -> list[str]:
        """The labels in one cell of text."""
        separator = self.label_separator
        if separator is None:
            cell = cell.strip()
            return [cell] if cell else []
        if separator == " ":
            return cell.split()
        return [label for part in cell.split(separator) if (label := part.strip())]

    def to_labels(self, value: object) -> list[str]:
        """The labels in one value of a column: None, text, a whole number, or a list of these."""
        if value is None:
            return []
        if isinstance(value, str):
            return self.split_labels(value)
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            return [str(value)]
        if isinstance(value, (list, tuple, np.ndarray)):
            for label in value:
                if not isinstance(label, (str, int, np.integer)):
                    raise BadValue(self.labels, f"expected labels that are text or whole numbers, found {shown(label)}")
            return [str(label) for label in value]
        if isinstance(value, float) and math.isnan(value):
            return []  # pandas' way of saying None
        raise BadValue(self.labels, f"expected a label or a list of labels in {self.labels!r}, found {shown(value)}")

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

    def present(self, names: Sequence[Name], where: str) -> dict[str, Name]:
        """What is asked for -> the column that has it, of those that there are; only the usual labels may be absent."""
        found = {}
        for what, column in self.wanted().items():
            if column in names:
                if names.count(column) > 1:
                    raise InputError(f"{where} has more than one column {column!r}")
                found[what] = column
            elif (what, column) != USUAL_LABELS:
                raise InputError(f"{where}: expected a column {column!r} for {what}, found {named(names)}")
        return found

    def batch(self, rows: list[Row]) -> Examples:
        """Examples from (text, labels, id, rating) of each; labels are None where no row has any."""
        if not rows:
            return Examples(texts=[])
        texts, labels, ids, ratings = zip(*rows, strict=True)
        return Examples(
            texts=list(texts),
            labels=[one or [] for one in labels] if any(one is not None for one in labels) else None,
            ids=list(ids) if self.id is not None else None,
            ratings=np.array(ratings, dtype=np.float64) if self.rating is not None else None,
        )

    def columns_examples(
        self, where: str, first: int, columns: Mapping[str, Sequence[object]], progress: Progress
    ) -> Iterator[Examples]:
        """Examples from columns in memory; ``first`` is the number of the first row."""
        rows: list[Row] = []
        held = 0
        for i, text in enumerate(columns["text"]):
            try:
                if not isinstance(text, str):
                    raise BadValue(self.text, f"expected text in {self.text!r}, found {shown(text)}")
                row = (
                    text,
                    self.to_labels(columns["labels"][i]) if "labels" in columns else None,
                    self.to_id(columns["id"][i]) if "id" in columns else None,
                    self.to_rating(columns["rating"][i]) if "rating" in columns else None,
                )
            except BadValue as problem:
                progress.bad(f"{where}, row {first + i}: {problem}")
                continue
            rows.append(row)
            held += len(text)
            if held >= progress.batch:
                yield self.batch(rows)
                rows, held = [], 0
        yield self.batch(rows)


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


class BadValue(Exception):
    """A value that is not what its column should hold; the reader adds the place."""

    def __init__(self, column: Name | None, sentence: str) -> None:
        super().__init__(sentence)
        self.column = column
