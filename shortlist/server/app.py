"""The application: all routes behind the middleware, and its start, socket, signals and stop."""

from __future__ import annotations

import contextlib
import logging
import math
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Response
from prometheus_client import generate_latest
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

from shortlist import __version__
from shortlist.encoders import EncoderChanged, EndpointError
from shortlist.encoders.endpoint import OF_A_SERVER, set_patience
from shortlist.errors import InputError
from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import VectorPart, failure, name_of
from shortlist.server import people, schemas, snapshots
from shortlist.server.journal import check_journal
from shortlist.server.learning_routes import LearningRoutes, QueueRoutes
from shortlist.server.middleware import Connections, Middleware
from shortlist.server.people import ASKING
from shortlist.server.ranking_routes import LookingRoutes, RankingRoutes, RatingRoutes, rolling
from shortlist.server.replica import Replica, keep_following, keep_snapshots
from shortlist.server.reporting_routes import AuditRoutes, PromotionRoutes
from shortlist.server.routes import Context, Routes, as_json, explain_problems, get
from shortlist.server.settings import AsEvents, Settings, listen, log

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
GRACE = 10  # seconds for requests to end after a signal to stop


class OperationsRoutes(Routes):
    """What every server answers: health, metrics, and the files of the page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        page = (files("shortlist.server") / "page").iterdir()
        self._files = {
            one.name: Response(one.read_bytes(), media_type=KINDS[one.name.rpartition(".")[2]])
            for one in page
        }

    @get("/healthz", dict[str, str])
    async def healthz(self) -> Response:
        """Whether the server is up."""
        return as_json({"status": "ok"})

    @get("/v1/me", schemas.Described)
    async def me(self) -> Response:
        """The name and role (read, judge, manage) of the person of the token."""
        person = ASKING.get()
        return as_json({"name": person.name, "role": str(person.role)})

    @get("/metrics", None)
    async def prometheus(self) -> Response:
        metrics, about = self.context.metrics, self.context.served.describe()
        for what in ("examples", "labels", "ratings", "features", "edges"):
            if what in about:
                metrics.model.labels(what).set(about[what])
        if isinstance(self.context.served, Categorizer):
            shares = rolling(self.replica.journal.places())
            for what in ("R1", "R5"):
                metrics.rolling.labels(what).set(math.nan if shares[what] is None else shares[what])
        return Response(generate_latest(metrics.registry), media_type="text/plain; version=0.0.4")

    @get("/", None)
    async def page(self) -> Response:
        return self._files[
            "page.html" if isinstance(self.context.served, Categorizer) else "docs.html"
        ]

    @get("/docs", None)
    async def documentation(self) -> Response:
        return self._files["docs.html"]

    @get("/page/{name}", None)
    async def page_file(self, name: str) -> Response:
        if name not in self._files:
            raise HTTPException(404, "there is no such page")
        return self._files[name]


# Routes are tried in this order: the most frequent ones first.
OF_TEXTS: tuple[type[Routes], ...] = (
    RankingRoutes,
    LearningRoutes,
    QueueRoutes,
    LookingRoutes,
    AuditRoutes,
    PromotionRoutes,
    OperationsRoutes,
)
OF_RATINGS = (RatingRoutes, OperationsRoutes)


def make_app(replica: Replica, settings: Settings) -> ASGIApp:
    """Return the application with its tasks beside the requests."""
    context = Context(replica, settings)
    metrics = context.metrics

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.open()
        context.beside(keep_following(replica, settings, metrics))
        if not settings.read_only:
            context.beside(keep_snapshots(replica, settings, metrics))
        yield
        await context.close()

    about, kinds = "Ranks the labels of texts, says why, and learns from corrections.", OF_TEXTS
    if replica.served.task == "ratings":
        about, kinds = "Rates texts, and says why.", OF_RATINGS
    app = FastAPI(
        title="shortlist",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        description=about,
    )
    routers = [routes(context).router() for routes in kinds]
    for router in routers:
        app.include_router(router)
    explain_problems(app)
    # Not from the OpenAPI document, which takes longer to make than all else here.
    paths = {
        route.path for router in routers for route in router.routes if isinstance(route, Route)
    }
    return Middleware(app, settings, metrics, paths)


# Starting and stopping.


def serve(settings: Settings, model: Path | None, announce: Callable[[str], None]) -> None:
    """Serve until a signal says stop. ``model`` may be None if the state directory has its base."""
    settings.check()
    logging.basicConfig(handlers=[AsEvents()], level=logging.WARNING)
    with contextlib.ExitStack() as stack:
        if not settings.read_only:
            stack.enter_context(snapshots.lock(settings.folder))
        if model is not None:
            snapshots.take_base(settings.folder, model)
        if not settings.read_only and (settings.folder / people.FILE).exists():
            people.mark(settings.folder)
        began = time.perf_counter()
        if settings.salvage:
            for sentence in snapshots.salvage(settings.folder):
                log("salvaged", "warning", what=sentence)
        check_journal(settings.folder)
        replica = stack.enter_context(
            contextlib.closing(Replica(settings.folder, settings.read_only))
        )
        check_encoder(settings, replica)
        replica.warm_up()
        if not settings.read_only:
            replica.check_can_learn()
        for problem in replica.problems:
            log("passed over a snapshot", "warning", problem=problem)
        listening = stack.enter_context(listen(settings.host, settings.port))
        host, port = listening.getsockname()[:2]
        url = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
        log(
            "serving",
            url=url,
            folder=str(settings.folder),
            examples=replica.version.examples,
            passed_over=len(replica.passed),
            snapshot=replica.snapshot,
            seconds=round(time.perf_counter() - began, 3),
        )
        announce(url)
        run(make_server(replica, settings), listening)
        log("stopped")


def check_encoder(settings: Settings, replica: Replica) -> None:
    """Refuse an encoder that is not the one of the model, or a model whose encoder is missing."""
    model, encoder = replica.served, settings.encoder
    set_patience(OF_A_SERVER)
    if encoder is None:
        if isinstance(model, Categorizer) and isinstance(model.encoder, str):
            check_vectors(model)
        return
    if not isinstance(model, Categorizer) or model.n_vector_ == 0:
        raise InputError(
            "--encoder is for a model that was learned with vectors, and this one was not"
        )
    if encoder == model.encoder:  # which is checked by its digest, too
        check_vectors(model)
        return
    try:
        VectorPart(model.n_vector_, encoder, model.encoder_name_).apart(["a text"])
    except InputError as problem:
        raise InputError(f"--encoder: {problem}") from None
    except Exception as problem:
        what = f"{name_of(encoder)} failed on a list of one text: {failure(problem)}"
        raise InputError(
            f"--encoder: {what}; mend it, or serve without it and send vectors with the texts"
        ) from None


def check_vectors(model: Categorizer) -> None:
    """Refuse an encoder whose weights are missing or others; an endpoint may come back later."""
    try:
        model.vectors_of_texts(["a text"])
    except EncoderChanged:
        raise
    except EndpointError as problem:
        log("ranking by words alone", "warning", problem=str(problem))


def run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until a signal to stop comes."""

    # until uvicorn handles signals itself, and when it raises them again at its end
    def stop(*_: Any) -> None:
        server.should_exit = True

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, stop)
    server.run(sockets=[listening])


def make_server(replica: Replica, settings: Settings) -> uvicorn.Server:
    limits, connections = settings.limits, Connections(settings.limits)
    opened: Any = connections.open
    config = uvicorn.Config(
        make_app(replica, settings),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        http=opened,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=limits.idle,
        h11_max_incomplete_event_size=limits.header,
        callback_notify=connections.look,
        timeout_notify=limits.idle,
    )
    return uvicorn.Server(config)
