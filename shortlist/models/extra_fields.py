"""The fields of categories and numbers beside texts that a model has met."""

from __future__ import annotations

from typing import Any

from shortlist.text.vectorizer import TextVectorizer

MOST_CATEGORIES = 200  # of a field, to choose from


class FieldsBeside:
    """The fields of categories and numbers. Only new words of the vocabulary are read."""

    def __init__(self) -> None:
        self._vocabulary: object = None
        self._n_read = 0
        # field -> value -> whether it is a number
        self._values_by_field: dict[str, dict[str, bool]] = {}

    def of(self, text: TextVectorizer) -> list[dict[str, Any]]:
        """Each such field, what kind of value it has, and the first of its categories in
        alphabetical order.
        """
        vocabulary = text.vocabulary_
        if vocabulary is not self._vocabulary or len(vocabulary) < self._n_read:
            self._vocabulary = vocabulary
            self._n_read = 0
            self._values_by_field = {}
        n_features = len(vocabulary)
        for field, value, is_number in text.values(self._n_read):
            self._values_by_field.setdefault(field, {})[value] = is_number
        self._n_read = n_features
        return [described(field, values) for field, values in self._values_by_field.items()]


def described(field: str, values: dict[str, bool]) -> dict[str, Any]:
    """A field, by its values and whether each is a number."""
    categories = sorted(value for value, is_number in values.items() if not is_number)
    if not categories:
        kind = "number"
    elif len(categories) == len(values):
        kind = "category"
    else:
        kind = "either"
    return {"field": field, "kind": kind, "known": categories[:MOST_CATEGORIES]}
