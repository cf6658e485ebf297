"""Routes of the queue: texts that wait to be judged, and what the model decides."""

from __future__ import annotations

import asyncio
import math
from typing import Annotated, Any

from fastapi import Query, Request, Response
from starlette.exceptions import HTTPException

from shortlist.encoders import EndpointError
from shortlist.errors import InputError
from shortlist.inputs.tables import column_names
from shortlist.models.auditing import shown
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.entries import Judge, Judgement
from shortlist.server.journal_errors import Conflict
from shortlist.server.people import ASKING, Role
from shortlist.server.promises import Promises
from shortlist.server.queue_files import columns_of, texts_of_file
from shortlist.server.queue_order import decidable
from shortlist.server.review_queue import Queue
from shortlist.server.routes import SHOWN_CHARACTERS, Routes, as_json, get, post, post_file
from shortlist.server.teaching import Teaching
from shortlist.server.text_vectors import vector_to_learn

EXAMPLES_SHOWN = 10  # of what the model would decide


class QueueRoutes(Routes):
    """Adds texts, hands them out, and lets the model decide. Judgements are learned at
    /v1/learn.
    """

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._teaching = Teaching(context)
        self._promises = Promises(context)

    @post("/v1/queue", schemas.Described)
    async def add(self, question: schemas.AddQuestion) -> Response:
        """Add texts to the queue. Answers how many it has `added`, and how many it had
        (`known`); they are on disk.
        """
        queue = self.context.queue()
        self.context.settings.limits.check_texts(question.texts)
        rows = question.rows or [{}] * len(question.texts)
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
        checks = self._promises.checks_due()
        item, counts = await self.context.queue().next(
            person, question.order, question.seconds, checks
        )
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
        """Which waiting texts the model would decide, except those drawn for spot checks.

        How many texts it `looked_at`, how many are `sure`, the `ids` of these for /v1/queue/decide,
        and `examples`, least certain first: id, text (200 characters), labels, and the probability
        of the least certain label; and the `promise` in the shape of /v1/promise: if it is
        `paused`, no text is sure.
        """
        context = self.context
        queue = context.queue()
        share = self._promises.checks_due().share
        items = await queue.run(Queue.free, "sure", "", question.most, (), share)
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
                "promise": self._promises.as_dict(question.precision),
                "looked_at": len(items),
                "sure": len(decided),
                "examples": examples[:EXAMPLES_SHOWN],
                "ids": [example["id"] for example in examples],
            }
        )

    @post("/v1/queue/decide", schemas.Described)
    async def decide(self, question: schemas.DecideQuestion) -> Response:
        """Let the model decide texts, except those of which it is no longer certain. It does not
        learn them.

        Answers how many it `decided`, and the number of the `decision` for /v1/queue/undo, null if
        it decided none. Refused while deciding is paused (/v1/promise).
        """
        context = self.context
        context.writer()  # refuses if the server is read-only
        paused = self._promises.why_paused(question.precision)
        if paused is not None:
            raise Conflict(paused)
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
                    judge=Judge.LEARNED_MODEL if question.learn else Judge.MODEL,
                )
                for item, labels in decided
            ]
            receipts = await self._teaching.learn(judgements)
        except InputError:  # a label was retired meanwhile, or an endpoint is away
            await queue.run(Queue.release_from_model, items)
            raise
        return as_json({"decision": receipts[0].number, "decided": len(decided)})

    @get("/v1/queue/decisions", schemas.Described)
    async def decisions(self, limit: schemas.Limit = 20) -> Response:
        """The newest `decisions` of the model, newest first: the number of each (`decision`), its
        `time`, the `person` who let the model decide, how many texts it `decided`, and how many of
        these were `undone`.
        """
        return as_json({"decisions": self.context.history.decisions(limit)})

    @get("/v1/promise", schemas.Described)
    async def promise(self, precision: schemas.PrecisionQuery = 0.95) -> Response:
        """What spot checks say of the decisions for a precision.

        Of the texts `checked`, how many the model `would_decide`, the share of these that is
        `right`, and `at_least` so much with a chance of 95 %, at whatever moment one asks; the same
        `in_words`. Why deciding is `paused`, null if it is not. `target` is the examined precision.
        `changes`: how the last spot checks differ from what was judged before: `inputs`, `labels`
        and `words`.
        """
        return as_json(self._promises.as_dict(precision) | {"changes": self._promises.changes()})

    @post("/v1/queue/undo", schemas.Described)
    async def undo(self, question: schemas.UndoDecisionQuestion) -> Response:
        """Undo one decision, or all of a span of time, perhaps only those for a label; the texts
        wait again. Answers how many were `undone`.
        """
        self.context.writer()  # refuses if the server is read-only
        history = self.context.history
        if question.decision is None:
            label = None if question.label is None else self.replica.label(question.label)
            until = math.inf if question.until is None else question.until
            assert question.since is not None
            numbers = history.decided(question.since, until, label)
        else:
            numbers = history.decision(question.decision)
            if not numbers:
                raise HTTPException(404, f"there is no decision {question.decision}")
        return as_json({"undone": await self._teaching.undo(numbers)})
