"""Routes for exports, audits, rehearsals and promotion."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from fastapi import Query, Request, Response

from shortlist.data.labels import judged
from shortlist.errors import InputError, counted
from shortlist.models.auditing import AUDIT_PARTS, Audit, audit, same
from shortlist.models.categorizer import Categorizer
from shortlist.models.label_changes import Change
from shortlist.models.model import learners
from shortlist.models.named_values import named_values
from shortlist.models.training_settings import open_model
from shortlist.server import rehearsals, schemas, snapshots
from shortlist.server.journal import Conflict, Example, Journal, Version, alike
from shortlist.server.ranking_routes import LETTERS
from shortlist.server.rehearsals import LEAST, candidate_like
from shortlist.server.replica import in_a_process, passing
from shortlist.server.routes import Context, Routes, as_json, get, in_conflict, post, post_file
from shortlist.server.settings import log

Done = TypeVar("Done")


class PromotionRoutes(Routes):
    """Rehearses and promotes candidates; answers when the change is on disk and served here."""

    @get("/v1/rehearsal", schemas.Described)
    async def last(self) -> Response:
        """The last rehearsal, and the progress of a running one.

        `candidate` (null if there is none): its time and learner, whether it `fits` the model that
        is served now, and the `report`: P@1 of candidate and present model, each example ranked
        before it was learned, over `all` examples, `windows`, `groups` of labels and `labels`, with
        the 95 % interval of each difference (paired bootstrap); the groups that `falls`; the
        examples it cannot learn. `running`: how many examples are done, of how many. `problem`: why
        the last rehearsal failed. `current`: false while a promoted model learns the journal.
        """
        folder = self.context.settings.folder
        kept = await asyncio.to_thread(rehearsals.last, folder)
        about: dict[str, Any] = {
            "can_go_back": rehearsals.can_go_back(folder),
            "current": self.context.replica.is_current(),
            "candidate": None,
            "learners": list(learners("categories")),
        }
        about |= await asyncio.to_thread(rehearsals.progress, folder)
        if kept is not None:
            for one in kept["report"]["labels"]:
                one |= self.context.named(one["label"])
            about["candidate"] = {
                name: kept.get(name) for name in ("time", "learner", "fits", "report")
            }
        return as_json(about)

    @post_file("/v1/rehearse", schemas.Described)
    async def rehearse(
        self,
        request: Request,
        learner: Annotated[
            str | None,
            Query(max_length=100, description="Another learner; the present one if not given."),
        ] = None,
        set: Annotated[
            list[str],
            Query(
                max_length=100, description="Settings, NAME=VALUE, or text.NAME=VALUE for the text."
            ),
        ] = [],  # noqa: B006  of which FastAPI makes a new one for each request
        name: Annotated[
            str, Query(pattern=r"^[^/\\\x00-\x1f]{1,200}$", description="What the file is called.")
        ] = "examples",
        skip_bad: Annotated[
            bool, Query(description="Leave out bad records of the file, and count them.")
        ] = False,
    ) -> Response:
        """Replay the journal with the present model and with a candidate of other settings.

        The body is a file of labelled examples that the candidate learns first, such as those that
        the present model was trained from; or it is empty. The answer, the number of `examples` to
        replay, comes when the rehearsal has begun; `/v1/rehearsal` reports its progress. One at a
        time; it ends with the server.
        """
        context, folder = self.context, self.context.settings.folder
        context.writer()  # refuses if the server is read-only
        values, data = named_values("set", set), await request.body()
        # refuses unknown names
        await asyncio.to_thread(candidate_like, context.model, learner, values)
        examples = context.replica.journal.version().examples
        if examples < LEAST:
            raise Conflict(
                f"the server has learned {counted(examples, 'examples')}; a rehearsal needs at "
                f"least {LEAST}"
            )
        with contextlib.ExitStack() as held:
            with in_conflict():  # if another is under way
                await asyncio.to_thread(held.enter_context, rehearsals.only_one(folder))
            file = None
            if data:
                file = Path(held.enter_context(tempfile.TemporaryDirectory()), as_file_name(name))
                await asyncio.to_thread(file.write_bytes, data)
            await asyncio.to_thread(rehearsals.tell, folder, 0, examples)
            log("rehearsing", person=context.person)
            context.beside(
                _seen_to(held.pop_all(), folder, learner, values, file, os.getpid(), skip_bad)
            )
        return as_json({"examples": examples})

    @post("/v1/promote", schemas.Described)
    async def promote(self, question: schemas.ForceQuestion) -> Response:
        """Serve the candidate of the last rehearsal, once it has learned the journal.

        Refused unless forced if a group of labels falls, or if the candidate cannot learn examples
        of the journal. The answer has the P@1 of `all` examples, and those that cannot be learned.
        """
        folder = self.context.settings.folder
        report, passed = await self._changed(
            lambda: rehearsals.promote(folder, question.force, running=True)
        )
        log("promoted", person=self.context.person, passed_over=len(passed))
        return as_json({"all": report["all"]} | passing(passed))

    @post("/v1/go-back", schemas.Described)
    async def go_back(self, question: schemas.ForceQuestion) -> Response:
        """Serve the model from before the last promotion again; a second time returns to the
        promoted one.

        Refused unless forced if it cannot learn examples of the journal. Answers how many it cannot
        learn (`passed_over`), and why it cannot learn the first 100 (`passed`).
        """
        folder = self.context.settings.folder
        passed = await self._changed(
            lambda: rehearsals.go_back(folder, question.force, running=True)
        )
        log("went back", person=self.context.person, passed_over=len(passed))
        return as_json(passing(passed))

    async def _changed(self, work: Callable[[], Done]) -> Done:
        self.context.writer()  # refuses if the server is read-only
        with in_conflict():
            done = await asyncio.shield(asyncio.to_thread(work))
        await self.replica.follow()
        return done


def as_file_name(given: str) -> str:
    """Return the name of a sent file for a file here: its end, which tells the format."""
    name = given.encode()[-200:].decode(errors="ignore")
    return name if name.strip(".") else "examples"


async def _seen_to(held: contextlib.ExitStack, *asked: object) -> None:
    """Run a rehearsal, and release what is held when it ends."""
    with held:
        done = await in_a_process(rehearsals.carried_out, *asked)
        log("rehearsed" if done else "rehearsal failed", "info" if done else "error")


# Audits of the journal (models/auditing.py): the base model learns all parts of the examples but
# one, and ranks that one. Renamed and merged labels have their present names; retired ones are left
# out.


MOST = 20_000  # of the newest examples are looked through
NAMED = 1000  # of the most doubtful ones are kept


class AuditRoutes(Routes):
    """Finds the examples that the model contradicts most. One audit runs at a time, for all
    that wait.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._version: Version | None = None
        self._audit: asyncio.Task[Audit] | None = None

    @get("/v1/audit", schemas.Described)
    async def audit(self, limit: Annotated[int, Query(ge=1, le=NAMED)] = 50) -> Response:
        """Learned examples whose labels may be wrong, most doubtful first; `/v1/repair` gives an
        example other labels.

        `doubts` have the doubted `label`, the label `found` instead, `by` how much more that
        scores, and the words that speak for it. `duplicates` are equal texts with different labels,
        `confusions` pairs of labels, `matrix` their counts. Texts have 200 characters. After
        something was learned, the first question takes as long as learning the journal's newest
        20,000 examples four times.
        """
        # it goes on when the client gives up
        found = (await asyncio.shield(self._running())).to_dict()
        found["doubts"] = found["doubts"][:limit]
        for one in found["doubts"] + found["duplicates"]:
            one["text"] = one["text"][:LETTERS]
        return as_json(found | {"names": self._names(found)})

    def _names(self, found: dict[str, Any]) -> dict[str, str]:
        """Return what people call the labels of an audit, if there is a vocabulary."""
        vocabulary = self.context.model.vocabulary_
        if vocabulary is None:
            return {}
        own = [one["labels"] + [one["found"]] for one in found["doubts"]]
        own += [labels for one in found["duplicates"] for labels in one["labels"]]
        return {
            str(label): vocabulary.name(label)
            for label in {*found["matrix"]["labels"], *chain(*own)}
        }

    def _running(self) -> asyncio.Task[Audit]:
        version, task = self.context.replica.journal.version(), self._audit
        if task is None or (
            task.done() and (version != self._version or task.exception() is not None)
        ):
            task = asyncio.create_task(asyncio.to_thread(audit_of, self.context.settings.folder))
            self._version, self._audit = version, task
        return task


def audit_of(folder: Path) -> Audit:
    """Audit the examples of a state directory."""
    lessons, changes = lessons_of(folder)
    fields = cast("Categorizer", open_model(folder / snapshots.BASE)).fields_
    texts = alike([lesson.text for lesson in lessons], fields)
    if len(set(map(same, texts))) < AUDIT_PARTS:  # too few to say anything
        return Audit(len(texts), 0, [], [], [])
    labels = judged(
        [cast("list[Any]", one.labels) for one in lessons],
        len(lessons),
        [one.wrong for one in lessons],
        [one.complete for one in lessons],
    )

    def taught(which: list[int]) -> Categorizer:
        model = cast("Categorizer", open_model(folder / snapshots.BASE))
        for change in changes:
            with contextlib.suppress(InputError):  # the base does not know a label that came later
                model.change_labels(change)
        return model.learn_many([texts[i] for i in which], labels.take(which))

    return audit(texts, labels, taught, NAMED, numbers=[lesson.number for lesson in lessons])


def lessons_of(folder: Path) -> tuple[list[Example], list[Change]]:
    """Return the newest examples, with the present names of labels, and all changes of labels,
    in order.
    """
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        rows = list(journal.each(0, journal.version().examples))
    changes: list[Change] = []
    lessons: list[Example] = []
    now: dict[Any, list[Any]] = {}  # the present names of a label
    for lesson in reversed(rows):
        if isinstance(lesson.labels, dict):
            change = Change.of(lesson.labels)
            changes.append(change)
            if change.what in ("rename", "merge"):
                now |= {
                    label: now.get(change.into, [change.into])
                    for label in change.labels
                    if label != change.into
                }
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
