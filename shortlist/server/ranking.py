"""Routes that rank the labels of texts and say why."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import with_vectors
from shortlist.models.observing import DEPTH
from shortlist.models.rules import Rules
from shortlist.server import schemas
from shortlist.server.context import Context
from shortlist.server.documents import alike
from shortlist.server.responses import ASKING, DirectRoute, answers, as_json
from shortlist.server.schemas import RankQuestion

# One text, as a question asks for it: its best labels, how likely they are, and what the model would do alone.


LEAST = 10  # labels that a decision looks at


def decided(
    model: Categorizer, texts: Sequence[str], question: RankQuestion, rules: Rules | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The ranking and the decision, as they are answered; texts holds the one, with its vector if it has any."""
    deep = DEPTH if question.coverage is not None else max(question.k, LEAST)
    ranking = model.rank(texts, deep, rules)
    kept = ranking.ids >= 0
    if question.coverage is not None:
        kept &= model._listed(ranking, question.coverage)
    else:
        kept[:, question.k :] = False
    if question.min_probability is not None:
        with np.errstate(invalid="ignore"):
            kept &= ranking.probabilities >= question.min_probability
    (own,) = model._decide(texts, ranking, model._aim("f1", question.precision))
    (one,) = ranking.only(kept)
    found = [
        {"label": label, "score": score, "probability": chance if chance == chance else None}
        for (label, score), chance in zip(one, one.probabilities.tolist(), strict=True)
    ]
    return found, {"assigned": list(own), "reason": None if own else str(own.reason)}


class RankingRoutes:
    """Ranks and explains."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def router(self) -> APIRouter:
        router = APIRouter(route_class=DirectRoute)
        router.post("/v1/rank", **answers(schemas.RankAnswer, 409, *ASKING))(self.rank)
        router.post("/v1/explain", **answers(schemas.ExplainAnswer, 404, 409, *ASKING))(self.explain)
        return router

    async def rank(self, question: schemas.RankQuestion) -> Response:
        """Rank the labels of one text or of many, and say what the model would do with each alone."""
        context = self._context
        asked = question.text if isinstance(question.text, list) else [question.text]
        texts = alike(asked, context.model.fields_)
        context.limits.check_texts(texts)
        only, below = (None if given is None else tuple(given) for given in (question.only, question.below))
        most = {one.label: one.n for one in question.at_most}
        context.check_known([*(only or ()), *question.but, *(below or ()), *most])
        rules = Rules(only=only, but=tuple(question.but), below=below, at_most=most, tame=question.tame)
        given = with_vectors(texts, context.vectors(texts, in_a_list(question)))
        rankings, decisions = [], []
        for n in range(len(texts)):
            began = time.perf_counter()
            ranking, decision = decided(context.model, given[n : n + 1], question, rules or None)
            context.speed.add(1, time.perf_counter() - began)
            rankings.append([context.named(one["label"]) | one for one in ranking])
            decisions.append(decision)
            if len(texts) > 1:
                await asyncio.sleep(0)  # let others have a turn
        context.metrics.texts.inc(len(texts))
        return as_json({"rankings": rankings, "decisions": decisions})

    async def explain(self, question: schemas.ExplainQuestion) -> Response:
        """Say which words of a text vote for a label, how much, and where they stand."""
        context = self._context
        context.limits.check_texts([question.text])
        vector = context.vector(question.text, question.vector)
        if question.label is None:
            best = context.replica.rank(question.text, 1, vector=vector)
            if not best:
                raise HTTPException(404, "nothing is retrieved for this text: the model knows none of its words")
            label = best[0][0]
        else:
            label = context.known_label(question.label)
        found = context.model.explain(question.text, label, vector=vector)
        votes = [
            {"feature": feature, "vote": vote, "spans": spans}
            for (feature, vote), spans in zip(found.votes, found.spans, strict=True)
        ]
        near = [] if vector is None else await context.look_back(lambda journal: journal.nearest(vector))
        nearest = [{"similarity": cosine, "text": text, "labels": labels} for cosine, text, labels in near]
        return as_json(context.named(label) | {"score": found.score, "votes": votes, "nearest": nearest})


def in_a_list(question: schemas.RankQuestion) -> list[Any] | None:
    """The vectors of the texts of a question, of which there may be one."""
    alone = not isinstance(question.text, list)
    given: list[Any] | None = question.vector
    if given is not None and alone == isinstance(given[0] if given else None, list):
        raise HTTPException(
            409, "vector is a list of numbers for one text, and a list of such lists for a list of texts"
        )
    return [given] if alone and given is not None else given
