"""Routes for who runs the server, and the files of its page."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from shortlist.models.base import Model
from shortlist.models.categorizer import Categorizer
from shortlist.models.rater import Rater
from shortlist.server import schemas
from shortlist.server.context import Context
from shortlist.server.people import ASKING
from shortlist.server.replica import Replica
from shortlist.server.responses import answers, as_json
from shortlist.server.watching import certainty

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


class OperationsRoutes:
    """Says that the server is up, what it has counted, and gives the page."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._files = load_page()

    def router(self) -> APIRouter:
        router = APIRouter()
        router.get("/healthz", **answers(schemas.Health))(self.healthz)
        router.get("/v1/me", **answers(schemas.Me))(self.me)
        router.get("/metrics", include_in_schema=False)(self.prometheus)
        router.get("/", include_in_schema=False)(self.page)
        router.get("/docs", include_in_schema=False)(self.documentation)
        router.get("/page/{name}", include_in_schema=False)(self.page_file)
        return router

    async def healthz(self) -> Response:
        """Whether the server is up."""
        return as_json({"status": "ok"})

    async def me(self) -> Response:
        """Who asks, by the token of the request, and what that person may do."""
        person = ASKING.get()
        return as_json({"name": person.name, "role": str(person.role)})

    async def prometheus(self) -> Response:
        metrics, about = self._context.metrics, self._context.served.describe()
        for what in ("examples", "labels", "ratings", "queries", "features", "edges"):
            if what in about:
                metrics.model.labels(what).set(about[what])
        if isinstance(self._context.served, Categorizer):
            for what, value in watched(self._context.replica).items():
                metrics.watched.labels(what).set(math.nan if value is None else value)
        return Response(metrics.page(), media_type="text/plain; version=0.0.4")

    async def page(self) -> Response:
        return self._files[page_of(self._context.served)]

    async def documentation(self) -> Response:
        return self._files["docs.html"]

    async def page_file(self, name: str) -> Response:
        if name not in self._files:
            raise HTTPException(404, "there is no such page")
        return self._files[name]


def page_of(model: Model[Any]) -> str:
    """The page on which people use such a model; the one that documents the interface, if there is none."""
    if isinstance(model, Categorizer):
        return "page.html"
    return "rate.html" if isinstance(model, Rater) else "docs.html"


def watched(replica: Replica) -> dict[str, float | None]:
    """What /v1/watch says, as numbers of now."""
    places = replica.journal.places()
    found = certainty(replica.model)
    return {
        "P@1": sum(place == 1 for place in places) / len(places) if places else None,
        "unknown_words": replica.unknown.read()["now"], "calibration_error": found["calibration_error"],
        "decided_alone": found["decided_alone"],
    }  # fmt: skip


def load_page() -> dict[str, Response]:
    """The files of the page, by name."""
    every = (files("shortlist.server") / "page").iterdir()
    return {one.name: Response(one.read_bytes(), media_type=KINDS[one.name.rpartition(".")[2]]) for one in every}
