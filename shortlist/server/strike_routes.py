"""The route that strikes out words, and shows what that would change."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import Response

from shortlist.data.label_input import Label
from shortlist.data.texts import Document
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.models.label_changes import Change
from shortlist.models.striking import ChangedAnswer
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.entries import LabelChange
from shortlist.server.journal_errors import as_conflict
from shortlist.server.journal_history import History
from shortlist.server.review_queue import Queue
from shortlist.server.routes import SHOWN_CHARACTERS, Routes, as_json, post
from shortlist.server.teaching import Teaching
from shortlist.server.text_vectors import documents_to_rank

MOST_PREVIEWED = 10_000  # waiting texts, and past decisions
MOST_SHOWN = 20  # of the texts that would change


class StrikeRoutes(Routes):
    """Strikes out words; the journal keeps that as a change of labels."""

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._teaching = Teaching(context)

    @post("/v1/strike", schemas.ReceiptAnswer)
    async def strike(self, question: schemas.StrikeQuestion) -> Response:
        """Strike out a word that must not count for a label, or for any; with `undo` let it count
        again.

        The answer comes when that is on disk and in the model. `/v1/undo` takes its number.
        """
        (receipt,) = await self._teaching.append(lambda: [self._change(question)])
        return as_json(receipt._asdict())

    @post("/v1/strike/preview", schemas.StrikePreview)
    async def preview(self, question: schemas.StrikePreviewQuestion) -> Response:
        """Which waiting texts, and which texts that the model decided, would have another best
        label or decision, exactly. Nothing is changed.
        """
        waiting = await self.context.queue().run(Queue.items, "waiting", None, MOST_PREVIEWED)
        decisions = await self.context.look_back(
            lambda journal: History(journal).newest_decided(MOST_PREVIEWED)
        )
        return as_json(
            {
                "waiting": await self._effect([item.text for item in waiting], question),
                "decided": await self._effect([one.text for one in decisions], question),
            }
        )

    async def _effect(
        self, texts: list[Document], question: schemas.StrikePreviewQuestion
    ) -> dict[str, Any]:
        documents = await documents_to_rank(self.context, texts)
        label = self._label(question)
        look = partial(
            Categorizer.preview_strike,
            word=question.word,
            label=label,
            precision=question.precision,
        )
        with as_conflict():
            changed: list[ChangedAnswer] = await self.replica.look(
                lambda model: look(model, documents)
            )
        some = [
            answer._asdict() | {"text": shown(texts[answer.number])[:SHOWN_CHARACTERS]}
            for answer in changed[:MOST_SHOWN]
        ]
        return {"texts": len(texts), "change": len(changed), "some": some}

    def _label(self, question: schemas.StrikePreviewQuestion) -> Label | None:
        return None if question.label is None else self.context.labels.known(question.label)

    def _change(self, question: schemas.StrikeQuestion) -> LabelChange:
        """Return a change that the model allows; one that is sent again is not checked again."""
        person = self.context.person
        what = "unstrike" if question.undo else "strike"
        is_sent_again = self.replica.journal.has_key(question.key)
        label: Label | None = None
        if question.label is not None:
            find = self.replica.label if is_sent_again else self.context.labels.known
            label = find(question.label)
        labels = () if label is None else (label,)
        change = Change(what, labels, word=question.word, person=person)
        if not is_sent_again:
            with as_conflict():
                self.replica.model.check_change(change)
        return LabelChange(change, question.key, person)
