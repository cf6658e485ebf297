"""JSON: one object on each line, an array of objects, and how doccano and Label Studio write
theirs.

``{"text": "wheat exports rose", "labels": ["grain", "trade"]}``: labels may be a list, or one
label; text or whole numbers; or absent. So may be those that are ``wrong``, and whether the
judgement is ``complete``. Other fields are skipped over.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import msgspec

from shortlist.errors import InputError
from shortlist.inputs.examples import ExamplePlaces, Examples
from shortlist.inputs.source import Source
from shortlist.inputs.tables import (
    BadValue,
    Column,
    ColumnNames,
    Row,
    TableFormat,
    as_cell,
    listed,
    matching_columns,
    names_in_words,
)

# An escape in a string: a surrogate pair, a lone surrogate, or any other.
ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)")


class Place(NamedTuple):
    """A line and a column of the file, both from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"

    def after(self, text: str) -> Place:
        """Return the place behind a text that begins here."""
        line_feeds = text.count("\n")
        if not line_feeds:
            return Place(self.line, self.column + len(text))
        return Place(self.line + line_feeds, len(text) - text.rfind("\n"))


@dataclass
class JsonLines(TableFormat):
    name = "json-lines"
    description = "JSON lines: one object on each line, with fields for the text and the labels"
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".jsonlines")
    by_line = True

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return head.lstrip().startswith("{") and not head.lstrip().startswith("{{")

    def examples(self, source: Source) -> Iterator[Examples]:
        to_row = self._reader()
        is_missing = self.wrong not in (None, "wrong")
        for first, block in source.blocks():
            lines = enumerate(block.split(b"\n")[:-1], first)
            records = [(Place(n, 1), line) for n, line in lines if line.strip()]
            batch = self._examples_of(source, to_row, records)
            is_missing = is_missing and batch.wrong is None
            yield batch
        if is_missing:
            source.progress.notes.append(
                f"no record has the field {self.wrong!r}: nothing was taken as crossed out"
            )

    def _examples_of(
        self, source: Source, to_row: Callable[[bytes], Row], records: Iterable[tuple[Place, bytes]]
    ) -> Examples:
        """Return the examples of records, and report the bad ones."""
        rows = []
        lines = []
        for place, record in records:
            if source.decoded_line(place.line, record) is None:
                continue
            try:
                row = to_row(record)
                rows.append(row)
                lines.append(place.line)
                if row.labels is None and source.progress.fields is None:  # for an error
                    source.progress.fields = fields_of(record)
            except (BadValue, ValueError, RecursionError) as problem:
                column, sentence = explained(record, problem)
                source.bad(*place.after(record.decode()[: column - 1]), sentence)
        return self.batch(rows, ExamplePlaces(source.name, lines))

    def _reader(self) -> Callable[[bytes], Row]:
        """Return the function that makes a row of a record."""
        columns = self.columns()
        for column in columns:
            if not isinstance(column.name, str):
                raise InputError(f"{column.role} must be the name of a field, not {column.name!r}")
        used_once = [column for column in columns if column.role != "keep"]
        if len({column.name for column in used_once}) < len(used_once):
            used = ", ".join(f"{column.name!r} for {column.role}" for column in used_once)
            raise InputError(f"a field can be used for one thing only, not as in {used}")
        decode = msgspec.json.Decoder(dict[str, Any]).decode
        may_be_null = {"labels", "keep", "text"} if self.has_fields else {"labels", "keep"}
        # most records have the same fields
        present = lru_cache(lambda names: self._fields_among(columns, names))

        def to_row(line: bytes) -> Row:
            record = decode(line)
            values = []
            for column in present(tuple(record)):
                value = record[str(column.name)]
                if value is not None or column.role not in may_be_null:
                    values.append((column, value))
            return self.to_row(values)

        return to_row

    def _fields_among(self, columns: list[Column], names: Sequence[str]) -> list[Column]:
        """Return the fields to read that a record has; refuse a record without a needed one."""
        present, missing = matching_columns(columns, names)
        may_be_absent = {"labels", "one_hot", "wrong", "complete", "features", "keep"}
        if not listed(self.text) or any(column.role == "text" for column in present):
            may_be_absent.add("text")
        for column in missing:
            if column.role not in may_be_absent:
                raise BadValue(
                    None,
                    f"expected a field {column.name!r}, found {names_in_words(names) or 'none'}; "
                    "fields of other names are named with --text-column, --label-column and the "
                    "like",
                )
        return present


def explained(line: bytes, problem: Exception) -> tuple[int, str]:
    """Return the column and the error of a bad line."""
    text = line.decode()
    if isinstance(problem, BadValue):
        return _column(text, problem.column), str(problem)
    if isinstance(problem, RecursionError):
        return 1, "expected a JSON object of text and labels, found one nested too deeply"
    constants: list[str] = []
    try:
        json.loads(text, parse_constant=constants.append)
    except json.JSONDecodeError as syntax:
        return syntax.pos + 1, f"expected a JSON object, found a mistake in it: {syntax.msg}"
    except (ValueError, RecursionError):
        pass
    if constants:  # NaN, Infinity or −Infinity, which Python writes
        expected = f"expected JSON, found {constants[0]}, which it does not have; write null"
        return text.find(constants[0]) + 1, expected
    for escape in ESCAPE.finditer(text):
        if escape[1]:
            half = f"half a character (a lone surrogate), {escape[0]}"
            return escape.start() + 1, f"expected whole characters, found {half}"
    sentence = str(problem).replace("`", "'").replace(", got", ", found")
    if not sentence.startswith("JSON"):
        sentence = sentence[0].lower() + sentence[1:]
    return 1, sentence


def fields_of(record: bytes) -> list[str]:
    """Return the names of the fields of an object in JSON."""
    return list(msgspec.json.decode(record, type=dict[str, msgspec.Raw]))


def _column(line: str, field: Any) -> int:
    """Return where the name of a field stands in a line; 1 if it is escaped there, or None."""
    return max(line.find(json.dumps(field, ensure_ascii=False)), 0) + 1


# A JSON array of objects, on any number of lines. One object is held at a time.

SCAN = json.JSONDecoder().raw_decode
SOLID = re.compile(r"[^ \t\r\n]")
# characters: a mistake so near to the end may be an object of which only the beginning was read
NEAR_END = 12
# What is expected outside of objects -> what after each character that may stand there.
ARRAY_START = "[, which begins a JSON array"
ARRAY_END = "nothing behind the array"
NEXT_OBJECT = "an object, {…}"
OBJECT_OR_END = f"{NEXT_OBJECT}, or ]"
COMMA_OR_END = ", or ] behind an object"
ARRAY_STEPS = {
    ARRAY_START: {"[": OBJECT_OR_END},
    OBJECT_OR_END: {"{": COMMA_OR_END, "]": ARRAY_END},
    NEXT_OBJECT: {"{": COMMA_OR_END},
    COMMA_OR_END: {",": NEXT_OBJECT, "]": ARRAY_END},
    ARRAY_END: {},
}


@dataclass
class JsonArray(JsonLines):
    name = "json"
    description = "JSON: an array of objects, with fields for the text and the labels"
    endings = (".json",)
    by_line = False

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        begins = head.lstrip()
        return begins.startswith("[") and begins[1:].lstrip()[:1] in ("{", "]")

    def examples(self, source: Source) -> Iterator[Examples]:
        to_row = self._reader()
        for records in self._records(source):
            yield self._examples_of(source, to_row, records)

    def _records(self, source: Source) -> Iterator[list[tuple[Place, bytes]]]:
        """Yield the objects of the array, some at a time, each with its place."""
        # bad bytes are reported by object
        decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        longest = source.progress.max_record
        text = ""
        place = Place(1, 1)
        expected = ARRAY_START
        is_last = False
        while not is_last:
            data = source.read(max(source.progress.batch, len(text)))
            is_last = not data
            text += decode(data, final=is_last)
            at = 0
            records = []
            while solid := SOLID.search(text, at):
                begin = solid.start()
                letter = solid[0]
                place = place.after(text[at:begin])
                at = begin
                if letter not in ARRAY_STEPS[expected]:
                    raise InputError(
                        f"{source.name}, {place}: expected {expected}, found {letter!r}"
                    )
                end: int | None = begin + 1
                if letter == "{":
                    end = _end_of_object(source, text, begin, place)
                if end is None:
                    break
                if letter == "{":
                    records.append((place, text[begin:end].encode("utf-8", "surrogateescape")))
                place = place.after(text[begin:end])
                at = end
                expected = ARRAY_STEPS[expected][letter]
            yield records
            text = text[at:]
            if len(text) > longest:
                raise InputError(
                    f"{source.name}, line {place.line}: expected an object of at most {longest} "
                    "bytes"
                )
        if expected not in (ARRAY_START, ARRAY_END):
            raise InputError(
                f"{source.name}: expected ] at the end of the array, found the end of the file"
            )


def _end_of_object(source: Source, text: str, begin: int, place: Place) -> int | None:
    """Return where the object that begins here ends; None if the text ends before it."""
    try:
        return SCAN(text, begin)[1]
    except json.JSONDecodeError as problem:
        if problem.pos >= len(text) - NEAR_END or problem.msg.startswith("Unterminated string"):
            return None
        place = place.after(text[begin : problem.pos])
        mistake = f"a mistake in it: {problem.msg}"
    except RecursionError:
        mistake = "one nested too deeply"
    except ValueError:  # by Python's own limit
        mistake = "one with a number of more than 4,300 digits"
    raise InputError(f"{source.name}, {place}: expected a JSON object, found {mistake}")


# Tasks of Label Studio, as its JSON export has them: an array of objects with ``data`` and
# ``annotations``. The text is a field of ``data``; the labels are the choices of all annotations
# that were not skipped.

ALL_CONTROLS = "labels"  # the default of ``labels``: the choices of every control


class Result(msgspec.Struct, gc=False):
    """What was chosen with one control."""

    from_name: str = ""
    value: dict[str, Any] = {}


class Annotation(msgspec.Struct, gc=False):
    result: list[Result] = []
    was_cancelled: bool = False


class LabelStudioTask(msgspec.Struct, gc=False):
    data: dict[str, Any]
    annotations: list[Annotation] = []


@dataclass
class LabelStudio(JsonArray):
    name = "label-studio"
    description = (
        "tasks of Label Studio: the text in data, the labels in the choices of annotations"
    )

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return super().recognises(name, head) and '"annotations"' in head and '"result"' in head

    def _reader(self) -> Callable[[bytes], Row]:
        self.columns()
        for role in ("text", "labels"):
            name = getattr(self, role)
            if not isinstance(name, str):
                raise InputError(f"{role} must be one name in tasks of Label Studio, not {name!r}")
        decode = msgspec.json.Decoder(LabelStudioTask).decode
        return lambda record: self._row(decode(record))

    def _row(self, task: Any) -> Row:
        text = task.data.get(self.text)
        if not isinstance(text, str):
            raise BadValue(
                "data", f"expected a text in the field {self.text!r} of 'data', found none"
            )
        labels: dict[str, None] = {}  # each once
        for annotation in task.annotations:
            if annotation.was_cancelled:
                continue
            for result in annotation.result:
                if self.labels in (ALL_CONTROLS, result.from_name):
                    choices = self.to_labels(result.value.get("choices"), "choices")
                    labels |= dict.fromkeys(choices)
        row = Row(text, list(labels))
        if self.id is not None:
            row = row._replace(id=str(task.data.get(self.id)))
        if self.keep is not None:
            kept = {str(name): as_cell(task.data.get(name)) for name in listed(self.keep)}
            row = row._replace(kept=kept)
        return row


# doccano's JSON lines: ``{"id": 1, "text": "wheat exports rose", "label": ["grain", "trade"]}``.

LIST_OF_LABELS = re.compile(r'"label"\s*:\s*\[\s*["\]]')


@dataclass
class Doccano(JsonLines):
    labels: ColumnNames = "label"

    name = "doccano"
    description = "doccano: JSON lines whose field label lists the labels"
    endings = ()

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        first = head.lstrip().partition("\n")[0]
        return (
            super().recognises(name, head)
            and '"text"' in first
            and LIST_OF_LABELS.search(first) is not None
        )
