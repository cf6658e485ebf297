"""Routes that change the model: learning, judging anew, changing labels, taking back; and those that list all of it."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Mapping
from typing import Annotated, Any

from fastapi import Query, Request, Response
from starlette.exceptions import HTTPException

from shortlist.arrays.given_labels import Label
from shortlist.errors import InputError
from shortlist.models.auditing import shown
from shortlist.models.relabelling import Change
from shortlist.server import schemas
from shortlist.server.exporting import pieces, training
from shortlist.server.journal import ALONE, Check, Entry, Example, Receipt
from shortlist.server.people import ASKING, Role
from shortlist.server.queue import (
    Queue,
    Sure,
    columns_of,
    examples_of,
    key_again,
    let_go,
    note,
    reserve,
    sure_of,
    texts_of_file,
    withdraw,
)
from shortlist.server.ranking import Limit
from shortlist.server.routes import JSON_LINES, Context, Routes, as_json, get, post, post_file, streamed
from shortlist.texts import Value

LETTERS = 200  # of a text


class LearningRoutes(Routes):
    """Learns examples, and changes labels; answers when it is on disk and in the model."""

    @post("/v1/learn", schemas.LearnAnswer)
    async def learn(self, question: schemas.LearnQuestion) -> Response:
        """Learn examples, all or none. The answer comes when they are on disk and in the model."""
        context, replica, _ = self._context, self._context.replica, self._context.writer()
        context.limits.check_texts([one.text for one in question.examples])
        context.limits.check_labels([one.labels + one.wrong for one in question.examples])
        examples = []
        for one in question.examples:
            example = Example(one.text, [], one.key, vector=context.vector(one.text, one.vector))
            examples.append(self._judged(example, one))
            await asyncio.sleep(0)
        receipts = await context.appended(lambda: context.checked(examples))
        learned = [
            {
                "number": receipt.number, "new": receipt.new, "place": example.place,
                "learned": receipt.number not in replica.passed,
            }
            for receipt, example in zip(receipts, examples, strict=True)
        ]  # fmt: skip
        return as_json({"learned": learned})

    @post("/v1/repair", schemas.Receipt)
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
        number = question.number

        def replace(check: Check) -> Awaitable[Receipt]:
            context.checked([example])
            return writer.replace(number, example, replica.seen, check)

        receipt = await context.undone([number], replace)
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

    @post("/v1/labels", schemas.Receipt)
    async def change(self, question: schemas.ChangeQuestion) -> Response:
        """Rename, merge, split off, retire or restore labels. The answer comes when that is on disk and in the model.

        Its number takes it back, as that of an example does.
        """
        (receipt,) = await self._context.appended(lambda: [self._change(question)])
        return as_json({"number": receipt.number, "new": receipt.new})

    def _change(self, question: schemas.ChangeQuestion) -> Example:
        """A change that the model takes, or that was made before: asked again, its labels need not allow it."""
        context, replica = self._context, self._context.replica
        again = replica.journal.has_key(question.key)
        find = replica.label if again else context.known_label
        labels = tuple(find(name) for name in dict.fromkeys(question.labels))
        into: Label | None = None if question.into is None else question.into.strip()
        if question.change == "merge" and question.into is not None:
            into = replica.label(question.into)
        change = Change(question.change, labels, into)
        try:
            if not again:
                context.model._check_change(change)
        except InputError as problem:  # the question can be read; it is the labels that do not allow it
            raise HTTPException(409, str(problem)) from None
        return Example("", change.to_dict(), question.key, person=context.person)


class JournalRoutes(Routes):
    """Unlearns, whatever was learned, and lists it: the last examples, and all of them as a training file."""

    @post("/v1/undo", schemas.Receipt)
    async def undo(self, question: schemas.UndoQuestion) -> Response:
        """Take an example back. The answer comes when the model is what it would be without it.

        Refused where something learned later could not be learned then, as a change of a label that it was the first
        of. To take back a change of labels needs the role of who may change them.
        """
        context, replica, writer = self._context, self._context.replica, self._context.writer()
        if question.number > replica.journal.version().examples:
            raise HTTPException(404, f"there is no example {question.number}")
        learned = replica.journal.example(question.number)
        if learned is not None and isinstance(learned.labels, dict):
            ASKING.get().must_be(Role.MANAGE)
        numbers = [question.number]
        new = await context.undone(numbers, lambda check: writer.undo_all(numbers, context.person, check))
        context.metrics.undone.inc(new)
        return as_json({"number": question.number, "new": new == 1})

    @get("/v1/examples", schemas.EntriesAnswer)
    async def examples(
        self,
        limit: Limit = 20,
        before: Annotated[int | None, Query(ge=1, le=2**53, description="Only those with smaller numbers.")] = None,
        key: Annotated[
            str, Query(max_length=200, pattern=r"^[\x21-\x7e]*$", description="Only those whose keys begin so.")
        ] = "",
    ) -> Response:
        """The examples learned last, newest first."""
        entries = [as_dict(entry) for entry in self._replica.journal.entries(before, limit, key)]
        name_of = self._context.model.name_of
        named = self._context.model.vocabulary_ is not None
        for entry in entries:
            document = entry["text"]
            entry["text"] = shown(document)[:LETTERS]
            entry |= {"fields": short(document)} if isinstance(document, Mapping) else {}
            entry |= {"names": [*map(name_of, entry["labels"])]} if named else {}
        return as_json({"examples": entries})

    @get("/v1/journal", str)
    async def export(self) -> Response:
        """All examples learned and not taken back, as JSON lines: a training file like any other.

        It may take as long as it needs while it is being read; a connection that ends before the last chunk has not
        brought all of it.
        """
        return streamed(pieces(self._replica.journal, *await self._context.look_back(training)), JSON_LINES)


def as_dict(entry: Entry) -> dict[str, Any]:
    """An example as it is answered; of a change of labels, what it says in words."""
    found = entry._asdict() | {"change": isinstance(entry.labels, dict)}
    del found["vector"]
    return found | ({"text": str(Change.of(entry.labels)), "labels": []} if isinstance(entry.labels, dict) else {})


def short(document: Mapping[str, Value]) -> dict[str, Value]:
    """A document of fields without the ends of its long texts."""
    return {name: one[:LETTERS] if isinstance(one, str) else one for name, one in document.items()}


SHOWN = 10  # examples of what would be decided alone
NOBODY = ""  # whose texts are free for everybody
Few = Annotated[int, Query(ge=1, le=1000)]


class QueueRoutes(Routes):
    """Takes up texts, hands them out, and has the sure ones decided."""

    # Texts in.

    @post("/v1/queue", schemas.AddAnswer)
    async def add(self, question: schemas.AddQuestion) -> Response:
        """Add texts to the queue. The answer comes when they are on disk."""
        queue = self._context.queue()
        self._context.limits.check_texts(question.texts)
        return as_json((await queue.ask(Queue.add, question.texts))._asdict())

    @post_file("/v1/queue/file", schemas.AddAnswer)
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

    @post("/v1/queue/next", schemas.NextAnswer)
    async def next(self, question: schemas.NextQuestion) -> Response:
        """The next text for a person: what they have and have not judged yet, or else another that is now theirs."""
        queue = self._context.queue()
        item, counts = await queue.next(self._who(question.person), question.order, question.seconds)
        return as_json({"item": None if item is None else item.to_dict(), "progress": counts})

    @post("/v1/queue/move", schemas.MoveAnswer)
    async def move(self, question: schemas.MoveQuestion) -> Response:
        """Skip texts, put them off, flag them, or put them back."""
        queue = self._context.queue()
        moved = await queue.ask(Queue.move, question.ids, question.to, self._who(question.person), question.note)
        return as_json({"moved": moved, "progress": await queue.ask(Queue.counts)})

    def _who(self, given: str) -> str:
        """Who asks: whom the token names, or else whatever name they give."""
        return self._context.person or given

    @get("/v1/queue", schemas.Progress)
    async def progress(self) -> Response:
        """How many texts wait, how many are judged, skipped and flagged."""
        return as_json(await self._context.queue().ask(Queue.counts))

    @get("/v1/queue/items", schemas.ItemsAnswer)
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

    @post("/v1/queue/sure", schemas.SureAnswer)
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

    @post("/v1/queue/decide", schemas.DecideAnswer)
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

    @post("/v1/queue/undo", schemas.UndoDecisionAnswer)
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
