"""Audits of the journal (models/auditing.py).

The base model learns all parts of the examples but one, and ranks that one. Renamed and merged
labels have their present names; retired ones are left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import cast

from shortlist.data.label_input import Label
from shortlist.data.labels import judged
from shortlist.errors import InputError
from shortlist.models.auditing import AUDIT_PARTS, Audit, audit, same
from shortlist.models.categorizer import Categorizer
from shortlist.models.label_changes import Change
from shortlist.models.training_settings import open_model
from shortlist.server import snapshots
from shortlist.server.entries import Judge, Judgement, LabelChange, of_one_kind
from shortlist.server.journal import Journal

AUDITED_EXAMPLES = 20_000  # the newest
MOST_DOUBTS = 1000  # that are kept, the most doubtful ones


def audit_of(folder: Path) -> Audit:
    """Audit the examples of a state directory."""
    judgements, changes = present_judgements(folder)

    def base() -> Categorizer:
        return cast("Categorizer", open_model(folder / snapshots.BASE))

    texts = of_one_kind([judgement.text for judgement in judgements], base().fields_)
    if len(set(map(same, texts))) < AUDIT_PARTS:  # too few to say anything
        return Audit(len(texts), 0, [], [], [])
    labels = judged(
        [judgement.labels for judgement in judgements],
        len(judgements),
        [judgement.wrong for judgement in judgements],
        [judgement.complete for judgement in judgements],
    )

    def taught(which: list[int]) -> Categorizer:
        model = base()
        for change in changes:
            with contextlib.suppress(InputError):  # the base does not know a label that came later
                model.change_labels(change)
        return model.learn_many([texts[i] for i in which], labels.take(which))

    numbers = [judgement.number for judgement in judgements]
    return audit(texts, labels, taught, MOST_DOUBTS, numbers=numbers)


def present_judgements(folder: Path) -> tuple[list[Judgement], list[Change]]:
    """Return the newest examples, with the present names of labels, and all changes of labels,
    in order.
    """
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        entries = list(journal.each(0, journal.version().examples))
    names = PresentNames()
    changes: list[Change] = []
    judgements: list[Judgement] = []
    for entry in reversed(entries):
        if isinstance(entry, LabelChange):
            changes.append(entry.change)
            names.go_back(entry.change)
        elif entry.judge != Judge.MODEL and len(judgements) < AUDITED_EXAMPLES:
            labels = names.of(entry.labels)
            wrong = [label for label in names.of(entry.wrong) if label not in labels]
            if labels or wrong:
                judgements.append(replace(entry, labels=labels, wrong=wrong))
    return judgements[::-1], changes[::-1]


class PresentNames:
    """The present names of labels, at a moment of the journal that goes back, change by change."""

    def __init__(self) -> None:
        self._names: dict[Label, list[Label]] = {}  # none for a retired label

    def copy(self) -> PresentNames:
        names = PresentNames()
        names._names = dict(self._names)
        return names

    def of(self, labels: Iterable[Label]) -> list[Label]:
        names = [name for label in labels for name in self._names.get(label, [label])]
        return list(dict.fromkeys(names))

    def go_back(self, change: Change) -> None:
        """Go back to the moment before a change."""
        for label in change.labels:
            if change.what == "retire":
                self._names.setdefault(label, [])
            elif change.what == "restore":
                self._names.setdefault(label, [label])
            elif change.what in ("rename", "merge") and label != change.into:
                self._names[label] = self.of([cast("Label", change.into)])
