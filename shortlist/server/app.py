"""The HTTP interface: all routes, with what every request passes around them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route
from starlette.types import ASGIApp

from shortlist import __version__
from shortlist.models.base import Model
from shortlist.server.auditing import AuditRoutes
from shortlist.server.background import keep_following, keep_snapshots
from shortlist.server.context import Context
from shortlist.server.learned import LearnedRoutes
from shortlist.server.learning import LearningRoutes, UndoRoutes
from shortlist.server.looking import LookingRoutes
from shortlist.server.middleware import Middleware
from shortlist.server.operations import OperationsRoutes
from shortlist.server.people import Needed
from shortlist.server.promoting import PromotionRoutes
from shortlist.server.queue.routes import QueueRoutes
from shortlist.server.ranking import RankingRoutes
from shortlist.server.rating import RatedRowsRoutes, RaterRoutes, RatingRoutes, TextRatingRoutes
from shortlist.server.replica import Replica
from shortlist.server.reporting import ReportingRoutes
from shortlist.server.responses import DirectRoute, explain_problems
from shortlist.server.rows import RowModelRoutes, RowRoutes
from shortlist.server.settings import Settings

# Routes are tried in this order: what is asked most comes first.
OF_TEXTS = (
    RankingRoutes, LearningRoutes, UndoRoutes, QueueRoutes, LookingRoutes, LearnedRoutes, ReportingRoutes, AuditRoutes,
    PromotionRoutes,
    OperationsRoutes,
)  # fmt: skip
OF_ROWS = (RowRoutes, RowModelRoutes, OperationsRoutes)
OF_RATED_TEXTS = (TextRatingRoutes, RatingRoutes, UndoRoutes, RaterRoutes, LearnedRoutes, OperationsRoutes)
OF_RATED_ROWS = (RowRoutes, RatingRoutes, UndoRoutes, RaterRoutes, RatedRowsRoutes, OperationsRoutes)
ABOUT_TEXTS = "Ranks the labels of texts, says why, and learns from corrections."
ABOUT_ROWS = "Answers rows of numbers (documents of a query, labels), and says why."
ABOUT_RATINGS = "Rates texts or rows of numbers, says why, and learns from corrections."


def served_as(model: Model[Any]) -> tuple[str, tuple[type[Any], ...]]:
    """What a server of such a model does, and by which routes."""
    if model.task == "ratings":
        return ABOUT_RATINGS, OF_RATED_TEXTS if model._of_texts else OF_RATED_ROWS
    return (ABOUT_TEXTS, OF_TEXTS) if model._of_texts else (ABOUT_ROWS, OF_ROWS)


def make_app(replica: Replica, settings: Settings, worker: int = 0) -> ASGIApp:
    """The application of one process; the first one also sees to snapshots."""
    context = Context(replica, settings)
    metrics = context.metrics

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.open()
        context.beside(keep_following(replica, settings, metrics))
        if worker == 0 and not settings.read_only:
            context.beside(keep_snapshots(replica, settings, metrics))
        yield
        await context.close()

    about, kinds = served_as(replica.served)
    app = FastAPI(
        title="shortlist", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None, description=about
    )
    routers = [routes(context).router() for routes in kinds]
    routes = [*app.routes, *(route for router in routers for route in router.routes)]
    for router in routers:
        app.include_router(router)
    explain_problems(app)
    # Not from the OpenAPI document: to write that takes longer than all else here, and few ask for it.
    paths = {route.path for router in routers for route in router.routes if isinstance(route, Route)}
    asked = {route.path for route in routes if isinstance(route, DirectRoute)}
    middleware: ASGIApp = Middleware(app, settings, metrics, paths, asked, Needed(routes))
    if settings.origins:
        middleware = CORSMiddleware(
            middleware, allow_origins=settings.origins, allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )  # fmt: skip
    return middleware
