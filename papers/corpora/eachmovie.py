"""EachMovie: who gave which film which score. ``Vote.txt`` has person, film, score, weight and time
between tabs.

A score is 0, 0.2, … or 1, for zero to five stars. The weight, above 0 and at most 1, is checked and
not used. The person is the query and the film is the id of each example. ``Person.txt`` and
``Movie.txt`` are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from papers.corpora.fields import field_blocks, with_numbers
from shortlist.inputs.delimited import place_of
from shortlist.inputs.examples import Examples
from shortlist.inputs.source import Format, Source

SCORES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LINE = re.compile(r"\d+\t\d+\t(0|1|[01]?\.\d+)\t(1|[01]?\.\d+)\t\d.*")
WHOLE = re.compile(r"\d+")


@dataclass
class EachMovie(Format):
    name = "eachmovie"
    description = "EachMovie's Vote.txt: person, film, score, weight and time on each line"
    carries = ("ratings", "query", "ids")
    obtained = "withdrawn by its publisher, DEC Systems Research Center, in 2004"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return LINE.fullmatch(head.partition("\n")[0].rstrip("\r")) is not None

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return bool(_votes(folder))

    def files(self, folder: Path) -> list[Path]:
        return _votes(folder)[:1]

    def examples(self, source: Source) -> Iterator[Examples]:
        for numbers, rows in field_blocks(
            source, ("person", "film", "score", "weight", "time"), "\t"
        ):
            kept = [
                self._is_vote(source, number, row)
                for number, row in zip(numbers, rows, strict=True)
            ]
            numbers = [number for number, good in zip(numbers, kept, strict=True) if good]
            rows = [row for row, good in zip(rows, kept, strict=True) if good]
            rows, ratings = with_numbers(
                source, numbers, rows, 2, "a score of 0, 0.2, … or 1", among=SCORES
            )
            yield Examples(
                ratings=ratings, query=[row[0] for row in rows], ids=[row[1] for row in rows]
            )

    def _is_vote(self, source: Source, number: int, row: list[str]) -> bool:
        """Whether person and film are numbers and the weight is above 0 and at most 1."""
        for field, what in enumerate(("a person's", "a film's")):
            if not WHOLE.fullmatch(row[field]):
                source.bad(
                    number,
                    place_of(field, row),
                    f"expected {what} number, found {row[field][:40]!r}",
                )
                return False
        try:
            good = 0 < float(row[3]) <= 1
        except ValueError:
            good = False
        if not good:
            column = place_of(3, row)
            source.bad(
                number, column, f"expected a weight above 0 and at most 1, found {row[3][:40]!r}"
            )
        return good


def _votes(folder: Path) -> list[Path]:
    return sorted(folder.glob("[Vv]ote.txt*"))
