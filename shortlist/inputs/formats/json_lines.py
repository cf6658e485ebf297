"""JSON lines: one object on each line, ``{"text": "wheat exports rose", "labels": ["grain", "trade"]}``.

Labels may be a list, or one label; text or whole numbers; or absent. So may be those that are ``wrong``, and whether
the judgement is ``complete``. Other fields are skipped over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import msgspec

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.parsing.columns import Column, found_among, named
from shortlist.inputs.parsing.table import BadValue, Row, Table, numbered
from shortlist.inputs.source import Source

# An escape in a string: two halves of a character, or one half alone, or any other.
ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)")
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')  # the name of a field that JSON writes as it is

OTHERS = "; fields of other names are named with --text-column, --label-column and the like"


@dataclass
class JsonLines(Table):
    name = "json-lines"
    description = "JSON lines: one object on each line, with fields for the text and the labels"
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".jsonlines")

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return head.lstrip().startswith("{") and not head.lstrip().startswith("{{")

    @property
    def by_line(self) -> bool:
        return True

    def examples(self, source: Source) -> Iterator[Examples]:
        to_row = self._reader()
        plain = self._flat and self.label_separator is None and self.id is None and self.rating is None
        decode = self._decoder().decode if plain else None
        written = () if self.wrong is None else {json.dumps(self.wrong, ensure_ascii=way) for way in (True, False)}
        crossed, met = [name.encode() for name in written], False
        for first, block in source.blocks():
            met |= (named_here := any(name in block for name in crossed))
            full = [(number, line) for number, line in enumerate(block.split(b"\n")[:-1], first) if line.strip()]
            if decode and not named_here and (found := _usual_records(decode, block, full)):
                texts, labels = found
                yield Examples(texts, labels=labels, places=Places(source.name, [number for number, _ in full]))
                continue
            # Some line is bad, or has other fields or labels than most files have: look at each.
            rows, numbers = [], []
            for number, line in full:
                if source.decoded_line(number, line) is not None:
                    try:
                        rows.append(row := to_row(line))
                        numbers.append(number)
                        self.note_fields(row, line, source)
                    except (BadValue, ValueError, RecursionError) as problem:
                        source.bad(number, *explained(line, problem))
            yield self.batch(rows, Places(source.name, numbers))
        if self.wrong not in (None, "wrong") and not met:
            source.progress.notes.append(f"no record has the field {self.wrong!r}: nothing was taken as crossed out")

    def note_fields(self, row: Row, record: bytes, source: Source) -> None:
        """Keep the names of the fields of the first record that has no labels: whoever needs them is told."""
        if row.labels is None and source.progress.fields is None:
            source.progress.fields = fields_of(record)

    @property
    def _flat(self) -> bool:
        """Whether text and labels are a field each, whose name is known and written in JSON as it is."""
        several = (
            self.has_fields or isinstance(self.labels, list) or self.one_hot is not None or self.vector is not None
        )
        simple = all(PLAIN.fullmatch(str(column.name)) for column in self.wanted())
        return not several and "*" not in f"{self.labels}" and simple

    def _reader(self) -> Callable[[bytes], Row]:
        """What makes a row of a record in JSON."""
        wanted = self.wanted()
        for column in wanted:
            if not isinstance(column.name, str):
                raise InputError(f"{column.what} must be the name of a field, not {column.name!r}")
        if len({column.name for column in wanted}) < len(wanted):
            used = ", ".join(f"{column.name!r} for {column.what}" for column in wanted)
            raise InputError(f"a field can be used for one thing only, not as in {used}")
        if self._flat:
            decode = self._decoder().decode
            return lambda line: self._row(decode(line))
        decode_any = msgspec.json.Decoder(dict[str, Any]).decode
        return lambda line: self._picked(decode_any(line), wanted)

    def _picked(self, record: dict[str, Any], wanted: list[Column]) -> Row:
        """The row of a record of which several fields hold texts or labels; those that are absent hold none."""
        found, missing = found_among(wanted, list(record))
        has_text = any(column.what == "text" for column in found)
        for column in missing:
            needed = column.what not in ("labels", "one_hot", "wrong", "complete", "features")
            if needed and not (column.what == "text" and has_text):
                there = named(list(record)) or "none"
                raise BadValue(None, f"expected a field {column.name!r}, found {there}{OTHERS}")
        values = ((column, record[str(column.name)]) for column in found)
        return self.to_row((column, value) for column, value in values if value is not None or column.what != "text")

    def _decoder(self) -> msgspec.json.Decoder[Any]:
        """A decoder of objects that have the fields asked for, of which only the labels may be absent."""
        names = {column.what: str(column.name) for column in self.wanted()}
        kinds: dict[str, tuple[Any, ...]] = {"text": (str,), "id": (str | int,)}
        kinds |= dict.fromkeys(("labels", "wrong", "complete"), (Any, None))
        fields: list[Any] = [(what, *kinds.get(what, (Any,))) for what in names]
        fields.sort(key=len)
        return msgspec.json.Decoder(msgspec.defstruct("Record", fields, rename=names, gc=False))

    def _row(self, record: Any) -> Row:
        crossed = getattr(record, "wrong", None)
        wrong = None if crossed is None else self.to_labels(crossed, str(self.wrong))
        return Row(
            record.text,
            None if record.labels is None else self.to_labels(record.labels, str(self.labels)),
            wrong,
            self.to_complete(wrong, getattr(record, "complete", None)),
            None if self.id is None else str(record.id),
            None if self.rating is None else self.to_rating(record.rating),
        )


def _usual_records(
    decode: Callable[[bytes], Any], block: bytes, lines: list[tuple[int, bytes]]
) -> tuple[list[str], Sequence[list[str]]] | None:
    """The texts and the labels of lines whose labels are lists of texts; None where one is another, or wrong."""
    try:
        block.decode()  # msgspec does not look into the fields that it skips
        records = [decode(line) for _, line in lines]
        lists = [record.labels for record in records]
        names = set(chain.from_iterable(lists))
    except (ValueError, TypeError, RecursionError):
        return None
    usual = {*map(type, lists)} <= {list} and all(isinstance(name, str) and name.strip() for name in names)
    return ([record.text for record in records], numbered(lists)) if usual else None


def explained(line: bytes, problem: Exception) -> tuple[int, str]:
    """The column and the sentence for a bad line."""
    text = line.decode()
    if isinstance(problem, BadValue):
        return _column(text, problem.column), str(problem)
    if isinstance(problem, RecursionError):
        return 1, "expected a JSON object of text and labels, found one nested too deeply"
    try:
        json.loads(text, parse_constant=_no_json)
    except _NoJson as constant:
        return max(
            text.find(str(constant)), 0
        ) + 1, f"expected JSON, found {constant}, which it does not have; write null"
    except json.JSONDecodeError as syntax:
        return syntax.pos + 1, f"expected a JSON object, found a mistake in it: {syntax.msg}"
    except (ValueError, RecursionError):
        pass
    said = str(problem).replace("`", "'")
    if missing := re.fullmatch(r"Object missing required field '(.*)'", said):
        return 1, f"expected a field {missing[1]!r}, found {named(fields_of(line)) or 'none'}{OTHERS}"
    if wrong := re.fullmatch(r"Expected '(.*)', got '(.*)' - at '\$\.(.*?)(\[.*)?'", said):
        expected = wrong[1].replace("str", "text")
        return _column(text, wrong[3]), f"expected {expected} in {wrong[3]!r}, found {wrong[2].replace('str', 'text')}"
    for escape in ESCAPE.finditer(text):
        if escape[1]:
            half = f"half a character (a lone surrogate), {escape[0]}"
            return escape.start() + 1, f"expected whole characters, found {half}"
    said = said if said.startswith("JSON") else said[0].lower() + said[1:]
    return 1, said.replace(", got", ", found")


class _NoJson(ValueError):
    """NaN, Infinity or −Infinity, which Python writes, and JSON does not have."""


def _no_json(constant: str) -> None:
    raise _NoJson(constant)


def fields_of(record: bytes) -> list[str]:
    """The names of the fields of an object in JSON, whatever they hold."""
    return list(msgspec.json.decode(record, type=dict[str, msgspec.Raw]))


def _column(line: str, field: Any) -> int:
    """Where the name of a field stands in a line, or its beginning if it is written otherwise there."""
    return max(line.find(json.dumps(field, ensure_ascii=False)), 0) + 1
