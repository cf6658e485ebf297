"""Routes whose only input is their JSON body: pydantic reads it in one go, and nothing else stands in between.

A ranking takes a tenth of a millisecond; FastAPI's general way of finding out what a route wants takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError


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
