"""Routes that change the model: learning examples, taking one back, and judging it anew."""

from __future__ import annotations

import asyncio
import dataclasses

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from shortlist.errors import InputError
from shortlist.models.relabelling import Change
from shortlist.server import schemas
from shortlist.server.context import Context
from shortlist.server.direct import DirectRoute
from shortlist.server.journal import Example
from shortlist.server.queue.store import key_again
from shortlist.server.responses import ASKING, answers, as_json


class LearningRoutes:
    """Learns examples, and changes labels; answers when it is on disk and in the model."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def router(self) -> APIRouter:
        router = APIRouter(route_class=DirectRoute)
        router.post("/v1/learn", **answers(schemas.LearnAnswer, 403, 409, 507, *ASKING))(self.learn)
        router.post("/v1/repair", **answers(schemas.RepairAnswer, 403, 404, 409, 507, *ASKING))(self.repair)
        router.post("/v1/labels", **answers(schemas.ChangeAnswer, 403, 404, 409, 507, *ASKING))(self.change)
        return router

    async def learn(self, question: schemas.LearnQuestion) -> Response:
        """Learn examples, all or none. The answer comes when they are on disk and in the model."""
        context, replica, writer = self._context, self._context.replica, self._context.writer()
        context.limits.check_texts([one.text for one in question.examples])
        context.limits.check_labels([one.labels + one.wrong for one in question.examples])
        examples = []
        for one in question.examples:
            example = Example(one.text, [], one.key, vector=context.vector(one.text, one.vector))
            examples.append(self._judged(example, one))
            await asyncio.sleep(0)
        self._check(examples)
        receipts = await writer.append(examples)
        await replica.catch_up()
        context.metrics.learned.inc(sum(receipt.new for receipt in receipts))
        learned = [
            {"number": receipt.number, "new": receipt.new, "place": example.place}
            for receipt, example in zip(receipts, examples, strict=True)
        ]
        return as_json({"learned": learned})

    async def repair(self, question: schemas.RepairQuestion) -> Response:
        """Take an example back and learn its text with other labels, both or neither.

        Where it was judged in part, it still is, and the labels that it loses are wrong, unless the question says more.
        The answer comes when that is on disk and in the model. Asked again, it changes nothing.
        """
        context, replica, writer = self._context, self._context.replica, self._context.writer()
        context.limits.check_labels([question.labels + question.wrong])
        learned = replica.journal.example(question.number)
        if learned is None or isinstance(learned.labels, dict):
            raise HTTPException(404, f"there is no example {question.number}")
        key = (learned.key and key_again(learned.key)) or f"repaired-{question.number}"
        if not learned.complete and question.complete is None and not question.wrong:
            wrong = [str(label) for label in (*learned.wrong, *learned.labels) if str(label) not in question.labels]
            question = question.model_copy(update={"complete": False, "wrong": wrong})
        example = self._judged(dataclasses.replace(learned, key=key), question)
        self._check([example])
        receipt = await writer.replace(question.number, example)
        await replica.catch_up()
        context.metrics.learned.inc(receipt.new)
        context.metrics.undone.inc(receipt.new)
        return as_json({"number": receipt.number, "new": receipt.new})

    def _judged(self, example: Example, given: schemas.Judgement) -> Example:
        """An example as it is judged by who asks."""
        context, replica = self._context, self._context.replica
        names, wrong = ([replica.label(name) for name in dict.fromkeys(own)] for own in (given.labels, given.wrong))
        return dataclasses.replace(
            example, labels=names, wrong=wrong, complete=not wrong if given.complete is None else given.complete,
            place=replica.place(example.text, names, example.vector), person=context.person,
        )  # fmt: skip

    def _check(self, examples: list[Example]) -> None:
        """Refuse labels that the model does not take."""
        judged = zip(*((one.labels, one.wrong, one.complete) for one in examples), strict=True)
        try:
            self._context.model.check_labels(*map(list, judged))
        except InputError as problem:
            if any(one.wrong or not one.complete for one in examples):  # which the question allows, but not the model
                raise HTTPException(409, str(problem)) from None
            raise

    async def change(self, question: schemas.ChangeQuestion) -> Response:
        """Rename, merge, split off, retire or restore labels. The answer comes when that is on disk and in the model.

        Its number takes it back, as that of an example does.
        """
        context, replica, writer = self._context, self._context.replica, self._context.writer()
        labels = tuple(context.known_label(name) for name in dict.fromkeys(question.labels))
        into = question.into if question.change != "merge" or question.into is None else replica.label(question.into)
        change = Change(question.change, labels, into)
        try:
            context.model.check_change(change)
        except InputError as problem:  # the question can be read; it is the labels that do not allow it
            raise HTTPException(409, str(problem)) from None
        (receipt,) = await writer.append([Example("", change.to_dict(), question.key, person=context.person)])
        await replica.catch_up()
        return as_json({"number": receipt.number, "new": receipt.new})


class UndoRoutes:
    """Unlearns, whatever was learned; answers when it is on disk and in the model."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def router(self) -> APIRouter:
        router = APIRouter(route_class=DirectRoute)
        router.post("/v1/undo", **answers(schemas.UndoAnswer, 403, 404, 507, *ASKING))(self.undo)
        return router

    async def undo(self, question: schemas.UndoQuestion) -> Response:
        """Take an example back. The answer comes when the model is what it would be without it."""
        context, replica, writer = self._context, self._context.replica, self._context.writer()
        if question.number > replica.journal.version().examples:
            raise HTTPException(404, f"there is no example {question.number}")
        new = await writer.undo(question.number, context.person)
        await replica.catch_up()
        context.metrics.undone.inc(new)
        return as_json({"number": question.number, "new": new})
