"""Routes of the queue: texts in, the next one out, what becomes of it. Its judgement is learned at /v1/learn."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query, Request, Response

from shortlist.errors import InputError
from shortlist.models.auditing import shown
from shortlist.server import schemas
from shortlist.server.journal import ALONE, Example
from shortlist.server.queue import (
    Queue,
    Sure,
    columns_of,
    examples_of,
    let_go,
    note,
    reserve,
    sure_of,
    texts_of_file,
    withdraw,
)
from shortlist.server.routes import Context, Routes, as_json, get, post, post_file

SHOWN = 10  # examples of what would be decided alone
NOBODY = ""  # whose texts are free for everybody
Few = Annotated[int, Query(ge=1, le=1000)]


class QueueRoutes(Routes):
    """Takes up texts, hands them out, and has the sure ones decided."""

    # Texts in.

    @post("/v1/queue", schemas.AddAnswer, 403, 507)
    async def add(self, question: schemas.AddQuestion) -> Response:
        """Add texts to the queue. The answer comes when they are on disk."""
        queue = self._context.queue()
        self._context.limits.check_texts(question.texts)
        return as_json((await queue.ask(Queue.add, question.texts))._asdict())

    @post_file("/v1/queue/file", schemas.AddAnswer, 403, 507)
    async def add_file(
        self,
        request: Request,
        name: Annotated[str, Query(max_length=200, description="What it is called: tickets.csv.")] = "file",
        format: Annotated[str | None, Query(max_length=40, description="Its format; recognised if not given.")] = None,
        text: Annotated[str | None, Query(max_length=200, description="The column that holds the texts.")] = None,
    ) -> Response:
        """Add the texts of a file, of any format that examples are read from, compressed or not."""
        queue, limits = self._context.queue(), self._context.limits
        known = columns_of(self._context.model)
        texts = await asyncio.to_thread(texts_of_file, await request.body(), name, format, text, known, limits.file)
        for first in range(0, len(texts), limits.batch):
            limits.check_texts(texts[first : first + limits.batch], first)
        return as_json((await queue.ask(Queue.add, texts))._asdict())

    # Texts out.

    @post("/v1/queue/next", schemas.NextAnswer, 403, 409, 507)
    async def next(self, question: schemas.NextQuestion) -> Response:
        """The next text for a person: what they have and have not judged yet, or else another that is now theirs."""
        queue = self._context.queue()
        item, counts = await queue.next(self._who(question.person), question.order, question.seconds)
        return as_json({"item": None if item is None else item.to_dict(), "progress": counts})

    @post("/v1/queue/move", schemas.MoveAnswer, 403, 404, 409, 507)
    async def move(self, question: schemas.MoveQuestion) -> Response:
        """Skip texts, put them off, flag them, or put them back."""
        queue = self._context.queue()
        moved = await queue.ask(Queue.move, question.ids, question.to, self._who(question.person), question.note)
        return as_json({"moved": moved, "progress": await queue.ask(Queue.counts)})

    def _who(self, given: str) -> str:
        """Who asks: whom the token names, or else whatever name they give."""
        return self._context.person or given

    @get("/v1/queue", schemas.Progress, 403)
    async def progress(self) -> Response:
        """How many texts wait, how many are judged, skipped and flagged."""
        return as_json(await self._context.queue().ask(Queue.counts))

    @get("/v1/queue/items", schemas.ItemsAnswer, 403, 422)
    async def items(
        self,
        state: schemas.State = "waiting",
        limit: Few = 20,
        after: Annotated[str | None, Query(max_length=200, description="Only those behind this id.")] = None,
    ) -> Response:
        """Texts of the queue, newest first."""
        found = await self._context.queue().ask(Queue.items, state, after, limit)
        return as_json({"items": [item.to_dict() for item in found]})

    # The sure ones alone.

    @post("/v1/queue/sure", schemas.SureAnswer, 403, 409, 507)
    async def sure(self, question: schemas.SureQuestion) -> Response:
        """Which waiting texts the model would decide alone. Nothing is learned."""
        context, queue = self._context, self._context.queue()
        items = await queue.ask(Queue.free, "sure", NOBODY, question.most)
        found, gained = await sure_of(context.model, context.ready, items, question.precision)
        await queue.ask(Queue.measure, [(item.number, gain) for item, gain in zip(items, gained, strict=True)])
        found.sort(key=lambda one: one.least)
        examples = [
            {
                "id": one.item.key,
                "text": shown(one.item.text)[:200],
                "labels": list(one.labels),
                "probability": one.least,
            }
            for one in found[:SHOWN]
        ]
        ids = [one.item.key for one in found]
        return as_json({"looked_at": len(items), "sure": len(found), "examples": examples, "ids": ids})

    @post("/v1/queue/decide", schemas.DecideAnswer, 403, 409, 507)
    async def decide(self, question: schemas.DecideQuestion) -> Response:
        """Have texts decided by the model, as far as it is sure of them. One /v1/queue/undo takes all of it back."""
        context, _, queue = self._context, self._context.writer(), self._context.queue()
        items = await queue.ask(reserve, list(dict.fromkeys(question.ids)))
        found, _ = await sure_of(context.model, context.ready, items, question.precision)
        decided = {one.item.number for one in found}
        await queue.ask(let_go, [item for item in items if item.number not in decided])
        if not found:
            return as_json({"decision": None, "decided": 0})
        decision = await queue.ask(note, [one.item.key for one in found])
        examples = [_decided(one, context) for one in found]
        try:
            await context.appended(lambda: context.checked(examples))
        except InputError:  # a label was retired meanwhile
            await queue.ask(withdraw, decision, items)
            raise
        return as_json({"decision": decision, "decided": len(found)})

    @post("/v1/queue/undo", schemas.UndoDecisionAnswer, 403, 404, 507)
    async def undo(self, question: schemas.UndoDecisionQuestion) -> Response:
        """Take back all that was decided alone at once. The answer comes when the model is as it would be without."""
        context, writer, queue = self._context, self._context.writer(), self._context.queue()
        numbers = await queue.ask(examples_of, question.decision)
        undone = await context.undone(numbers, lambda check: writer.undo_all(numbers, context.person, check))
        context.metrics.undone.inc(undone)
        return as_json({"undone": undone})


def _decided(one: Sure, context: Context) -> Example:
    """What the model decided, and who had it do so."""
    who, text = f"{context.person} {ALONE}".strip(), one.item.text
    return Example(text, list(one.labels), one.item.key, person=who, vector=context.vector(text, None))
