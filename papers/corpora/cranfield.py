"""The Cranfield collection: abstracts (``cran.all.1400``), queries (``cran.qry``) and judgements
(``cranqrel``).

Abstracts and queries are records of a line ``.I number`` and sections ``.T`` (title), ``.A``,
``.B`` and ``.W`` (text). The judgements name queries by their order in ``cran.qry``, not by the
numbers there, so a record of ``.W`` alone is taken to be a query and gets the number of its place.
``cranqrel`` grades from 1 (a complete answer) to 4 (of minimum interest), and marks by 5 or -1 what
is of no interest; the relevance read here is 4 for the best down to 0. The text of an abstract
begins with its title; ``part`` takes the title alone, or the body without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from papers.corpora.fields import field_blocks, with_numbers
from shortlist.data.validation import as_choice
from shortlist.inputs.examples import Examples, in_batches
from shortlist.inputs.source import Format, Source

OBTAINED = "http://ir.dcs.gla.ac.uk/resources/test_collections/cran/"
LONGEST = 18  # most digits of a record's number
PARTS = ("all", "title", "body")


@dataclass
class Cranfield(Format):
    name = "cranfield"
    description = "Cranfield abstracts or queries: records of .I number, .T title and .W text"
    carries = ("texts", "ids")
    obtained = OBTAINED
    # whether a record of .W alone is a query, named by its place
    queries_by_place: ClassVar[bool] = True
    part: str = "all"

    def __post_init__(self) -> None:
        as_choice(self.part, "part", PARTS)

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return re.match(r"\.I +\d+\s*\n\.[A-Z]\s*\n", head) is not None

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return bool(list(folder.glob("cran.all.1400*")))

    def files(self, folder: Path) -> list[Path]:
        return sorted(folder.glob("cran.all.1400*"))[:1]

    def examples(self, source: Source) -> Iterator[Examples]:
        return in_batches(("texts", "ids"), self._records(source), source.progress.batch)

    def _records(self, source: Source) -> Iterator[tuple[str, str]]:
        place, record = 0, _Record("", 0, self.part)
        for number, line in source.lines():
            if line.startswith(".I"):
                if place:
                    yield from record.example(source, place if self.queries_by_place else None)
                place, record = place + 1, _Record(line[2:].strip(), number, self.part)
                if not record.name.isdecimal() or len(record.name) > LONGEST:
                    source.bad(number, 4, f"expected a number after .I, found {line[3:40]!r}")
                    record.bad = True
            elif not place:
                if line.strip():
                    source.bad(number, 1, f"expected .I and a number, found {line[:40]!r}")
            elif re.fullmatch(r"\.[A-Z]\s*", line):
                record.sections[line[1]] = record.open = []
            elif record.open is not None:
                record.size += len(line) + 1
                if record.size <= source.progress.max_record:
                    record.open.append(line)
            elif line.strip() and not record.bad:
                source.bad(number, 1, f"expected a section such as .W, found {line[:40]!r}")
                record.bad = True
        if place:
            yield from record.example(source, place if self.queries_by_place else None)


class _Record:
    def __init__(self, name: str, number: int, part: str) -> None:
        self.name, self.number, self.part = name, number, part
        self.sections: dict[str, list[str]] = {}
        self.open: list[str] | None = None
        self.size = 0
        self.bad = False

    def example(self, source: Source, place: int | None) -> Iterator[tuple[str, str]]:
        """The text and the number, which for a query is its place, unless the record is bad."""
        if self.size > source.progress.max_record:
            longest = source.progress.max_record
            source.bad(
                self.number, 1, f"expected a record of at most {longest} bytes, found a longer one"
            )
        elif "W" not in self.sections and not self.bad:
            source.bad(
                self.number, 1, "expected a section .W in the record that begins here, found none"
            )
        elif not self.bad:
            title, text = (" ".join(" ".join(self.sections.get(part, [])).split()) for part in "TW")
            repeats = bool(title) and text.startswith(title)  # as nearly all abstracts do
            body = text[len(title) :].strip() if repeats else text
            whole = text if repeats else f"{title}\n{text}".strip()
            is_query = place is not None and self.sections.keys() == {"W"}
            wanted = {"all": whole, "title": title, "body": body}[self.part]
            yield wanted, str(place if is_query else int(self.name))


@dataclass
class CranfieldJudgements(Format):
    name = "cranqrel"
    description = "Cranfield judgements: query, document and grade on each line"
    carries = ("query", "ids", "relevance")
    obtained = OBTAINED

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.startswith("cranqrel") and re.match(r"\d+ +\d+ +-?\d\s", head) is not None

    def examples(self, source: Source) -> Iterator[Examples]:
        for numbers, rows in field_blocks(source, ("query", "document", "grade")):
            rows, grades = with_numbers(
                source, numbers, rows, 2, "a grade of 1 to 5 or -1", among=(-1, 1, 2, 3, 4, 5)
            )
            relevance = np.where(grades < 0, 0.0, 5 - grades)
            yield Examples(
                query=[row[0] for row in rows], ids=[row[1] for row in rows], relevance=relevance
            )
