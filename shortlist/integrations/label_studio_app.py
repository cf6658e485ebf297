"""The backend for Label Studio over HTTP, in a process of its own beside the server that it asks."""

from __future__ import annotations

import hmac
import json
import socket
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from shortlist.errors import InputError
from shortlist.integrations.label_studio import Backend
from shortlist.server.settings import is_loopback

MOST = 50_000_000  # bytes of a request


def serve(backend: Backend, host: str, port: int, password: str | None, tell: Callable[[str], None]) -> None:
    """Answer until it is stopped. Others than this machine need a password."""
    if password is None and not is_loopback(host):
        raise InputError(f"listening on {host} lets others teach: give a password with --password-file")
    try:
        listening = socket.create_server((host, port))
    except OSError as problem:
        raise InputError(f"cannot listen on {host}:{port}: {problem.strerror}") from None
    tell(f"http://{host}:{listening.getsockname()[1]}")
    config = uvicorn.Config(make_app(backend, password), log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


def make_app(backend: Backend, password: str | None = None) -> FastAPI:
    """All routes. Each is answered in a thread, since the server is waited for: also when Label Studio has given up."""
    app = FastAPI(title="shortlist for Label Studio", docs_url=None, redoc_url=None, openapi_url=None)

    def answering(work: Callable[[dict[str, Any]], dict[str, Any]], status: int = 200) -> Callable[..., Any]:
        async def answer(request: Request) -> JSONResponse:
            if "origin" in request.headers:  # a browser says so of every such request, of whatever page it is
                return JSONResponse({"error": "web pages may not ask here, only Label Studio itself"}, 403)
            if not is_allowed(request.headers.get("authorization"), password):
                return JSONResponse({"error": "a password is needed"}, 401, {"WWW-Authenticate": "Basic"})
            content = bytearray()
            async for part in request.stream():
                content += part
                if len(content) > MOST:
                    return JSONResponse({"error": f"a request may have {MOST:,} bytes"}, 413)
            try:
                asked = json.loads(content)
            except ValueError:
                asked = None
            if not isinstance(asked, dict):
                return JSONResponse({"error": "the request must be a JSON object"}, 422)
            try:
                return JSONResponse(await run_in_threadpool(work, asked), status)
            except InputError as problem:
                return JSONResponse({"error": str(problem)}, 422)

        return answer

    async def health() -> dict[str, Any]:
        return backend.health()

    for path in ("/", "/health"):
        app.get(path)(health)
    app.post("/setup")(answering(backend.setup))
    app.post("/predict")(answering(backend.predict))
    app.post("/webhook")(answering(backend.webhook, 201))
    return app


def is_allowed(given: str | None, password: str | None) -> bool:
    """Whether this is the password, under whatever name (HTTP basic authentication)."""
    if password is None:
        return True
    kind, _, said = (given or "").partition(" ")
    try:
        found = b64decode(said, validate=True).partition(b":")[2]
    except ValueError:
        return False
    return kind.lower() == "basic" and hmac.compare_digest(found, password.encode())
