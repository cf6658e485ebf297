"""Labels found by a part of their names, or of their synonyms."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.models.categorizer import Categorizer


class LabelSearch:
    """All labels of a model, found by any part of their names, but those that were retired.

    Labels arrive, so the list is extended; where they change, it is made anew.
    """

    def __init__(self, model: Categorizer) -> None:
        self.model = model
        self._names: list[Any] = []
        self._index, self._vocabulary = model.learner_._labels, model.vocabulary_
        self._folded: list[list[str]] = []  # all that each label is called

    def find(self, wanted: str, first: int, n: int) -> dict[str, Any]:
        """Some of the labels that contain these letters: exact ones first, then by beginning, then by frequency."""
        counts, index = self.model.label_counts_, self.model.learner_._labels
        if index is not self._index or self.model.vocabulary_ is not self._vocabulary:
            self._index, self._vocabulary, self._names, self._folded = index, self.model.vocabulary_, [], []
        retired = {index.number[label] for label in self.model.retired_}
        if len(self._names) < counts.size:
            self._names = self.model.classes_.tolist()
            self._folded += [self._called(name) for name in self._names[len(self._folded) :]]
        part = wanted.casefold()
        near = {
            i: min(far) for i, words in enumerate(self._folded) if (far := [_far(part, w) for w in words if part in w])
        }
        near = {i: far for i, far in near.items() if i not in retired} if retired else near
        hits = list(near)
        nearest = np.array(list(near.values()), dtype=np.int64)
        chosen = [hits[i] for i in np.lexsort((-counts[hits], nearest))[first : first + n]] if hits else []
        return {"labels": [self._shown(i, int(counts[i])) for i in chosen], "found": len(hits)}

    def _called(self, label: Any) -> list[str]:
        vocabulary = self.model.vocabulary_
        concept = None if vocabulary is None else vocabulary.get(label)
        every = [str(label)] if concept is None else [concept.name, *concept.synonyms, str(label)]
        return [one.casefold() for one in every]

    def _shown(self, i: int, examples: int) -> dict[str, Any]:
        label = self._names[i]
        named = {} if self.model.vocabulary_ is None else {"name": self.model.name_of(label)}
        return {"label": label} | named | {"examples": examples}


def _far(part: str, word: str) -> int:
    """0 for the word itself, 1 for its beginning, 2 for a part of it. What is not asked for is equally near."""
    return int(word != part) + (not word.startswith(part)) if part else 0
