"""Changes of labels: rename, merge, split, retire, restore; and words struck out.

A renamed label keeps its weights; a merged one has the sum of weights; one that is split off begins
with the weights of the other; a retired one is neither ranked nor learned until it is restored. The
server can undo a change: it learns the rest again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from shortlist.concurrency import learning, reading
from shortlist.data.label_input import Label, shown
from shortlist.errors import InputError
from shortlist.learners.category_learner import CategoryLearner
from shortlist.models.policy import LabelPolicy
from shortlist.models.strikes import Strike, with_strike, without_strike, words_for_any_label
from shortlist.text.vectorizer import TextVectorizer

CHANGES = ("rename", "merge", "split", "retire", "restore")
STRIKES = ("strike", "unstrike")


class Change(NamedTuple):
    """A change of labels: rename labels[0] to ``into``, merge labels into it, or split it off from
    labels[0]; with ``into`` None, retire or restore labels. Or strike a word out for labels[0], for
    any label if there are none.
    """

    what: str
    labels: tuple[Label, ...]
    into: Label | None = None
    word: str | None = None
    person: str = ""  # who strikes it out

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Change:
        """A change from JSON, checked."""
        kind = fields["change"]
        labels = tuple(fields["labels"])
        into = fields.get("into")
        if kind in STRIKES:
            return cls._strike(kind, labels, fields.get("word"), fields.get("person", ""))
        if kind not in CHANGES:
            raise InputError(f"labels can be changed by {', '.join(CHANGES)}, not by {kind!r}")
        if (
            not labels
            or (into is None) == (kind in CHANGES[:3])
            or (kind in ("rename", "split") and len(labels) > 1)
        ):
            raise InputError(f"{kind} takes {NEEDS[kind]}")
        return cls(kind, labels, into)

    @classmethod
    def _strike(cls, kind: str, labels: tuple[Label, ...], word: object, person: str) -> Change:
        if not isinstance(word, str) or not word.strip() or len(labels) > 1:
            raise InputError(f"{kind} takes a word, and a label or none")
        return cls(kind, labels, word=word, person=person)

    @property
    def strike(self) -> Strike:
        """What is struck out, or no longer."""
        label = self.labels[0] if self.labels else None
        return Strike(self.word or "", label, self.person)

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"change": self.what, "labels": list(self.labels)}
        if self.into is not None:
            fields["into"] = self.into
        if self.word is not None:
            fields["word"] = self.word
        if self.person:
            fields["person"] = self.person
        return fields

    def __str__(self) -> str:
        if self.what in STRIKES:
            label = self.labels[0] if self.labels else "any label"
            return f"{self.what} {self.word} for {label}"
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
    """The parts that a change of labels changes: the learner and the policy."""

    learner: CategoryLearner
    policy: LabelPolicy

    def check(self, change: Change) -> None:
        """Refuse a change that cannot be made."""
        Change.of(change.to_dict())
        known = self.learner.label_index_
        retired = self.policy.retired
        is_restored = change.what == "restore"
        for label in change.labels:
            known.find(label)
            if (label in retired) != is_restored:
                state = "was retired or merged; restore it first"
                if is_restored:
                    state = "is not retired"
                raise InputError(f"the label {shown(label)} {state}")
        if change.what == "strike":
            with_strike(self.policy.strikes, change.strike)
        elif change.what == "unstrike":
            without_strike(self.policy.strikes, change.strike)
        if change.into is None:
            return
        if change.into in retired:
            raise InputError(
                f"the label {shown(change.into)} was retired or merged; restore it first"
            )
        if change.what == "merge":
            known.find(change.into)
        elif change.into in known.number:
            raise InputError(
                f"there is a label {shown(change.into)} already; merge them if they are the same"
            )
        if self.policy.vocabulary is not None and change.what == "split":
            self.policy.vocabulary.check([change.into])

    def after(self, change: Change) -> Labelled:
        """The parts after the change; these are not modified."""
        learner = self.learner
        policy = self.policy
        first: Any = change.labels[0] if change.labels else None
        into: Any = change.into
        if change.what == "strike":
            policy = policy._replace(strikes=with_strike(policy.strikes, change.strike))
        elif change.what == "unstrike":
            policy = policy._replace(strikes=without_strike(policy.strikes, change.strike))
        elif change.what == "rename":
            strikes = tuple(
                strike._replace(label=into) if strike.label == first else strike
                for strike in policy.strikes
            )
            policy = policy._replace(strikes=strikes)
            learner = learner.with_label_renamed(first, into)
            if policy.vocabulary is not None:
                vocabulary = policy.vocabulary.renamed(str(first), str(into))
                policy = policy._replace(vocabulary=vocabulary)
        elif change.what == "merge":
            merged = tuple(label for label in change.labels if label != into)
            learner = learner.with_labels_merged(merged, into)
            policy = policy._replace(retired=policy.retired + merged)
        elif change.what == "split":
            learner = learner.with_label_split(first, into)
        elif change.what == "retire":
            learner = learner.without_recent_examples(change.labels)
            policy = policy._replace(retired=policy.retired + change.labels)
        else:
            retired = tuple(label for label in policy.retired if label not in change.labels)
            policy = policy._replace(retired=retired)
        return Labelled(learner, policy)


class ChangesLabels:
    """The changes of labels that a model of texts offers."""

    learner_: CategoryLearner
    policy_: LabelPolicy
    text_: TextVectorizer

    def rename_label(self, label: Label, name: Label) -> Self:
        """Give a label another name; it keeps its weights."""
        return self.change_labels(Change("rename", (label,), name))

    def merge_labels(self, labels: Sequence[Label], into: Label) -> Self:
        """Merge labels into one of them, or into another label, by summing their weights."""
        return self.change_labels(Change("merge", tuple(labels), into))

    def split_label(self, label: Label, new: Label) -> Self:
        """Add a new label that begins with the weights of another one."""
        return self.change_labels(Change("split", (label,), new))

    def retire_labels(self, labels: Sequence[Label]) -> Self:
        """Stop ranking and learning labels."""
        return self.change_labels(Change("retire", tuple(labels)))

    def restore_labels(self, labels: Sequence[Label]) -> Self:
        """Rank and learn retired labels again, with the weights that they had."""
        return self.change_labels(Change("restore", tuple(labels)))

    @reading
    def check_change(self, change: Change) -> None:
        """Refuse a change that cannot be made."""
        self.check_fitted()  # type: ignore[attr-defined]
        Labelled(self.learner_, self.policy_).check(change)

    @learning
    def change_labels(self, change: Change) -> Self:
        """Make a change of labels."""
        self.check_change(change)
        changed = Labelled(self.learner_, self.policy_).after(change)
        self.learner_ = changed.learner
        self.policy_ = changed.policy
        self.text_.strike(words_for_any_label(changed.policy.strikes))
        return self
