"""Routes of models that are not of labels of texts: they rate texts, or answer rows of numbers, and say why.

Of these only a model that rates texts goes on learning; those of rows are served read-only.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

import numpy as np
from fastapi import Response

from shortlist.arrays.validation import as_rows
from shortlist.errors import InputError, counted, there_are
from shortlist.inputs.examples import Examples
from shortlist.server import schemas
from shortlist.server.routes import Context, Routes, as_json, get, post, votes_of

ONE_QUERY = "query"  # the documents of a request answer one query, whatever it is called


def described(context: Context) -> dict[str, Any]:
    """What the model is."""
    model = context.served
    numbers = model.describe()
    return model._parameters() | {
        "task": model.task, "learner": numbers.pop("learner"), "numbers": numbers, "bytes": context.replica.bytes,
        "limits": asdict(context.limits),
    }  # fmt: skip


class RowRoutes(Routes):
    """Answers rows of numbers, and explains an answer."""

    @post("/v1/rank", schemas.RowsAnswer)
    async def rank(self, question: schemas.RowsQuestion) -> Response:
        """Rate each row, or order the rows as the documents of one query."""
        context = self._context
        batch = self._batch(question)
        found = [one for some in context.served._answer([batch], question.k) for one in some.records()]
        context.metrics.texts.inc(len(batch))
        return as_json({"answers": found})

    @post("/v1/explain", schemas.Explanation)
    async def explain(self, question: schemas.ExplainRowQuestion) -> Response:
        """Say what each column of a row adds to its score."""
        batch = self._batch(question)
        if question.row >= len(batch):
            raise InputError(f"there is no row {question.row}: {there_are(len(batch), 'rows')}, numbered from 0")
        found = self._context.served._explain_example(batch, question.row)
        return as_json({"answer": found.label, "score": found.score, "votes": votes_of(found)})

    @get("/v1/model", schemas.RowModelAnswer)
    async def model(self) -> Response:
        """What the model is."""
        return as_json(described(self._context))

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


class RatingRoutes(Routes):
    """Rates texts, and explains a rating."""

    @post("/v1/rank", schemas.RowsAnswer)
    async def rank(self, question: schemas.TextsQuestion) -> Response:
        """Rate one text or many."""
        context = self._context
        texts = [question.text] if isinstance(question.text, str) else question.text
        context.limits.check_texts(texts)
        found: list[dict[str, Any]] = []
        for text in texts:
            found += context.served._answer_text(text).records()
            await asyncio.sleep(0)  # let others have a turn
        context.metrics.texts.inc(len(texts))
        return as_json({"answers": found})

    @post("/v1/explain", schemas.Explanation)
    async def explain(self, question: schemas.ExplainTextQuestion) -> Response:
        """Say what each word of a text adds to its score."""
        self._context.limits.check_texts([question.text])
        found = self._context.served._explain_text(question.text)
        return as_json({"answer": found.label, "score": found.score, "votes": votes_of(found)})

    @get("/v1/model", schemas.RowModelAnswer)
    async def model(self) -> Response:
        """Describe the model."""
        return as_json(described(self._context))
