"""Labels by the names that people give them, and the search for labels."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from shortlist.data.label_input import Label
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.models.categorizer import Categorizer
from shortlist.server.journal_errors import Conflict
from shortlist.server.replica import Replica
from shortlist.server.review_queue import NotThere

MOST_COMPARED = 5000  # labels, whose names are compared with a mistyped one
NEARLY_THE_SAME = 0.8


class LabelNames:
    """The labels of the present model of a replica, by name."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    def named(self, label: Label) -> dict[str, Any]:
        """Return a label for an answer, with its name if there is a vocabulary."""
        vocabulary = self._replica.model.vocabulary_
        if vocabulary is None:
            return {"label": label}
        return {"label": label, "name": vocabulary.name(label)}

    def known(self, name: str) -> Label:
        """Return the label of a name, which must have been learned; retired ones can be
        restored.
        """
        label = self._replica.label(name)
        if not self._replica.model.knows_label(label):
            raise NotThere(f"the label {name!r} has not been learned")
        return label

    def check_in_rules(self, names: Sequence[str]) -> None:
        """Refuse rules with unknown labels: a typing error would leave no labels, or all."""
        model = self._replica.model
        for name in names:
            is_in_vocabulary = model.vocabulary_ is not None and name in model.vocabulary_
            if not is_in_vocabulary and not model.knows_label(self._replica.label(name)):
                raise Conflict(
                    f"a rule names {name!r}, which is not a label that was learned; look for it at "
                    "/v1/labels"
                )


class LabelSearch:
    """Finds the labels of a model by any part of their names and synonyms, except retired ones."""

    def __init__(self) -> None:
        self._vocabulary: LabelVocabulary | None = None
        self._labels: list[Label] = []
        self._folded: list[list[str]] = []  # all names of each label

    def find(
        self, model: Categorizer, letters: str, first: int, n: int
    ) -> tuple[list[tuple[Label, int]], int]:
        """Return some of the labels with these letters and their numbers of examples, and how many
        there are in all.

        Equal ones come first, then those that begin so, each by frequency.
        """
        self._take_names(model)
        counts = model.label_counts_
        retired = set(model.retired_)
        part = letters.casefold()
        hits: list[int] = []
        distances: list[int] = []
        for i, names in enumerate(self._folded):
            of_names = [_distance(part, name) for name in names if part in name]
            if of_names and self._labels[i] not in retired:
                hits.append(i)
                distances.append(min(of_names))
        order = np.lexsort((-counts[hits], np.array(distances, dtype=int))).tolist()
        best = [hits[place] for place in order[first : first + n]]
        return [(self._labels[i], int(counts[i])) for i in best], len(hits)

    def near(self, model: Categorizer, letters: str) -> list[Label]:
        """Return labels whose names are nearly the same; none if there are very many labels."""
        self._take_names(model)
        if len(self._labels) > MOST_COMPARED:
            return []
        retired = set(model.retired_)
        name_of = {name: i for i, names in enumerate(self._folded) for name in names}
        matches = get_close_matches(letters.casefold(), name_of, n=3, cutoff=NEARLY_THE_SAME)
        labels = dict.fromkeys(self._labels[name_of[name]] for name in matches)
        return [label for label in labels if label not in retired]

    def _take_names(self, model: Categorizer) -> None:
        """Fold the names of new labels, or of all if others have changed."""
        labels = model.classes_.tolist()
        n_known = len(self._labels)
        if labels[:n_known] != self._labels or model.vocabulary_ is not self._vocabulary:
            self._vocabulary = model.vocabulary_
            self._folded = []
            n_known = 0
        self._labels = labels
        self._folded += [_folded_names(label, self._vocabulary) for label in labels[n_known:]]


def _folded_names(label: Any, vocabulary: LabelVocabulary | None) -> list[str]:
    concept = None if vocabulary is None else vocabulary.get(label)
    names = [str(label)]
    if concept is not None:
        names += [concept.name, *concept.synonyms]
    return [name.casefold() for name in names]


def _distance(part: str, name: str) -> int:
    """Return 0 for the name itself, 1 for its beginning, 2 for another part of it."""
    if not part or name == part:
        return 0
    return 1 if name.startswith(part) else 2
