"""Routes of models that are not of labels of texts: they rate texts or rows, rank documents of a query, and say why.

Of these only a model that rates goes on learning; the others are served read-only.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

import numpy as np
from fastapi import Response
from starlette.exceptions import HTTPException

from shortlist.arrays.given_labels import Label
from shortlist.arrays.validation import as_rows
from shortlist.errors import InputError, counted, there_are
from shortlist.inputs.examples import Examples
from shortlist.models.rater import Rater
from shortlist.server import schemas
from shortlist.server.exporting import exported_rows
from shortlist.server.journal import Example
from shortlist.server.learning import JournalRoutes
from shortlist.server.routes import Routes, as_json, get, post, streamed

CSV = "text/csv"
ONE_QUERY = "query"  # the documents of a request answer one query, whatever it is called


class RowRoutes(Routes):
    """Answers rows of numbers, and explains an answer."""

    @post("/v1/rank", schemas.RowsAnswer)
    async def rank(self, question: schemas.RowsQuestion) -> Response:
        """Rate each row, or order the rows as the documents of one query."""
        context = self._context
        batch, began = self._batch(question), time.perf_counter()
        found = [one for some in context.served._answer([batch], question.k) for one in some.records()]
        context.speed.add(len(batch), time.perf_counter() - began)
        context.metrics.texts.inc(len(batch))
        return as_json({"answers": found})

    @post("/v1/explain", schemas.RowExplanation)
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


class RowModelRoutes(Routes):
    """Describes the model."""

    @get("/v1/model", schemas.RowModelAnswer)
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


# Models that rate.


class RatingRoutes(Routes):
    """Learns ratings; answers when they are on disk and in the model."""

    async def _learn(
        self,
        kept: list[str],
        given: Sequence[Any],
        examples: Sequence[schemas.RatedExample],
        columns: list[str] | None = None,
    ) -> Response:
        context, writer = self._context, self._context.writer()
        appended, off = [], []
        for text, one, example in zip(kept, given, examples, strict=True):
            rating = _whole(example.rating)
            off.append(self._steps_off(one, rating, columns))
            place = None if off[-1] is None else off[-1] + 1  # 1 where the rating was right, as for labels
            appended.append(Example(text, [rating], example.key, place, person=context.person))
            await asyncio.sleep(0)
        receipts = await writer.append(appended)
        await context.replica.catch_up()
        context.metrics.learned.inc(sum(receipt.new for receipt in receipts))
        learned = [
            {"number": receipt.number, "new": receipt.new, "steps": steps}
            for receipt, steps in zip(receipts, off, strict=True)
        ]
        return as_json({"learned": learned})

    def _steps_off(self, example: Any, rating: Label, columns: list[str] | None) -> int | None:
        """How many steps the model is off now; refuses what it could not learn."""
        model = cast("Rater", self._context.served)
        rated: Label = model.predict(example, columns)[0].item()
        try:
            return model.steps_between(rated, rating)
        except InputError as problem:  # the question can be read; it is the scale that does not allow it
            raise HTTPException(409, str(problem)) from None


class TextRatingRoutes(RatingRoutes):
    """Rates texts, says which words spoke for a rating, and learns ratings of texts."""

    @post("/v1/rank", schemas.RowsAnswer)
    async def rank(self, question: schemas.TextsQuestion) -> Response:
        """Rate one text or many."""
        context = self._context
        texts = [question.text] if isinstance(question.text, str) else question.text
        context.limits.check_texts(texts)
        found: list[dict[str, Any]] = []
        for text in texts:
            began = time.perf_counter()
            found += context.served._answer_text(text).records()
            context.speed.add(1, time.perf_counter() - began)
            await asyncio.sleep(0)  # let others have a turn
        context.metrics.texts.inc(len(texts))
        return as_json({"answers": found})

    @post("/v1/explain", schemas.TextExplanation)
    async def explain(self, question: schemas.ExplainTextQuestion) -> Response:
        """Say what each word of a text adds to its score."""
        self._context.limits.check_texts([question.text])
        found = self._context.served._explain_text(question.text)
        votes = [
            {"feature": feature, "vote": vote, "spans": spans}
            for (feature, vote), spans in zip(found.votes, found.spans, strict=True)
        ]
        return as_json({"answer": found.label, "score": found.score, "votes": votes})

    @post("/v1/learn", schemas.LearnRatingsAnswer, 403, 409, 507)
    async def learn_texts(self, question: schemas.LearnTextsQuestion) -> Response:
        """Learn ratings of texts, all or none. The answer comes when they are on disk and in the model."""
        texts = [one.text for one in question.examples]
        self._context.limits.check_texts(texts)
        return await self._learn(texts, [[text] for text in texts], question.examples)


class RowRatingRoutes(RowRoutes, RatingRoutes):
    """Rates rows, says which columns spoke for a rating, and learns ratings of rows."""

    @post("/v1/learn", schemas.LearnRatingsAnswer, 403, 409, 507)
    async def learn_rows(self, question: schemas.LearnRowsQuestion) -> Response:
        """Learn ratings of rows, all or none. The answer comes when they are on disk and in the model."""
        rows = [one.row for one in question.examples]
        self._context.limits.check_rows(len(rows))
        kept = [json.dumps(row) for row in rows]
        return await self._learn(kept, [np.array([row]) for row in rows], question.examples, question.columns)


class RaterRoutes(RowModelRoutes):
    """Describes the model, and how it fares."""

    @get("/v1/model", schemas.RaterAnswer)
    async def model(self) -> Response:
        """What the model is, how fast it answers, and how it fares."""
        return as_json(self.about())

    def about(self) -> dict[str, Any]:
        replica, model = self._context.replica, cast("Rater", self._context.served)
        return self._context.following() | super().about() | {
            "scale": model.classes_.tolist(), "columns": None if model._of_texts else model.column_names,
            "calibrated": model.is_calibrated, "rolling": rolling(replica.journal.places()[::-1]),
        }  # fmt: skip


class RatedRowsRoutes(JournalRoutes):
    """Lists examples that are rows: as a file they are a table, with a column for the rating."""

    @get("/v1/journal", str, 422, kinds=(CSV,))
    async def export(self) -> Response:
        """All rated rows learned and not taken back, as a table to train from."""
        names = cast("Rater", self._context.served).column_names
        return streamed(exported_rows(self._replica.journal, None, names), CSV)


def rolling(places: list[int | None]) -> dict[str, Any]:
    """How far the last ratings were from the right ones, before these were learned."""
    steps = [None if place is None else place - 1 for place in places]
    known = [one for one in steps if one is not None]
    return {
        "window": len(steps), "steps": steps,
        "exact": _share(one == 0 for one in known), "within_1": _share(one <= 1 for one in known), "MAE": _share(known),
    }  # fmt: skip


def _share(values: Any) -> float | None:
    every = list(values)
    return sum(every) / len(every) if every else None


def _whole(rating: Label) -> Label:
    """In JSON 4.0 is the whole number 4."""
    return int(rating) if isinstance(rating, float) and rating.is_integer() else rating
