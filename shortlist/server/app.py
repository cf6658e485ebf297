"""The HTTP interface: all routes, with what every request passes around them, and the files of the page."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Response
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

from shortlist import __version__
from shortlist.models.base import Model
from shortlist.models.categorizer import Categorizer
from shortlist.server import schemas
from shortlist.server.background import keep_following, keep_snapshots
from shortlist.server.learning import JournalRoutes, LearningRoutes
from shortlist.server.middleware import Middleware
from shortlist.server.people import ASKING
from shortlist.server.queue_routes import QueueRoutes
from shortlist.server.ranking import LookingRoutes, RankingRoutes, rolling
from shortlist.server.rating import RatingRoutes, RowRoutes
from shortlist.server.replica import Replica
from shortlist.server.reporting import AuditRoutes, PromotionRoutes, ReportingRoutes
from shortlist.server.routes import Context, Routes, as_json, explain_problems, get
from shortlist.server.settings import Settings

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


# What every server answers, whatever it serves.


class OperationsRoutes(Routes):
    """Says that the server is up, what it has counted, and gives the page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._files = load_page()

    @get("/healthz", schemas.Health)
    async def healthz(self) -> Response:
        """Whether the server is up."""
        return as_json({"status": "ok"})

    @get("/v1/me", schemas.Me)
    async def me(self) -> Response:
        """Who asks, by the token of the request, and what that person may do."""
        person = ASKING.get()
        return as_json({"name": person.name, "role": str(person.role)})

    @get("/metrics", None)
    async def prometheus(self) -> Response:
        metrics, about = self._context.metrics, self._context.served.describe()
        for what in ("examples", "labels", "ratings", "queries", "features", "edges"):
            if what in about:
                metrics.model.labels(what).set(about[what])
        if isinstance(self._context.served, Categorizer):
            for what, value in rolling(self._context.replica.journal.places()).items():
                if what in ("R1", "R5"):
                    metrics.rolling.labels(what).set(math.nan if value is None else value)
        return Response(metrics.page(), media_type="text/plain; version=0.0.4")

    @get("/", None)
    async def page(self) -> Response:
        return self._files["page.html" if isinstance(self._context.served, Categorizer) else "docs.html"]

    @get("/docs", None)
    async def documentation(self) -> Response:
        return self._files["docs.html"]

    @get("/page/{name}", None)
    async def page_file(self, name: str) -> Response:
        if name not in self._files:
            raise HTTPException(404, "there is no such page")
        return self._files[name]


def load_page() -> dict[str, Response]:
    """Read the files of the page, by name."""
    found = (files("shortlist.server") / "page").iterdir()
    return {one.name: Response(one.read_bytes(), media_type=KINDS[one.name.rpartition(".")[2]]) for one in found}


# Routes are tried in this order: what is asked most comes first.
OF_TEXTS = (
    RankingRoutes, LearningRoutes, JournalRoutes, QueueRoutes, LookingRoutes, ReportingRoutes, AuditRoutes,
    PromotionRoutes, OperationsRoutes,
)  # fmt: skip
OF_ROWS = (RowRoutes, OperationsRoutes)
OF_RATINGS = (RatingRoutes, OperationsRoutes)
ABOUT_TEXTS = "Ranks the labels of texts, says why, and learns from corrections."
ABOUT_ROWS = "Answers rows of numbers (ratings, documents of a query, labels), and says why."
ABOUT_RATINGS = "Rates texts, and says why."


def served_as(model: Model[Any]) -> tuple[str, tuple[type[Any], ...]]:
    """What a server of such a model does, and by which routes."""
    if not model._of_texts:
        return ABOUT_ROWS, OF_ROWS
    return (ABOUT_RATINGS, OF_RATINGS) if model.task == "ratings" else (ABOUT_TEXTS, OF_TEXTS)


def make_app(replica: Replica, settings: Settings) -> ASGIApp:
    """The application; a server that learns also sees to snapshots."""
    context = Context(replica, settings)
    metrics = context.metrics

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.open()
        context.beside(keep_following(replica, settings, metrics))
        if not settings.read_only:
            context.beside(keep_snapshots(replica, settings, metrics))
        yield
        await context.close()

    about, kinds = served_as(replica.served)
    app = FastAPI(
        title="shortlist", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None, description=about
    )
    routers = [routes(context).router() for routes in kinds]
    for router in routers:
        app.include_router(router)
    explain_problems(app)
    # Not from the OpenAPI document: to write that takes longer than all else here, and few ask for it.
    paths = {route.path for router in routers for route in router.routes if isinstance(route, Route)}
    return Middleware(app, settings, metrics, paths)
