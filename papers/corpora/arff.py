"""ARFF with several labels, as Mulan and MEKA have it: rows ``{0 1, 17 0.5, 502 1}`` or dense
``0,1,0.5``.

Which attributes are the labels is said by ``label_count`` (the first so many, or the last if
negative), by MEKA's ``-C`` in the name of the relation, or by Mulan's XML file: ``xml`` names it,
or it is found beside the ARFF file. The other attributes are the features. The value of a nominal
attribute is its place in the list of its values, as in Weka, so that {0,1} means what it says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from papers.corpora.markup import unescaped
from shortlist.data.rows import Rows
from shortlist.errors import InputError, counted
from shortlist.inputs.examples import ExamplePlaces, Examples
from shortlist.inputs.source import Format, Progress, Source

NAME = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{'"][^\s{]*"""
ATTRIBUTE = re.compile(rf"@attribute\s+({NAME})\s*(\{{[^}}]*\}}|\w+)", re.IGNORECASE)
NUMERIC = ("numeric", "real", "integer")


@dataclass
class Arff(Format):
    name = "arff"
    description = "ARFF with several labels (Mulan, MEKA), sparse or dense"
    carries = ("rows", "labels")
    endings = (".arff",)
    obtained = "https://mulan.sourceforge.net/datasets-mlc.html"

    xml: str | os.PathLike[str] | None = None
    label_count: int | None = None

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return re.match(r"(\s*%[^\n]*\n)*\s*@relation\b", head, re.IGNORECASE) is not None

    def examples(self, source: Source) -> Iterator[Examples]:
        header = _Header()
        batch: _Batch | None = None
        for number, line in source.lines():
            if not line.strip() or line.lstrip().startswith("%"):
                continue
            if batch is None:
                if header.read(source, number, line):
                    if source.first_bad is not None and source.first_bad[0] < number:
                        raise InputError(f"{source.first_bad[1]}; an attribute cannot be skipped")
                    batch = _Batch(source, header, self._labels(source, header))
                continue
            try:
                batch.add(number, line)
            except _BadCell as problem:
                source.bad(number, problem.column, problem.sentence)
            if batch.held >= source.progress.batch:
                yield batch.taken()
        if batch is not None:
            yield batch.taken()
        elif header.names:
            raise InputError(
                f"{source.name}: expected @data after the attributes, found the end of the file"
            )

    def _labels(self, source: Source, header: _Header) -> set[str]:
        """The names of the attributes that are labels."""
        count = self.label_count
        if (
            count is None
            and self.xml is None
            and (said := re.search(r"-C\s+(-?\d{1,9})\b", header.relation))
        ):
            count = int(said[1])
        if count is not None:
            if not isinstance(count, int) or not 0 < abs(count) < len(header.names):
                raise InputError(
                    f"{source.name}: label_count must be less than {len(header.names)}, not "
                    f"{count!r}"
                )
            return set(header.names[:count] if count > 0 else header.names[count:])
        if self.xml is not None:
            if not isinstance(self.xml, (str, os.PathLike)):
                raise InputError(f"xml must be a path, not {self.xml!r}")
            names = _names_in_xml(Path(self.xml))
            for name in names - set(header.names):
                raise InputError(f"{self.xml}: the label {name!r} is no attribute of {source.name}")
            return names
        beside = sorted(source.path.parent.glob("*.xml")) if source.path else []
        fitting = [
            names
            for path in beside
            if (names := _names_in_xml(path)) and names <= set(header.names)
        ]
        if not fitting or any(names != fitting[0] for names in fitting):
            raise InputError(
                f"{source.name}: which attributes are labels? Give xml, the file that lists them, "
                "or label_count; "
                f"{len(fitting)} XML files beside it fit"
            )
        return fitting[0]


def _names_in_xml(path: Path) -> set[str]:
    """The labels that one of Mulan's XML files names. Nothing in the file but these names is
    looked at.
    """
    source = Source(path, Progress())
    try:
        text = source.whole() or ""
    finally:
        source.close()
    found = re.findall(r"""<label\s+name=(?:"([^"]*)"|'([^']*)')""", text)
    return {unescaped(double or single) for double, single in found}


class _Header:
    """The attributes: their names, and for each nominal one its values with their places (None
    if it is numeric).
    """

    def __init__(self) -> None:
        self.relation = ""
        self.names: list[str] = []
        self.values: list[dict[str, int] | None] = []

    def read(self, source: Source, number: int, line: str) -> bool:
        """Take in a line; whether it is the last. What is wrong here cannot be skipped."""
        column = len(line) - len(line.lstrip()) + 1
        line = line.strip()
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            self.relation = line
        elif keyword == "@attribute":
            found = ATTRIBUTE.match(line)
            kind = found[2].lower() if found else ""
            if found is None or not (kind.startswith("{") or kind in NUMERIC):
                column += (
                    found.start(2) if found else len(line) - len(line[len(keyword) :].lstrip())
                )
                expected = "expected @attribute, a name, and numeric or the list of its values"
                raise InputError(
                    f"{source.name}, line {number}, column {column}: {expected}, found "
                    f"{line[:60]!r}"
                )
            listed = (
                [_plain(value) for value in found[2][1:-1].split(",")]
                if kind.startswith("{")
                else None
            )
            self.names.append(_plain(found[1]))
            self.values.append(
                None if listed is None else {value: i for i, value in enumerate(listed)}
            )
        elif keyword == "@data":
            if len(set(self.names)) < len(self.names) or not self.names:
                expected = "expected attributes before @data, each with a name of its own"
                raise InputError(f"{source.name}, line {number}, column {column}: {expected}")
            return True
        else:
            expected = "expected @attribute or @data"
            raise InputError(
                f"{source.name}, line {number}, column {column}: {expected}, found {line[:60]!r}"
            )
        return False


class _Batch:
    """Rows and labels as they come in."""

    def __init__(self, source: Source, header: _Header, labels: set[str]) -> None:
        self._file, self._values = source.name, header.values
        self._label = {i: name for i, name in enumerate(header.names) if name in labels}
        for i, name in self._label.items():
            if header.values[i] not in (None, {"0": 0, "1": 1}):
                raise InputError(f"{source.name}: the label {name!r} must have the values {{0,1}}")
        features = [i for i in range(len(header.names)) if i not in self._label]
        self._feature = {i: column for column, i in enumerate(features)}
        source.progress.columns = [header.names[i] for i in features]
        self._start()

    def _start(self) -> None:
        self.held = 0
        self._indptr, self._indices, self._data = [0], list[int](), list[float]()
        self._labels: list[list[str]] = []
        self._lines: list[int] = []

    def add(self, number: int, line: str) -> None:
        """Take in a row, that of a line; raise _BadCell, and take nothing in, if it is bad."""
        self.held += len(line)
        cells = self._sparse(line) if line.lstrip().startswith("{") else self._dense(line)
        self._lines.append(number)
        self._labels.append([self._label[i] for i, _ in cells if i in self._label])
        for i, value in cells:
            if i in self._feature:
                self._indices.append(self._feature[i])
                self._data.append(value)
        self._indptr.append(len(self._indices))

    def taken(self) -> Examples:
        """The examples so far; start anew."""
        rows = Rows(
            np.array(self._indptr, dtype=np.int64),
            np.array(self._indices, dtype=np.int32),
            np.array(self._data, dtype=np.float64),
            len(self._feature),
        )
        examples = Examples(
            rows=rows, labels=self._labels, places=ExamplePlaces(self._file, self._lines)
        )
        self._start()
        return examples

    def _sparse(self, line: str) -> list[tuple[int, float]]:
        """The cells of ``{index value, index value}`` that are not 0."""
        at = line.index("{") + 1
        inside, brace, after = line[at:].partition("}")
        if not brace or after.strip():
            raise _BadCell(len(line) + 1 - len(after), "expected a row that ends in }")
        cells: list[tuple[int, float]] = []
        last = -1
        for cell in inside.split(",") if inside.strip() else []:
            index, _, value = cell.strip().partition(" ")
            if not index.isdecimal() or len(index) > 9 or int(index) >= len(self._values):
                raise _BadCell(
                    at + 1,
                    f"expected an index below {len(self._values)} and a value, found {cell[:40]!r}",
                )
            if int(index) <= last:
                raise _BadCell(
                    at + 1, f"expected indices in ascending order, each once, found {index}"
                )
            last = int(index)
            number = self._number(last, value, at + 1)
            if number:
                cells.append((last, number))
            at += len(cell) + 1
        return cells

    def _dense(self, line: str) -> list[tuple[int, float]]:
        """The cells of ``value,value`` that are not 0."""
        fields = line.split(",")
        if len(fields) != len(self._values):
            raise _BadCell(
                1,
                f"expected {counted(len(self._values), 'values')} or a row in braces, found "
                f"{counted(len(fields), 'values')}",
            )
        cells: list[tuple[int, float]] = []
        at = 1
        for i, value in enumerate(fields):
            number = self._number(i, value, at)
            if number:
                cells.append((i, number))
            at += len(value) + 1
        return cells

    def _number(self, attribute: int, text: str, column: int) -> float:
        listed = self._values[attribute]
        if listed is not None:
            place = listed.get(_plain(text))
            if place is None:
                first = ", ".join(value[:40] for value in list(listed)[:5])
                raise _BadCell(column, f"expected one of {first}, found {text.strip()[:40]!r}")
            return place
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not isfinite(number):
            raise _BadCell(column, f"expected a number, found {text.strip()[:40]!r}")
        return number


class _BadCell(Exception):
    def __init__(self, column: int, sentence: str) -> None:
        self.column = column
        self.sentence = sentence


def _plain(text: str) -> str:
    """A name or value without its quotes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
