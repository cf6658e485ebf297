"""What all routes share: the model they ask, the journal they write to, their answers, and their
errors.

A route is a method marked with the path it answers. Every error has the same shape, one sentence.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from typing import Any, TypeVar

import msgspec
import numpy as np
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from shortlist.data.label_input import Label
from shortlist.data.ranking import Explanation
from shortlist.data.texts import Document, Vectors, as_documents, as_vectors
from shortlist.encoders import EndpointError
from shortlist.errors import InputError
from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import encoded, with_vectors
from shortlist.models.model import Model
from shortlist.server import schemas
from shortlist.server.journal import (
    Check,
    Conflict,
    DiskFull,
    Example,
    Journal,
    JournalError,
    Moved,
    MustTry,
    Receipt,
    Writer,
    alike,
    nothing_needs,
)
from shortlist.server.middleware import FAILED, Metrics, refused
from shortlist.server.people import ASKING, NotAllowed
from shortlist.server.replica import Replica, check_not_needed
from shortlist.server.review_queue import Handing, NotThere, gains
from shortlist.server.schemas import ONE_LINE, ONE_WORD
from shortlist.server.settings import Limits, Settings

Found = TypeVar("Found")


class Context:
    """A server, as its routes see it."""

    def __init__(self, replica: Replica, settings: Settings) -> None:
        self.replica, self.settings = replica, settings
        self.metrics = Metrics()
        self._writer: Writer | None = None
        self._queue: Handing | None = None
        self._beside: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Begin to serve: open the journal and the queue for writing, unless the server is
        read-only.
        """
        if not self.settings.read_only:
            self._writer = Writer(self.settings.folder)
            self._queue = Handing(
                self.settings.folder, lambda texts: gains(self.model, self.ready_to_rank(texts))
            )

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task beside the requests, until the server ends."""
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def close(self) -> None:
        """Finish what was asked for, and end the tasks beside it."""
        beside = list(self._beside)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        for one in (self._queue, self._writer):
            if one is not None:
                one.close()
        self.replica.close()

    @property
    def limits(self) -> Limits:
        return self.settings.limits

    @property
    def served(self) -> Model[Any]:
        """The present model, of any kind."""
        return self.replica.served

    @property
    def model(self) -> Categorizer:
        """The present model, for routes of labels of texts; undoing an example replaces it."""
        return self.replica.model

    @property
    def person(self) -> str:
        """The name of the person who asks; empty if the server does not know people."""
        return ASKING.get().name

    def writer(self) -> Writer:
        """Return the writer of the journal; refused if the server is read-only."""
        if self._writer is None:
            raise HTTPException(
                403, "this server is read-only: it ranks and explains, and does not learn"
            )
        return self._writer

    def queue(self) -> Handing:
        """Return the queue; refused if the server is read-only."""
        if self._queue is None:
            raise HTTPException(
                403, "this server is read-only: it ranks and explains, and has no queue"
            )
        return self._queue

    async def look_back(self, work: Callable[[Journal], Found]) -> Found:
        """Run a long look at the journal in another thread, over a connection of its own."""

        def look() -> Found:
            with contextlib.closing(Journal(self.replica.folder, read_only=True)) as journal:
                return work(journal)

        return await asyncio.to_thread(look)

    # Vectors and labels of a question.

    def vectors(self, texts: Sequence[Document], given: Sequence[Any] | None) -> Vectors | None:
        """Return the vectors of texts, given or made by the encoder; None if the model has
        learned none.
        """
        model, encoder = self.model, self.settings.encoder
        if given is None and not model.n_vector_:
            return None
        if given is None and encoder is not None and texts:
            return encoded(encoder, as_documents(texts))
        with in_conflict():  # if the model does not allow them
            return model.vectors_of_texts(
                with_vectors(texts, None if given is None else as_vectors(given, len(texts)))
            )

    def vector(self, text: Document, given: list[float] | None) -> Vectors | None:
        """Return the vector of one text."""
        found = self.vectors([text], None if given is None else [given])
        return None if found is None else found[0]

    def ready(self, texts: Sequence[Document]) -> Sequence[Any]:
        """Return texts of the queue as the model ranks them: of one kind, with vectors if it
        has learned any.
        """
        documents = alike(texts, self.model.fields_)
        return with_vectors(documents, self.vectors(documents, None))

    def ready_to_rank(self, texts: Sequence[Document]) -> Sequence[Any]:
        """Return texts as ``ready`` does; with vectors of zeros if an endpoint is away."""
        try:
            return self.ready(texts)
        except EndpointError:
            documents = alike(texts, self.model.fields_)
            return with_vectors(documents, np.zeros((len(texts), self.model.n_vector_)))

    def named(self, label: Label) -> dict[str, Any]:
        """Return a label with its name, if there is a vocabulary."""
        vocabulary = self.model.vocabulary_
        return (
            {"label": label}
            if vocabulary is None
            else {"label": label, "name": vocabulary.name(label)}
        )

    def known_label(self, name: str) -> Label:
        """Return the label of a name, which must have been learned; retired ones can be
        restored.
        """
        label = self.replica.label(name)
        if not self.model.knows_label(label):
            raise HTTPException(404, f"the label {name!r} has not been learned")
        return label

    def check_known(self, names: Sequence[str]) -> None:
        """Refuse rules with unknown labels: a typing error would leave no labels, or all."""
        model = self.model
        for name in names:
            if not model.knows_label(self.replica.label(name)) and name not in (
                model.vocabulary_ or ()
            ):
                raise Conflict(
                    f"a rule names {name!r}, which is not a label that was learned; look for it at "
                    "/v1/labels"
                )

    # Learning and undoing.

    def checked(self, examples: list[Example]) -> list[Example]:
        """Refuse labels that the model does not take, except of examples that are only sent
        again.
        """
        judged = zip(*((one.labels, one.wrong, one.complete) for one in examples), strict=True)
        try:
            self.model.check_labels(*map(list, judged))
        except InputError as problem:
            new = [one for one in examples if not self.replica.journal.has_key(one.key)]
            if len(new) < len(examples):
                if new:
                    self.checked(new)
                return examples
            # the model does not allow it
            if any(one.wrong or not one.complete for one in examples):
                raise Conflict(str(problem)) from None
            raise
        return examples

    async def appended(self, checked: Callable[[], Sequence[Example]]) -> list[Receipt]:
        """Write the examples that ``checked`` gives, and learn them.

        It is called again if labels have changed before the commit.
        """
        writer = self.writer()
        receipts = await self._settled(
            lambda: writer.ask(Journal.append, checked(), self.replica.seen)
        )
        self.metrics.learned.inc(sum(receipt.new for receipt in receipts))
        return receipts

    async def undo(self, numbers: Sequence[int]) -> int:
        """Undo examples, and forget them. Returns how many of them had not been undone before."""
        ask, person = self.writer().ask, self.person
        undone = await self.undone(numbers, lambda check: ask(Journal.undo, numbers, person, check))
        self.metrics.undone.inc(undone)
        return undone

    async def undone(
        self, numbers: Sequence[int], undo: Callable[[Check], Awaitable[Found]]
    ) -> Found:
        """Undo examples by ``undo``, unless the model could not learn others without them, and
        forget them.
        """

        async def tried() -> Found:
            with contextlib.suppress(MustTry):
                return await undo(partial(nothing_needs, numbers))
            known = set(self.replica.passed)
            make = partial(Replica, self.settings.folder, read_only=True, without=numbers)
            with contextlib.closing(await asyncio.to_thread(make)) as trial:
                return await undo(partial(check_not_needed, trial, known))

        return await self._settled(tried)

    async def _settled(self, work: Callable[[], Awaitable[Found]]) -> Found:
        """Write to the journal, again if labels have changed before the commit, and have the
        model follow.
        """
        while True:
            try:
                found = await work()
                break
            except Moved:
                await self.replica.follow()
        await self.replica.catch_up()
        return found


@contextlib.contextmanager
def in_conflict() -> Iterator[None]:
    """Answer 409 instead of 422 to what is refused within: the question is right, and the model
    does not allow it.
    """
    try:
        yield
    except EndpointError:
        raise
    except InputError as problem:
        raise Conflict(str(problem)) from None


# Answers.


Method = TypeVar("Method", bound=Callable[..., Any])
PIECE = 2**16  # bytes of a long answer sent at a time
REFUSED: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": schemas.Problem,
        "description": "The request is refused; 429: come back after Retry-After.",
    },
    "5XX": {
        "model": schemas.Problem,
        "description": "It failed; 503: try again; 507: the disk is full.",
    },
}
A_FILE = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}
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
INNER = re.compile(r"\[|^constrained-|^float$")
PATTERNS = {
    ONE_LINE: "expected one line of text, without control characters",
    ONE_WORD: "expected letters, digits and signs of ASCII, without spaces",
}


def as_json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def votes_of(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the votes of an explanation, with their places in the text if it explains a text."""
    places = explanation.spans or [[]] * len(explanation.votes)
    return [
        {"feature": feature, "vote": vote, "spans": spans}
        for (feature, vote), spans in zip(explanation.votes, places, strict=True)
    ]


def streamed(
    pieces: Iterable[str], kind: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Send a long answer in pieces; the time limit starts anew with each piece that the client
    takes.
    """

    async def sent() -> AsyncIterator[bytes]:
        for text in pieces:
            whole = text.encode()
            for start in range(0, len(whole), PIECE):
                yield whole[start : start + PIECE]
            await asyncio.sleep(0)

    return StreamingResponse(sent(), media_type=kind, headers=headers)


def explain_problems(app: FastAPI) -> None:
    """Answer every error with one sentence."""
    for kind, status in STATUS_OF.items():
        app.add_exception_handler(kind, partial(_known, status))
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(Exception, _inside)


async def _known(status: int, _: Request, problem: Exception) -> Response:
    return refused(status, str(problem))


async def _http(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return refused(problem.status_code, str(problem.detail), problem.headers)


async def _inside(_: Request, problem: Exception) -> Response:
    return refused(500, FAILED)  # the middleware logs it


async def _validation(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestValidationError)
    place, found = _deepest(problem.errors())
    words = " or ".join(dict.fromkeys(map(_in_words, found))).replace(
        " or input should be ", " or "
    )
    return refused(422, f"{'.'.join(map(str, place)) or 'the body'}: {words}")


def _deepest(problems: Sequence[Any]) -> tuple[list[str | int], list[Any]]:
    """Return the place of the first problem, and all problems at that place.

    For a field of several kinds, pydantic reports the problems of each kind. The kind that fits
    best has its problem deepest inside.
    """
    places = [[part for part in one["loc"][1:] if not INNER.search(str(part))] for one in problems]
    first = places[0]
    place = max((one for one in places if one[: len(first)] == first), key=len)
    return place, [one for one, where in zip(problems, places, strict=True) if where == place]


def _in_words(problem: Any) -> str:
    """Return our words for a problem, or else pydantic's."""
    # pydantic's prefix of our own sentences
    found: str = problem["msg"].removeprefix("Value error, ")
    return PATTERNS.get(problem.get("ctx", {}).get("pattern")) or f"{found[0].lower()}{found[1:]}"


# Routes: methods of a class, each marked with the path that it answers.


class Routes:
    """Some routes of a server."""

    def __init__(self, context: Context) -> None:
        self.context, self.replica = context, context.replica

    def router(self) -> APIRouter:
        router = APIRouter()
        for name, method in vars(type(self)).items():
            if hasattr(method, "route"):
                router.add_api_route(endpoint=getattr(self, name), **method.route)
        return router


def get(path: str, answer: object) -> Callable[[Method], Method]:
    """Mark a method with its path and the shape of its answer: a list for text of one of these
    kinds.
    """
    if answer is None:
        return _marked("GET", path, include_in_schema=False)
    if isinstance(answer, list):
        shapes = {
            kind: {"type": "array" if kind == "application/json" else "string"} for kind in answer
        }
        content = {kind: {"schema": shape} for kind, shape in shapes.items()}
        return _marked(
            "GET", path, response_class=Response, responses={200: {"content": content}, **REFUSED}
        )
    return _marked("GET", path, answer)


def post(path: str, answer: object) -> Callable[[Method], Method]:
    """Mark a method whose only input is a JSON body."""
    return _marked("POST", path, answer, route_class_override=DirectRoute)


def post_file(path: str, answer: object) -> Callable[[Method], Method]:
    """Mark a method that takes a file."""
    return _marked("POST", path, answer, openapi_extra={"requestBody": A_FILE})


def _marked(verb: str, path: str, answer: object = None, **more: Any) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        responses = {200: {"model": answer}, **REFUSED}
        method.route = {"path": path, "methods": [verb], "responses": responses} | more  # type: ignore[attr-defined]
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
                asked = question.model_validate_json(await request.body())
            except ValidationError as problem:
                # as FastAPI would
                found = [one | {"loc": ("body", *one["loc"])} for one in problem.errors()]
                raise RequestValidationError(found) from None
            response: Response = await endpoint(asked)
            return response

        return handle
