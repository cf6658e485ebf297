"""doccano's JSON lines: ``{"id": 1, "text": "wheat exports rose", "label": ["grain", "trade"]}``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shortlist.inputs.formats.json_lines import JsonLines
from shortlist.inputs.parsing.columns import Names

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
