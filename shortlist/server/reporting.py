"""Routes that look back on what was learned, and what managers do about it.

Exports, and how the model fares over time; labels that may be wrong; a candidate that is rehearsed, put in the place of
the present model, and taken back.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

from fastapi import Query, Request, Response
from starlette.exceptions import HTTPException

from shortlist.errors import InputError, counted
from shortlist.labels import judged
from shortlist.models.auditing import PARTS, Audit, audit, same
from shortlist.models.base import learners
from shortlist.models.categorizer import Categorizer
from shortlist.models.making import open_model
from shortlist.models.named_values import named_values
from shortlist.models.relabelling import Change
from shortlist.server import promotion, rehearsal, schemas, snapshots, watching
from shortlist.server.background import in_a_process
from shortlist.server.documents import alike
from shortlist.server.exporting import LAYOUTS, layout_for, pieces
from shortlist.server.journal import Entry, Journal, Version
from shortlist.server.learning import LETTERS
from shortlist.server.logs import log
from shortlist.server.rehearsal import LEAST, candidate_like
from shortlist.server.replica import first_of
from shortlist.server.routes import Context, Routes, as_json, get, post, post_file, streamed

KINDS = [layout.kind for layout in LAYOUTS.values()]
Done = TypeVar("Done")


LayoutName = Literal["jsonl", "csv", "fasttext", "label-studio", "doccano"]


class ReportingRoutes(Routes):
    """Exports, and reports on the model."""

    @get("/v1/export", str, 409, 422, kinds=KINDS)
    async def export(
        self, format: Annotated[LayoutName, Query(description="The layout of the file.")] = "jsonl"
    ) -> Response:
        """All examples learned and not taken back, with who judged, when, and their keys, in a layout of other tools.

        A connection that ends before the last chunk has not brought all of it.
        """
        layout = LAYOUTS[format]
        try:
            fitting, names = await self._context.look_back(lambda journal: layout_for(journal, format))
        except InputError as problem:  # the question can be read; it is the labels that do not allow it
            raise HTTPException(409, str(problem)) from None
        named = f'attachment; filename="examples.{layout.ending}"'
        return streamed(pieces(self._replica.journal, fitting, names), layout.kind, {"content-disposition": named})

    @get("/v1/watch", schemas.WatchAnswer)
    async def watch(self) -> Response:
        """How the model fares: quality over time, drift, and the labels that people correct most.

        It looks at the last 4,000 examples, each as it stood before it was learned.
        """
        replica = self._context.replica
        outcomes = await self._context.look_back(watching.outcomes_of)
        drift = await replica.look(watching.certainty) | {"unknown": replica.unknown.read()}
        return as_json({
            "quality": watching.quality(outcomes), "drift": drift,
            "corrected": [self._context.named(one["label"]) | one for one in watching.corrected(outcomes)],
        })  # fmt: skip


class PromotionRoutes(Routes):
    """A change of the model is on disk, and served here, when it is answered."""

    @get("/v1/rehearsal", schemas.RehearsalAnswer)
    async def last(self) -> Response:
        """How the last rehearsal went, candidate and present model side by side; and how far the present one is."""
        folder = self._context.settings.folder
        kept = await asyncio.to_thread(promotion.last, folder)
        about: dict[str, Any] = {
            "can_go_back": promotion.can_go_back(folder), "current": self._context.replica.is_current(),
            "candidate": None, "learners": list(learners("categories")),
        }  # fmt: skip
        about |= await asyncio.to_thread(rehearsal.progress, folder)
        if kept is not None:
            for one in kept["report"]["labels"]:
                one |= self._context.named(one["label"])
            about["candidate"] = {name: kept.get(name) for name in ("time", "learner", "fits", "report")}
        return as_json(about)

    @post_file("/v1/rehearse", schemas.RehearseAnswer, 403, 409)
    async def rehearse(
        self,
        request: Request,
        learner: Annotated[
            str | None, Query(max_length=100, description="Another learner; the present one if not given.")
        ] = None,
        set: Annotated[
            list[str], Query(max_length=100, description="Settings, NAME=VALUE, or text.NAME=VALUE for the text.")
        ] = [],  # noqa: B006  of which FastAPI makes a new one for each request
        name: Annotated[
            str, Query(pattern=r"^[^/\\\x00-\x1f]{1,200}$", description="What the file is called.")
        ] = "examples",
        skip_bad: Annotated[bool, Query(description="Leave out bad records of the file, and count them.")] = False,
    ) -> Response:
        """Replay what was learned here with the present model and with a candidate of other settings, side by side.

        The body is a file of labelled examples that the candidate learns first, as those which the present model was
        trained from; or it is empty. The answer comes when the rehearsal has begun, and `/v1/rehearsal` says how far
        it is. One at a time; it ends with the server.
        """
        context, folder = self._context, self._context.settings.folder
        context.writer()  # refuses where the server is read-only
        values, data = named_values("set", set), await request.body()
        await asyncio.to_thread(candidate_like, context.model, learner, values)  # refuses what there is not
        examples = context.replica.journal.version().examples
        if examples < LEAST:
            raise HTTPException(
                409, f"the server has learned {counted(examples, 'examples')}; a rehearsal needs at least {LEAST}"
            )
        with contextlib.ExitStack() as held:
            try:
                await asyncio.to_thread(held.enter_context, rehearsal.only_one(folder))
            except InputError as problem:
                raise HTTPException(409, str(problem)) from None
            file = None
            if data:
                file = Path(held.enter_context(tempfile.TemporaryDirectory()), as_file_name(name))
                await asyncio.to_thread(file.write_bytes, data)
            await asyncio.to_thread(rehearsal.tell, folder, 0, examples)
            log("rehearsing", person=context.person)
            context.beside(_seen_to(held.pop_all(), folder, learner, values, file, os.getpid(), skip_bad))
        return as_json({"examples": examples})

    @post("/v1/promote", schemas.PromoteAnswer, 403, 409)
    async def promote(self, question: schemas.ForceQuestion) -> Response:
        """Serve the candidate of the last rehearsal.

        Refused, unless forced, where a group of labels falls, or where examples of the journal cannot be learned by the
        candidate; the answer says which. The journal stays as it is: the candidate learns it anew before it is served,
        and the answer comes then.
        """
        folder = self._context.settings.folder
        report, passed = await self._changed(lambda: promotion.promote(folder, question.force, running=True))
        log("promoted", person=self._context.person, passed_over=len(passed))
        return as_json({"all": report["all"], "passed_over": len(passed), "passed": first_of(passed)})

    @post("/v1/go-back", schemas.Passing, 403, 409)
    async def go_back(self, question: schemas.ForceQuestion) -> Response:
        """Serve the model of before the last promotion again; a second time returns.

        Refused, unless forced, where it cannot learn examples of the journal.
        """
        folder = self._context.settings.folder
        passed = await self._changed(lambda: promotion.go_back(folder, question.force, running=True))
        log("went back", person=self._context.person, passed_over=len(passed))
        return as_json({"passed_over": len(passed), "passed": first_of(passed)})

    async def _changed(self, work: Callable[[], Done]) -> Done:
        self._context.writer()  # refuses where the server is read-only
        try:
            done = await asyncio.shield(asyncio.to_thread(work))
        except InputError as problem:  # the question can be read; it is the candidate that does not allow it
            raise HTTPException(409, str(problem)) from None
        await self._replica.follow()
        return done


def as_file_name(given: str) -> str:
    """The name that a file has elsewhere, as one of a file here: its end, which tells the format."""
    name = given.encode()[-200:].decode(errors="ignore")
    return name if name.strip(".") else "examples"


async def _seen_to(held: contextlib.ExitStack, *asked: object) -> None:
    """See a rehearsal through; what is held is let go when it ends."""
    with held:
        done = await in_a_process(rehearsal.carried_out, *asked)
        log("rehearsed" if done else "rehearsal failed", "info" if done else "error")


# Looking through the examples of the journal for labels that may be wrong (models/auditing.py). What a part of them is
# contradicted by is the base model that has learned the other parts. Labels that were renamed or merged since are
# called what they are called now; those that were retired are left out.


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
