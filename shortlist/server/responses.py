"""Answers: in JSON, and in the OpenAPI document; every error in the same shape, one sentence."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from shortlist.errors import InputError
from shortlist.server import schemas
from shortlist.server.journal import KeyUsed
from shortlist.server.ledger import DiskFull, JournalError
from shortlist.server.middleware import FAILED
from shortlist.server.people import NotAllowed
from shortlist.server.queue.store import NotThere, Taken
from shortlist.server.replica import Needed

JSON_LINES = "application/jsonl"
WORDS = {
    400: "The request cannot be read.",
    401: "The token is missing or wrong.",
    403: "The server is read-only, or the role of who asks does not allow it.",
    404: "There is no such label, example or text of the queue.",
    409: "The key was used for another example, the labels do not allow the change, or another has the text.",
    413: "The body is too large.",
    415: "The body is not JSON, or not sent as a file.",
    421: "The server does not go by this name.",
    422: "A value is not what it should be.",
    429: "Too many requests at a time; Retry-After says when to come back.",
    431: "The header is too large.",
    503: "It took too long, or the journal cannot be used.",
    507: "The disk is full; nothing was changed.",
}
ASKING = (413, 415, 422)  # what may be wrong with a body
A_FILE = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
STATUS_OF = {
    InputError: 422, NotThere: 404, Taken: 409, KeyUsed: 409, Needed: 409, NotAllowed: 403, DiskFull: 507,
    JournalError: 503,
}  # fmt: skip


def as_json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def answers(model: type[Any], *statuses: int, kinds: Iterable[str] = (JSON_LINES,)) -> dict[str, Any]:
    """What a route may answer, for the OpenAPI document; where that is text, of which kinds."""
    every = (*statuses, 400, 401, 403, 421, 429, 431, 503)
    problems = {status: {"model": schemas.Problem, "description": WORDS[status]} for status in every}
    shapes = {kind: {"type": "array" if kind == "application/json" else "string"} for kind in kinds}
    as_text = {"content": {kind: {"schema": shape} for kind, shape in shapes.items()}}
    answer = as_text if model is str else {"model": model}
    return {"responses": {200: answer, **problems}}


def explain_problems(app: FastAPI) -> None:
    """Have every error answered with one sentence."""
    for kind in STATUS_OF:
        app.add_exception_handler(kind, _known)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(Exception, _inside)


async def _known(_: Request, problem: Exception) -> Response:
    status = next(STATUS_OF[kind] for kind in type(problem).__mro__ if kind in STATUS_OF)
    return _problem(status, str(problem))


async def _http(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return _problem(problem.status_code, str(problem.detail), problem.headers)


async def _validation(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestValidationError)
    first = problem.errors()[0]
    named = [str(part) for part in first["loc"][1:] if "[" not in str(part)]  # not pydantic's names of its own types
    where = ".".join(named) or "the body"
    said = first["msg"].removeprefix("Value error, ")  # which pydantic puts before what we say
    return _problem(422, f"{where}: {said[0].lower()}{said[1:]}")


async def _inside(_: Request, problem: Exception) -> Response:
    return _problem(500, FAILED)  # the middleware logs it


def _problem(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode({"error": sentence}), status, headers, "application/json")


# Routes whose only input is their JSON body: pydantic reads it in one go, and nothing else stands in between.


class DirectRoute(APIRoute):
    """A route of a function of one argument, a pydantic model, that gives a Response."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        assert self.body_field is not None
        question: Any = self.body_field.field_info.annotation
        endpoint = self.endpoint

        async def handle(request: Request) -> Response:
            try:
                asked = question.model_validate_json(await request.body())
            except ValidationError as problem:
                sample = getattr(question, "sample", "")
                found = [_placed(one, sample) for one in problem.errors()]
                raise RequestValidationError(found) from None
            response: Response = await endpoint(asked)
            return response

        return handle


def _placed(problem: Any, sample: str) -> dict[str, Any]:
    """A problem of a body, and how one should look where what it consists of is not there."""
    is_another = (problem["type"] == "missing" and len(problem["loc"]) == 1) or not problem["loc"]
    said = f"{problem['msg']}, as in {sample}" if sample and is_another else problem["msg"]
    return {**problem, "loc": ("body", *problem["loc"]), "msg": said}
