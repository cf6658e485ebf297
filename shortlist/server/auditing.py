"""Looking through the examples of the journal for labels that may be wrong (models/auditing.py).

What a part of them is contradicted by is the base model that has learned the other parts. Labels that were renamed or
merged since are called what they are called now; those that were retired are left out.
"""

from __future__ import annotations

import asyncio
import contextlib
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import Query, Response

from shortlist.errors import InputError
from shortlist.labels import judged
from shortlist.models.auditing import PARTS, Audit, audit, same
from shortlist.models.categorizer import Categorizer
from shortlist.models.making import open_model
from shortlist.models.relabelling import Change
from shortlist.server import schemas, snapshots
from shortlist.server.documents import alike
from shortlist.server.journal import Entry, Journal, Version
from shortlist.server.learning import LETTERS
from shortlist.server.routes import Context, Routes, as_json, get

MOST = 20_000  # examples, the newest, that are looked through
NAMED = 1000  # of those contradicted most


class AuditRoutes(Routes):
    """Gives the examples that the model contradicts most. One audit runs at a time, for all who wait for it."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._version: Version | None = None
        self._audit: asyncio.Task[Audit] | None = None

    @get("/v1/audit", schemas.AuditAnswer, 422)
    async def audit(self, limit: Annotated[int, Query(ge=1, le=NAMED)] = 50) -> Response:
        """Learned examples whose labels may be wrong, most doubtful first; equal texts; labels that get confused.

        `/v1/repair` gives an example other labels. The first question after something was learned takes as long as
        learning the journal's newest 20,000 examples four times.
        """
        said = (await asyncio.shield(self._running())).to_dict()  # it goes on where nobody waits any more
        said["doubts"] = said["doubts"][:limit]
        for one in said["doubts"] + said["duplicates"]:
            one["text"] = one["text"][:LETTERS]
        return as_json(said | {"names": self._names(said)})

    def _names(self, said: dict[str, Any]) -> dict[str, str]:
        """What people call the labels of an audit, where there is a vocabulary."""
        vocabulary = self._context.model.vocabulary_
        if vocabulary is None:
            return {}
        own = [one["labels"] + [one["found"]] for one in said["doubts"]]
        own += [labels for one in said["duplicates"] for labels in one["labels"]]
        return {str(label): vocabulary.name(label) for label in {*said["matrix"]["labels"], *chain(*own)}}

    def _running(self) -> asyncio.Task[Audit]:
        version, task = self._context.replica.journal.version(), self._audit
        if task is None or (task.done() and (version != self._version or task.exception() is not None)):
            task = asyncio.create_task(asyncio.to_thread(audit_of, self._context.settings.folder))
            self._version, self._audit = version, task
        return task


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
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        rows = list(journal.each(0, journal.version().examples))
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
