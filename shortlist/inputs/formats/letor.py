"""LETOR: ``2 qid:10 1:0.03 2:0.5 #docid = 298134`` is a document of relevance 2 for query 10.

Every line has its ``qid:``, and the lines of a query stand together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shortlist.inputs.examples import Examples
from shortlist.inputs.format import Format
from shortlist.inputs.formats.svmlight import looks_sparse
from shortlist.inputs.parsing.fields import place_of
from shortlist.inputs.parsing.sparse_lines import Layout, sparse_blocks, with_numbers
from shortlist.inputs.source import Source

QUERY = re.compile(rb"\sqid:(\S+)")


@dataclass
class Letor(Format):
    name = "letor"
    description = "LETOR: relevance, qid:query, index:value pairs, and the document's name in a comment"
    carries = ("rows", "relevance", "query", "ids")
    endings = (".letor",)
    obtained = "LETOR 3.0 and 4.0, MSLR-WEB10K and 30K: Microsoft Research; Istella LETOR has the same layout"

    zero_based: bool = False
    n_features: int | None = None
    hashed: int | None = None

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return looks_sparse(head) and " qid:" in head.replace("\t", " ").partition("\n")[0]

    @property
    def by_line(self) -> bool:
        return True

    def together(self, line: bytes, after: bytes) -> bool:
        one, other = QUERY.search(line), QUERY.search(after)
        return one is None or other is None or one[1] == other[1]

    def examples(self, source: Source) -> Iterator[Examples]:
        layout = Layout.of(0 if self.zero_based else 1, self.n_features, self.hashed)
        last, finished = "", set()
        for block in sparse_blocks(source, source.blocks(), layout):
            block, relevance = with_numbers(source, block, "the relevance")
            bad = set()
            for i, query in enumerate(block.queries):
                if query != last:
                    if not query or query in finished:
                        expected = "qid: after the relevance" if not query else "the lines of a query to stand together"
                        found = "none" if not query else f"query {query} again"
                        column = place_of(1, block.targets[i : i + 1])
                        source.bad(block.numbers[i], column, f"expected {expected}, found {found}")
                        bad.add(i)
                        continue
                    finished.add(last)
                    last = query
            if bad:
                good = [i for i in range(len(block.queries)) if i not in bad]
                block, relevance = block.only(good), relevance[good]
            yield Examples(
                rows=block.rows,
                relevance=relevance,
                query=block.queries,
                ids=[_document(comment) for comment in block.comments] if any(block.comments) else None,
            )


def _document(comment: str) -> str:
    """The name of the document in ``docid = 298134 inc = 1 prob = 0.08``, or the whole comment."""
    before, docid, after = comment.partition("docid")
    name = after.lstrip(" =").split(None, 1) if docid and not before.strip() else None
    return name[0] if name else comment.strip()
