"""Routes of the queue: texts that wait to be judged, and what the model decides."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query, Request, Response
from starlette.exceptions import HTTPException

from shortlist.encoders import EndpointError
from shortlist.errors import InputError
from shortlist.models.auditing import shown
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.entries import Judge, Judgement
from shortlist.server.people import ASKING, Role
from shortlist.server.queue_files import columns_of, texts_of_file
from shortlist.server.queue_order import decidable
from shortlist.server.review_queue import Queue
from shortlist.server.routes import SHOWN_CHARACTERS, Routes, as_json, get, post, post_file
from shortlist.server.teaching import Teaching
from shortlist.server.text_vectors import vector_to_learn

EXAMPLES_SHOWN = 10  # of what the model would decide
FILES_AT_A_TIME = 2  # that are read in threads, which other routes need too


class QueueRoutes(Routes):
    """Adds texts, hands them out, and lets the model decide. Judgements are learned at
    /v1/learn.
    """

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._teaching = Teaching(context)
        self._reading = asyncio.Semaphore(FILES_AT_A_TIME)

    @post("/v1/queue", schemas.Described)
    async def add(self, question: schemas.AddQuestion) -> Response:
        """Add texts to the queue. Answers how many it has `added`, and how many it had
        (`known`); they are on disk.
        """
        queue = self.context.queue()
        self.context.settings.limits.check_texts(question.texts)
        return as_json(await queue.run(Queue.add, question.texts))

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
    ) -> Response:
        """Add the texts of a file of any format, compressed or not. Answers as `/v1/queue` does."""
        queue = self.context.queue()
        limits = self.context.settings.limits
        known_columns = columns_of(self.replica.model)
        content = await request.body()
        async with self._reading:
            texts = await asyncio.to_thread(
                texts_of_file, content, name, format, text, known_columns, limits.file
            )
        for first in range(0, len(texts), limits.batch):
            limits.check_texts(texts[first : first + limits.batch], first)
        return as_json(await queue.run(Queue.add, texts))

    @post("/v1/queue/next", schemas.Described)
    async def next(self, question: schemas.NextQuestion) -> Response:
        """The next text for a person: one they have and have not judged yet, or else another that
        is now theirs.

        `item`, null if no text is free, has the `id`, which is the key to learn its judgement with;
        `text`, `state` and `note`; the `time` when it was added, in seconds since 1970; the
        `person` who has it or had it last, and `until` when; the number of its judgement in the
        journal, `example`. `progress` is the answer of `GET /v1/queue`.
        """
        person = self.context.person or question.person
        item, counts = await self.context.queue().next(person, question.order, question.seconds)
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

    @post("/v1/queue/sure", schemas.Described)
    async def sure(self, question: schemas.SureQuestion) -> Response:
        """Which waiting texts the model would decide. Nothing is learned.

        How many texts it `looked_at`, how many are `sure`, the `ids` of these for /v1/queue/decide,
        and `examples`, least certain first: id, text (200 characters), labels, and the probability
        of the least certain label.
        """
        context = self.context
        queue = context.queue()
        items = await queue.run(Queue.free, "sure", "", question.most)
        decided, gains = await decidable(
            self.replica.model, context.as_ranked, items, question.precision
        )
        numbers = [item.number for item in items]
        await queue.run(Queue.measure, list(zip(numbers, gains, strict=True)))
        examples: list[dict[str, Any]] = [
            {
                "id": item.key,
                "text": shown(item.text)[:SHOWN_CHARACTERS],
                "labels": list(labels),
                "probability": float(labels.probabilities.min()),
            }
            for item, labels in decided
        ]
        examples.sort(key=lambda example: example["probability"])
        return as_json(
            {
                "looked_at": len(items),
                "sure": len(decided),
                "examples": examples[:EXAMPLES_SHOWN],
                "ids": [example["id"] for example in examples],
            }
        )

    @post("/v1/queue/decide", schemas.Described)
    async def decide(self, question: schemas.DecideQuestion) -> Response:
        """Let the model decide texts, except those of which it is no longer certain.

        Answers how many it `decided`, and the number of the `decision` for /v1/queue/undo, null if
        it decided none.
        """
        context = self.context
        context.writer()  # refuses if the server is read-only
        queue = context.queue()
        ids = list(dict.fromkeys(question.ids))
        items = await queue.run(Queue.reserve_for_model, ids)
        try:
            decided, _ = await decidable(
                self.replica.model, context.as_ranked, items, question.precision
            )
        except EndpointError:
            await queue.run(Queue.release_from_model, items)
            raise
        numbers = {item.number for item, _ in decided}
        undecided = [item for item in items if item.number not in numbers]
        await queue.run(Queue.release_from_model, undecided)
        if not decided:
            return as_json({"decision": None, "decided": 0})
        try:
            judgements = [
                Judgement(
                    item.text,
                    list(labels),
                    item.key,
                    person=context.person,
                    vector=await vector_to_learn(context, item.text, None),
                    judge=Judge.MODEL,
                )
                for item, labels in decided
            ]
            receipts = await self._teaching.learn(judgements)
        except InputError:  # a label was retired meanwhile, or an endpoint is away
            await queue.run(Queue.release_from_model, items)
            raise
        return as_json({"decision": receipts[0].number, "decided": len(decided)})

    @post("/v1/queue/undo", schemas.Described)
    async def undo(self, question: schemas.UndoDecisionQuestion) -> Response:
        """Undo all that one decision has learned; the texts wait again. Answers how many
        examples were `undone`.
        """
        self.context.writer()  # refuses if the server is read-only
        numbers = self.context.history.decision(question.decision)
        if not numbers:
            raise HTTPException(404, f"there is no decision {question.decision}")
        return as_json({"undone": await self._teaching.undo(numbers)})
