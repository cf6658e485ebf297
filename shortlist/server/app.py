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
from shortlist.server.audit_routes import AuditRoutes
from shortlist.server.background import keep_following, keep_snapshots
from shortlist.server.context import ServerContext
from shortlist.server.deciding import Deciding
from shortlist.server.deciding_routes import DecidingRoutes
from shortlist.server.group_routes import GroupRoutes
from shortlist.server.journal import check_journal
from shortlist.server.learning_routes import LearningRoutes
from shortlist.server.logs import AsEvents, log
from shortlist.server.middleware import Connections, Middleware
from shortlist.server.model_routes import ModelRoutes, rolling
from shortlist.server.people import ASKING
from shortlist.server.problems import explain_problems
from shortlist.server.promises import Promises
from shortlist.server.promotion_routes import PromotionRoutes
from shortlist.server.queue_routes import QueueRoutes
from shortlist.server.ranking_routes import RankingRoutes, RatingRoutes
from shortlist.server.replica import Replica
from shortlist.server.routes import Routes, as_json, get, get_hidden
from shortlist.server.salvage import salvage
from shortlist.server.settings import ServerSettings, listen
from shortlist.server.strike_routes import StrikeRoutes
from shortlist.server.taught_routes import TaughtRoutes

MEDIA_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
SECONDS_TO_END = 10  # for requests, after a signal to stop


PRECISIONS_MEASURED = (0.9, 0.95, 0.99)


class OperationsRoutes(Routes):
    """What every server answers: health, metrics, and the files of the page."""

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._promises = Promises(context)
        self._files = {}
        for file in (files("shortlist.server") / "page").iterdir():
            media_type = MEDIA_TYPES[file.name.rpartition(".")[2]]
            self._files[file.name] = Response(file.read_bytes(), media_type=media_type)

    @get("/healthz", dict[str, str])
    async def healthz(self) -> Response:
        """Whether the server is up."""
        return as_json({"status": "ok"})

    @get("/v1/me", schemas.Described)
    async def me(self) -> Response:
        """The name and role (read, judge, manage) of the person of the token."""
        person = ASKING.get()
        return as_json({"name": person.name, "role": str(person.role)})

    @get_hidden("/metrics")
    async def prometheus(self) -> Response:
        metrics = self.context.metrics
        about = self.replica.served.describe()
        for size in ("examples", "labels", "ratings", "features", "edges"):
            if size in about:
                metrics.model.labels(size).set(about[size])
        if isinstance(self.replica.served, Categorizer):
            measures = rolling(self.context.history.places())
            for measure in ("R1", "R5"):
                value = measures[measure]
                metrics.rolling.labels(measure).set(math.nan if value is None else value)
            self._measure_promises()
        return Response(generate_latest(metrics.registry), media_type="text/plain; version=0.0.4")

    def _measure_promises(self) -> None:
        for precision in PRECISIONS_MEASURED:
            promise = self._promises.as_dict(precision)
            promise["paused"] = int(promise["paused"] is not None)
            for what in ("checked", "right", "at_least", "paused"):
                value = promise[what]
                gauge = self.context.metrics.promise.labels(f"{precision:g}", what)
                gauge.set(math.nan if value is None else value)

    @get_hidden("/")
    async def page(self) -> Response:
        is_categorizer = isinstance(self.replica.served, Categorizer)
        return self._files["page.html" if is_categorizer else "docs.html"]

    @get_hidden("/docs")
    async def documentation(self) -> Response:
        return self._files["docs.html"]

    @get_hidden("/page/{name}")
    async def page_file(self, name: str) -> Response:
        if name not in self._files:
            raise HTTPException(404, "there is no such page")
        return self._files[name]


# Routes are tried in this order: the most frequent ones first.
ROUTES_OF_LABELS: tuple[type[Routes], ...] = (
    RankingRoutes,
    LearningRoutes,
    StrikeRoutes,
    GroupRoutes,
    QueueRoutes,
    DecidingRoutes,
    ModelRoutes,
    AuditRoutes,
    TaughtRoutes,
    PromotionRoutes,
    OperationsRoutes,
)
ROUTES_OF_RATINGS: tuple[type[Routes], ...] = (RatingRoutes, OperationsRoutes)


def make_app(replica: Replica, settings: ServerSettings) -> ASGIApp:
    """Return the application with its tasks beside the requests."""
    context = ServerContext(replica, settings)
    metrics = context.metrics

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.open()
        context.start_task(keep_following(replica, settings, metrics))
        if not settings.read_only:
            context.start_task(keep_snapshots(replica, settings, metrics))
            context.start_task(Deciding(context).keep_deciding())
        yield
        await context.close()

    description = "Ranks the labels of texts, says why, and learns from corrections."
    kinds = ROUTES_OF_LABELS
    if replica.served.task == "ratings":
        description = "Rates texts, and says why."
        kinds = ROUTES_OF_RATINGS
    app = FastAPI(
        title="shortlist",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        description=description,
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


def serve(settings: ServerSettings, model: Path | None, announce: Callable[[str], None]) -> None:
    """Serve until a signal says stop. ``model`` may be None if the state directory has its base."""
    settings.check()
    logging.basicConfig(handlers=[AsEvents()], level=logging.WARNING)
    with contextlib.ExitStack() as stack:
        folder = settings.folder
        if not settings.read_only:
            stack.enter_context(snapshots.lock(folder))
        if model is not None:
            snapshots.take_base(folder, model)
        if not settings.read_only and (folder / people.PEOPLE_FILE).exists():
            people.mark(folder)
        began = time.perf_counter()
        if settings.salvage:
            for sentence in salvage(folder):
                log("salvaged", "warning", what=sentence)
        check_journal(folder)
        replica = stack.enter_context(contextlib.closing(Replica(folder, settings.read_only)))
        check_encoder(settings, replica)
        replica.warm_up()
        if not settings.read_only:
            replica.check_can_learn()
        for problem in replica.snapshot_problems:
            log("passed over a snapshot", "warning", problem=problem)
        listening = stack.enter_context(listen(settings.host, settings.port))
        host, port = listening.getsockname()[:2]
        url = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
        log(
            "serving",
            url=url,
            folder=str(folder),
            examples=replica.version.examples,
            passed_over=len(replica.unlearnable),
            snapshot=replica.snapshot,
            seconds=round(time.perf_counter() - began, 3),
        )
        announce(url)
        run(make_server(replica, settings), listening)
        log("stopped")


def check_encoder(settings: ServerSettings, replica: Replica) -> None:
    """Refuse an encoder that is not the one of the model, or a model whose encoder is missing."""
    model = replica.served
    encoder = settings.encoder
    set_patience(OF_A_SERVER)
    if encoder is None:
        if isinstance(model, Categorizer) and isinstance(model.encoder, str):
            check_vectors(model)
        return
    if not isinstance(model, Categorizer) or model.n_vector_ == 0:
        raise InputError(
            "--encoder is for a model that was learned with vectors, and this one was not"
        )
    if encoder == model.encoder:  # its digest is checked, too
        check_vectors(model)
        return
    try:
        VectorPart(model.n_vector_, encoder, model.encoder_name_).apart(["a text"])
    except InputError as problem:
        raise InputError(f"--encoder: {problem}") from None
    except Exception as problem:
        raise InputError(
            f"--encoder: {name_of(encoder)} failed on a list of one text: {failure(problem)}; mend "
            "it, or serve without it and send vectors with the texts"
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

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    server.run(sockets=[listening])


def make_server(replica: Replica, settings: ServerSettings) -> uvicorn.Server:
    limits = settings.limits
    connections = Connections(limits)
    opened: Any = connections.open
    config = uvicorn.Config(
        make_app(replica, settings),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        http=opened,
        timeout_graceful_shutdown=SECONDS_TO_END,
        timeout_keep_alive=limits.idle,
        h11_max_incomplete_event_size=limits.header,
        callback_notify=connections.look,
        timeout_notify=limits.idle,
    )
    return uvicorn.Server(config)
