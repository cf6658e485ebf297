"""Labels change: they are renamed, merged, split off and retired; and rankings keep to rules.

A renamed label keeps what it has learned; a merged one has the sum; one that is split off begins with what the other
has; a retired one is neither ranked nor learned, and can come back. The last changes can be taken back, a merger or a
split as long as nothing was learned since. (The server takes back any, whenever: it learns the rest anew.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.arrays.given_labels import Label, shown
from shortlist.categories.learner import CategoryLearner
from shortlist.categories.relabelling import let_go, merged, renamed, split_off
from shortlist.concepts.vocabulary import LabelVocabulary
from shortlist.concurrency.interrupts import whole
from shortlist.concurrency.locks import reading, writing
from shortlist.errors import InputError
from shortlist.files.store import State, build
from shortlist.labels import NumberedLabels, judged
from shortlist.models.rules import Rules
from shortlist.models.text_model import TextModel

if TYPE_CHECKING:
    from typing_extensions import Self

CHANGES = ("rename", "merge", "split", "retire", "restore")
KEPT = 10  # changes that can be taken back


class Change(NamedTuple):
    """A change of labels: rename labels[0] to ``into``, merge labels into it, split it off from labels[0]; or retire
    labels, or restore them, where ``into`` is None."""

    what: str
    labels: tuple[Label, ...]
    into: Label | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Change:
        """A change as JSON has it, checked."""
        what, labels, into = said["change"], tuple(said["labels"]), said.get("into")
        if what not in CHANGES:
            raise InputError(f"labels can be changed by {', '.join(CHANGES)}, not by {what!r}")
        if not labels or (into is None) == (what in CHANGES[:3]) or (what in ("rename", "split") and len(labels) > 1):
            raise InputError(f"{what} takes {NEEDS[what]}")
        return cls(what, labels, into)

    def to_dict(self) -> dict[str, Any]:
        return {"change": self.what, "labels": list(self.labels)} | ({} if self.into is None else {"into": self.into})

    def __str__(self) -> str:
        goal = "" if self.into is None else f" {TOWARDS[self.what]} {self.into}"
        return f"{self.what} {', '.join(map(str, self.labels))}{goal}"


TOWARDS = {"rename": "to", "merge": "into", "split": "as"}
NEEDS = {
    "rename": "a label, and another name for it", "merge": "labels, and the one to merge them into",
    "split": "a label, and the name of the one to split off", "retire": "labels", "restore": "labels",
}  # fmt: skip


class Before(NamedTuple):
    """What a change has replaced."""

    change: Change
    learner: Any
    vocabulary: LabelVocabulary | None
    retired: tuple[Label, ...]


class RelabellingModel(TextModel):
    """Base class: its labels may change, and its rankings keep to rules."""

    retired_: tuple[Label, ...] = ()
    rules_: Rules | None = None
    trained_from_: dict[str, Any] | None = None  # how the columns were called, where that was said
    _changes: tuple[Before, ...] = ()

    # Labels.

    @writing
    def set_vocabulary(self, vocabulary: LabelVocabulary | None) -> Self:
        """Give the labels names, synonyms and broader labels; by its policy a vocabulary may refuse other labels."""
        if vocabulary is not None and not isinstance(vocabulary, LabelVocabulary):
            raise InputError(f"a vocabulary is a LabelVocabulary, not a {type(vocabulary).__name__}")
        self.vocabulary_ = vocabulary
        return self

    def _check_policy(self, labels: NumberedLabels) -> None:
        self._check_not_retired(labels.names)
        if self.vocabulary_ is not None:
            self.vocabulary_.check(labels.names)
        if labels.sets.partial.complete.size:
            (self.learner_ if self.__sklearn_is_fitted__() else self.new_learner()).check_judged(labels)

    def _lessons(self, learner: CategoryLearner, counts: dict[Label, int]) -> tuple[list[str], NumberedLabels]:
        """The names by which the vocabulary teaches labels of few examples, and these labels.

        A name says that its label is right, and nothing of any other, where the learner can leave others alone: labels
        of many examples, whose words it has too, must not lose by it.
        """
        known = {str(label): label for label in counts}
        named = {str(label): n for label, n in counts.items()}
        pairs = [] if self.vocabulary_ is None else list(self.vocabulary_.lessons(named))
        own = [[known.get(label, label)] for _, label in pairs]
        return [text for text, _ in pairs], judged(own, len(own), complete=not learner.takes_partial)

    def rename_label(self, label: Label, name: Label) -> Self:
        """Give a label another name; it keeps what it has learned."""
        return self.change_labels(Change("rename", (label,), name))

    def merge_labels(self, labels: Sequence[Label], into: Label) -> Self:
        """Merge labels into one of them, or into another, which then has the sum of what they have learned."""
        return self.change_labels(Change("merge", tuple(labels), into))

    def split_label(self, label: Label, new: Label) -> Self:
        """A new label that begins with what another has learned; examples will tell them apart."""
        return self.change_labels(Change("split", (label,), new))

    def retire_labels(self, labels: Sequence[Label]) -> Self:
        """Labels that are neither ranked nor learned any more."""
        return self.change_labels(Change("retire", tuple(labels)))

    def restore_labels(self, labels: Sequence[Label]) -> Self:
        """Labels that were retired come back, with all that they have learned."""
        return self.change_labels(Change("restore", tuple(labels)))

    @reading
    def check_change(self, change: Change) -> None:
        """Refuse a change that cannot be made."""
        self._check_fitted()
        Change.of(change.to_dict())
        for label in change.labels:
            self.learner_._labels.find(label)
            if (label in self.retired_) != (change.what == "restore"):
                state = "is not retired" if change.what == "restore" else "was retired or merged; restore it first"
                raise InputError(f"the label {shown(label)} {state}")
        if change.into is None:
            return
        if change.into in self.retired_:
            raise InputError(f"the label {shown(change.into)} was retired or merged; restore it first")
        if change.what == "merge":
            self.learner_._labels.find(change.into)
        elif change.into in self.learner_._labels.number:
            raise InputError(f"there is a label {shown(change.into)} already; merge them if they are the same")
        if self.vocabulary_ is not None and change.what == "split":
            self.vocabulary_.check([change.into])

    @writing
    @whole
    def change_labels(self, change: Change) -> Self:
        """Make a change of labels."""
        self.check_change(change)
        before = Before(change, self.learner_, self.vocabulary_, self.retired_)
        learner, retired = self.learner_, self.retired_
        if change.what == "rename":
            learner = renamed(learner, change.labels[0], _given(change))
            if self.vocabulary_ is not None:
                self.vocabulary_ = self.vocabulary_.renamed(str(change.labels[0]), str(change.into))
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
        self._have(learner_=learner, retired_=retired, _changes=(*self._changes, before)[-KEPT:])
        return self

    @writing
    @whole
    def undo_change(self) -> Change:
        """Take the last change back; gives which it was."""
        if not self._changes:
            raise InputError("no change of labels is known that could be taken back")
        *rest, last = self._changes
        change, learner = last.change, self.learner_
        if change.what == "rename":
            learner = renamed(learner, _given(change), change.labels[0])
        elif change.what in ("merge", "split"):
            if learner.n_examples_ != last.learner.n_examples_:
                raise InputError(f"examples were learned since the change ({change}); only the server can take it back")
            learner = last.learner
        changed = {"learner_": learner, "vocabulary_": last.vocabulary, "retired_": last.retired}
        self._have(**changed, _changes=tuple(rest))
        return change

    def _check_not_retired(self, labels: Sequence[Label]) -> None:
        if self.retired_ and (gone := next((label for label in labels if label in self.retired_), None)) is not None:
            raise InputError(f"the label {shown(gone)} was retired or merged; it is not learned any more")

    # Rules.

    @writing
    def set_rules(self, rules: Rules | None) -> Self:
        """Rules that all rankings keep to from now on; None for none."""
        self.rules_ = rules or None
        self._work_out_rules()
        return self

    def _work_out_rules(self) -> None:
        """What the model's own rules leave, before somebody waits for a ranking."""
        if self.rules_ and hasattr(getattr(self, "learner_", None), "_labels"):
            self._allowed([self.rules_])

    def _every_rule(self, rules: Rules | None) -> list[Rules]:
        if self.rules_ is None and rules is None:
            return []
        return [one for one in (self.rules_, rules) if one]

    # Model files.

    def _changed_settings(self) -> dict[str, Any]:
        """What a model file keeps of this."""
        retired = {"retired": list(self.retired_)} if self.retired_ else {}
        columns = {"columns": self.trained_from_} if self.trained_from_ else {}
        return retired | ({"rules": self.rules_.to_dict()} if self.rules_ else {}) | columns

    def _take_settings(self, state: State) -> None:
        retired = state.settings.get("retired", [])
        state.require(isinstance(retired, list) and all(map(self.knows, retired)), "its retired labels are its own")
        self.retired_ = tuple(retired)
        columns = state.settings.get("columns")
        state.require(columns is None or _are_columns(columns), "the columns that it was trained from have names")
        self.trained_from_ = columns
        if "rules" in state.settings:
            self.rules_ = Rules(**state.settings["rules"])
        if "vocabulary" in state.parts:
            self.vocabulary_ = build(state.parts["vocabulary"])
            state.require(isinstance(self.vocabulary_, LabelVocabulary), "its vocabulary is a LabelVocabulary")
        self._work_out_rules()

    def _vocabulary_part(self) -> dict[str, State]:
        return {} if self.vocabulary_ is None else {"vocabulary": self.vocabulary_.to_state()}


def _given(change: Change) -> Label:
    assert change.into is not None
    return change.into


def _are_columns(columns: object) -> bool:
    """Whether these can be names of columns, one or several for each purpose."""
    if not isinstance(columns, dict):
        return False
    every = [one for names in columns.values() for one in (names if isinstance(names, list) else [names])]
    return all(isinstance(name, str) for name in (*columns, *every))
