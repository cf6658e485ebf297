"""Plain lines: one text on each line, without labels. An empty line is an empty text, so that line n stays line n."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shortlist.inputs.examples import Examples
from shortlist.inputs.format import Format
from shortlist.inputs.source import Source


@dataclass
class PlainLines(Format):
    name = "lines"
    description = "plain text, one example on each line, without labels"
    carries = ("texts",)
    endings = (".txt", ".text")

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return bool(head) and "\0" not in head  # the last to be asked: whatever is text

    @property
    def by_line(self) -> bool:
        return True

    def examples(self, source: Source) -> Iterator[Examples]:
        for block in source.line_blocks():
            yield Examples(texts=block.lines)
