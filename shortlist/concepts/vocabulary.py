"""A vocabulary of labels: names in the user's language, synonyms, broader and narrower concepts, what is deprecated.

Labels are known by their text, since a file knows no other: label 7 of a model and "7" of a vocabulary are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Self

import msgspec
import numpy as np

from shortlist.arrays.given_labels import Label, shown
from shortlist.arrays.validation import as_choice, as_whole
from shortlist.errors import InputError
from shortlist.files.store import State

Policy = Literal["grow", "known"]
POLICIES: tuple[Policy, ...] = ("grow", "known")


class Concept(msgspec.Struct, frozen=True):
    """A label and what is known of it. ``broader`` are labels too."""

    label: str
    name: str
    synonyms: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    deprecated: bool = False


class LabelVocabulary:
    """Names of labels, and which labels there may be.

    Parameters
    ----------
    concepts : iterable of Concept
        What is known of each label. A label that comes twice is refused.
    policy : {"grow", "known"}, default="grow"
        "known" refuses labels that the vocabulary does not have, or has as deprecated, where a model is to learn them.
    teach : int, default=0
        When a model is fitted, each label with at most so many examples, none included, is taught by one example more:
        its name and synonyms, which say nothing of other labels. 0 teaches nothing; 5 is a good number.

    Attributes
    ----------
    concepts : dict of str to Concept
        By label.
    policy, teach
        As given.

    Examples
    --------
    >>> from shortlist import LabelVocabulary
    >>> from shortlist.concepts.vocabulary import Concept
    >>> names = LabelVocabulary([Concept("c1", "grain", ("cereals",)), Concept("c2", "wheat", broader=("c1",))])
    >>> names.name("c2"), names.find("cereal"), sorted(names.subtree("c1"))
    ('wheat', ['c1'], ['c1', 'c2'])
    """

    def __init__(self, concepts: Iterable[Concept], policy: Policy = "grow", teach: int = 0) -> None:
        self.teach = as_whole(teach, "teach")
        self.policy: Policy = as_choice(policy, "policy", POLICIES)
        self.concepts: dict[str, Concept] = {}
        for concept in concepts:
            if concept.label in self.concepts:
                raise InputError(f"the vocabulary has the label {shown(concept.label)} twice; each may be there once")
            self.concepts[concept.label] = concept
        self._narrower: dict[str, list[str]] = {}
        for concept in self.concepts.values():
            for above in concept.broader:
                self._narrower.setdefault(above, []).append(concept.label)
        self._of_name: dict[str, list[str]] = {}
        for concept in self.concepts.values():
            if not concept.deprecated:
                self._of_name.setdefault(concept.name, []).append(concept.label)
        self._folded = [(label, self._words(concept)) for label, concept in self.concepts.items()]

    @classmethod
    def from_names(cls, names: Mapping[Label, str], policy: Policy = "grow", teach: int = 0) -> Self:
        """A vocabulary that knows what each label is called, and no more."""
        return cls([Concept(str(label), name) for label, name in names.items()], policy, teach)

    @staticmethod
    def _words(concept: Concept) -> list[str]:
        return [one.casefold() for one in (concept.name, *concept.synonyms, concept.label)]

    def __len__(self) -> int:
        return len(self.concepts)

    def __iter__(self) -> Iterator[Concept]:
        return iter(self.concepts.values())

    def __contains__(self, label: object) -> bool:
        return str(label) in self.concepts

    def get(self, label: Label) -> Concept | None:
        """What is known of a label."""
        return self.concepts.get(str(label))

    def name(self, label: Label) -> str:
        """What people call a label; the label itself where nobody has said."""
        concept = self.get(label)
        return str(label) if concept is None else concept.name

    @property
    def broader(self) -> dict[Label, tuple[str, ...]]:
        """The labels directly above each label that has any."""
        return {concept.label: concept.broader for concept in self if concept.broader}

    def narrower(self, label: Label) -> list[str]:
        """The labels directly below one."""
        return list(self._narrower.get(str(label), ()))

    def subtree(self, label: Label) -> set[str]:
        """A label and all that are below it, however far."""
        found, waiting = {str(label)}, [str(label)]
        while waiting:
            new = [below for below in self._narrower.get(waiting.pop(), ()) if below not in found]
            found.update(new)
            waiting += new
        return found

    def find(self, wanted: str, n: int | None = None) -> list[str]:
        """Labels by a part of their name, of a synonym or of the label: whole ones first, then by beginning."""
        part = wanted.casefold()
        hits = []
        for label, words in self._folded:
            near = min(
                (int(word != part) + (not word.startswith(part)) for word in words if part in word), default=None
            )
            if near is not None:
                hits.append((near, label))
        hits.sort(key=lambda hit: hit[0])  # stable: in the order of the vocabulary
        return [label for _, label in hits[:n]]

    def of_name(self, name: str) -> str | None:
        """The label that has exactly this name, if it is the only one."""
        hits = self._of_name.get(name, ())
        return hits[0] if len(hits) == 1 else None

    def renamed(self, old: str, new: str) -> LabelVocabulary:
        """The vocabulary with a label under another name, unless it has that already."""
        if old not in self.concepts or new in self.concepts:
            return self

        def other(label: str) -> str:
            return new if label == old else label

        concepts = [
            msgspec.structs.replace(one, label=other(one.label), broader=tuple(map(other, one.broader))) for one in self
        ]
        return LabelVocabulary(concepts, self.policy, self.teach)

    def lessons(self, counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
        """A text of names and synonyms, and the label, for each label that has few examples or none."""
        for concept in self:
            if self.teach and not concept.deprecated and counts.get(concept.label, 0) <= self.teach:
                yield " . ".join((concept.name, *concept.synonyms)), concept.label

    def check(self, labels: Iterable[Label]) -> None:
        """Refuse labels that may not be learned, by the policy."""
        if self.policy == "grow":
            return
        for label in labels:
            concept = self.get(label)
            if concept is None:
                known = f"is not one of the {len(self):,} of the vocabulary"
                raise InputError(f"the label {shown(label)} {known}, whose policy is to take known ones only")
            if concept.deprecated:
                raise InputError(f"the label {shown(label)} ({concept.name}) is deprecated in the vocabulary")

    # Model files.

    def to_state(self) -> State:
        """What a model file keeps."""
        written = msgspec.json.encode(list(self.concepts.values()))
        return State(
            "LabelVocabulary",
            {"policy": self.policy, "teach": self.teach},
            {"concepts": np.frombuffer(written, dtype=np.uint8)},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The vocabulary that a state describes, or ModelFileError."""
        written = state.array("concepts", np.uint8).tobytes()
        return cls(msgspec.json.decode(written, type=list[Concept]), state.settings["policy"], state.settings["teach"])
