"""Reuters-21578: SGML files ``reut2-*.sgm``, alone or as a folder.

The text is the title and the body. Labels are the topics, or with ``labels="places"`` and so on
another of the sets of categories. ``split`` says of each document where the ModApte split puts it:
``train`` (LEWISSPLIT="TRAIN" and TOPICS="YES", 9,603 documents), ``test`` (3,299) or ``unused``;
the option ``split="train"`` reads those alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from papers.corpora.markup import inside, records, unescaped
from shortlist.data.validation import as_choice
from shortlist.inputs.examples import Examples, in_batches
from shortlist.inputs.source import Format, Source

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
        return in_batches(
            ("texts", "labels", "ids", "split"), self._documents(source), source.progress.batch
        )

    def _documents(self, source: Source) -> Iterator[tuple[str, list[str], str, str]]:
        for number, record in records(source, "REUTERS"):
            start = re.match(r"<REUTERS([^>]*)>", record)
            attributes = dict(re.findall(r'\b(\w+)="([^"]*)"', start[1])) if start else {}
            missing = {"TOPICS", "LEWISSPLIT", "NEWID"} - attributes.keys()
            if missing:
                source.bad(
                    number, 1, f"expected the attribute {min(missing)} of <REUTERS>, found none"
                )
                continue
            split = attributes["LEWISSPLIT"].lower() if attributes["TOPICS"] == "YES" else "unused"
            split = split if split in SPLITS else "unused"
            if self.split is None or split == self.split:
                labels = re.findall(r"<D>([^<]*)</D>", inside(record, self.labels.upper()))
                text = inside(record, "TEXT")
                if "<BODY>" in text or "<TITLE>" in text:
                    text = inside(text, "TITLE") + "\n" + inside(text, "BODY")
                yield (
                    unescaped(text).strip(),
                    [unescaped(one).strip() for one in labels],
                    attributes["NEWID"],
                    split,
                )
