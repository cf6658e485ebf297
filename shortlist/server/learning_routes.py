"""Routes that teach the model, change its labels and undo that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fastapi import Response
from starlette.exceptions import HTTPException

from shortlist.data.label_input import Label
from shortlist.models.label_changes import Change
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.entries import Judgement, LabelChange
from shortlist.server.journal_errors import as_conflict
from shortlist.server.people import ASKING, Role
from shortlist.server.review_queue import ID_PREFIX, Queue, next_key
from shortlist.server.routes import Routes, as_json, post
from shortlist.server.teaching import Teaching
from shortlist.server.text_vectors import vector_to_learn


class LearningRoutes(Routes):
    """Learns, changes labels and undoes; answers when that is on disk and in the model."""

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._teaching = Teaching(context)

    @post("/v1/learn", schemas.LearnAnswer)
    async def learn(self, question: schemas.LearnQuestion) -> Response:
        """Learn examples, all or none. The answer comes when they are on disk and in the model."""
        context = self.context
        context.writer()  # refuses if the server is read-only
        context.settings.limits.check_texts([example.text for example in question.examples])
        judgements = []
        are_checks = await self._are_checks(question.examples)
        for example, is_check in zip(question.examples, are_checks, strict=True):
            vector = await vector_to_learn(context, example.text, example.vector)
            judgements.append(
                self._teaching.judgement(
                    example.text, vector, example, example.key, is_check, example.because
                )
            )
            await asyncio.sleep(0)  # let others have a turn
        receipts = await self._teaching.learn(judgements)
        learned = [
            {
                "number": receipt.number,
                "new": receipt.new,
                "place": judgement.place,
                "learned": receipt.number not in self.replica.unlearnable,
            }
            for receipt, judgement in zip(receipts, judgements, strict=True)
        ]
        return as_json({"learned": learned})

    async def _are_checks(self, examples: Sequence[schemas.ExampleQuestion]) -> list[bool]:
        """Return which examples are spot checks: those that say so, and those that the queue has
        handed out as such.
        """
        said = [example.checked for example in examples]
        keys = [example.key or "" for example in examples]
        if not any(key.startswith(ID_PREFIX) for key in keys):
            return said
        handed_out = await self.context.queue().run(Queue.are_checks, keys)
        return [a or b for a, b in zip(said, handed_out, strict=True)]

    @post("/v1/repair", schemas.ReceiptAnswer)
    async def repair(self, question: schemas.RepairQuestion) -> Response:
        """Undo an example and learn its text with other labels, both or neither.

        If it was judged in part, it still is, and the labels that it loses are wrong, unless the
        question says more. The answer comes when that is on disk and in the model. Asking again
        changes nothing.
        """
        number = question.number
        old = self.replica.journal.entry(number)
        if not isinstance(old, Judgement):
            raise HTTPException(404, f"there is no example {number}")
        key = None if old.key is None else next_key(old.key)
        if not old.complete and question.complete is None and not question.wrong:
            lost = [str(label) for label in (*old.wrong, *old.labels)]
            wrong = [name for name in lost if name not in question.labels]
            question = question.model_copy(update={"complete": False, "wrong": wrong})
        judgement = self._teaching.judgement(
            old.text, old.vector, question, key or f"repaired-{number}"
        )
        receipt = await self._teaching.replace(number, judgement)
        return as_json(receipt._asdict())

    @post("/v1/labels", schemas.ReceiptAnswer)
    async def change(self, question: schemas.ChangeQuestion) -> Response:
        """Rename, merge, split, retire or restore labels. The answer comes when that is on disk and
        in the model.

        `/v1/undo` takes its number.
        """
        (receipt,) = await self._teaching.append(lambda: [self._label_change(question)])
        return as_json(receipt._asdict())

    def _label_change(self, question: schemas.ChangeQuestion) -> LabelChange:
        """Return a change that the model allows. A change that is sent again is not checked
        again.
        """
        is_sent_again = self.replica.journal.has_key(question.key)
        find = self.replica.label if is_sent_again else self.context.labels.known
        labels = tuple(find(name) for name in dict.fromkeys(question.labels))
        into: Label | None = question.into
        if question.into is not None:
            into = question.into.strip()
            if question.change == "merge":
                into = self.replica.label(question.into)
        change = Change(question.change, labels, into)
        if not is_sent_again:
            with as_conflict():  # if the labels do not allow it
                self.replica.model.check_change(change)
        return LabelChange(change, question.key, self.context.person)

    @post("/v1/undo", schemas.ReceiptAnswer)
    async def undo(self, question: schemas.UndoQuestion) -> Response:
        """Undo an example. The answer comes when the model is what it would be without it.

        Refused if a later example or change of labels needs it. To undo a change of labels needs
        the role manage.
        """
        self.context.writer()  # refuses if the server is read-only
        number = question.number
        entry = self.replica.journal.entry(number)
        if entry is None:
            raise HTTPException(404, f"there is no example {number}")
        if isinstance(entry, LabelChange):
            ASKING.get().must_be(Role.MANAGE)
        n_undone = await self._teaching.undo([number])
        return as_json({"number": number, "new": n_undone == 1})
