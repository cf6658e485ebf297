"""Looking through the examples of the journal for labels that may be wrong (models/auditing.py).

What a part of them is contradicted by is the base model that has learned the other parts. Labels that were renamed or
merged since are called what they are called now; those that were retired are left out.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, cast

from shortlist.errors import InputError
from shortlist.labels import judged
from shortlist.models.auditing import PARTS, Audit, audit, same
from shortlist.models.categorizer import Categorizer
from shortlist.models.making import open_model
from shortlist.models.relabelling import Change
from shortlist.server import snapshots
from shortlist.server.documents import alike
from shortlist.server.journal import Entry, Journal

MOST = 20_000  # examples, the newest, that are looked through
NAMED = 1000  # of those contradicted most


def audit_of(folder: Path) -> Audit:
    """What is doubtful in the examples of a state directory."""
    lessons, changes = lessons_of(folder)
    fields = cast("Categorizer", open_model(folder / snapshots.BASE)).fields_
    texts = alike([lesson.text for lesson in lessons], fields)
    if len(set(map(same, texts))) < PARTS:  # too few to say anything
        return Audit(len(texts), 0, [], [], [])
    labels = judged(
        [cast("list[Any]", one.labels) for one in lessons], len(lessons), [one.wrong for one in lessons],
        [one.complete for one in lessons],
    )  # fmt: skip

    def taught(which: list[int]) -> Categorizer:
        model = cast("Categorizer", open_model(folder / snapshots.BASE))
        for change in changes:
            with contextlib.suppress(InputError):  # the base does not know a label that came later
                model.change_labels(change)
        return model.learn_many([texts[i] for i in which], labels.take(which))

    return audit(texts, labels, taught, NAMED).numbered_as([lesson.number for lesson in lessons])


def lessons_of(folder: Path) -> tuple[list[Entry], list[Change]]:
    """The newest examples, by the names that labels have now; and all changes of labels, in order."""
    journal = Journal(folder, read_only=True)
    try:
        rows: list[Entry] = []
        last = journal.version().examples
        while some := journal.after(rows[-1].number if rows else 0, last, 5000):
            rows += some
    finally:
        journal.close()
    changes: list[Change] = []
    lessons: list[Entry] = []
    now: dict[Any, list[Any]] = {}  # what a label is called now
    for lesson in reversed(rows):
        if isinstance(lesson.labels, dict):
            change = Change.of(lesson.labels)
            changes.append(change)
            if change.what in ("rename", "merge"):
                now |= {label: now.get(change.into, [change.into]) for label in change.labels if label != change.into}
            elif change.what == "retire":
                now |= {label: [] for label in change.labels if label not in now}
            elif change.what == "restore":
                now |= {label: [label] for label in change.labels if label not in now}
        elif len(lessons) < MOST:
            labels, wrong = (
                list(dict.fromkeys(name for label in own for name in now.get(label, [label])))
                for own in (lesson.labels, lesson.wrong)
            )
            wrong = [label for label in wrong if label not in labels]
            if labels or wrong:
                lessons.append(lesson._replace(labels=labels, wrong=wrong))
    return lessons[::-1], changes[::-1]
