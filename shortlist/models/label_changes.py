"""Changes of labels: rename, merge, split, retire, restore.

A renamed label keeps its weights; a merged one has the sum of weights; one that is split off begins
with the weights of the other; a retired one is neither ranked nor learned until it is restored. The
server can undo a change: it learns the rest again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from shortlist.data.label_input import Label, shown
from shortlist.errors import InputError
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.label_surgery import let_go, merged, renamed, split_off

CHANGES = ("rename", "merge", "split", "retire", "restore")


class Change(NamedTuple):
    """A change of labels: rename labels[0] to ``into``, merge labels into it, or split it off from
    labels[0]; with ``into`` None, retire or restore labels.
    """

    what: str
    labels: tuple[Label, ...]
    into: Label | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Change:
        """A change from JSON, checked."""
        what, labels, into = given["change"], tuple(given["labels"]), given.get("into")
        if what not in CHANGES:
            raise InputError(f"labels can be changed by {', '.join(CHANGES)}, not by {what!r}")
        if (
            not labels
            or (into is None) == (what in CHANGES[:3])
            or (what in ("rename", "split") and len(labels) > 1)
        ):
            raise InputError(f"{what} takes {NEEDS[what]}")
        return cls(what, labels, into)

    def to_dict(self) -> dict[str, Any]:
        return {"change": self.what, "labels": list(self.labels)} | (
            {} if self.into is None else {"into": self.into}
        )

    def __str__(self) -> str:
        goal = "" if self.into is None else f" {TOWARDS[self.what]} {self.into}"
        return f"{self.what} {', '.join(map(str, self.labels))}{goal}"


TOWARDS = {"rename": "to", "merge": "into", "split": "as"}
NEEDS = {
    "rename": "a label, and another name for it",
    "merge": "labels, and the one to merge them into",
    "split": "a label, and the name of the one to split off",
    "retire": "labels",
    "restore": "labels",
}


class Labelled(NamedTuple):
    """The parts that a change of labels changes: the learner, the vocabulary, and the retired
    labels.
    """

    learner: CategoryLearner
    vocabulary: LabelVocabulary | None
    retired: tuple[Label, ...]

    def check(self, change: Change) -> None:
        """Refuse a change that cannot be made."""
        Change.of(change.to_dict())
        for label in change.labels:
            self.learner.label_index_.find(label)
            if (label in self.retired) != (change.what == "restore"):
                state = (
                    "is not retired"
                    if change.what == "restore"
                    else "was retired or merged; restore it first"
                )
                raise InputError(f"the label {shown(label)} {state}")
        if change.into is None:
            return
        if change.into in self.retired:
            raise InputError(
                f"the label {shown(change.into)} was retired or merged; restore it first"
            )
        if change.what == "merge":
            self.learner.label_index_.find(change.into)
        elif change.into in self.learner.label_index_.number:
            raise InputError(
                f"there is a label {shown(change.into)} already; merge them if they are the same"
            )
        if self.vocabulary is not None and change.what == "split":
            self.vocabulary.check([change.into])

    def after(self, change: Change) -> Labelled:
        """The parts after the change; these are not modified."""
        learner, vocabulary, retired = self
        if change.what == "rename":
            learner = renamed(learner, change.labels[0], _given(change))
            if vocabulary is not None:
                vocabulary = vocabulary.renamed(str(change.labels[0]), str(change.into))
        elif change.what == "merge":
            others = tuple(label for label in change.labels if label != change.into)
            learner = merged(learner, others, _given(change))
            retired += others
        elif change.what == "split":
            learner = split_off(learner, change.labels[0], _given(change))
        elif change.what == "retire":
            learner = let_go(learner, change.labels)
            retired += change.labels
        else:
            retired = tuple(label for label in retired if label not in change.labels)
        return Labelled(learner, vocabulary, retired)


def _given(change: Change) -> Label:
    assert change.into is not None
    return change.into
