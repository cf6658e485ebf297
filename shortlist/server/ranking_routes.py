"""Routes that rank or rate texts, and explain that."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

import numpy as np
from fastapi import Response
from starlette.exceptions import HTTPException

from shortlist.confidence.observers import DEPTH
from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import with_vectors
from shortlist.models.rules import Rules
from shortlist.server import schemas
from shortlist.server.entries import of_one_kind
from shortlist.server.journal_errors import Conflict
from shortlist.server.journal_history import History
from shortlist.server.routes import Routes, as_json, get, passages_of, post, votes_of
from shortlist.server.text_vectors import vectors_to_rank

LEAST_DEPTH = 10  # labels that a decision looks at
NAMES_AT_A_TIME = 1000  # of rules that are looked up while others wait


class RankingRoutes(Routes):
    """Ranks and explains."""

    @post("/v1/rank", schemas.RankAnswer)
    async def rank(self, question: schemas.RankQuestion) -> Response:
        """Rank the labels of texts, and say which the model would assign."""
        context = self.context
        texts: list[Any] = question.text if isinstance(question.text, list) else [question.text]
        documents = of_one_kind(texts, self.replica.model.fields_)
        context.settings.limits.check_texts(documents)
        rules = await self._rules(question)
        vectors, problem = await vectors_to_rank(context, documents, sent_vectors(question))
        inputs = with_vectors(documents, vectors)
        rankings = []
        decisions = []
        for n in range(len(texts)):
            ranking, decision = ranked_and_decided(
                self.replica.model, inputs[n : n + 1], question, rules
            )
            rankings.append([context.labels.named(entry["label"]) | entry for entry in ranking])
            if problem is not None:
                decision = {"assigned": [], "reason": problem}
            decisions.append(decision)
            if len(texts) > 1:
                await asyncio.sleep(0)  # let others have a turn
        context.metrics.texts.inc(len(texts))
        return as_json({"rankings": rankings, "decisions": decisions})

    async def _rules(self, question: schemas.RankQuestion) -> Rules | None:
        most = {kind.label: kind.n for kind in question.at_most}
        names = [*(question.only or ()), *question.but, *(question.below or ()), *most]
        for first in range(0, len(names), NAMES_AT_A_TIME):
            self.context.labels.check_in_rules(names[first : first + NAMES_AT_A_TIME])
            await asyncio.sleep(0)  # let others have a turn
        rules = Rules(
            only=None if question.only is None else tuple(question.only),
            but=tuple(question.but),
            below=None if question.below is None else tuple(question.below),
            at_most=most,
            tame=question.tame,
        )
        return rules or None

    @post("/v1/explain", schemas.ExplainAnswer)
    async def explain(self, question: schemas.ExplainQuestion) -> Response:
        """Say which words of a text vote for a label, how much, and where they stand."""
        context = self.context
        context.settings.limits.check_texts([question.text])
        sent = None if question.vector is None else [question.vector]
        vectors, problem = await vectors_to_rank(context, [question.text], sent)
        vector = None if vectors is None else vectors[0]
        if question.label is not None:
            label = context.labels.known(question.label)
        else:
            best = self.replica.rank(question.text, 1, vector=vector)
            if not best:
                raise HTTPException(
                    404, "no label fits this text: the model knows none of its words"
                )
            label, _ = best[0]
        explanation = self.replica.model.explain(question.text, label, vector=vector)
        nearest = []
        encoded = None
        if vector is not None and problem is None:
            if sent is None:
                whole = "\n".join(explanation.texts)
                encoded = self.replica.model.vector_part().characters_cut_at(whole)
            nearest = await context.look_back(lambda journal: History(journal).nearest(vector))
        return as_json(
            context.labels.named(label)
            | {
                "score": explanation.score,
                "votes": votes_of(explanation),
                "passages": passages_of(explanation),
                "struck": [word._asdict() for word in explanation.struck],
                "encoded": encoded,
                "nearest": [
                    {"similarity": cosine, "text": judgement.text, "labels": judgement.labels}
                    for cosine, judgement in nearest
                ],
            }
        )


def sent_vectors(question: schemas.RankQuestion) -> list[Any] | None:
    """Return the vectors of a question, one for each text."""
    vectors: list[Any] | None = question.vector
    if vectors is None:
        return None
    is_one_vector = not vectors or not isinstance(vectors[0], list)
    if is_one_vector == isinstance(question.text, list):
        raise Conflict(
            "vector is a list of numbers for one text, and a list of such lists for a list of texts"
        )
    return [vectors] if is_one_vector else vectors


def ranked_and_decided(
    model: Categorizer, text: Any, question: schemas.RankQuestion, rules: Rules | None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the ranking and the decision of a question; ``text`` is a list of one text, with its
    vector if it has any.
    """
    if question.coverage is None:
        ranking = model.rank(text, max(question.k, LEAST_DEPTH), rules)
        shown = ranking.ids >= 0
        shown[:, question.k :] = False
    else:
        ranking = model.rank(text, DEPTH, rules)
        shown = (ranking.ids >= 0) & model.shortlisted(ranking, question.coverage)
    if question.min_probability is not None:
        with np.errstate(invalid="ignore"):
            shown &= ranking.probabilities >= question.min_probability
    (assigned,) = model.decide(text, ranking, model.aim(question.precision))
    (labels,) = ranking.only(shown)
    entries = [
        {"label": label, "score": score, "probability": None if np.isnan(chance) else chance}
        for (label, score), chance in zip(labels, labels.probabilities.tolist(), strict=True)
    ]
    reason = None if assigned else str(assigned.reason)
    return entries, {"assigned": list(assigned), "reason": reason}


class RatingRoutes(Routes):
    """Rates texts, explains a rating, and describes the model, which is served read-only."""

    @post("/v1/rank", schemas.Described)
    async def rank(self, question: schemas.TextsQuestion) -> Response:
        """Rate one text or many.

        `answers` has the rating of each text and its distances to the ratings below and above.
        """
        context = self.context
        texts = [question.text] if isinstance(question.text, str) else question.text
        context.settings.limits.check_texts(texts)
        answers: list[dict[str, Any]] = []
        for text in texts:
            answers += self.replica.served.answer_text(text).records()
            await asyncio.sleep(0)  # let others have a turn
        context.metrics.texts.inc(len(texts))
        return as_json({"answers": answers})

    @post("/v1/explain", schemas.Described)
    async def explain(self, question: schemas.ExplainTextQuestion) -> Response:
        """Say what each word of a text adds to its score.

        The rating (`answer`), its `score`, and `votes`, heaviest first, which sum to the score:
        feature, vote, and spans, its places in the text. `passages` has the votes of its sentences.
        """
        self.context.settings.limits.check_texts([question.text])
        explanation = self.replica.served.explain_text(question.text)
        return as_json(
            {
                "answer": explanation.label,
                "score": explanation.score,
                "votes": votes_of(explanation),
                "passages": passages_of(explanation),
            }
        )

    @get("/v1/model", schemas.Described)
    async def model(self) -> Response:
        """What the model is: task, learner, settings, and its numbers of examples, features and
        so on.
        """
        model = self.replica.served
        numbers = model.describe()
        return as_json(
            model.part_parameters()
            | {
                "task": model.task,
                "learner": numbers.pop("learner"),
                "numbers": numbers,
                "bytes": self.replica.bytes,
                "limits": asdict(self.context.settings.limits),
            }
        )
