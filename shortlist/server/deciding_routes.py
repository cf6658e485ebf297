"""Routes by which the model decides texts of the queue, and what its decisions are worth."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from fastapi import Response
from starlette.exceptions import HTTPException

from shortlist.models.auditing import shown
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.deciding import STANDING_FILE, Deciding, Standing
from shortlist.server.journal_errors import Conflict
from shortlist.server.review_queue import Queue
from shortlist.server.routes import SHOWN_CHARACTERS, Routes, as_json, get, post
from shortlist.server.teaching import Teaching

EXAMPLES_SHOWN = 10  # of what the model would decide


class DecidingRoutes(Routes):
    """Lets the model decide, lists and undoes its decisions, and says how many are right."""

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._teaching = Teaching(context)
        self._deciding = Deciding(context)
        self._promises = self._deciding.promises

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
        decided, gains = await self._deciding.sure(items, question.precision)
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
        ids = list(dict.fromkeys(question.ids))
        items = await context.queue().run(Queue.reserve_for_model, ids)
        decision, n_decided = await self._deciding.decide(
            items, question.precision, context.person, question.learn
        )
        return as_json({"decision": decision, "decided": n_decided})

    @get("/v1/queue/standing", schemas.Described)
    async def standing(self) -> Response:
        """The standing decision: whether it is `on`, its `precision`, the `labels` that it may
        decide, null for all, and the `person` who has asked for it.
        """
        standing = Standing.of(self.context.settings.folder)
        details = {} if standing is None else asdict(standing)
        return as_json({"on": standing is not None} | details)

    @post("/v1/queue/standing", schemas.Described)
    async def set_standing(self, question: schemas.StandingQuestion) -> Response:
        """Decide each waiting and arriving text once, if the model is sure of it, until this is
        turned off. Answers as GET does.
        """
        context = self.context
        context.writer()  # refuses if the server is read-only
        folder = context.settings.folder
        if question.on:
            labels = question.labels
            if labels is not None:
                labels = [str(context.labels.known(name)) for name in labels]
            Standing(question.precision, labels, context.person).write(folder)
        else:
            (folder / STANDING_FILE).unlink(missing_ok=True)
        return await self.standing()

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
        if (question.decision is None) == (question.since is None):
            raise Conflict("give either the number of a decision, or the moment since when")
        if question.decision is None:
            label = None if question.label is None else self.replica.label(question.label)
            until = math.inf if question.until is None else question.until
            assert question.since is not None  # as was checked
            numbers = history.decided(question.since, until, label)
        else:
            numbers = history.decision(question.decision)
            if not numbers:
                raise HTTPException(404, f"there is no decision {question.decision}")
        return as_json({"undone": await self._teaching.undo(numbers)})
