"""RCV1-v2 as Lewis, Yang, Rose and Li (JMLR 2004) publish it: ``lyrl2004_tokens_*.dat`` and
``rcv1-v2.*.qrels``.

A document is a record of a line ``.I number``, a line ``.W`` and lines of stemmed words. The
judgements name a category, a document and a 1 on each line. Their vectors,
``lyrl2004_vectors_*.dat``, are read as svmlight: what stands there as the label is the document's
number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from papers.corpora.cranfield import Cranfield
from papers.corpora.fields import field_blocks, with_numbers
from shortlist.inputs.examples import Examples
from shortlist.inputs.source import Format, Source

OBTAINED = "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm"


@dataclass
class Rcv1Tokens(Cranfield):
    name = "rcv1-tokens"
    description = "RCV1-v2's token files: records of .I number and .W words"
    obtained = OBTAINED
    queries_by_place = False

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        return name.startswith("lyrl2004_tokens") and Cranfield.recognises(name, head)

    @classmethod
    def recognises_folder(cls, folder: Path) -> bool:
        return any(folder.glob("lyrl2004_tokens_*.dat*"))

    def files(self, folder: Path) -> list[Path]:
        """The training documents, which are the oldest, first."""
        return sorted(
            folder.glob("lyrl2004_tokens_*.dat*"),
            key=lambda path: ("train" not in path.name, path.name),
        )


@dataclass
class Rcv1Judgements(Format):
    name = "rcv1-qrels"
    description = "RCV1-v2's categories: category, document and 1 on each line"
    carries = ("query", "ids", "relevance")
    obtained = OBTAINED

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        words = [line.split() for line in head.splitlines()[:10] if line.strip()]
        return name.endswith(".qrels") and all(len(line) == 3 and line[2] == "1" for line in words)

    def examples(self, source: Source) -> Iterator[Examples]:
        for numbers, rows in field_blocks(source, ("category", "document", "1")):
            rows, relevance = with_numbers(source, numbers, rows, 2, "a 1", among=(1,))
            yield Examples(
                query=[row[0] for row in rows], ids=[row[1] for row in rows], relevance=relevance
            )
