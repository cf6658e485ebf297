"""An encoder over HTTP: /v1/embeddings, as OpenAI's clients and many tools ask for it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import json
import socket
from collections.abc import Callable
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shortlist.encoders import Encoder
from shortlist.errors import InputError
from shortlist.server.logs import log_failure
from shortlist.server.middleware import PORT, Connections
from shortlist.server.settings import LEAST_TOKEN_CHARACTERS, Limits, is_loopback, listen

VECTOR_ENCODINGS = ("float", "base64")
SECONDS_TO_STOP = 5


class Embeddings:
    """The routes. ``hosts``: the names that a request without a token may ask for."""

    def __init__(self, encoder: Encoder, hosts: set[str], token: str | None) -> None:
        self._encoder = encoder
        self._hosts = hosts | {"localhost", "127.0.0.1", "[::1]"}
        self._token = token
        self._limits = Limits()
        self._in_flight = 0

    def app(self) -> Starlette:
        routes = [
            Route("/v1/embeddings", self.embeddings, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/healthz", self.healthz),
        ]
        handlers: dict[Any, Any] = {HTTPException: self._refused, Exception: self._failed}
        return Starlette(routes=routes, exception_handlers=handlers)

    async def healthz(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def models(self, request: Request) -> Response:
        self._check_asker(request)
        model = {"id": self._encoder.name, "object": "model", "owned_by": "shortlist"}
        return JSONResponse({"object": "list", "data": [model]})

    async def embeddings(self, request: Request) -> Response:
        """Answer with a vector for each text."""
        self._check_asker(request)
        if self._in_flight >= self._limits.in_flight:
            raise HTTPException(429, "too many requests at a time; try again", {"retry-after": "1"})
        self._in_flight += 1
        try:
            texts, encoding = self._question(await self._body(request))
            try:
                vectors = await asyncio.to_thread(self._encoder, texts)
            except InputError as problem:
                raise HTTPException(400, str(problem)) from None
        finally:
            self._in_flight -= 1
        data = [
            {"object": "embedding", "index": place, "embedding": written(vector, encoding)}
            for place, vector in enumerate(vectors)
        ]
        letters = sum(map(len, texts))
        usage = {"prompt_tokens": letters, "total_tokens": letters}  # counted in characters
        return JSONResponse(
            {"object": "list", "data": data, "model": self._encoder.name, "usage": usage}
        )

    def _check_asker(self, request: Request) -> None:
        """Refuse whoever has no token, or a browser that another site's name has led here."""
        if self._token is None:
            host = PORT.sub("", request.headers.get("host", ""))
            if host not in self._hosts:
                raise HTTPException(421, "this server answers to localhost only; set a token")
            return
        sent = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(sent, f"Bearer {self._token}".encode()):
            raise HTTPException(401, "a token is needed: Authorization: Bearer TOKEN")

    async def _body(self, request: Request) -> bytes:
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
        body = b""
        try:
            async with asyncio.timeout(self._limits.seconds):
                async for part in request.stream():
                    body += part
                    if len(body) > self._limits.body:
                        raise HTTPException(413, "the request is too large; send it in parts")
        except TimeoutError:
            raise HTTPException(408, "the request did not come in time") from None
        return body

    def _question(self, body: bytes) -> tuple[list[str], str]:
        """The texts of a request, and how vectors are to be written."""
        try:
            question = json.loads(body)
        except (RecursionError, ValueError):
            raise HTTPException(400, "the request is not JSON") from None
        if not isinstance(question, dict):
            raise HTTPException(400, "the request must be an object with model and input")
        if question.get("model") != self._encoder.name:
            raise HTTPException(404, f"the only model here is {self._encoder.name}")
        texts = question.get("input")
        if isinstance(texts, str):
            texts = [texts]
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise HTTPException(400, "input must be a text or a list of texts")
        encoding = question.get("encoding_format", "float")
        if encoding not in VECTOR_ENCODINGS:
            raise HTTPException(
                400, f"encoding_format must be one of {', '.join(VECTOR_ENCODINGS)}"
            )
        if question.get("dimensions", self._encoder.dimension) != self._encoder.dimension:
            raise HTTPException(
                400, f"vectors have {self._encoder.dimension} dimensions here, and no others"
            )
        try:
            self._limits.check_texts(texts)
        except InputError as problem:
            raise HTTPException(413, str(problem)) from None
        return texts, encoding

    async def _refused(self, request: Request, problem: HTTPException) -> Response:
        error = {"message": problem.detail, "type": "invalid_request_error"}
        return JSONResponse({"error": error}, problem.status_code, problem.headers)

    async def _failed(self, request: Request, problem: Exception) -> Response:
        log_failure("failed", problem, path=request.url.path)
        error = {"message": "something went wrong inside the server", "type": "server_error"}
        return JSONResponse({"error": error}, 500)


def written(vector: np.ndarray[Any, Any], encoding: str) -> list[float] | str:
    """A vector as JSON takes it: as numbers, or as the bytes of float32 in base64."""
    if encoding == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(number) for number in vector]


def check_open_to(host: str, token: str | None) -> None:
    """Refuse to let others in without a token."""
    if token is not None and len(token) < LEAST_TOKEN_CHARACTERS:
        raise InputError(
            f"the token has {len(token)} characters; give it at least {LEAST_TOKEN_CHARACTERS}"
        )
    if token is None and not is_loopback(host):
        raise InputError(
            f"listening on {host} lets others in: give a token with --token-file or "
            "SHORTLIST_TOKEN first"
        )


def make_encoder_server(encoder: Encoder, host: str, token: str | None) -> uvicorn.Server:
    limits = Limits()
    connections = Connections(limits)
    opened: Any = connections.open
    config = uvicorn.Config(
        Embeddings(encoder, {host}, token).app(),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        http=opened,
        timeout_graceful_shutdown=SECONDS_TO_STOP,
        timeout_keep_alive=limits.idle,
        h11_max_incomplete_event_size=limits.header,
        callback_notify=connections.look,
        timeout_notify=limits.idle,
    )
    return uvicorn.Server(config)


def serve_encoder(
    encoder: Encoder, host: str, port: int, token: str | None, announce: Callable[[str], None]
) -> None:
    """Serve an encoder until a signal says stop."""
    check_open_to(host, token)
    with listen(host, port) as listening, contextlib.suppress(KeyboardInterrupt):
        announce(address_of(listening))
        make_encoder_server(encoder, host, token).run(sockets=[listening])


def address_of(listening: socket.socket) -> str:
    """The address that a client is given, http://HOST:PORT/v1."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"
