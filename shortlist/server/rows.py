"""Routes of a model of rows: it rates them, ranks the documents of a query, or ranks labels; and says why.

Of these only a model that rates goes on learning (rating.py); the others are served read-only.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np
from fastapi import APIRouter, Response

from shortlist.arrays.validation import as_rows
from shortlist.errors import InputError, counted, there_are
from shortlist.inputs.examples import Examples
from shortlist.server import schemas
from shortlist.server.context import Context
from shortlist.server.responses import ASKING, DirectRoute, answers, as_json

ONE_QUERY = "query"  # the documents of a request answer one query, whatever it is called


class RowRoutes:
    """Answers rows of numbers, and explains an answer."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def router(self) -> APIRouter:
        router = APIRouter(route_class=DirectRoute)
        router.post("/v1/rank", **answers(schemas.RowsAnswer, *ASKING))(self.rank)
        router.post("/v1/explain", **answers(schemas.RowExplanation, *ASKING))(self.explain)
        return router

    async def rank(self, question: schemas.RowsQuestion) -> Response:
        """Rate each row, or order the rows as the documents of one query."""
        context = self._context
        batch, began = self._batch(question), time.perf_counter()
        found = [one for some in context.served._answer([batch], question.k) for one in some.records()]
        context.speed.add(len(batch), time.perf_counter() - began)
        context.metrics.texts.inc(len(batch))
        return as_json({"answers": found})

    async def explain(self, question: schemas.ExplainRowQuestion) -> Response:
        """Say what each column of a row adds to its score."""
        batch = self._batch(question)
        if question.row >= len(batch):
            raise InputError(f"there is no row {question.row}: {there_are(len(batch), 'rows')}, numbered from 0")
        found = self._context.served._explain_example(batch, question.row)
        votes = [{"feature": feature, "vote": vote} for feature, vote in found.votes]
        return as_json({"answer": found.label, "score": found.score, "votes": votes})

    def _batch(self, question: schemas.RowsQuestion) -> Examples:
        """The rows as examples."""
        rows, columns, ids = question.rows, question.columns, question.ids
        self._context.limits.check_rows(len(rows))
        for n, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"row {n} has {counted(len(row), 'numbers')}, and row 0 has {len(rows[0])}; all must have as many"
                )
        for what, given, wanted in (("columns", columns, len(rows[0])), ("ids", ids, len(rows))):
            if given is not None and len(given) != wanted:
                raise InputError(f"{what} has {counted(len(given), 'names')} where {wanted} are wanted")
        table = as_rows(np.array(rows, dtype=np.float64))
        return Examples(rows=table, query=[ONE_QUERY] * len(rows), ids=ids, feature_names=columns)


class RowModelRoutes:
    """Describes the model."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def router(self) -> APIRouter:
        router = APIRouter()
        router.get("/v1/model", **answers(schemas.RowModelAnswer))(self.model)
        return router

    async def model(self) -> Response:
        """What the model is, and how fast it answers."""
        return as_json(self.about())

    def about(self) -> dict[str, Any]:
        context, model = self._context, self._context.served
        numbers = model.describe()
        return model._parameters() | {
            "task": model.task, "learner": numbers.pop("learner"), "numbers": numbers, "bytes": context.replica.bytes,
            "limits": asdict(context.limits), "speed": context.speed.read(),
        }  # fmt: skip
