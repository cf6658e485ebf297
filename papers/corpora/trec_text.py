"""TREC's documents and topics, as on its disks and in WT10g.

Documents are records <DOC> … </DOC> with a name in <DOCNO>; what a crawler kept of the server's
answer stands in <DOCHDR>, and the rest is the text, of which WT10g has some two million bytes in
each of the files WTX001/B01.gz, WTX001/B02.gz and so on. Topics are records <top> … </top>, with
<num>, <title>, <desc> and <narr>, which are not closed and each begin with a word of their own:
``<desc> Description:``. ``part`` is the one that is read as the query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from papers.corpora.markup import inside, page_text, records, without
from shortlist.data.validation import as_choice
from shortlist.inputs.examples import Examples, in_batches
from shortlist.inputs.source import Format, Source

ABOUT = ("DOCNO", "DOCOLDNO", "DOCHDR")
# each with the word that it may begin with
PARTS = {"title": "Topic", "desc": "Description", "narr": "Narrative"}
BUNDLES = "WTX[0-9][0-9][0-9]/B[0-9][0-9]*"


@dataclass
class TrecDocuments(Format):
    name = "trec-documents"
    description = (
        "TREC documents: records of <DOC>, with a name in <DOCNO>; a file, or WT10g as a folder"
    )
    carries = ("texts", "ids")
    encoding = "latin-1"
    obtained = (
        "WT10g: http://ir.dcs.gla.ac.uk/test_collections/wt10g.html (for a fee, under an agreement)"
    )

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return re.match(r"\s*<DOC>\s*<DOCNO>", head) is not None

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return any(folder.glob(BUNDLES))

    def files(self, folder: Path) -> list[Path]:
        return sorted(folder.glob(BUNDLES))

    def examples(self, source: Source) -> Iterator[Examples]:
        return in_batches(("texts", "ids"), self._documents(source), source.progress.batch)

    def _documents(self, source: Source) -> Iterator[tuple[str, str]]:
        for number, record in records(source, "DOC"):
            name = inside(record, "DOCNO").strip()
            if name:
                yield page_text(without(record, ABOUT)), name
            else:
                source.bad(
                    number,
                    1,
                    "expected a name in <DOCNO> in the document that begins here, found none",
                )


@dataclass
class TrecTopics(Format):
    name = "trec-topics"
    description = (
        "TREC topics: records of <top> with <num>, <title>, <desc> and <narr>, of which part is "
        "read"
    )
    carries = ("texts", "ids")
    encoding = "latin-1"
    obtained = "https://trec.nist.gov/data/topics_eng/"

    part: str = "title"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return re.match(r"\s*<top>\s*<num>", head) is not None

    def examples(self, source: Source) -> Iterator[Examples]:
        as_choice(self.part, "part", PARTS)
        return in_batches(("texts", "ids"), self._topics(source), source.progress.batch)

    def _topics(self, source: Source) -> Iterator[tuple[str, str]]:
        wanted = re.compile(
            rf"<{self.part}>\s*(?:{PARTS[self.part]}:)?(.*?)(?=<(?:/?\w+)>)", re.DOTALL
        )
        for number, record in records(source, "top"):
            name, text = re.search(r"<num>\s*(?:Number:\s*)?(\w+)", record), wanted.search(record)
            if name is None:
                source.bad(
                    number,
                    1,
                    "expected <num> and a number in the topic that begins here, found none",
                )
            elif text is None:
                source.bad(
                    number, 1, f"expected <{self.part}> in the topic that begins here, found none"
                )
            else:
                yield " ".join(text[1].split()), name[1]
