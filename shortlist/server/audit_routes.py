"""The route of audits: learned examples whose labels may be wrong."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query, Response

from shortlist.models.auditing import Audit
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.journal import Version
from shortlist.server.journal_audit import MOST_DOUBTS, audit_of
from shortlist.server.routes import SHOWN_CHARACTERS, Routes, as_json, get


class AuditRoutes(Routes):
    """Finds the examples that the model contradicts most. One audit runs at a time, for all
    that wait.
    """

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._version: Version | None = None
        self._audit: asyncio.Task[Audit] | None = None

    @get("/v1/audit", schemas.Described)
    async def audit(self, limit: Annotated[int, Query(ge=1, le=MOST_DOUBTS)] = 50) -> Response:
        """Learned examples whose labels may be wrong, most doubtful first; `/v1/repair` gives an
        example other labels.

        `doubts` have the doubted `label`, the label `found` instead, `by` how much more that
        scores, and the words that speak for it. `duplicates` are equal texts with different labels,
        `confusions` pairs of labels, `matrix` their counts. Texts have 200 characters. After
        something was learned, the first question takes as long as learning the journal's newest
        20,000 examples four times.
        """
        # it goes on when the client gives up
        audit = await asyncio.shield(self._running())
        answer = audit.to_dict()
        answer["doubts"] = answer["doubts"][:limit]
        for example in answer["doubts"] + answer["duplicates"]:
            example["text"] = example["text"][:SHOWN_CHARACTERS]
        return as_json(answer | {"names": self._names(answer)})

    def _names(self, answer: dict[str, Any]) -> dict[str, str]:
        """Return what people call the labels of an audit, if there is a vocabulary."""
        vocabulary = self.replica.model.vocabulary_
        if vocabulary is None:
            return {}
        labels = set(answer["matrix"]["labels"])
        for doubt in answer["doubts"]:
            labels.update(doubt["labels"], [doubt["found"]])
        for duplicate in answer["duplicates"]:
            labels.update(*duplicate["labels"])
        return {str(label): vocabulary.name(label) for label in labels}

    def _running(self) -> asyncio.Task[Audit]:
        version = self.replica.journal.version()
        task = self._audit
        if task is not None and not task.done():
            return task
        if task is not None and version == self._version and task.exception() is None:
            return task
        task = asyncio.create_task(asyncio.to_thread(audit_of, self.context.settings.folder))
        self._version = version
        self._audit = task
        return task
