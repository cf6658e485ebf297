"""The HTTP interface: all routes, with what every request passes around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from shortlist.names import VERSION
from shortlist.server.auditing import AuditRoutes
from shortlist.server.background import keep_following, keep_snapshots
from shortlist.server.context import Context
from shortlist.server.direct import DirectRoute
from shortlist.server.learning import LearningRoutes
from shortlist.server.looking import LookingRoutes
from shortlist.server.middleware import Middleware
from shortlist.server.operations import OperationsRoutes
from shortlist.server.queue.routes import QueueRoutes
from shortlist.server.ranking import RankingRoutes
from shortlist.server.replica import Replica
from shortlist.server.reporting import ReportingRoutes
from shortlist.server.responses import explain_problems
from shortlist.server.roles import Needed
from shortlist.server.rows import RowModelRoutes, RowRoutes
from shortlist.server.settings import Settings

# Routes are tried in this order: what is asked most comes first.
OF_TEXTS = (RankingRoutes, LearningRoutes, QueueRoutes, LookingRoutes, ReportingRoutes, AuditRoutes, OperationsRoutes)
OF_ROWS = (RowRoutes, RowModelRoutes, OperationsRoutes)
ABOUT_TEXTS = "Ranks the labels of texts, says why, and learns from corrections."
ABOUT_ROWS = "Answers rows of numbers (ratings, documents of a query, labels), and says why."


def make_app(replica: Replica, settings: Settings, worker: int = 0) -> ASGIApp:
    """The application of one process; the first one also sees to snapshots."""
    context = Context(replica, settings)
    metrics = context.metrics

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.open()
        tasks = [asyncio.create_task(keep_following(replica, settings, metrics))]
        if worker == 0 and not settings.read_only:
            tasks.append(asyncio.create_task(keep_snapshots(replica, settings, metrics)))
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        context.close()

    app = FastAPI(
        title="shortlist", version=VERSION, lifespan=lifespan, docs_url=None, redoc_url=None,
        description=ABOUT_TEXTS if replica.served.of_texts else ABOUT_ROWS,
    )  # fmt: skip
    routers = [routes(context).router() for routes in (OF_TEXTS if replica.served.of_texts else OF_ROWS)]
    routes = [*app.routes, *(route for router in routers for route in router.routes)]
    for router in routers:
        app.include_router(router)
    explain_problems(app)
    paths = {"/", "/docs", "/metrics", *app.openapi()["paths"]}
    asked = {route.path for route in routes if isinstance(route, DirectRoute)}
    middleware: ASGIApp = Middleware(app, settings, metrics, paths, asked, Needed(routes))
    if settings.origins:
        middleware = CORSMiddleware(
            middleware, allow_origins=settings.origins, allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )  # fmt: skip
    return middleware
