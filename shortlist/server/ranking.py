"""Routes that change nothing: ranking, explaining, and looking at the model, its labels and its examples."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query, Response
from starlette.exceptions import HTTPException

from shortlist.arrays.validation import as_rows
from shortlist.errors import InputError, counted, there_are
from shortlist.inputs.examples import Examples
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import with_vectors
from shortlist.models.observing import DEPTH
from shortlist.models.relabelling import Change
from shortlist.models.rules import Rules
from shortlist.models.text_batches import FieldsBeside
from shortlist.server import schemas
from shortlist.server.exporting import LAYOUTS, layout_for, pieces
from shortlist.server.journal import Entry, alike
from shortlist.server.queue import columns_of
from shortlist.server.replica import passing
from shortlist.server.routes import Context, Routes, as_json, get, post, streamed, votes_of

LEAST = 10  # labels that a decision looks at
LETTERS = 200  # of a text in a list
EXPORTED = [layout.kind for layout in LAYOUTS.values()]
LayoutName = Literal["jsonl", "csv", "fasttext", "label-studio", "doccano"]
Name = Annotated[str, Query(max_length=200)]
Limit = Annotated[int, Query(ge=1, le=1000)]


def decided(
    model: Categorizer, texts: Sequence[str], question: schemas.RankQuestion, rules: Rules | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the ranking and the decision of a question; ``texts`` holds one text, with its vector if it has any."""
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
    (own,) = model._decide(texts, ranking, model._aim(question.precision))
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
        """Rank the labels of texts, and say which the model would assign."""
        context = self._context
        alone = not isinstance(question.text, list)
        texts = alike([question.text] if alone else question.text, context.model.fields_)  # type: ignore[arg-type,list-item]
        context.limits.check_texts(texts)
        only, below = (None if given is None else tuple(given) for given in (question.only, question.below))
        most = {one.label: one.n for one in question.at_most}
        context.check_known([*(only or ()), *question.but, *(below or ()), *most])
        rules = Rules(only=only, but=tuple(question.but), below=below, at_most=most, tame=question.tame)
        vectors: list[Any] | None = question.vector
        if vectors is not None and alone == isinstance(vectors[0] if vectors else None, list):
            raise HTTPException(
                409, "vector is a list of numbers for one text, and a list of such lists for a list of texts"
            )
        given = with_vectors(texts, context.vectors(texts, [vectors] if alone and vectors is not None else vectors))
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


class LabelSearch:
    """Finds the labels of a model by any part of their names and synonyms, except retired ones."""

    def __init__(self, model: Categorizer) -> None:
        self.model = model
        self._made_for: tuple[Any, Any] = (None, None)
        self._names: list[Any] = []
        self._folded: list[list[str]] = []  # all names of each label

    def find(self, wanted: str, first: int, n: int) -> dict[str, Any]:
        """Return some of the labels that contain these letters: equal ones first, then by beginning and frequency."""
        counts, index, vocabulary = self.model.label_counts_, self.model.learner_._labels, self.model.vocabulary_
        if self._made_for[0] is not index or self._made_for[1] is not vocabulary:  # labels were changed
            self._made_for, self._names, self._folded = (index, vocabulary), [], []
        if len(self._names) < counts.size:
            self._names = self.model.classes_.tolist()
            self._folded += [self._called(name) for name in self._names[len(self._folded) :]]
        part = wanted.casefold()
        retired = {index.number[label] for label in self.model.retired_}
        near = {
            i: min(far)
            for i, words in enumerate(self._folded)
            if (far := [_far(part, word) for word in words if part in word]) and i not in retired
        }
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
    """Return 0 for the word itself, 1 for its beginning, 2 for another part of it."""
    return int(word != part) + (not word.startswith(part)) if part else 0


class LookingRoutes(Routes):
    """Describes the model, its labels and connections, and what it was taught."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._labels = LabelSearch(context.model)
        self._beside = FieldsBeside()

    @get("/v1/model", schemas.ModelAnswer)
    async def model(self) -> Response:
        """What the model is, and how good it was on the last examples before it learned them."""
        context, replica, model = self._context, self._replica, self._context.model
        about: dict[str, Any] = {"edges": None} | model.describe() | model._parameters()
        replica.see_snapshots()
        journal, undone = replica.journal.counts()
        return as_json(about | passing(replica.passed) | {
            "journal": journal, "undone": undone, "follows": replica.version.examples, "snapshot": replica.snapshot,
            "read_only": context.settings.read_only,
            "bytes": replica.bytes, "limits": asdict(context.limits),
            "fields": model.fields_, "text_columns": columns_of(model),
            "values": [] if model.fields_ is None else self._beside.of(model.text_),
            "rolling": rolling(replica.journal.places()),
        })  # fmt: skip

    @get("/v1/labels", schemas.LabelsAnswer)
    async def find_labels(
        self,
        q: Annotated[str, Query(max_length=200, description="Letters that the label contains.")] = "",
        limit: Limit = 20,
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    ) -> Response:
        """Find labels by a part of their names or synonyms, with the number of examples of each."""
        if self._labels.model is not self._context.model:
            self._labels = LabelSearch(self._context.model)
        return as_json(self._labels.find(q, offset, limit))

    @get("/v1/label", schemas.Described)
    async def of_label(self, name: Name, limit: Limit = 20) -> Response:
        """The `connections` of a label: the features that speak most for it, with the share of their weight."""
        label = self._context.known_label(name)
        return as_connections(await self._replica.look(Categorizer.strongest, label, limit))

    @get("/v1/feature", schemas.Described)
    async def of_feature(self, name: Name, limit: Limit = 20) -> Response:
        """The `connections` of a word: the labels that it alone speaks for, with their weights."""
        return as_connections(self._replica.rank(name, limit))

    @get("/v1/examples", schemas.EntriesAnswer)
    async def examples(
        self,
        limit: Limit = 20,
        before: Annotated[int | None, Query(ge=1, le=2**53, description="Only those with smaller numbers.")] = None,
        key: Annotated[
            str, Query(max_length=200, pattern=r"^[\x21-\x7e]*$", description="Only those whose keys begin so.")
        ] = "",
    ) -> Response:
        """The examples learned last, newest first."""
        entries = self._replica.journal.entries(before, limit, key)
        return as_json({"examples": [entry_as_dict(entry, self._context.model) for entry in entries]})

    @get("/v1/export", str, kinds=EXPORTED)
    async def export(
        self, format: Annotated[LayoutName, Query(description="The layout of the file.")] = "jsonl"
    ) -> Response:
        """Export all examples that were not undone, with person, time and key; jsonl is a training file.

        It may take as long as it is read. The file is complete only if its last chunk has arrived.
        """
        layout = LAYOUTS[format]
        try:
            fitting, names = await self._context.look_back(lambda journal: layout_for(journal, format))
        except InputError as problem:  # the labels do not fit the layout
            raise HTTPException(409, str(problem)) from None
        named = f'attachment; filename="examples.{layout.ending}"'
        return streamed(pieces(self._replica.journal, fitting, names), layout.kind, {"content-disposition": named})


def rolling(places: list[int | None]) -> dict[str, Any]:
    """Return the share of the last examples whose label was ranked first, and among the first five."""
    measured: dict[str, Any] = {"window": len(places), "places": places}
    for k in (1, 5):
        hits = [place is not None and place <= k for place in places]
        measured[f"R{k}"] = sum(hits) / len(hits) if hits else None
    return measured


def as_connections(pairs: list[tuple[Any, float]]) -> Response:
    return as_json({"connections": [{"name": name, "weight": weight} for name, weight in pairs]})


def entry_as_dict(entry: Entry, model: Categorizer) -> dict[str, Any]:
    """Return an example for an answer; a change of labels has its description as text."""
    found = entry._asdict() | {"change": isinstance(entry.labels, dict)}
    del found["vector"]
    document = entry.text
    if isinstance(entry.labels, dict):
        found |= {"labels": []}
        document = str(Change.of(entry.labels))
    elif isinstance(document, Mapping):
        short = {name: one[:LETTERS] if isinstance(one, str) else one for name, one in document.items()}
        found |= {"fields": short}
    found |= {"text": shown(document)[:LETTERS]}
    return found | ({} if model.vocabulary_ is None else {"names": [*map(model.name_of, found["labels"])]})


# Models that are served read-only.


def described(context: Context) -> Response:
    model = context.served
    numbers = model.describe()
    return as_json(model._parameters() | {
        "task": model.task, "learner": numbers.pop("learner"), "numbers": numbers, "bytes": context.replica.bytes,
        "limits": asdict(context.limits),
    })  # fmt: skip


class RowRoutes(Routes):
    """Answers rows of numbers, and explains an answer."""

    @post("/v1/rank", schemas.Described)
    async def rank(self, question: schemas.RowsQuestion) -> Response:
        """Rate each row, order the rows as the documents of one query, or rank the labels of each.

        `answers` has the rating of each row and its distances to the ratings below and above; or the names or numbers
        of the documents, best first; or the best labels of each row; with scores.
        """
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

    @get("/v1/model", schemas.Described)
    async def model(self) -> Response:
        """What the model is: task, learner, settings, and its numbers of examples, features and so on."""
        return described(self._context)

    def _batch(self, question: schemas.RowsQuestion) -> Examples:
        """Return the rows as examples."""
        rows, columns, ids = question.rows, question.columns, question.ids
        self._context.limits.check_count(len(rows), "rows")
        for n, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"row {n} has {counted(len(row), 'numbers')}, and row 0 has {len(rows[0])}; all must have as many"
                )
        for what, given, wanted in (("columns", columns, len(rows[0])), ("ids", ids, len(rows))):
            if given is not None and len(given) != wanted:
                raise InputError(f"{what} has {counted(len(given), 'names')} where {wanted} are wanted")
        table = as_rows(np.array(rows, dtype=np.float64))
        return Examples(rows=table, query=["query"] * len(rows), ids=ids, feature_names=columns)


class RatingRoutes(Routes):
    """Rates texts, and explains a rating."""

    @post("/v1/rank", schemas.Described)
    async def rank(self, question: schemas.TextsQuestion) -> Response:
        """Rate one text or many.

        `answers` has the rating of each text and its distances to the ratings below and above.
        """
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

    @get("/v1/model", schemas.Described)
    async def model(self) -> Response:
        """What the model is: task, learner, settings, and its numbers of examples, features and so on."""
        return described(self._context)
