"""JSON lines: one object on each line, ``{"text": "wheat exports rose", "labels": ["grain", "trade"]}``.

Labels may be a list, or one label; text or whole numbers; or absent. Other fields are skipped over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.parsing.cells import LabelCells
from shortlist.inputs.parsing.json_kernel import usual_records
from shortlist.inputs.parsing.table import BadValue, Row, Table
from shortlist.inputs.source import Source

# An escape in a string: two halves of a character, or one half alone, or any other.
ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)")


@dataclass
class JsonLines(Table):
    name = "json-lines"
    description = "JSON lines: one object on each line, with fields for the text and the labels"
    endings = (".jsonl", ".ndjson", ".jsonlines")

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return head.lstrip().startswith("{") and not head.lstrip().startswith("{{")

    @property
    def by_line(self) -> bool:
        return True

    def examples(self, source: Source) -> Iterator[Examples]:
        any_kind = self._decoder().decode
        plain = self.label_separator is None and self.id is None and self.rating is None
        labels = LabelCells()
        for first, block in source.blocks():
            if plain and (found := usual_records(block, str(self.text), str(self.labels))):
                texts, own, indptr = found
                yield Examples(texts=texts, labels=labels.number(own, indptr))
                continue
            # Some line is bad, or has other fields or labels than most files have: look at each.
            rows = []
            for number, line in enumerate(block.split(b"\n")[:-1], first):
                if line.strip() and source.decoded_line(number, line) is not None:
                    try:
                        rows.append(self._row(any_kind(line)))
                    except (BadValue, ValueError, RecursionError) as problem:
                        source.bad(number, *_explained(line, problem))
            yield self.batch(rows)

    def _decoder(self) -> msgspec.json.Decoder[Any]:
        """A decoder of objects that have the fields asked for, of which only the labels may be absent."""
        wanted = self.wanted()
        names = {what: field for what, field in wanted.items() if isinstance(field, str)}
        for what in wanted.keys() - names.keys():
            raise InputError(f"{what} must be the name of a field, not {wanted[what]!r}")
        if len(set(names.values())) < len(names):
            raise InputError(f"a field can be used for one thing only, not as in {names}")
        kinds: dict[str, tuple[Any, ...]] = {"text": (str,), "labels": (Any, None), "id": (str | int,)}
        fields: list[Any] = [(what, *kinds.get(what, (Any,))) for what in wanted]
        fields.sort(key=len)
        return msgspec.json.Decoder(msgspec.defstruct("Record", fields, rename=names, gc=False))

    def _row(self, record: Any) -> Row:
        return (
            record.text,
            None if record.labels is None else self.to_labels(record.labels),
            None if self.id is None else str(record.id),
            None if self.rating is None else self.to_rating(record.rating),
        )


def _explained(line: bytes, problem: Exception) -> tuple[int, str]:
    """The column and the sentence for a bad line."""
    text = line.decode()
    if isinstance(problem, BadValue):
        return _column(text, problem.column), str(problem)
    if isinstance(problem, RecursionError):
        return 1, "expected a JSON object of text and labels, found one nested too deeply"
    try:
        json.loads(text)
    except json.JSONDecodeError as syntax:
        return syntax.pos + 1, f"expected a JSON object, found a mistake in it: {syntax.msg}"
    except (ValueError, RecursionError):
        pass
    said = str(problem).replace("`", "'")
    if missing := re.fullmatch(r"Object missing required field '(.*)'", said):
        return 1, f"expected a field {missing[1]!r}, found none"
    if wrong := re.fullmatch(r"Expected '(.*)', got '(.*)' - at '\$\.(.*?)(\[.*)?'", said):
        return _column(text, wrong[3]), f"expected {wrong[1]} in {wrong[3]!r}, found {wrong[2]}"
    for escape in ESCAPE.finditer(text):
        if escape[1]:
            half = f"half a character (a lone surrogate), {escape[0]}"
            return escape.start() + 1, f"expected whole characters, found {half}"
    said = said if said.startswith("JSON") else said[0].lower() + said[1:]
    return 1, said.replace(", got", ", found")


def _column(line: str, field: Any) -> int:
    """Where the name of a field stands in a line, or its beginning if it is written otherwise there."""
    return max(line.find(json.dumps(field, ensure_ascii=False)), 0) + 1
