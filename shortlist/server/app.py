"""The HTTP interface."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from shortlist.errors import InputError
from shortlist.names import VERSION
from shortlist.server import browse, schemas
from shortlist.server.background import keep_following, keep_snapshots
from shortlist.server.direct import DirectRoute
from shortlist.server.journal import Example, KeyUsed
from shortlist.server.ledger import DiskFull, JournalError
from shortlist.server.metrics import Metrics, Speedometer
from shortlist.server.middleware import FAILED, PAGE, Middleware
from shortlist.server.replica import Replica
from shortlist.server.settings import Settings
from shortlist.server.writer import Writer

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
JSON_LINES = "application/jsonl"
PIECE = 2**16  # bytes of a long answer sent at a time
WORDS = {
    400: "The request cannot be read.",
    401: "The token is missing or wrong.",
    403: "The server is read-only.",
    404: "There is no such label or example.",
    409: "The key was used for another example.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The server does not go by this name.",
    422: "A value is not what it should be.",
    429: "Too many requests at a time; Retry-After says when to come back.",
    431: "The header is too large.",
    503: "It took too long, or the journal cannot be used.",
    507: "The disk is full; nothing was changed.",
}


def answers(model: Any, *statuses: int) -> dict[str, Any]:
    """What a route may answer, for the OpenAPI document."""
    every = (*statuses, 400, 401, 421, 429, 431, 503)
    problems = {status: {"model": schemas.Problem, "description": WORDS[status]} for status in every}
    answer = {"content": {JSON_LINES: {"schema": {"type": "string"}}}} if model is str else {"model": model}
    return {"responses": {200: answer, **problems}}


ASKING = (413, 415, 422)  # what may be wrong with a body


def make_app(replica: Replica, settings: Settings, worker: int = 0) -> ASGIApp:
    """The application of one process; the first one also sees to snapshots."""
    metrics, speed = Metrics(), Speedometer()
    labels = browse.LabelSearch(replica.model)
    limits, page_files = settings.limits, load_page()
    writer: Writer

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        nonlocal writer
        tasks = [asyncio.create_task(keep_following(replica, settings, metrics))]
        if not settings.read_only:
            writer = Writer(settings.folder)
            if worker == 0:
                tasks.append(asyncio.create_task(keep_snapshots(replica, settings, metrics)))
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not settings.read_only:
            writer.close()
        replica.close()

    app = FastAPI(
        title="shortlist", version=VERSION, lifespan=lifespan, docs_url=None, redoc_url=None,
        description="Ranks the labels of texts, says why, and learns from corrections.",
    )  # fmt: skip
    questions = APIRouter(route_class=DirectRoute)

    @questions.post("/v1/rank", **answers(schemas.RankAnswer, *ASKING))
    async def rank(question: schemas.RankQuestion) -> Response:
        """Rank the labels of one text or of many."""
        texts = [question.text] if isinstance(question.text, str) else question.text
        limits.check_texts(texts)
        rankings = []
        for text in texts:
            began = time.perf_counter()
            best = replica.rank(text, question.k)
            speed.add(1, time.perf_counter() - began)
            rankings.append([{"label": label, "score": score} for label, score in best])
            if len(texts) > 1:
                await asyncio.sleep(0)  # let others have a turn
        metrics.texts.inc(len(texts))
        return as_json({"rankings": rankings})

    @questions.post("/v1/explain", **answers(schemas.ExplainAnswer, 404, *ASKING))
    async def explain(question: schemas.ExplainQuestion) -> Response:
        """Say which words of a text vote for a label, how much, and where they stand."""
        limits.check_texts([question.text])
        if question.label is None:
            best = replica.rank(question.text, 1)
            if not best:
                raise HTTPException(404, "nothing is retrieved for this text: the model knows none of its words")
            label = best[0][0]
        else:
            label = known(question.label)
        return as_json(browse.explanation(replica.model, question.text, label))

    @questions.post("/v1/learn", **answers(schemas.LearnAnswer, 403, 409, 507, *ASKING))
    async def learn(question: schemas.LearnQuestion) -> Response:
        """Learn examples, all or none. The answer comes when they are on disk and in the model."""
        must_write()
        limits.check_texts([one.text for one in question.examples])
        limits.check_labels([one.labels for one in question.examples])
        examples = []
        for one in question.examples:
            names = [replica.label(name) for name in dict.fromkeys(one.labels)]
            examples.append(Example(one.text, names, one.key, replica.place(one.text, names)))
            await asyncio.sleep(0)
        replica.model.check_labels([one.labels for one in examples])
        receipts = await writer.append(examples)
        await replica.catch_up()
        metrics.learned.inc(sum(receipt.new for receipt in receipts))
        learned = [
            {"number": receipt.number, "new": receipt.new, "place": example.place}
            for receipt, example in zip(receipts, examples, strict=True)
        ]
        return as_json({"learned": learned})

    @questions.post("/v1/undo", **answers(schemas.UndoAnswer, 403, 404, 507, *ASKING))
    async def undo(question: schemas.UndoQuestion) -> Response:
        """Take an example back. The answer comes when the model is what it would be without it."""
        must_write()
        if question.number > replica.journal.version().examples:
            raise HTTPException(404, f"there is no example {question.number}")
        new = await writer.undo(question.number)
        await replica.catch_up()
        metrics.undone.inc(new)
        return as_json({"number": question.number, "new": new})

    app.include_router(questions)  # first: routes are tried in order

    @app.get("/v1/model", **answers(schemas.ModelAnswer))
    async def model() -> Response:
        """What the model is, how good it was on the last examples before it learned them, and how fast it is."""
        replica.see_snapshots()
        journal, undone = replica.journal.counts()
        places = replica.journal.places()[::-1]
        rolling = {"window": len(places), "places": places}
        for k in (1, 5):
            hits = [place is not None and place <= k for place in places]
            rolling[f"R{k}"] = sum(hits) / len(hits) if hits else None
        return as_json(browse.facts(replica.model) | {
            "journal": journal, "undone": undone, "follows": replica.version.examples, "snapshot": replica.snapshot,
            "bytes": replica.bytes, "read_only": settings.read_only, "limits": asdict(limits), "rolling": rolling,
            "speed": speed.read(),
        })  # fmt: skip

    @app.get("/v1/labels", **answers(schemas.LabelsAnswer, 422))
    async def find_labels(
        q: Annotated[str, Query(max_length=200, description="Letters that the label contains.")] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 20,
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    ) -> Response:
        """Find labels by a part of their names, with the number of examples that each was learned from."""
        nonlocal labels
        if labels.model is not replica.model:
            labels = browse.LabelSearch(replica.model)
        return as_json(labels.find(q, offset, limit))

    @app.get("/v1/label", **answers(schemas.ConnectionsAnswer, 404, 422))
    async def of_label(
        name: Annotated[str, Query(max_length=200)], limit: Annotated[int, Query(ge=1, le=1000)] = 20
    ) -> Response:
        """The features with the strongest connections to a label, and the share of their weight that goes there."""
        label = known(name)
        return as_json({"connections": await replica.look(browse.strongest, label, limit)})

    @app.get("/v1/feature", **answers(schemas.ConnectionsAnswer, 422))
    async def of_feature(
        name: Annotated[str, Query(max_length=200)], limit: Annotated[int, Query(ge=1, le=1000)] = 20
    ) -> Response:
        """The labels that a word alone speaks for."""
        return as_json({"connections": [{"name": label, "weight": w} for label, w in replica.rank(name, limit)]})

    @app.get("/v1/examples", **answers(schemas.EntriesAnswer, 422))
    async def examples(
        limit: Annotated[int, Query(ge=1, le=1000)] = 20,
        before: Annotated[int | None, Query(ge=1, le=2**53, description="Only those with smaller numbers.")] = None,
    ) -> Response:
        """The examples learned last, newest first."""
        entries = [asdict(entry) for entry in replica.journal.entries(before, limit)]
        return as_json({"examples": [entry | {"text": entry["text"][:200]} for entry in entries]})

    @app.get("/v1/journal", response_class=Response, **answers(str, 422))
    async def export() -> Response:
        """All examples learned and not taken back, as JSON lines: a training file like any other.

        It may take as long as it needs while it is being read; a connection that ends before the last chunk has not
        brought all of it.
        """

        async def lines() -> AsyncIterator[bytes]:
            number, chunk = replica.journal.lines(0)
            while chunk:
                for piece in range(0, len(chunk), PIECE):  # the middleware's clock starts anew with each piece taken
                    yield chunk[piece : piece + PIECE]
                number, chunk = replica.journal.lines(number)

        return StreamingResponse(lines(), media_type=JSON_LINES)

    @app.get("/healthz", **answers(schemas.Health))
    async def healthz() -> Response:
        """Whether the server is up."""
        return as_json({"status": "ok"})

    @app.get("/metrics", include_in_schema=False)
    async def prometheus() -> Response:
        facts = browse.facts(replica.model)
        for what in ("examples", "labels", "features", "edges"):
            if facts[what] is not None:
                metrics.model.labels(what).set(facts[what])
        return Response(metrics.page(), media_type="text/plain; version=0.0.4")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return page_files["page.html"]

    @app.get("/docs", include_in_schema=False)
    async def documentation() -> Response:
        return page_files["docs.html"]

    @app.get(PAGE + "{name}", include_in_schema=False)
    async def page_file(name: str) -> Response:
        if name not in page_files:
            raise HTTPException(404, "there is no such page")
        return page_files[name]

    def known(name: str) -> Any:
        label = replica.label(name)
        if not replica.knows(label):
            raise HTTPException(404, f"the label {name!r} has not been learned")
        return label

    def must_write() -> None:
        if settings.read_only:
            raise HTTPException(403, "this server is read-only: it ranks and explains, and does not learn")

    _explain_problems(app)
    paths = {"/", "/docs", "/metrics", *app.openapi()["paths"]}
    asked = {route.path for route in questions.routes if isinstance(route, DirectRoute)}
    middleware: ASGIApp = Middleware(app, settings, metrics, paths, asked)
    if settings.origins:
        middleware = CORSMiddleware(
            middleware, allow_origins=settings.origins, allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )  # fmt: skip
    return middleware


def as_json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def load_page() -> dict[str, Response]:
    """The files of the page, by name."""
    every = (files("shortlist.server") / "page").iterdir()
    return {one.name: Response(one.read_bytes(), media_type=KINDS[one.name.rpartition(".")[2]]) for one in every}


def _explain_problems(app: FastAPI) -> None:
    """Every error is answered in the same shape: one sentence."""

    def handler(status: int) -> Any:
        async def handle(_: Request, problem: Exception) -> Response:
            return _problem(status, str(problem))

        return handle

    for kind, status in ((InputError, 422), (KeyUsed, 409), (DiskFull, 507), (JournalError, 503)):
        app.add_exception_handler(kind, handler(status))

    async def inside(_: Request, problem: Exception) -> Response:
        return _problem(500, FAILED)  # the middleware logs it

    async def http(_: Request, problem: Exception) -> Response:
        assert isinstance(problem, HTTPException)
        return _problem(problem.status_code, str(problem.detail), problem.headers)

    async def validation(_: Request, problem: Exception) -> Response:
        assert isinstance(problem, RequestValidationError)
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "the body"
        return _problem(422, f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}")

    app.add_exception_handler(Exception, inside)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, validation)


def _problem(status: int, sentence: str, headers: Any = None) -> Response:
    return Response(msgspec.json.encode({"error": sentence}), status, headers, "application/json")
