"""Errors as answers: every one has the same shape, one sentence, and a fitting status."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from shortlist.encoders import EndpointError
from shortlist.errors import InputError
from shortlist.server.journal_errors import Conflict, DiskFull, JournalError
from shortlist.server.middleware import FAILED, refused
from shortlist.server.people import NotAllowed
from shortlist.server.review_queue import NotThere
from shortlist.server.schemas import ONE_LINE_PATTERN, ONE_WORD_PATTERN

STATUS_OF = {
    EndpointError: 503,
    InputError: 422,
    NotThere: 404,
    Conflict: 409,
    NotAllowed: 403,
    DiskFull: 507,
    JournalError: 503,
}
# pydantic's own types, in the location of a problem
PYDANTIC_TYPE = re.compile(r"\[|^constrained-|^float$")
PATTERN_SENTENCES = {
    ONE_LINE_PATTERN: "expected one line of text, without control characters",
    ONE_WORD_PATTERN: "expected letters, digits and signs of ASCII, without spaces",
}


def explain_problems(app: FastAPI) -> None:
    """Answer every error with one sentence."""
    for kind, status in STATUS_OF.items():
        app.add_exception_handler(kind, partial(_answer_known, status))
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_exception_handler(OSError, _answer_system)
    app.add_exception_handler(Exception, _answer_failure)


async def _answer_known(status: int, _: Request, problem: Exception) -> Response:
    return refused(status, str(problem))


async def _answer_http(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return refused(problem.status_code, str(problem.detail), problem.headers)


async def _answer_system(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, OSError)
    if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
        raise problem
    return refused(507, f"the disk is full ({problem.strerror}): make room and try again")


async def _answer_failure(_: Request, problem: Exception) -> Response:
    return refused(500, FAILED)  # the middleware logs it


async def _answer_validation(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestValidationError)
    place, problems = _deepest(problem.errors())
    sentences = " or ".join(dict.fromkeys(map(_sentence, problems)))
    sentences = sentences.replace(" or input should be ", " or ")
    return refused(422, f"{'.'.join(map(str, place)) or 'the body'}: {sentences}")


def _deepest(problems: Sequence[Any]) -> tuple[list[str | int], list[Any]]:
    """Return the place of the first problem, and all problems at that place.

    For a field of several kinds, pydantic reports the problems of each kind. The kind that fits
    best has its problem deepest inside.
    """
    places = [
        [part for part in problem["loc"][1:] if not PYDANTIC_TYPE.search(str(part))]
        for problem in problems
    ]
    first = places[0]
    deepest = max((place for place in places if place[: len(first)] == first), key=len)
    at_deepest = [
        problem for problem, place in zip(problems, places, strict=True) if place == deepest
    ]
    return deepest, at_deepest


def _sentence(problem: Any) -> str:
    """Return our words for a problem, or else pydantic's."""
    pattern = problem.get("ctx", {}).get("pattern")
    if pattern in PATTERN_SENTENCES:
        return PATTERN_SENTENCES[pattern]
    # pydantic's prefix of our own sentences
    words: str = problem["msg"].removeprefix("Value error, ")
    return words[0].lower() + words[1:]
