"""MovieLens: who gave which film which rating. ``u.data`` (tabs), ``ratings.dat`` (``::``) and
``ratings.csv``.

The user is the query and the film is the id of each example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from papers.corpora.fields import field_blocks, with_numbers
from shortlist.inputs.examples import Examples
from shortlist.inputs.source import Format, Source

HEADER = "userId,movieId,rating,timestamp"
LINE = re.compile(r"\d+(\t|::)\d+\1[0-9.]+\1\d{9,}")
NAMES = ("u.data", "ratings.dat", "ratings.csv")


@dataclass
class MovieLens(Format):
    name = "movielens"
    description = "MovieLens: user, film, rating and time on each line"
    carries = ("ratings", "query", "ids")
    obtained = "https://grouplens.org/datasets/movielens/"

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        first = head.partition("\n")[0].rstrip("\r")
        return first == HEADER or LINE.fullmatch(first) is not None

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return any((folder / name).is_file() for name in NAMES)

    def files(self, folder: Path) -> list[Path]:
        return [folder / name for name in NAMES if (folder / name).is_file()][:1]

    def examples(self, source: Source) -> Iterator[Examples]:
        first = source.head().partition("\n")[0].rstrip("\r")
        separator = "," if first == HEADER else "::" if "::" in first else "\t"
        for numbers, rows in field_blocks(source, ("user", "film", "rating", "time"), separator):
            if numbers and numbers[0] == 1 and first == HEADER:
                numbers, rows = numbers[1:], rows[1:]
            rows, ratings = with_numbers(source, numbers, rows, 2, "a rating")
            yield Examples(
                ratings=ratings, query=[row[0] for row in rows], ids=[row[1] for row in rows]
            )
