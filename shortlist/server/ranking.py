"""Routes that ask the model and change nothing: it ranks labels and says why, describes itself, finds labels."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from fastapi import Query, Response
from starlette.exceptions import HTTPException

from shortlist.arrays.validation import as_rows
from shortlist.errors import InputError, counted, there_are
from shortlist.inputs.examples import Examples
from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import with_vectors
from shortlist.models.observing import DEPTH
from shortlist.models.rules import Rules
from shortlist.models.text_batches import FieldsBeside
from shortlist.server import schemas
from shortlist.server.journal import alike
from shortlist.server.queue import columns_of
from shortlist.server.replica import first_of
from shortlist.server.routes import Context, Routes, as_json, get, post, votes_of
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


class RankingRoutes(Routes):
    """Ranks and explains."""

    @post("/v1/rank", schemas.RankAnswer)
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
            ranking, decision = decided(context.model, given[n : n + 1], question, rules or None)
            rankings.append([context.named(one["label"]) | one for one in ranking])
            decisions.append(decision)
            if len(texts) > 1:
                await asyncio.sleep(0)  # let others have a turn
        context.metrics.texts.inc(len(texts))
        return as_json({"rankings": rankings, "decisions": decisions})

    @post("/v1/explain", schemas.ExplainAnswer)
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
        near = [] if vector is None else await context.look_back(lambda journal: journal.nearest(vector))
        nearest = [{"similarity": cosine, "text": text, "labels": labels} for cosine, text, labels in near]
        return as_json(context.named(label) | {"score": found.score, "votes": votes_of(found), "nearest": nearest})


def in_a_list(question: schemas.RankQuestion) -> list[Any] | None:
    """The vectors of the texts of a question, of which there may be one."""
    alone = not isinstance(question.text, list)
    given: list[Any] | None = question.vector
    if given is not None and alone == isinstance(given[0] if given else None, list):
        raise HTTPException(
            409, "vector is a list of numbers for one text, and a list of such lists for a list of texts"
        )
    return [given] if alone and given is not None else given


# Labels found by a part of their names, or of their synonyms.


class LabelSearch:
    """All labels of a model, found by any part of their names, but those that were retired.

    Labels arrive, so the list is extended; where they change, it is made anew.
    """

    def __init__(self, model: Categorizer) -> None:
        self.model = model
        self._names: list[Any] = []
        self._index, self._vocabulary = model.learner_._labels, model.vocabulary_
        self._folded: list[list[str]] = []  # all that each label is called

    def find(self, wanted: str, first: int, n: int) -> dict[str, Any]:
        """Some of the labels that contain these letters: exact ones first, then by beginning, then by frequency."""
        counts, index = self.model.label_counts_, self.model.learner_._labels
        if index is not self._index or self.model.vocabulary_ is not self._vocabulary:
            self._index, self._vocabulary, self._names, self._folded = index, self.model.vocabulary_, [], []
        retired = {index.number[label] for label in self.model.retired_}
        if len(self._names) < counts.size:
            self._names = self.model.classes_.tolist()
            self._folded += [self._called(name) for name in self._names[len(self._folded) :]]
        part = wanted.casefold()
        near = {
            i: min(far) for i, words in enumerate(self._folded) if (far := [_far(part, w) for w in words if part in w])
        }
        near = {i: far for i, far in near.items() if i not in retired} if retired else near
        hits = list(near)
        nearest = np.array(list(near.values()), dtype=np.int64)
        chosen = [hits[i] for i in np.lexsort((-counts[hits], nearest))[first : first + n]] if hits else []
        return {"labels": [self._shown(i, int(counts[i])) for i in chosen], "found": len(hits)}

    def _called(self, label: Any) -> list[str]:
        vocabulary = self.model.vocabulary_
        concept = None if vocabulary is None else vocabulary.get(label)
        every = [str(label)] if concept is None else [concept.name, *concept.synonyms, str(label)]
        return [one.casefold() for one in every]

    def _shown(self, i: int, examples: int) -> dict[str, Any]:
        label = self._names[i]
        named = {} if self.model.vocabulary_ is None else {"name": self.model.name_of(label)}
        return {"label": label} | named | {"examples": examples}


def _far(part: str, word: str) -> int:
    """0 for the word itself, 1 for its beginning, 2 for a part of it. What is not asked for is equally near."""
    return int(word != part) + (not word.startswith(part)) if part else 0


Name = Annotated[str, Query(max_length=200)]
Limit = Annotated[int, Query(ge=1, le=1000)]


class LookingRoutes(Routes):
    """Describes the model, finds labels and connections."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._labels = LabelSearch(context.model)
        self._beside = FieldsBeside()

    @get("/v1/model", schemas.ModelAnswer)
    async def model(self) -> Response:
        """What the model is, and how good it was on the last examples before it learned them."""
        context, replica = self._context, self._replica
        about: dict[str, Any] = {"edges": None} | context.model.describe() | context.model._parameters()
        return as_json(about | context.following() | {
            "passed_over": len(replica.passed), "passed": first_of(replica.passed),
            "bytes": replica.bytes, "limits": asdict(context.limits),
            "fields": context.model.fields_, "text_columns": columns_of(context.model), "values": self._values(),
            "rolling": rolling(replica.journal.places()),
        })  # fmt: skip

    def _values(self) -> list[dict[str, Any]]:
        model = self._context.model
        return [] if model.fields_ is None else self._beside.of(model.text_)

    @get("/v1/labels", schemas.LabelsAnswer)
    async def find_labels(
        self,
        q: Annotated[str, Query(max_length=200, description="Letters that the label contains.")] = "",
        limit: Limit = 20,
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    ) -> Response:
        """Find labels by a part of their names or synonyms, with the number of examples that each was learned from."""
        if self._labels.model is not self._context.model:
            self._labels = LabelSearch(self._context.model)
        return as_json(self._labels.find(q, offset, limit))

    @get("/v1/label", schemas.ConnectionsAnswer)
    async def of_label(self, name: Name, limit: Limit = 20) -> Response:
        """The features with the strongest connections to a label, and the share of their weight that goes there."""
        label = self._context.known_label(name)
        return as_connections(await self._replica.look(Categorizer.strongest, label, limit))

    @get("/v1/feature", schemas.ConnectionsAnswer)
    async def of_feature(self, name: Name, limit: Limit = 20) -> Response:
        """The labels that a word alone speaks for."""
        return as_connections(self._replica.rank(name, limit))


def rolling(places: list[int | None]) -> dict[str, Any]:
    """How many of the last examples had their label first, and how many among the first five."""
    measured: dict[str, Any] = {"window": len(places), "places": places}
    for k in (1, 5):
        hits = [place is not None and place <= k for place in places]
        measured[f"R{k}"] = sum(hits) / len(hits) if hits else None
    return measured


def as_connections(pairs: list[tuple[Any, float]]) -> Response:
    return as_json({"connections": [{"name": name, "weight": weight} for name, weight in pairs]})


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
