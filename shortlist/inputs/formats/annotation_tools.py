"""Tasks of Label Studio, as its JSON export has them: an array of objects with ``data`` and ``annotations``.

The text is a field of ``data``; the labels are the choices of all annotations that were not skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from shortlist.errors import InputError
from shortlist.inputs.formats.json_array import JsonArray
from shortlist.inputs.formats.json_lines import JsonLines
from shortlist.inputs.parsing.columns import Names
from shortlist.inputs.parsing.table import BadValue, Row

EVERY = "labels"  # as ``labels`` is unless told: the choices of every control


class Result(msgspec.Struct, gc=False):
    """What was chosen with one control."""

    from_name: str = ""
    value: dict[str, Any] = {}


class Annotation(msgspec.Struct, gc=False):
    result: list[Result] = []
    was_cancelled: bool = False


class Task(msgspec.Struct, gc=False):
    data: dict[str, Any]
    annotations: list[Annotation] = []


@dataclass
class LabelStudio(JsonArray):
    name = "label-studio"
    description = "tasks of Label Studio: the text in data, the labels in the choices of annotations"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return super().recognises(name, head) and '"annotations"' in head and '"result"' in head

    def _reader(self) -> Callable[[bytes], Row]:
        self.wanted()
        for what, name in (("text", self.text), ("labels", self.labels)):
            if not isinstance(name, str):
                raise InputError(f"{what} must be one name in tasks of Label Studio, not {name!r}")
        decode = msgspec.json.Decoder(Task).decode
        return lambda record: self._row(decode(record))

    def _row(self, task: Any) -> Row:
        text = task.data.get(self.text)
        if not isinstance(text, str):
            raise BadValue("data", f"expected a text in the field {self.text!r} of 'data', found none")
        found: dict[str, None] = {}
        for annotation in task.annotations:
            for result in () if annotation.was_cancelled else annotation.result:
                if self.labels in (EVERY, result.from_name):
                    found |= dict.fromkeys(self.to_labels(result.value.get("choices"), "choices"))
        own = task.data.get(self.id) if self.id is not None else None
        return Row(text, list(found), id=None if self.id is None else str(own))


# doccano's JSON lines: ``{"id": 1, "text": "wheat exports rose", "label": ["grain", "trade"]}``.


LIST_OF_LABELS = re.compile(r'"label"\s*:\s*\[\s*["\]]')


@dataclass
class Doccano(JsonLines):
    labels: Names = "label"

    name = "doccano"
    description = "doccano: JSON lines whose field label lists the labels"
    endings = ()

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        first = head.lstrip().partition("\n")[0]
        return super().recognises(name, head) and '"text"' in first and LIST_OF_LABELS.search(first) is not None
