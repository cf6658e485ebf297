"""Routes that look back on what people have judged: exports, agreement, and how the model fares over time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from shortlist.errors import InputError
from shortlist.server import schemas, watching
from shortlist.server.context import Context
from shortlist.server.exporting import LAYOUTS, layout_for, pieces
from shortlist.server.learned import PIECE
from shortlist.server.responses import answers, as_json
from shortlist.server.watching import agreement, latest

KINDS = [layout.kind for layout in LAYOUTS.values()]

LayoutName = Literal["jsonl", "csv", "fasttext", "label-studio", "doccano"]


class ReportingRoutes:
    """Exports, and reports on people and on the model."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def router(self) -> APIRouter:
        router = APIRouter()
        router.get("/v1/export", response_class=Response, **answers(str, 409, 422, kinds=KINDS))(self.export)
        router.get("/v1/agreement", **answers(schemas.AgreementAnswer))(self.agreement)
        router.get("/v1/watch", **answers(schemas.WatchAnswer))(self.watch)
        return router

    async def export(
        self, format: Annotated[LayoutName, Query(description="The layout of the file.")] = "jsonl"
    ) -> Response:
        """All examples learned and not taken back, with who judged, when, and their keys, in a layout of other tools.

        A connection that ends before the last chunk has not brought all of it.
        """
        layout = LAYOUTS[format]
        try:
            fitting, names = await self._context.look_back(lambda journal: layout_for(journal, format))
        except InputError as problem:  # the question can be read; it is the labels that do not allow it
            raise HTTPException(409, str(problem)) from None
        named = f'attachment; filename="examples.{layout.ending}"'

        async def sent() -> AsyncIterator[bytes]:
            for text in pieces(self._context.replica.journal, fitting, names):
                piece = text.encode()
                for start in range(0, len(piece), PIECE):  # the middleware's clock starts anew with each piece taken
                    yield piece[start : start + PIECE]
                await asyncio.sleep(0)

        return StreamingResponse(sent(), media_type=layout.kind, headers={"content-disposition": named})

    async def agreement(self) -> Response:
        """How far each two people agree on the texts that both have judged, of the last 100,000 examples."""
        return as_json(await self._context.look_back(lambda journal: agreement(latest(journal))))

    async def watch(self) -> Response:
        """How the model fares: quality over time, drift, and the labels that people correct most.

        It looks at the last 4,000 examples, each as it stood before it was learned.
        """
        replica = self._context.replica
        outcomes = await self._context.look_back(watching.outcomes_of)
        drift = await replica.look(watching.certainty) | {"unknown": replica.unknown.read()}
        return as_json({
            "quality": watching.quality(outcomes), "drift": drift,
            "corrected": [self._context.named(one["label"]) | one for one in watching.corrected(outcomes)],
        })  # fmt: skip
