"""Features of texts as people would name them: of a label, and of an explanation.

Of those that say the most of a label: not the same word in ten disguises.

A word comes with its prefix, its runs of characters, and the pairs that it is in. A person would name the word: so a
pair gives way to a word in it, and a prefix or run to a word that it is a part of, if the word says half as much; of
other features that are parts of each other the one that says the most is named. Where words tell little, as in
languages written without spaces, runs of characters stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist.arrays.given_labels import Label
from shortlist.categories.learner import BIAS
from shortlist.ranking import Explanation
from shortlist.text.vectorizer import TextVectorizer
from shortlist.texts import Document

MORE = 12  # features to choose from, for each that is named
HALF = 0.5


def worth_naming(names: Sequence[str], says: Sequence[float]) -> list[int]:
    """The places of the features to name, those first that say the most."""
    letters = [plain(name) for name in names]
    words = {own: much for name, own, much in zip(names, letters, says, strict=True) if not is_part(name)}
    kept: list[int] = []
    for place in sorted(range(len(names)), key=lambda at: (-says[at], len(names[at]))):
        own, enough = letters[place], HALF * says[place]
        if is_part(names[place]):
            hidden = any(own in word and much >= enough for word, much in words.items())
        else:
            hidden = " " in own and any(words.get(word, 0.0) >= enough for word in own.split())
        if not hidden and not any(own in letters[other] or letters[other] in own for other in kept):
            kept.append(place)
    return kept


def is_part(name: str) -> bool:
    """Whether a feature is the beginning of words, or a run of characters."""
    return name.startswith('"') or name.endswith("*")


def plain(name: str) -> str:
    """The letters of a feature, without the marks of prefixes and runs."""
    return name.strip('"').strip("*").strip()


VECTOR = "(vector)"  # what an explanation calls the votes of a text's vector


def in_words(found: Explanation, n_vector: int, text_part: TextVectorizer, text: Document) -> Explanation:
    """An explanation by columns, of which the first n_vector are a vector, by words, with their places in the text.

    The votes of the vector are one. Others than columns, as labels that vote, have their names already.
    """
    of_vector = sorted((voter, vote) for voter, vote in found.votes if voter in range(n_vector))
    given = [(voter, vote) for voter, vote in found.votes if voter not in range(n_vector)]
    if of_vector:
        given = sorted([*given, (0, sum(vote for _, vote in of_vector))], key=lambda one: -abs(one[1]))
    # From here on the columns are those of the text.
    columns: list[Any] = [voter if isinstance(voter, str) else int(voter) - n_vector for voter, _ in given]
    known = [column for column in columns if not isinstance(column, str) and column >= 0]
    names: dict[Any, str] = {BIAS - n_vector: "(any text)", -n_vector: VECTOR}
    names |= dict(zip(known, text_part.names(known, text), strict=True))
    votes: list[tuple[Label, float]] = [
        (names.get(column, column), vote) for column, (_, vote) in zip(columns, given, strict=True)
    ]
    spans = text_part.spans(text)
    return Explanation(found.label, found.score, votes, [spans.get(column, []) for column in columns])
