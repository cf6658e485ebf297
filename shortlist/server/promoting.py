"""Routes that show the last rehearsal, put its candidate in the place of the present model, and go back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from shortlist.errors import InputError
from shortlist.server import promotion, report_schemas
from shortlist.server.context import Context
from shortlist.server.direct import DirectRoute
from shortlist.server.logs import log
from shortlist.server.responses import ASKING, answers, as_json

Done = TypeVar("Done")


class PromotionRoutes:
    """A change of the model is on disk when it is answered; each process serves it once it has learned the journal."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def router(self) -> APIRouter:
        asking = APIRouter(route_class=DirectRoute)
        asking.post("/v1/promote", **answers(report_schemas.PromoteAnswer, 403, 409, *ASKING))(self.promote)
        asking.post("/v1/go-back", **answers(report_schemas.GoBackAnswer, 403, 409, *ASKING))(self.go_back)
        looking = APIRouter()
        looking.get("/v1/rehearsal", **answers(report_schemas.RehearsalAnswer))(self.rehearsal)
        asking.routes += looking.routes
        return asking

    async def rehearsal(self) -> Response:
        """How the last rehearsal (`shortlist rehearse`) went: candidate and present model side by side."""
        folder = self._context.settings.folder
        kept = await asyncio.to_thread(promotion.last, folder)
        about: dict[str, Any] = {
            "can_go_back": promotion.can_go_back(folder), "current": self._context.replica.is_current(),
            "candidate": None,
        }  # fmt: skip
        if kept is not None:
            for one in kept["report"]["labels"]:
                one |= self._context.named(one["label"])
            about["candidate"] = {name: kept.get(name) for name in ("time", "learner", "fits", "report")}
        return as_json(about)

    async def promote(self, question: report_schemas.PromoteQuestion) -> Response:
        """Serve the candidate of the last rehearsal. Refused where a group of labels falls, unless forced.

        The journal stays as it is. Each process learns it anew with the candidate, and goes on as it was until then.
        """
        folder = self._context.settings.folder
        report = await self._changed(lambda: promotion.promote(folder, question.force, running=True))
        log("promoted", person=self._context.person)
        return as_json({"all": report["all"]})

    async def go_back(self, question: report_schemas.GoBackQuestion) -> Response:
        """Serve the model of before the last promotion again; a second time returns."""
        await self._changed(lambda: promotion.go_back(self._context.settings.folder, running=True))
        log("went back", person=self._context.person)
        return as_json({"went_back": True})

    async def _changed(self, work: Callable[[], Done]) -> Done:
        self._context.writer()  # refuses where the server is read-only
        try:
            return await asyncio.shield(asyncio.to_thread(work))
        except InputError as problem:  # the question can be read; it is the candidate that does not allow it
            raise HTTPException(409, str(problem)) from None
