"""Routes and their answers: in JSON, and in the OpenAPI document; every error in the same shape, one sentence."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from shortlist.errors import InputError
from shortlist.server import schemas
from shortlist.server.context import Context
from shortlist.server.journal import DiskFull, JournalError, KeyUsed
from shortlist.server.middleware import FAILED
from shortlist.server.people import NotAllowed
from shortlist.server.queue import NotThere, Taken
from shortlist.server.replica import Needed

Method = TypeVar("Method", bound=Callable[..., Any])
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

# What pydantic calls the kinds of values, and of problems with one, and what we do.
INNER = re.compile(r"\[|^constrained-")  # of its own types, in the place of a problem
KINDS = {
    **dict.fromkeys(["int_type", "int_parsing", "int_parsing_size", "int_from_float"], "a whole number"),
    **dict.fromkeys(["float_type", "float_parsing"], "a number"),
    **dict.fromkeys(["dict_type", "model_type", "model_attributes_type"], "an object"),
    "string_type": "a text", "bool_type": "true or false", "list_type": "a list",
}  # fmt: skip
WANTED = {
    "less_than_equal": "expected a number of at most {le}", "greater_than_equal": "expected a number of at least {ge}",
    "finite_number": f"expected a number between {-sys.float_info.max:.1e} and {sys.float_info.max:.1e}",
    "too_short": "expected at least {min_length} of them, found {actual_length}",
    "too_long": "expected at most {max_length} of them, found {actual_length}",
    "extra_forbidden": "there is no such field",
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
    place, meant = _meant(problem.errors())
    telling = [one for one in meant if one["type"] not in KINDS]
    if telling:
        said = _in_words(telling[0])
    else:  # of none of the kinds that it may be
        *others, last = dict.fromkeys(KINDS[one["type"]] for one in meant)
        said = "expected " + (f"{', '.join(others)} or {last}" if others else last)
    return _problem(422, f"{'.'.join(map(str, place)) or 'the body'}: {said}{meant[0].get('as_in', '')}")


def _meant(problems: Sequence[Any]) -> tuple[list[str | int], list[Any]]:
    """The place of the first problem, and all that is wrong there.

    Where a field may be of several kinds, pydantic tells of each what is wrong. The one that fits best is meant: what
    is wrong with it is deepest inside.
    """
    places = [[part for part in one["loc"][1:] if not INNER.search(str(part))] for one in problems]
    first = places[0]
    place = max((one for one in places if one[: len(first)] == first), key=len)
    return place, [one for one, own in zip(problems, places, strict=True) if own == place]


def _in_words(problem: Any) -> str:
    """What pydantic says, in our words where we have any."""
    known = {name: _short(value) for name, value in problem.get("ctx", {}).items()}
    said: str = WANTED.get(problem["type"], "").format_map(known)
    other = problem["msg"].removeprefix("Value error, ")  # which pydantic puts before what we say
    return said or f"{other[0].lower()}{other[1:]}"


def _short(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


async def _inside(_: Request, problem: Exception) -> Response:
    return _problem(500, FAILED)  # the middleware logs it


def _problem(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode({"error": sentence}), status, headers, "application/json")


# Routes: methods of a class that say which path they answer.


class Routes:
    """Some routes of a server, with what they share."""

    def __init__(self, context: Context) -> None:
        self._context, self._replica = context, context.replica

    def router(self) -> APIRouter:
        router = APIRouter()
        for name in {name: None for kind in reversed(type(self).__mro__) for name in vars(kind)}:
            route = getattr(getattr(type(self), name), "route", None)
            if route is not None:
                router.add_api_route(endpoint=getattr(self, name), **route)
        return router


def get(
    path: str, answer: type[Any] | None, *statuses: int, kinds: Iterable[str] = (JSON_LINES,)
) -> Callable[[Method], Method]:
    """The path that a method answers, with what: text of some ``kinds``, or None where no document says so."""
    about = {"include_in_schema": False} if answer is None else answers(answer, *statuses, kinds=kinds)
    text = {"response_class": Response} if answer is str else {}
    return _marked({"path": path, "methods": ["GET"]} | about | text)


def post(path: str, answer: type[Any], *statuses: int) -> Callable[[Method], Method]:
    """The same for a method whose only input is a JSON body."""
    return _marked(_posted(path, answer, statuses) | {"route_class_override": DirectRoute})


def post_file(path: str, answer: type[Any], *statuses: int) -> Callable[[Method], Method]:
    """The same for a method that takes a file."""
    return _marked(_posted(path, answer, statuses) | {"openapi_extra": {"requestBody": A_FILE}})


def _posted(path: str, answer: type[Any], statuses: tuple[int, ...]) -> dict[str, Any]:
    return {"path": path, "methods": ["POST"]} | answers(answer, *statuses, *ASKING)


def _marked(route: dict[str, Any]) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        method.route = route  # type: ignore[attr-defined]
        return method

    return mark


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
    as_in = f", as in {sample}" if sample and is_another else ""
    return {**problem, "loc": ("body", *problem["loc"]), "as_in": as_in}
