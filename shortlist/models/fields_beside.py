"""The fields beside texts that a model has met, for whoever types a document: categories and numbers."""

from __future__ import annotations

from typing import Any

from shortlist.text.vectorizer import TextVectorizer

OFFERED = 200  # categories of a field that are offered to choose from


class FieldsBeside:
    """Reads on in the vocabulary from where it was: only what is new is looked at."""

    def __init__(self) -> None:
        self._vocabulary: object = None
        self._read = 0
        self._found: dict[str, dict[str, bool]] = {}  # field -> what was learned there -> whether it is a number

    def of(self, text: TextVectorizer) -> list[dict[str, Any]]:
        """Each such field, what kind of value it has, and the first of its categories in alphabetical order."""
        vocabulary = text.vocabulary_
        if vocabulary is not self._vocabulary or len(vocabulary) < self._read:
            self._vocabulary, self._read, self._found = vocabulary, 0, {}
        n_features = len(vocabulary)
        for field, value, is_number in text.values(self._read):
            self._found.setdefault(field, {})[value] = is_number
        self._read = n_features
        return [
            {"field": field, "kind": _kind(own), "known": sorted(value for value in own if not own[value])[:OFFERED]}
            for field, own in self._found.items()
        ]


def _kind(values: dict[str, bool]) -> str:
    numbers = sum(values.values())
    return "category" if not numbers else "number" if numbers == len(values) else "either"
