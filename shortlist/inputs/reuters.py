"""Reuters-21578: SGML files ``reut2-*.sgm``, alone or as a folder.

The text is the title and the body. Labels are the topics, or with ``labels="places"`` and so on another of the sets of
categories. ``split`` says of each document where the ModApte split puts it: ``train`` (LEWISSPLIT="TRAIN" and
TOPICS="YES", 9,603 documents), ``test`` (3,299) or ``unused``; the option ``split="train"`` reads those alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from shortlist.door import as_choice
from shortlist.inputs.examples import Examples, in_batches
from shortlist.inputs.format import Format
from shortlist.inputs.source import Source

SPLITS = ("train", "test", "unused")
SETS = ("topics", "places", "people", "orgs", "exchanges")


@dataclass
class Reuters(Format):
    name = "reuters"
    description = "Reuters-21578 SGML files, with the ModApte split"
    carries = ("texts", "labels", "ids", "split")
    endings = (".sgm", ".sgml")
    encoding = "latin-1"
    obtained = "http://www.daviddlewis.com/resources/testcollections/reuters21578/"

    labels: str = "topics"
    split: str | None = None

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return re.match(r"\s*(<!DOCTYPE lewis|<REUTERS )", head) is not None

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return any(folder.glob("reut2-*.sgm*"))

    def files(self, folder: Path) -> list[Path]:
        return sorted(folder.glob("reut2-*.sgm*"))

    def examples(self, source: Source) -> Iterator[Examples]:
        as_choice(self.labels, "labels", SETS)
        as_choice(self.split, "split", (None, *SPLITS))
        return in_batches(("texts", "labels", "ids", "split"), self._documents(source), source.progress.batch)

    def _documents(self, source: Source) -> Iterator[tuple[str, list[str], str, str]]:
        for number, record in _records(source):
            start = re.match(r"<REUTERS([^>]*)>", record)
            attributes = dict(re.findall(r'(\w+)="([^"]*)"', start[1])) if start else {}
            missing = {"TOPICS", "LEWISSPLIT", "NEWID"} - attributes.keys()
            if missing:
                source.bad(number, 1, f"expected the attribute {min(missing)} of <REUTERS>, found none")
                continue
            split = attributes["LEWISSPLIT"].lower() if attributes["TOPICS"] == "YES" else "unused"
            split = split if split in SPLITS else "unused"
            if self.split is None or split == self.split:
                labels = re.findall(r"<D>([^<]*)</D>", _inside(record, self.labels.upper()))
                text = _inside(record, "TEXT")
                if "<BODY>" in text or "<TITLE>" in text:
                    text = _inside(text, "TITLE") + "\n" + _inside(text, "BODY")
                yield unescape(text).strip(), [unescape(one).strip() for one in labels], attributes["NEWID"], split


def _records(source: Source) -> Iterator[tuple[int, str]]:
    """Each document from <REUTERS to </REUTERS>, with the number of its first line."""
    lines: list[str] = []
    first, held = 0, 0
    for number, line in source.lines():
        if line.startswith("<REUTERS"):
            if first:
                source.bad(first, 1, "expected </REUTERS> before the next <REUTERS>, found none")
            lines, first, held = [], number, 0
        if first:
            held += len(line) + 1
            if held > source.progress.max_record:
                longest = source.progress.max_record
                source.bad(first, 1, f"expected a record of at most {longest} bytes, found a longer one")
                first = 0
                continue
            lines.append(line)
            if line.rstrip().endswith("</REUTERS>"):
                yield first, "\n".join(lines)
                first = 0
    if first:
        source.bad(first, 1, "expected </REUTERS> at the end of the document that begins here, found none")


def _inside(record: str, tag: str) -> str:
    found = re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", record, re.DOTALL)
    return found[1] if found else ""
