"""Routes that change the model or its labels, and the routes of the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from operator import itemgetter
from typing import Annotated

from fastapi import Query, Request, Response
from starlette.exceptions import HTTPException

from shortlist.data.label_input import Label
from shortlist.encoders import EndpointError
from shortlist.errors import InputError
from shortlist.models.auditing import shown
from shortlist.models.label_changes import Change
from shortlist.server import review_queue as queues
from shortlist.server import schemas
from shortlist.server.journal import ALONE, Check, Example, Journal, Receipt
from shortlist.server.people import ASKING, Role
from shortlist.server.ranking_routes import LETTERS, Limit
from shortlist.server.review_queue import Queue, sure_of
from shortlist.server.routes import Routes, as_json, get, in_conflict, post, post_file
from shortlist.server.text_vectors import vectors_to_learn

SHOWN = 10  # examples of what the model would decide


class LearningRoutes(Routes):
    """Learns, changes labels and undoes; answers when that is on disk and in the model."""

    @post("/v1/learn", schemas.LearnAnswer)
    async def learn(self, question: schemas.LearnQuestion) -> Response:
        """Learn examples, all or none. The answer comes when they are on disk and in the model."""
        context, replica, _ = self.context, self.context.replica, self.context.writer()
        context.limits.check_texts([one.text for one in question.examples])
        examples = []
        for one in question.examples:
            sent = None if one.vector is None else [one.vector]
            vectors = await vectors_to_learn(context, [one.text], sent)
            vector = None if vectors is None else vectors[0]
            example = Example(one.text, [], one.key, vector=vector)
            examples.append(self._judged(example, one))
            await asyncio.sleep(0)
        receipts = await context.appended(lambda: context.checked(examples))
        learned = [
            receipt._asdict()
            | {"place": example.place, "learned": receipt.number not in replica.passed}
            for receipt, example in zip(receipts, examples, strict=True)
        ]
        return as_json({"learned": learned})

    @post("/v1/repair", schemas.Receipt)
    async def repair(self, question: schemas.RepairQuestion) -> Response:
        """Undo an example and learn its text with other labels, both or neither.

        If it was judged in part, it still is, and the labels that it loses are wrong, unless the
        question says more. The answer comes when that is on disk and in the model. Asking again
        changes nothing.
        """
        context, replica, writer = self.context, self.context.replica, self.context.writer()
        learned = replica.journal.entry(question.number)
        if learned is None or isinstance(learned.labels, dict):
            raise HTTPException(404, f"there is no example {question.number}")
        key = (learned.key and queues.key_again(learned.key)) or f"repaired-{question.number}"
        if not learned.complete and question.complete is None and not question.wrong:
            wrong = [
                str(label)
                for label in (*learned.wrong, *learned.labels)
                if str(label) not in question.labels
            ]
            question = question.model_copy(update={"complete": False, "wrong": wrong})
        example = self._judged(Example(learned.text, [], key, vector=learned.vector), question)
        number = question.number

        def replace(check: Check) -> Awaitable[Receipt]:
            context.checked([example])
            return writer.ask(Journal.replace, number, example, replica.seen, check)

        receipt = await context.undone([number], replace)
        context.metrics.learned.inc(receipt.new)
        context.metrics.undone.inc(receipt.new)
        return as_json(receipt._asdict())

    def _judged(self, example: Example, given: schemas.Judgement) -> Example:
        """Return an example with the judgement of the person who asks."""
        context, replica = self.context, self.context.replica
        names, wrong = (
            [replica.label(name) for name in dict.fromkeys(own)]
            for own in (given.labels, given.wrong)
        )
        return example._replace(
            labels=names,
            wrong=wrong,
            complete=not wrong if given.complete is None else given.complete,
            place=replica.place(example.text, names, example.vector),
            person=context.person,
        )

    @post("/v1/labels", schemas.Receipt)
    async def change(self, question: schemas.ChangeQuestion) -> Response:
        """Rename, merge, split, retire or restore labels. The answer comes when that is on disk and
        in the model.

        `/v1/undo` takes its number.
        """
        (receipt,) = await self.context.appended(lambda: [self._change(question)])
        return as_json(receipt._asdict())

    def _change(self, question: schemas.ChangeQuestion) -> Example:
        """Return a change that the model allows. A change that is sent again is not checked
        again.
        """
        context, replica = self.context, self.context.replica
        again = replica.journal.has_key(question.key)
        find = replica.label if again else context.known_label
        labels = tuple(find(name) for name in dict.fromkeys(question.labels))
        into: Label | None = None if question.into is None else question.into.strip()
        if question.change == "merge" and question.into is not None:
            into = replica.label(question.into)
        change = Change(question.change, labels, into)
        if not again:
            with in_conflict():  # if the labels do not allow it
                context.model.check_change(change)
        return Example("", change.to_dict(), question.key, person=context.person)

    @post("/v1/undo", schemas.Receipt)
    async def undo(self, question: schemas.UndoQuestion) -> Response:
        """Undo an example. The answer comes when the model is what it would be without it.

        Refused if a later example or change of labels needs it. To undo a change of labels needs
        the role manage.
        """
        context, replica, _ = self.context, self.context.replica, self.context.writer()
        if question.number > replica.journal.version().examples:
            raise HTTPException(404, f"there is no example {question.number}")
        learned = replica.journal.entry(question.number)
        if learned is not None and isinstance(learned.labels, dict):
            ASKING.get().must_be(Role.MANAGE)
        return as_json(
            {"number": question.number, "new": await context.undo([question.number]) == 1}
        )


class QueueRoutes(Routes):
    """Adds texts, hands them out, and lets the model decide. Judgements are learned at
    /v1/learn.
    """

    @post("/v1/queue", schemas.Described)
    async def add(self, question: schemas.AddQuestion) -> Response:
        """Add texts to the queue. Answers how many it has `added`, and how many it had
        (`known`); they are on disk.
        """
        queue = self.context.queue()
        self.context.limits.check_texts(question.texts)
        return as_json(await queue.ask(Queue.add, question.texts))

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
        queue, limits = self.context.queue(), self.context.limits
        known = queues.columns_of(self.context.model)
        content = await request.body()
        texts = await asyncio.to_thread(
            queues.texts_of_file, content, name, format, text, known, limits.file
        )
        for first in range(0, len(texts), limits.batch):
            limits.check_texts(texts[first : first + limits.batch], first)
        return as_json(await queue.ask(Queue.add, texts))

    @post("/v1/queue/next", schemas.Described)
    async def next(self, question: schemas.NextQuestion) -> Response:
        """The next text for a person: one they have and have not judged yet, or else another that
        is now theirs.

        `item`, null if no text is free, has the `id`, which is the key to learn its judgement with;
        `text`, `state` and `note`; the `time` when it was added, in seconds since 1970; the
        `person` who has it or had it last, and `until` when; the number of its judgement in the
        journal, `example`. `progress` is the answer of `GET /v1/queue`.
        """
        queue, person = self.context.queue(), self.context.person or question.person
        item, counts = await queue.next(person, question.order, question.seconds)
        return as_json({"item": None if item is None else item.to_dict(), "progress": counts})

    @post("/v1/queue/move", schemas.Described)
    async def move(self, question: schemas.MoveQuestion) -> Response:
        """Skip texts, put them off, flag them, or put them back. Answers how many `moved`, and
        the `progress`.
        """
        queue, person = self.context.queue(), self.context.person or question.person
        moved = await queue.ask(Queue.move, question.ids, question.to, person, question.note)
        return as_json({"moved": moved, "progress": await queue.ask(Queue.counts)})

    @get("/v1/queue", schemas.Described)
    async def progress(self) -> Response:
        """How many texts are `waiting`, of these `held` for a person, `judged`, `skipped`,
        `flagged`, in `total`.
        """
        return as_json(await self.context.queue().ask(Queue.counts))

    @get("/v1/queue/items", schemas.Described)
    async def items(
        self,
        state: schemas.State = "waiting",
        limit: Limit = 20,
        after: Annotated[
            str | None, Query(max_length=200, description="Only those behind this id.")
        ] = None,
    ) -> Response:
        """Texts of the queue (`items`), newest first, in the shape of /v1/queue/next."""
        found = await self.context.queue().ask(Queue.items, state, after, limit)
        return as_json({"items": [item.to_dict() for item in found]})

    @post("/v1/queue/sure", schemas.Described)
    async def sure(self, question: schemas.SureQuestion) -> Response:
        """Which waiting texts the model would decide. Nothing is learned.

        How many texts it `looked_at`, how many are `sure`, the `ids` of these for /v1/queue/decide,
        and `examples`, least certain first: id, text (200 characters), labels, and the probability
        of the least certain label.
        """
        context, queue = self.context, self.context.queue()
        items = await queue.ask(Queue.free, "sure", "", question.most)
        found, gained = await sure_of(context.model, context.ready, items, question.precision)
        await queue.ask(
            Queue.measure, [(item.number, gain) for item, gain in zip(items, gained, strict=True)]
        )
        certain = sorted(
            ((float(labels.probabilities.min()), item, labels) for item, labels in found),
            key=itemgetter(0),
        )
        examples = [
            {
                "id": item.key,
                "text": shown(item.text)[:LETTERS],
                "labels": list(labels),
                "probability": least,
            }
            for least, item, labels in certain[:SHOWN]
        ]
        ids = [item.key for _, item, _ in certain]
        return as_json(
            {"looked_at": len(items), "sure": len(found), "examples": examples, "ids": ids}
        )

    @post("/v1/queue/decide", schemas.Described)
    async def decide(self, question: schemas.DecideQuestion) -> Response:
        """Let the model decide texts, except those of which it is no longer certain.

        Answers how many it `decided`, and the number of the `decision` for /v1/queue/undo, null if
        it decided none.
        """
        context, _, queue = self.context, self.context.writer(), self.context.queue()
        items = await queue.ask(queues.reserve, list(dict.fromkeys(question.ids)))
        try:
            found, _ = await sure_of(context.model, context.ready, items, question.precision)
        except EndpointError:
            await queue.ask(queues.let_go, items)
            raise
        decided = {item.number for item, _ in found}
        await queue.ask(queues.let_go, [item for item in items if item.number not in decided])
        if not found:
            return as_json({"decision": None, "decided": 0})
        who = f"{context.person} {ALONE}".strip()
        examples = [
            Example(
                item.text,
                list(labels),
                item.key,
                person=who,
                vector=context.vector(item.text, None),
            )
            for item, labels in found
        ]
        try:
            receipts = await context.appended(lambda: context.checked(examples))
        except InputError:  # a label was retired meanwhile
            await queue.ask(queues.let_go, items)
            raise
        return as_json({"decision": receipts[0].number, "decided": len(found)})

    @post("/v1/queue/undo", schemas.Described)
    async def undo(self, question: schemas.UndoDecisionQuestion) -> Response:
        """Undo all that one decision has learned; the texts wait again. Answers how many
        examples were `undone`.
        """
        self.context.writer()  # refuses if the server is read-only
        numbers = self.replica.journal.decision(question.decision)
        if not numbers:
            raise HTTPException(404, f"there is no decision {question.decision}")
        return as_json({"undone": await self.context.undo(numbers)})
