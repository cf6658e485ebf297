"""What every request passes: admission, limits of size and time; headers, logs and metrics on
the way out.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from shortlist.server.logs import log, log_failure
from shortlist.server.people import (
    ANYONE,
    ASKING,
    ROLE_OF_ROUTE,
    Doorkeeper,
    NotAllowed,
    PeopleError,
    role_needed,
)
from shortlist.server.settings import Limits, ServerSettings

FILE_PATHS = {"/v1/queue/file", "/v1/rehearse"}  # take a file instead of JSON
# Logged also when they succeed:
LOGGED_PATHS = {"/v1/learn", "/v1/undo", "/v1/export", "/v1/queue/decide", "/v1/queue/undo"}
# learn the whole journal, or rank the whole queue
SLOW_PATHS = {"/v1/promote", "/v1/go-back", "/v1/queue/sure", "/v1/queue/decide"}
SLOW_SECONDS = 24 * 60 * 60
UNLIMITED_PATHS = {"/healthz", "/metrics"}  # answered even when all else is busy
PORT = re.compile(r":\d*$")
CUT = "cut"  # the status in metrics of an answer that was not sent to its end
FAILED = "something went wrong inside the server; its log says what"
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SECURITY_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Metrics:
    """What Prometheus reads at /metrics."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self.registry = registry
        paths = ["path"]
        self.requests = Counter(
            "shortlist_requests", "Requests answered.", ["path", "status"], registry=registry
        )
        self.seconds = Histogram(
            "shortlist_request_seconds",
            "Time to answer.",
            paths,
            registry=registry,
            buckets=BUCKETS,
        )
        self.texts = Counter("shortlist_texts_ranked", "Texts ranked.", registry=registry)
        self.learned = Counter(
            "shortlist_examples_learned", "Examples acknowledged.", registry=registry
        )
        self.undone = Counter("shortlist_examples_undone", "Examples undone.", registry=registry)
        self.snapshots = Counter(
            "shortlist_snapshots",
            "Snapshots, by how writing them ended.",
            ["end"],
            registry=registry,
        )
        self.in_flight = Gauge(
            "shortlist_requests_in_flight", "Requests being answered.", registry=registry
        )
        self.model = Gauge("shortlist_model", "The size of the model.", ["what"], registry=registry)
        self.behind = Gauge(
            "shortlist_examples_behind",
            "Examples in the journal not yet in the model.",
            registry=registry,
        )
        self.rolling = Gauge(
            "shortlist_rolling",
            "R1 and R5 over the last 200 spot checks, or judged examples if there are none.",
            ["what"],
            registry=registry,
        )
        self.promise = Gauge(
            "shortlist_promise",
            "What spot checks say of decisions: how many are checked, the share that is right, its "
            "lower bound, and whether deciding is paused.",
            ["target", "what"],
            registry=registry,
        )


class Middleware:
    """An ASGI application around another."""

    def __init__(
        self, app: ASGIApp, settings: ServerSettings, metrics: Metrics, paths: set[str]
    ) -> None:
        """``paths``: all paths of the application."""
        self._app = app
        self._limits = settings.limits
        self._metrics = metrics
        self._paths = paths
        self._doorkeeper = Doorkeeper(settings.folder, settings.token)
        self._hosts = {settings.host, "localhost", "127.0.0.1", "[::1]"}
        self._in_flight = 0
        metrics.in_flight.set_function(lambda: self._in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        path = scope["path"]
        status = 0
        is_whole = False  # whether all of the answer was sent

        async def watched(message: Message) -> None:
            nonlocal status, is_whole
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = list(message["headers"])
                names = {name for name, _ in headers}
                headers += [header for header in SECURITY_HEADERS if header[0] not in names]
                message["headers"] = headers
            await send(message)
            is_whole = message["type"] == "http.response.body" and not message.get("more_body")

        self._in_flight += 1
        try:
            await self._within_time(scope, receive, watched)
        except HTTPException as refusal:
            if not status:
                await refused(refusal.status_code, refusal.detail, refusal.headers)(
                    scope, receive, watched
                )
        except Exception as problem:
            log_failure("failed", problem, method=scope["method"], path=path)
            if not status:
                await refused(500, FAILED)(scope, receive, watched)
        finally:
            self._in_flight -= 1
            seconds = time.perf_counter() - began
            counted_path = path if path in self._paths else "other"
            self._metrics.requests.labels(counted_path, status if is_whole else CUT).inc()
            self._metrics.seconds.labels(counted_path).observe(seconds)
            about = {"method": scope["method"], "path": path, "ms": round(1000 * seconds, 2)}
            # too slow, or the client has gone: the connection ends without the end of the answer
            if not is_whole:
                log("request cut short", "warning", **about)
            elif status >= 400 or path in LOGGED_PATHS:
                log("request", status=status, **about)

    async def _within_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer within the time limit, which starts anew with each piece of a long answer that
        is taken.
        """
        seconds = SLOW_SECONDS if scope["path"] in SLOW_PATHS else self._limits.seconds
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(seconds) as limit:

                async def timed(message: Message) -> None:
                    await send(message)
                    if message.get("more_body") and not limit.expired():
                        limit.reschedule(now() + seconds)

                headers = dict(scope["headers"])
                self._admit(scope, headers)
                body = b""
                if self._has_body(scope):
                    takes_file = scope["path"] in FILE_PATHS
                    most = self._limits.file if takes_file else self._limits.body
                    body = await self._body(headers, receive, most)
                await self._app(scope, _receive_first(body, receive), timed)
        except TimeoutError:
            if not limit.expired():
                raise
            raise HTTPException(
                503,
                f"this took longer than the {seconds} s that a request may take; try again, and "
                "learn with a key so that nothing is learned twice",
                {"retry-after": "1"},
            ) from None

    def _admit(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Refuse a request that is not allowed, malformed, or comes while too many are answered."""
        path = scope["path"]
        if sum(len(name) + len(value) for name, value in scope["headers"]) > self._limits.header:
            raise HTTPException(
                431, f"the header is larger than the {self._limits.header:,} bytes that are taken"
            )
        try:
            self._check_role(scope, headers)
        except PeopleError as problem:
            log("cannot read the people", "error", problem=str(problem))
            raise HTTPException(
                503, "the people of this server cannot be read; its log says what is wrong"
            ) from None
        if self._has_body(scope):
            kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
            expected = "application/json"
            body = "JSON"
            if path in FILE_PATHS:
                expected = "application/octet-stream"
                body = "a file"
            # a form of another site can send other types without asking
            if kind != expected.encode():
                raise HTTPException(415, f"send {body}, with the header Content-Type: {expected}")
        if self._in_flight > self._limits.in_flight and path not in UNLIMITED_PATHS:
            most = self._limits.in_flight
            raise HTTPException(
                429,
                f"{most} requests are being answered already; try again in a second",
                {"retry-after": "1"},
            )

    def _check_role(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Find out who asks, and refuse who may not."""
        if not self._doorkeeper.asks:
            # Without a token, no other site's name may lead a browser here.
            name = PORT.sub("", headers.get(b"host", b"").decode("latin-1"))
            if name not in self._hosts:
                raise HTTPException(
                    421,
                    "this server answers to localhost only; to be reached by another name, set a "
                    "token",
                )
            ASKING.set(ANYONE)
            return
        role = role_needed(scope["method"], scope["path"], self._paths)
        if role is None or scope["method"] == "OPTIONS":
            return
        person = self._doorkeeper.who(headers.get(b"authorization", b""))
        if person is None:
            challenge = {"www-authenticate": "Bearer"}
            raise HTTPException(
                401, "a token is needed: send the header Authorization: Bearer TOKEN", challenge
            )
        try:
            person.must_be(role)
        except NotAllowed as problem:
            raise HTTPException(403, str(problem)) from None
        ASKING.set(person)

    def _has_body(self, scope: Scope) -> bool:
        """Return whether the body of a request is read. Others are answered without waiting for
        one.
        """
        return scope["method"] == "POST" and ("POST", scope["path"]) in ROLE_OF_ROUTE

    async def _body(self, headers: dict[bytes, bytes], receive: Receive, most: int) -> bytes:
        """Return the whole body, unless it is too large."""
        too_large = HTTPException(
            413, f"the body is larger than the {most:,} bytes that are taken; send it in parts"
        )
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > most:
            raise too_large
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise HTTPException(400, "the request ended before its body did")
            body += message.get("body", b"")
            if len(body) > most:
                raise too_large
            if not message.get("more_body"):
                return bytes(body)


def _receive_first(body: bytes, receive: Receive) -> Receive:
    """Return a channel that gives the body first, and then what the real channel gives."""
    is_first = True

    async def channel() -> Message:
        nonlocal is_first
        if not is_first:
            return await receive()
        is_first = False
        return {"type": "http.request", "body": body, "more_body": False}

    return channel


def refused(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer that says why a request is refused, or has failed."""
    return Response(msgspec.json.encode({"error": sentence}), status, headers, "application/json")


class Connections:
    """The connections of a server: idle ones are closed, and the oldest gives way to a new one if
    there are too many.

    uvicorn limits the size of a header, and closes connections that are idle after an answer. It
    does not limit the time to send a header, or to take an answer. The middleware limits a request
    once its header is complete.
    """

    def __init__(self, limits: Limits) -> None:
        self._most = limits.connections
        self._opened: WeakKeyDictionary[H11Protocol, float] = WeakKeyDictionary()
        self._idle: set[tuple[H11Protocol, Any, int]] = set()  # at the last look, and their states

    def open(self, server_state: ServerState, **options: Any) -> H11Protocol:
        """Open a connection; close the oldest idle one if there are too many."""
        if len(server_state.connections) >= self._most:
            idle = [
                connection
                for connection in self._opened
                if connection in server_state.connections and is_idle(connection)
            ]
            if idle:
                min(idle, key=self._opened.__getitem__).transport.abort()
        connection = H11Protocol(server_state=server_state, **options)
        self._opened[connection] = time.monotonic()
        return connection

    async def look(self) -> None:
        """Close connections that have been idle since the last look, and have taken nothing of
        their answers.
        """
        idle = set()
        for connection in self._opened:
            if connection.transport is not None and is_idle(connection):
                n_unsent = connection.transport.get_write_buffer_size()
                idle.add((connection, connection.cycle, n_unsent))
        for connection, _, _ in idle & self._idle:
            connection.transport.abort()  # closing would wait until the answer is taken
        self._idle = idle - self._idle


def is_idle(connection: H11Protocol) -> bool:
    """Return whether nothing is being answered."""
    cycle = connection.cycle
    return cycle is None or cycle.response_complete or connection.transport.is_closing()
