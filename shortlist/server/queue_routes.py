"""Routes of the queue: texts that wait to be judged."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query, Request, Response

from shortlist.inputs.tables import column_names
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.journal_errors import Conflict
from shortlist.server.people import ASKING, Role
from shortlist.server.promises import Promises
from shortlist.server.queue_files import columns_of, texts_of_file
from shortlist.server.review_queue import Queue
from shortlist.server.routes import Routes, as_json, get, post, post_file

FILES_AT_A_TIME = 2  # that are read in threads, which other routes need too


class QueueRoutes(Routes):
    """Adds texts and hands them out. Judgements are learned at /v1/learn."""

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._promises = Promises(context)
        self._reading = asyncio.Semaphore(FILES_AT_A_TIME)

    @post("/v1/queue", schemas.Described)
    async def add(self, question: schemas.AddQuestion) -> Response:
        """Add texts to the queue. Answers how many it has `added`, and how many it had
        (`known`); they are on disk.
        """
        queue = self.context.queue()
        self.context.settings.limits.check_texts(question.texts)
        rows = question.rows or [{}] * len(question.texts)
        if len(rows) != len(question.texts):
            raise Conflict(
                f"{len(rows)} rows for {len(question.texts)} texts: give one for each, or none"
            )
        return as_json(
            await queue.run(Queue.add_rows, list(zip(question.texts, rows, strict=True)))
        )

    @post_file("/v1/queue/file", schemas.Described)
    async def add_file(
        self,
        request: Request,
        name: Annotated[str, Query(max_length=200, description="The name of the file.")] = "file",
        format: Annotated[
            str | None, Query(max_length=40, description="Its format; recognised if not given.")
        ] = None,
        text: Annotated[
            str | None, Query(max_length=200, description="The column that holds the texts.")
        ] = None,
        keep: Annotated[
            str,
            Query(
                max_length=2000,
                description="Columns to keep beside the texts, as ids and dates, with commas "
                "between; * for all others.",
            ),
        ] = "",
    ) -> Response:
        """Add the texts of a file of any format, compressed or not. Answers as `/v1/queue` does."""
        queue = self.context.queue()
        limits = self.context.settings.limits
        known_columns = columns_of(self.replica.model)
        content = await request.body()
        async with self._reading:
            texts = await asyncio.to_thread(
                texts_of_file,
                content,
                name,
                format,
                text,
                known_columns,
                limits.file,
                column_names(keep),
            )
        documents = [document for document, _ in texts]
        for first in range(0, len(texts), limits.batch):
            limits.check_texts(documents[first : first + limits.batch], first)
        return as_json(await queue.run(Queue.add_rows, texts))

    @post("/v1/queue/next", schemas.Described)
    async def next(self, question: schemas.NextQuestion) -> Response:
        """The next text for a person: one they have and have not judged yet, or else another that
        is now theirs.

        `item`, null if no text is free, has the `id`, which is the key to learn its judgement with;
        `text`, `state` and `note`; the kept columns of the `rows` of files that it came from; the
        `time` when it was added, in seconds since 1970; the
        `person` who has it or had it last, and `until` when; the number of its judgement in the
        journal, `example`; and whether it is a spot check (`check`): whoever judges one should
        not see what the model thinks. `progress` is the answer of `GET /v1/queue`.
        """
        person = self.context.person or question.person
        queue = self.context.queue()
        item = None
        if question.id is not None:
            item = await queue.run(Queue.reserve_again, question.id, person, question.seconds)
            counts = await queue.run(Queue.counts)
        if item is None:
            checks = self._promises.checks_due()
            item, counts = await queue.next(person, question.order, question.seconds, checks)
        return as_json({"item": None if item is None else item.to_dict(), "progress": counts})

    @post("/v1/queue/move", schemas.Described)
    async def move(self, question: schemas.MoveQuestion) -> Response:
        """Skip texts, put them off, flag them, or put them back; who manages may put back those
        that another person has. Answers how many `moved`, and the `progress`.
        """
        queue = self.context.queue()
        person = self.context.person or question.person
        is_manager = self.context.person != "" and ASKING.get().role == Role.MANAGE
        moved = await queue.run(
            Queue.move, question.ids, question.to, person, question.note, is_manager
        )
        return as_json({"moved": moved, "progress": await queue.run(Queue.counts)})

    @get("/v1/queue", schemas.Described)
    async def progress(self) -> Response:
        """How many texts are `waiting`, of these `held` for a person, `judged`, `skipped`,
        `flagged`, in `total`.
        """
        return as_json(await self.context.queue().run(Queue.counts))

    @get("/v1/queue/items", schemas.Described)
    async def items(
        self,
        state: schemas.QueueState = "waiting",
        limit: schemas.Limit = 20,
        after: Annotated[
            str | None, Query(max_length=200, description="Only those behind this id.")
        ] = None,
    ) -> Response:
        """Texts of the queue (`items`), newest first, in the shape of /v1/queue/next."""
        items = await self.context.queue().run(Queue.items, state, after, limit)
        return as_json({"items": [item.to_dict() for item in items]})
