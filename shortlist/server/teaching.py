"""From a judgement that was sent to a model that has learned it.

A request becomes one ``Judgement``, which is checked against the present model, written to the
journal, and learned by the replica as it follows the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from shortlist.data.texts import Document, Vectors
from shortlist.errors import InputError
from shortlist.server.context import ServerContext
from shortlist.server.entries import Entry, Judge, Judgement
from shortlist.server.journal import Journal, Receipt, UndoCheck, check_no_change_needs
from shortlist.server.journal_errors import Conflict, NeedsTrial, OutOfDate, as_conflict
from shortlist.server.replica import Replica, check_not_needed
from shortlist.server.schemas import JudgedLabels

Result = TypeVar("Result")


class Teaching:
    """Teaches a server; each method answers when its work is on disk and in the model."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._replica = context.replica

    def judgement(
        self,
        text: Document,
        vector: Vectors | None,
        question: JudgedLabels,
        key: str | None,
        is_check: bool = False,
        because: Sequence[str] = (),
    ) -> Judgement:
        """Return the judgement of the person who asks; a spot check if all labels were judged."""
        label = self._replica.label
        labels = [label(name) for name in dict.fromkeys(question.labels)]
        wrong = [label(name) for name in dict.fromkeys(question.wrong)]
        complete = question.complete
        if complete is None:
            complete = not wrong
        place = self._replica.place(text, labels, vector)
        person = self._context.person
        judge = Judge.CHECK if is_check and complete else Judge.PERSON
        return Judgement(
            text, labels, key, place, wrong, complete, person, vector, judge, because=because
        )

    async def learn(self, judgements: Sequence[Judgement]) -> list[Receipt]:
        """Write judgements, all or none, and learn them."""

        def checked() -> Sequence[Judgement]:
            self.check(judgements)
            return judgements

        return await self.append(checked)

    async def append(self, make: Callable[[], Sequence[Entry]]) -> list[Receipt]:
        """Write the entries that ``make`` gives, all or none, and learn them.

        It is called again if labels have changed until the commit.
        """
        run = self._context.writer().run
        receipts = await self._written(lambda: run(Journal.append, make(), self._replica.basis))
        self._context.metrics.learned.inc(sum(receipt.new for receipt in receipts))
        return receipts

    async def replace(self, number: int, judgement: Judgement) -> Receipt:
        """Undo an example and learn a judgement in its place."""
        run = self._context.writer().run

        def replace(check: UndoCheck) -> Awaitable[Receipt]:
            self.check([judgement])
            return run(Journal.replace, number, judgement, self._replica.basis, check)

        receipt = await self._undone([number], replace)
        self._context.metrics.learned.inc(receipt.new)
        self._context.metrics.undone.inc(receipt.new)
        return receipt

    async def undo(self, numbers: Sequence[int]) -> int:
        """Undo entries, and forget them. Returns how many of them had not been undone yet."""
        run = self._context.writer().run
        person = self._context.person
        n_undone = await self._undone(
            numbers, lambda check: run(Journal.undo, numbers, person, check)
        )
        self._context.metrics.undone.inc(n_undone)
        return n_undone

    def check(self, judgements: Sequence[Judgement]) -> None:
        """Refuse labels that the model does not take, except of judgements that are only sent
        again.
        """
        try:
            self._check_labels(judgements)
        except InputError:
            has_key = self._replica.journal.has_key
            new = [judgement for judgement in judgements if not has_key(judgement.key)]
            if len(new) == len(judgements):
                raise
            if new:
                self._check_labels(new)

    def _check_labels(self, judgements: Sequence[Judgement]) -> None:
        marked = [judgement for judgement in judgements if judgement.because]
        with as_conflict():  # if a text does not have its marked words
            self._replica.model.check_because(
                [judgement.text for judgement in marked],
                [judgement.because for judgement in marked],
            )
        try:
            self._replica.model.check_labels(
                [judgement.labels for judgement in judgements],
                [judgement.wrong for judgement in judgements],
                [judgement.complete for judgement in judgements],
            )
        except InputError as problem:
            # the model does not take partial judgements
            if any(judgement.wrong or not judgement.complete for judgement in judgements):
                raise Conflict(str(problem)) from None
            raise

    async def _undone(
        self, numbers: Sequence[int], undo: Callable[[UndoCheck], Awaitable[Result]]
    ) -> Result:
        """Undo entries by ``undo``, unless the model could not learn others without them, and
        forget them.
        """

        async def try_undo() -> Result:
            with contextlib.suppress(NeedsTrial):
                return await undo(partial(check_no_change_needs, numbers))
            unlearnable = set(self._replica.unlearnable)
            make = partial(Replica, self._replica.folder, read_only=True, without=numbers)
            with contextlib.closing(await asyncio.to_thread(make)) as trial:
                return await undo(partial(check_not_needed, trial, unlearnable))

        return await self._written(try_undo)

    async def _written(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Write to the journal, again if labels have changed until the commit, and have the
        model follow.
        """
        while True:
            try:
                result = await work()
                break
            except OutOfDate:
                await self._replica.follow()
        await self._replica.catch_up()
        return result
