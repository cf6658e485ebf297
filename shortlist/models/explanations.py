"""Explanations of texts in words: which features to name, and where they stand in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shortlist.data.label_input import Label
from shortlist.data.ranking import Explanation
from shortlist.data.texts import Document, Fielded, as_documents
from shortlist.learners.port import BIAS
from shortlist.text.vectorizer import TextVectorizer

# Which features to name.
#
# A word comes with its prefix, its runs of characters, and the pairs that it is in. A person would
# name the word: so a pair gives way to a word in it, and a prefix or run to a word that it is a
# part of, if the word has half the weight. Of other features that are parts of each other the
# strongest is named. Where words carry little weight, as in languages written without spaces, runs
# of characters stay.


CANDIDATES_A_NAME = 12  # features to choose from, for each that is named
HALF_THE_WEIGHT = 0.5


def worth_naming(names: Sequence[str], strengths: Sequence[float]) -> list[int]:
    """The places of the features to name, strongest first."""
    letters = [name.strip('"').strip("*").strip() for name in names]  # without marks of parts
    strength_of_word = {
        word: strength
        for name, word, strength in zip(names, letters, strengths, strict=True)
        if not is_part(name)
    }
    named: list[int] = []
    for place in sorted(range(len(names)), key=lambda at: (-strengths[at], len(names[at]))):
        letters_here = letters[place]
        enough = HALF_THE_WEIGHT * strengths[place]
        if is_part(names[place]):
            gives_way = any(
                letters_here in word and strength >= enough
                for word, strength in strength_of_word.items()
            )
        else:
            words = letters_here.split() if " " in letters_here else []
            gives_way = any(strength_of_word.get(word, 0.0) >= enough for word in words)
        overlaps = any(
            letters_here in letters[other] or letters[other] in letters_here for other in named
        )
        if not gives_way and not overlaps:
            named.append(place)
    return named


def is_part(name: str) -> bool:
    """Whether a feature is the beginning of words, or a run of characters."""
    return name.startswith('"') or name.endswith("*")


VECTOR = "(vector)"  # the name of the votes of a text's vector in an explanation


def in_words(
    explanation: Explanation, n_vector: int, text_part: TextVectorizer, text: Document
) -> Explanation:
    """An explanation with words and their places in the text in place of columns.

    The first n_vector columns are a vector, whose votes are added up. Voters with names stay as
    they are.
    """
    vector_columns = range(n_vector)
    votes = [(voter, vote) for voter, vote in explanation.votes if voter not in vector_columns]
    vector_votes = sorted(
        (voter, vote) for voter, vote in explanation.votes if voter in vector_columns
    )
    if vector_votes:
        votes.append((0, sum(vote for _, vote in vector_votes)))
        votes = sorted(votes, key=lambda pair: -abs(pair[1]))
    # From here on the columns are those of the text.
    columns: list[Any] = [
        voter if isinstance(voter, str) else int(voter) - n_vector for voter, _ in votes
    ]
    words = [column for column in columns if not isinstance(column, str) and column >= 0]
    names: dict[Any, str] = {BIAS - n_vector: "(any text)", -n_vector: VECTOR}
    names |= dict(zip(words, text_part.names(words, text), strict=True))
    named_votes: list[tuple[Label, float]] = [
        (names.get(column, column), vote) for column, (_, vote) in zip(columns, votes, strict=True)
    ]
    spans = text_part.spans(text)
    places = [spans.get(column, []) for column in columns]
    documents = as_documents([text])
    texts = documents.in_turn() if isinstance(documents, Fielded) else documents
    return Explanation(explanation.label, explanation.score, named_votes, places, texts)
