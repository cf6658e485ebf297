"""TREC's judgements (qrels: ``query iteration document relevance``) and runs (``query Q0
document rank score tag``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from papers.corpora.fields import field_blocks, with_numbers
from shortlist.inputs.examples import Examples
from shortlist.inputs.source import Format, Source


@dataclass
class TrecQrels(Format):
    name = "qrels"
    description = "TREC judgements: query, iteration, document and relevance on each line"
    carries = ("query", "ids", "relevance")
    endings = (".qrels", ".qrel")

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        words = _first_lines(head)
        return bool(words) and all(
            len(line) == 4 and _is_whole(line[1]) and _is_whole(line[3]) for line in words
        )

    def examples(self, source: Source) -> Iterator[Examples]:
        for numbers, rows in field_blocks(source, ("query", "iteration", "document", "relevance")):
            rows, relevance = with_numbers(source, numbers, rows, 3, "the relevance")
            yield Examples(
                query=[row[0] for row in rows], ids=[row[2] for row in rows], relevance=relevance
            )


@dataclass
class TrecRun(Format):
    name = "run"
    description = "TREC run: query, Q0, document, rank, score and the run's name on each line"
    carries = ("query", "ids", "scores")
    endings = (".run",)

    @classmethod
    def recognises(cls, name: str, head: str) -> bool:
        words = _first_lines(head)
        return bool(words) and all(
            len(line) == 6 and line[1] == "Q0" and _is_whole(line[3]) for line in words
        )

    def examples(self, source: Source) -> Iterator[Examples]:
        for numbers, rows in field_blocks(
            source, ("query", "Q0", "document", "rank", "score", "tag")
        ):
            rows, scores = with_numbers(source, numbers, rows, 4, "a score")
            yield Examples(
                query=[row[0] for row in rows], ids=[row[2] for row in rows], scores=scores
            )


def _first_lines(head: str) -> list[list[str]]:
    """The words of the first few lines."""
    return [words for line in head.splitlines()[:10] if (words := line.split())]


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
