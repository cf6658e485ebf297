"""Routes that rank the labels of texts and say why."""

from __future__ import annotations

import asyncio
import time

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from shortlist.models.rules import Rules
from shortlist.server import schemas
from shortlist.server.context import Context
from shortlist.server.deciding import decided
from shortlist.server.direct import DirectRoute
from shortlist.server.responses import ASKING, answers, as_json


class RankingRoutes:
    """Ranks and explains."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def router(self) -> APIRouter:
        router = APIRouter(route_class=DirectRoute)
        router.post("/v1/rank", **answers(schemas.RankAnswer, *ASKING))(self.rank)
        router.post("/v1/explain", **answers(schemas.ExplainAnswer, 404, *ASKING))(self.explain)
        return router

    async def rank(self, question: schemas.RankQuestion) -> Response:
        """Rank the labels of one text or of many, and say what the model would do with each alone."""
        context = self._context
        texts = [question.text] if isinstance(question.text, str) else question.text
        context.limits.check_texts(texts)
        only, below = (None if given is None else tuple(given) for given in (question.only, question.below))
        most = {one.label: one.n for one in question.at_most}
        rules = Rules(only=only, but=tuple(question.but), below=below, at_most=most)
        rankings, decisions = [], []
        for text in texts:
            began = time.perf_counter()
            ranking, decision = decided(context.model, text, question, rules or None)
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
        if question.label is None:
            best = context.replica.rank(question.text, 1)
            if not best:
                raise HTTPException(404, "nothing is retrieved for this text: the model knows none of its words")
            label = best[0][0]
        else:
            label = context.known_label(question.label)
        found = context.model.explain(question.text, label)
        votes = [
            {"feature": feature, "vote": vote, "spans": spans}
            for (feature, vote), spans in zip(found.votes, found.spans, strict=True)
        ]
        return as_json(context.named(label) | {"score": found.score, "votes": votes})
