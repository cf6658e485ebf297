"""Copies of files of examples with other labels; everything else stays as it is.

A table keeps its columns, cells and separator; it is written in UTF-8. JSON lines that are not
corrected keep their bytes.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from shortlist.errors import InputError
from shortlist.inputs.delimited import Csv
from shortlist.inputs.json_records import JsonLines
from shortlist.inputs.sheets import is_spreadsheet, write_workbook
from shortlist.inputs.source import Progress, Source
from shortlist.inputs.tables import TableFormat, as_line, guarded, listed, unguarded


@dataclass(frozen=True)
class Correction:
    """The labels of an example, which must be those that it has, and the right ones."""

    labels: list[str]
    corrected: list[str]


# by the line of an example, or its row in a spreadsheet
Corrections = Mapping[int, Correction]


class Corrector:
    """Copies a file with corrections."""

    def __init__(
        self, path: Path, reader: TableFormat, corrections: Corrections, encoding: str | None
    ) -> None:
        self._reader = reader
        self._corrections = corrections
        self._left = set(corrections)  # those that were not found yet
        if len(listed(reader.labels)) != 1 or "*" in str(reader.labels) or reader.one_hot:
            raise InputError(
                "labels in several columns cannot be corrected so; correct the file itself"
            )
        self._progress = Progress(skip_bad=True, encoding=encoding)
        self._source = Source(path, self._progress)
        with open(path, "rb") as file:
            self._has_mark = file.read(3) == codecs.BOM_UTF8
        self._source.decode_as(reader.encoding)

    @property
    def lost(self) -> int:
        """How many records could not be read, and are not in the copy."""
        return self._progress.skipped.count

    def write(self, file: BinaryIO, name: str) -> None:
        """Write the copy to a file of this name: a workbook, or text."""
        if isinstance(self._reader, JsonLines):
            file.writelines(self._json_lines())
        elif isinstance(self._reader, Csv):
            rows = self._rows(self._reader)
            if is_spreadsheet(name, "PK"):
                write_workbook(file, rows)
            else:
                self._write_text(file, rows)
        else:
            raise InputError(
                "corrections are written to csv, tsv, spreadsheets and JSON lines, not to "
                f"{self._reader.name}"
            )
        if self._left:
            raise InputError(
                f"{self._source.name} has no example at {self._source.unit} {min(self._left)}; it "
                "was changed since the audit: audit it again"
            )

    def _write_text(self, file: BinaryIO, rows: Iterator[list[str]]) -> None:
        if self._has_mark:
            file.write(codecs.BOM_UTF8)
        for row in rows:
            if self._separated.quote is None and self._source.unit == "line":
                line = self._separator.join(row) + "\n"
            else:
                line = as_line(row, self._separator)
            file.write(line.encode())

    def _rows(self, reader: Csv) -> Iterator[list[str]]:
        self._separated = reader.separated(self._source)
        self._separator = self._separated.separator or ","
        layout = None
        for rows in self._separated.raw_rows(self._source):
            for number, row in rows:
                if layout is None:
                    layout = self._separated.layout(self._source, row)
                    place = next(
                        (
                            place
                            for column, place in layout.columns.items()
                            if column.role == "labels"
                        ),
                        None,
                    )
                    if place is None:
                        raise InputError(
                            f"{self._source.name} has no labels; name their column with "
                            "--label-column"
                        )
                if number in self._corrections and len(row) == layout.width:
                    assert place is not None
                    row = [*row]
                    row[place] = self._cell(number, row[place])
                yield row

    def _cell(self, number: int, cell: str) -> str:
        """Return the corrected cell of labels."""
        is_text = self._source.unit == "line"
        cell = self._separated.label_cell(unguarded(cell) if is_text else cell)
        labels = self._corrected(number, self._separated.to_labels(cell, "labels"))
        if self._separated.brackets:
            labels = [f"<{label}>" for label in labels]
        separator = self._separated.label_separator
        if separator is None and len(labels) > 1:
            raise InputError(
                f"{self._source.unit} {number} has two labels, and the file one in each cell; name "
                "what stands between them with --label-separator"
            )
        joined = (separator or "").join(labels)
        return guarded(joined) if is_text else joined

    def _json_lines(self) -> Iterator[bytes]:
        field = str(self._reader.labels)
        for first, block in self._source.blocks():
            for number, line in enumerate(block.split(b"\n")[:-1], first):
                if number not in self._corrections:
                    yield line + b"\n"
                    continue
                record: dict[str, Any] = json.loads(line)
                labels = self._reader.to_labels(record.get(field), field)
                corrected: Any = self._corrected(number, labels)
                if isinstance(record.get(field), str) and len(corrected) == 1:
                    corrected = corrected[0]
                record[field] = corrected
                yield json.dumps(record, ensure_ascii=False).encode() + b"\n"

    def _corrected(self, number: int, labels: Sequence[str]) -> list[str]:
        correction = self._corrections[number]
        self._left.discard(number)
        if set(labels) not in (set(correction.labels), set(correction.corrected)):
            raise InputError(
                f"{self._source.name}, {self._source.unit} {number} has the labels "
                f"{', '.join(labels) or 'none'}, not {', '.join(correction.labels) or 'none'}; it "
                "was changed since the audit: audit it again"
            )
        return correction.corrected
