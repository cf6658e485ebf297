"""Passages of a text: its sentences, or its paragraphs where sentences are long, and their votes.

The vote of a word that stands in several passages is shared among them by how often it stands in
each. So the votes of all passages sum to the votes of all words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

Span = tuple[int, int]  # the first character, and the one after the last

LONG_SENTENCE = 300  # characters on average, from which on a text is cut into paragraphs
# full stops of languages that put a space behind them, and of those that do not
SENTENCE_END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』”’）]*\s*|\n\s*\n\s*")
BLANK_LINES = re.compile(r"\n\s*\n\s*")
LINE_END = re.compile(r"\n\s*")
LAST_WORD = re.compile(r"\w+$")
ABBREVIATIONS = {
    "bzw",
    "ca",
    "co",
    "dr",
    "etc",
    "inc",
    "mr",
    "mrs",
    "nr",
    "prof",
    "tel",
    "vgl",
    "vs",
}


class Passage(NamedTuple):
    """A part of a text, from its first character to the one after the last, and its vote."""

    start: int
    end: int
    vote: float


def cut(text: str) -> list[Span]:
    """The passages of a text, in order, without the white space between them."""
    passages = _between(text, _sentence_ends(text))
    n_characters = sum(end - start for start, end in passages)
    if n_characters > LONG_SENTENCE * len(passages):
        by_paragraphs = BLANK_LINES if BLANK_LINES.search(text.strip()) else LINE_END
        passages = _between(text, (end.end() for end in by_paragraphs.finditer(text)))
    return passages


def cut_fields(fields: Sequence[str]) -> list[Span]:
    """The passages of texts that are joined by line feeds."""
    passages: list[Span] = []
    start = 0
    for field in fields:
        passages += [(start + first, start + last) for first, last in cut(field)]
        start += len(field) + 1
    return passages


def passage_votes(
    passages: Sequence[Span], votes: Iterable[float], spans: Iterable[Sequence[Span]]
) -> list[Fraction]:
    """The exact sum of the votes in each passage; ``spans`` are the places of each vote.

    A place belongs to the passage in which it begins. Votes without places belong to none.
    """
    totals = [Fraction(0)] * len(passages)
    starts = [start for start, _ in passages]
    for vote, places in zip(votes, spans, strict=True):
        # a run of characters may begin in the white space before the first passage
        counts = Counter(max(0, bisect_right(starts, start) - 1) for start, _ in places)
        for passage, n_times in counts.items():
            totals[passage] += Fraction(vote) * n_times / len(places)
    return totals


def _sentence_ends(text: str) -> Iterable[int]:
    for end in SENTENCE_END.finditer(text):
        is_full_stop = text[end.start()] == "." and end.group().strip() == "."
        if (
            not is_full_stop
            or "\n\n" in end.group()
            or _ends_sentence(text, end.start(), end.end())
        ):
            yield end.end()


def _ends_sentence(text: str, stop: int, following: int) -> bool:
    """Whether a full stop ends a sentence rather than an abbreviation, an initial or a number."""
    last_word = LAST_WORD.search(text, max(0, stop - 20), stop)
    word = last_word.group() if last_word else ""
    if following < len(text) and text[following].islower():
        return False
    is_initial = len(word) == 1 and word.isalpha()
    is_number = word.isdigit() and len(word) <= 2  # as in 3. October
    return not (is_initial or is_number or word.lower() in ABBREVIATIONS)


def _between(text: str, cuts: Iterable[int]) -> list[Span]:
    """The pieces between cuts that are not blank, without white space at their ends."""
    spans = []
    for start, end in pairwise([0, *cuts, len(text)]):
        piece = text[start:end]
        if piece.strip():
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return spans
