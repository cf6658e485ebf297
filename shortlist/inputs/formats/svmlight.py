"""svmlight and libsvm: ``3,17 1:0.5 7:2 # a comment`` has the labels 3 and 17 and two features.

Indices count from 1, ascend, and stand once each; ``zero_based=True`` counts from 0. A line may have no labels, and a
``qid:`` after them. With ``rating=True`` the number that begins a line is a rating, not a label.

``n_features`` says how many columns there are. Without it they are at most 2²², because a model takes memory for every
column up to the highest. ``hashed`` folds them into so many: columns that are equal modulo that number are added up,
which suits files whose indices are hashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.format import Format
from shortlist.inputs.parsing.sparse_lines import Layout, sparse_blocks, with_numbers
from shortlist.inputs.source import Source

LINE = re.compile(r"[ \t]*([^\s:#]+[ \t]+)?(qid:\S+[ \t]+)?(\d+:[-+]?[\d.]\S*)([ \t]+\d+:[-+]?[\d.]\S*)*[ \t]*(#.*)?")


def looks_sparse(head: str) -> bool:
    """Whether the first whole line that is not blank or a comment consists of index:value pairs."""
    first = next((line for line in head.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    return LINE.fullmatch(first[:10_000].rpartition(" ")[0] if len(first) > 10_000 else first) is not None


@dataclass
class SvmLight(Format):
    name = "svmlight"
    description = "svmlight or libsvm: labels, then index:value pairs; several labels are separated by commas"
    carries = ("rows", "labels", "ratings", "query")
    endings = (".svm", ".svmlight", ".libsvm")

    zero_based: bool = False
    n_features: int | None = None
    hashed: int | None = None
    nonnegative: bool = False
    rating: bool = False

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.endswith(cls.endings) or looks_sparse(head)

    @property
    def by_line(self) -> bool:
        return True

    def examples(self, source: Source) -> Iterator[Examples]:
        first = 0 if self.zero_based else 1
        layout = Layout.of(first, self.n_features, self.hashed, nonnegative=bool(self.nonnegative))
        for block in sparse_blocks(source, source.blocks(), layout):
            query = block.queries if any(block.queries) else None
            if self.rating:
                block, ratings = with_numbers(source, block, "a rating")
                yield Examples(rows=block.rows, ratings=ratings, query=query and block.queries)
            else:
                labels = [target.split(",") if target else [] for target in block.targets]
                yield Examples(rows=block.rows, labels=labels, query=query, places=Places(source.name, block.numbers))
