"""Routes: methods of a class, each marked with the path that it answers; and their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import ValidationError

from shortlist.data.ranking import Explanation
from shortlist.server import schemas
from shortlist.server.context import ServerContext

Method = TypeVar("Method", bound=Callable[..., Any])
SHOWN_CHARACTERS = 200  # of a text in a list
PIECE_BYTES = 2**16  # of a long answer, sent at a time
REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": schemas.Problem,
        "description": "The request is refused; 429: come back after Retry-After.",
    },
    "5XX": {
        "model": schemas.Problem,
        "description": "It failed; 503: try again; 507: the disk is full.",
    },
}
FILE_BODY = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


class Routes:
    """Some routes of a server."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context
        self.replica = context.replica

    def router(self) -> APIRouter:
        router = APIRouter()
        for name, method in vars(type(self)).items():
            if hasattr(method, "route"):
                router.add_api_route(endpoint=getattr(self, name), **method.route)
        return router


def get(path: str, answer: object) -> Callable[[Method], Method]:
    """Mark a method with its path and the shape of its answer."""
    return _marked("GET", path, answer)


def get_hidden(path: str) -> Callable[[Method], Method]:
    """Mark a method that the OpenAPI document leaves out."""
    return _marked("GET", path, None, include_in_schema=False)


def get_text(path: str, kinds: Iterable[str]) -> Callable[[Method], Method]:
    """Mark a method that answers with text of one of these kinds."""
    content = {}
    for kind in kinds:
        shape = "array" if kind == "application/json" else "string"
        content[kind] = {"schema": {"type": shape}}
    responses = {200: {"content": content}, **REFUSALS}
    return _marked("GET", path, None, response_class=Response, responses=responses)


def post(path: str, answer: object) -> Callable[[Method], Method]:
    """Mark a method whose only input is a JSON body."""
    return _marked("POST", path, answer, route_class_override=DirectRoute)


def post_file(path: str, answer: object) -> Callable[[Method], Method]:
    """Mark a method that takes a file."""
    return _marked("POST", path, answer, openapi_extra={"requestBody": FILE_BODY})


def _marked(verb: str, path: str, answer: object, **options: Any) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        responses = {200: {"model": answer}, **REFUSALS}
        method.route = {"path": path, "methods": [verb], "responses": responses} | options  # type: ignore[attr-defined]
        return method

    return mark


class DirectRoute(APIRoute):
    """A route whose only input is its JSON body: pydantic reads it at once, with nothing in
    between.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        assert self.body_field is not None
        question: Any = self.body_field.field_info.annotation
        endpoint = self.endpoint

        async def handle(request: Request) -> Response:
            try:
                checked = question.model_validate_json(await request.body())
            except ValidationError as error:
                # as FastAPI would
                problems = [
                    problem | {"loc": ("body", *problem["loc"])} for problem in error.errors()
                ]
                raise RequestValidationError(problems) from None
            response: Response = await endpoint(checked)
            return response

        return handle


# Answers.


def as_json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def votes_of(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the votes of an explanation, with their places in the text if it explains a text."""
    spans_of_votes = explanation.spans or [[]] * len(explanation.votes)
    return [
        {"feature": feature, "vote": vote, "spans": spans}
        for (feature, vote), spans in zip(explanation.votes, spans_of_votes, strict=True)
    ]


def passages_of(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the sentences of an explained text and their votes."""
    return [passage._asdict() for passage in explanation.passages]


def streamed(
    pieces: Iterable[bytes], kind: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Send a long answer in pieces; the time limit starts anew with each piece that the client
    takes.
    """

    async def send() -> AsyncIterator[bytes]:
        for content in pieces:
            for start in range(0, len(content), PIECE_BYTES):
                yield content[start : start + PIECE_BYTES]
            await asyncio.sleep(0)

    return StreamingResponse(send(), media_type=kind, headers=headers)
