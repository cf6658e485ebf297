"""Routes that rehearse and promote candidates."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Query, Request, Response

from shortlist.errors import counted
from shortlist.models.model import learners
from shortlist.models.named_values import named_values
from shortlist.server import promotion, rehearsals, schemas
from shortlist.server.background import in_a_process
from shortlist.server.candidates import candidate_like
from shortlist.server.journal_errors import Conflict, as_conflict
from shortlist.server.logs import log
from shortlist.server.rehearsals import LEAST_EXAMPLES
from shortlist.server.replica import unlearnable_answer
from shortlist.server.routes import Routes, as_json, get, post, post_file

Result = TypeVar("Result")
FILE_NAME_BYTES = 200


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
        rehearsal = await asyncio.to_thread(promotion.last_rehearsal, folder)
        candidate = None
        if rehearsal is not None:
            for entry in rehearsal["report"]["labels"]:
                entry |= self.context.labels.named(entry["label"])
            candidate = {
                name: rehearsal.get(name) for name in ("time", "learner", "fits", "report")
            }
        answer: dict[str, Any] = {
            "can_go_back": promotion.can_go_back(folder),
            "current": self.replica.is_current(),
            "candidate": candidate,
            "learners": list(learners("categories")),
        }
        return as_json(answer | await asyncio.to_thread(rehearsals.progress, folder))

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
                max_length=100,
                description="Settings, NAME=VALUE, or text.NAME=VALUE for the text.",
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
        context = self.context
        folder = context.settings.folder
        context.writer()  # refuses if the server is read-only
        settings = named_values("set", set)
        data = await request.body()
        # refuses unknown names
        await asyncio.to_thread(candidate_like, self.replica.model, learner, settings)
        n_examples = self.replica.journal.version().examples
        if n_examples < LEAST_EXAMPLES:
            raise Conflict(
                f"the server has learned {counted(n_examples, 'examples')}; a rehearsal needs at "
                f"least {LEAST_EXAMPLES}"
            )
        with contextlib.ExitStack() as resources:
            with as_conflict():  # if another is under way
                await asyncio.to_thread(resources.enter_context, rehearsals.only_one(folder))
            file = None
            if data:
                temporary = resources.enter_context(tempfile.TemporaryDirectory())
                file = Path(temporary, as_file_name(name))
                await asyncio.to_thread(file.write_bytes, data)
            await asyncio.to_thread(rehearsals.write_progress, folder, 0, n_examples)
            log("rehearsing", person=context.person)
            arguments = (folder, learner, settings, file, os.getpid(), skip_bad)
            context.start_task(_rehearse_in_process(resources.pop_all(), arguments))
        return as_json({"examples": n_examples})

    @post("/v1/promote", schemas.Described)
    async def promote(self, question: schemas.ForceQuestion) -> Response:
        """Serve the candidate of the last rehearsal, once it has learned the journal.

        Refused unless forced if a group of labels falls, or if the candidate cannot learn examples
        of the journal. The answer has the P@1 of `all` examples, and those that cannot be learned.
        """
        folder = self.context.settings.folder
        report, unlearnable = await self._changed(
            lambda: promotion.promote(folder, question.force, running=True)
        )
        log("promoted", person=self.context.person, passed_over=len(unlearnable))
        return as_json({"all": report["all"]} | unlearnable_answer(unlearnable))

    @post("/v1/go-back", schemas.Described)
    async def go_back(self, question: schemas.ForceQuestion) -> Response:
        """Serve the model from before the last promotion again; a second time returns to the
        promoted one.

        Refused unless forced if it cannot learn examples of the journal. Answers how many it cannot
        learn (`passed_over`), and why it cannot learn the first 100 (`passed`).
        """
        folder = self.context.settings.folder
        unlearnable = await self._changed(
            lambda: promotion.go_back(folder, question.force, running=True)
        )
        log("went back", person=self.context.person, passed_over=len(unlearnable))
        return as_json(unlearnable_answer(unlearnable))

    async def _changed(self, work: Callable[[], Result]) -> Result:
        """Change the base in a thread, and have the model follow."""
        self.context.writer()  # refuses if the server is read-only
        with as_conflict():
            result = await asyncio.shield(asyncio.to_thread(work))
        await self.replica.follow()
        return result


def as_file_name(name: str) -> str:
    """Return the name of a sent file for a file here: its end, which tells the format."""
    end = name.encode()[-FILE_NAME_BYTES:].decode(errors="ignore")
    return end if end.strip(".") else "examples"


async def _rehearse_in_process(
    resources: contextlib.ExitStack, arguments: tuple[object, ...]
) -> None:
    """Run a rehearsal, and release its resources when it ends."""
    with resources:
        if await in_a_process(rehearsals.rehearse_in_process, *arguments):
            log("rehearsed")
        else:
            log("rehearsal failed", "error")
