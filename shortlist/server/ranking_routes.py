"""Routes that change nothing: ranking, explaining, and looking at the model, its labels and its
examples.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query, Response
from starlette.exceptions import HTTPException

from shortlist.confidence.observers import DEPTH
from shortlist.data.label_input import Label
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import with_vectors
from shortlist.models.label_changes import Change
from shortlist.models.rules import Rules
from shortlist.models.text_batches import FieldsBeside
from shortlist.server import schemas
from shortlist.server.exporting import LAYOUTS, layout_for, pieces
from shortlist.server.journal import Conflict, Example, alike
from shortlist.server.replica import passing
from shortlist.server.review_queue import columns_of
from shortlist.server.routes import (
    Context,
    Routes,
    as_json,
    get,
    in_conflict,
    post,
    streamed,
    votes_of,
)
from shortlist.server.text_vectors import vectors_to_rank

LEAST = 10  # labels that a decision looks at
LETTERS = 200  # of a text in a list
LayoutName = Literal["jsonl", "csv", "fasttext", "label-studio"]
Name = Annotated[str, Query(max_length=200)]
Limit = Annotated[int, Query(ge=1, le=1000)]


def decided(
    model: Categorizer,
    texts: Sequence[str],
    question: schemas.RankQuestion,
    rules: Rules | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the ranking and the decision of a question; ``texts`` holds one text, with its
    vector if it has any.
    """
    deep = DEPTH if question.coverage is not None else max(question.k, LEAST)
    ranking = model.rank(texts, deep, rules)
    kept = ranking.ids >= 0
    if question.coverage is not None:
        kept &= model.shortlisted(ranking, question.coverage)
    else:
        kept[:, question.k :] = False
    if question.min_probability is not None:
        with np.errstate(invalid="ignore"):
            kept &= ranking.probabilities >= question.min_probability
    (own,) = model.decide(texts, ranking, model.aim(question.precision))
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
        context = self.context
        alone = not isinstance(question.text, list)
        texts = alike([question.text] if alone else question.text, context.model.fields_)  # type: ignore[arg-type,list-item]
        context.limits.check_texts(texts)
        only, below = (
            None if given is None else tuple(given) for given in (question.only, question.below)
        )
        most = {one.label: one.n for one in question.at_most}
        context.check_known([*(only or ()), *question.but, *(below or ()), *most])
        rules = Rules(
            only=only, but=tuple(question.but), below=below, at_most=most, tame=question.tame
        )
        vectors: list[Any] | None = question.vector
        if vectors is not None and alone == isinstance(vectors[0] if vectors else None, list):
            raise Conflict(
                "vector is a list of numbers for one text, and a list of such lists for a list of "
                "texts"
            )
        if alone and vectors is not None:
            vectors = [vectors]
        made, problem = await vectors_to_rank(context, texts, vectors)
        given = with_vectors(texts, made)
        rankings, decisions = [], []
        for n in range(len(texts)):
            ranking, decision = decided(context.model, given[n : n + 1], question, rules or None)
            rankings.append([context.named(one["label"]) | one for one in ranking])
            decisions.append({"assigned": [], "reason": problem} if problem else decision)
            if len(texts) > 1:
                await asyncio.sleep(0)  # let others have a turn
        context.metrics.texts.inc(len(texts))
        return as_json({"rankings": rankings, "decisions": decisions})

    @post("/v1/explain", schemas.ExplainAnswer)
    async def explain(self, question: schemas.ExplainQuestion) -> Response:
        """Say which words of a text vote for a label, how much, and where they stand."""
        context = self.context
        context.limits.check_texts([question.text])
        sent = None if question.vector is None else [question.vector]
        vectors, problem = await vectors_to_rank(context, [question.text], sent)
        vector = None if vectors is None else vectors[0]
        if question.label is None:
            best = context.replica.rank(question.text, 1, vector=vector)
            if not best:
                raise HTTPException(
                    404, "nothing is retrieved for this text: the model knows none of its words"
                )
            label = best[0][0]
        else:
            label = context.known_label(question.label)
        found = context.model.explain(question.text, label, vector=vector)
        near = (
            []
            if vector is None or problem
            else await context.look_back(lambda journal: journal.nearest(vector))
        )
        nearest = [
            {"similarity": cosine, "text": text, "labels": labels} for cosine, text, labels in near
        ]
        return as_json(
            context.named(label)
            | {"score": found.score, "votes": votes_of(found), "nearest": nearest}
        )


class LabelSearch:
    """Finds the labels of a model by any part of their names and synonyms, except retired ones."""

    def __init__(self) -> None:
        self._made_for: tuple[Any, Any] = (None, None)
        self._folded: list[list[str]] = []  # all names of each label

    def find(
        self, model: Categorizer, wanted: str, first: int, n: int
    ) -> tuple[list[tuple[Label, int]], int]:
        """Return some of the labels with these letters and their numbers of examples, and how many
        there are in all.

        Equal ones come first, then those that begin so, each by frequency.
        """
        counts, index, vocabulary = (
            model.label_counts_,
            model.learner_.label_index_,
            model.vocabulary_,
        )
        # the model or its labels changed
        if self._made_for[0] is not index or self._made_for[1] is not vocabulary:
            self._made_for, self._folded = (index, vocabulary), []
        names = model.classes_.tolist()
        self._folded += [_called(name, vocabulary) for name in names[len(self._folded) :]]
        part = wanted.casefold()
        retired = {index.number[label] for label in model.retired_}
        near = {
            i: min(far)
            for i, words in enumerate(self._folded)
            if (far := [_far(part, word) for word in words if part in word]) and i not in retired
        }
        hits = np.fromiter(near, dtype=np.int64)
        best = hits[
            np.lexsort((-counts[hits], np.fromiter(near.values(), dtype=np.int64)))
        ].tolist()
        return [(names[i], int(counts[i])) for i in best[first : first + n]], len(hits)


def _called(label: Any, vocabulary: LabelVocabulary | None) -> list[str]:
    concept = None if vocabulary is None else vocabulary.get(label)
    every = [str(label)] if concept is None else [concept.name, *concept.synonyms, str(label)]
    return [one.casefold() for one in every]


def _far(part: str, word: str) -> int:
    """Return 0 for the word itself, 1 for its beginning, 2 for another part of it."""
    return int(word != part) + (not word.startswith(part)) if part else 0


class LookingRoutes(Routes):
    """Describes the model, its labels and connections, and what it was taught."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._labels = LabelSearch()
        self._beside = FieldsBeside()

    @get("/v1/model", schemas.Described)
    async def model(self) -> Response:
        """What the model is, and how good it was on the last examples before it learned them.

        `learner` and its `parameters`, the settings of the `text` part, the numbers of `examples`,
        `labels` and `features`; `fields` whose words were learned, null if texts have none, and the
        `values` of other fields. How many examples the `journal` has and how many were `undone`;
        the number of the newest that the server `follows`, and of the newest in a `snapshot`, with
        its `bytes`; those it cannot learn: `passed_over` says how many, and `passed` why the first
        100. `rolling`: `R1` and `R5`, the share of the last examples whose best label was ranked
        first or among the first five before they were learned, and its `places`, oldest first.
        """
        context, replica, model = self.context, self.replica, self.context.model
        about: dict[str, Any] = {"edges": None} | model.describe() | model.part_parameters()
        replica.see_snapshots()
        journal, undone = replica.journal.version()
        return as_json(
            about
            | passing(replica.passed)
            | {
                "journal": journal,
                "undone": undone,
                "follows": replica.version.examples,
                "snapshot": replica.snapshot,
                "read_only": context.settings.read_only,
                "bytes": replica.bytes,
                "limits": asdict(context.limits),
                "fields": model.fields_,
                "text_columns": columns_of(model),
                "values": [] if model.fields_ is None else self._beside.of(model.text_),
                "rolling": rolling(replica.journal.places()),
            }
        )

    @get("/v1/labels", schemas.Described)
    async def find_labels(
        self,
        q: Annotated[
            str, Query(max_length=200, description="Letters that the label contains.")
        ] = "",
        limit: Limit = 20,
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    ) -> Response:
        """Some of the `labels` with these letters in their names or synonyms, with the number of
        `examples` of each.

        `found` is how many there are in all.
        """
        found, n = self._labels.find(self.context.model, q, offset, limit)
        return as_json(
            {
                "labels": [self.context.named(label) | {"examples": own} for label, own in found],
                "found": n,
            }
        )

    @get("/v1/label", schemas.Described)
    async def of_label(self, name: Name, limit: Limit = 20) -> Response:
        """The `connections` of a label: the features that speak most for it, with the share of
        their weight.
        """
        label = self.context.known_label(name)
        return as_connections(await self.replica.look(Categorizer.strongest, label, limit))

    @get("/v1/feature", schemas.Described)
    async def of_feature(self, name: Name, limit: Limit = 20) -> Response:
        """The `connections` of a word: the labels that it alone speaks for, with their weights."""
        return as_connections(self.replica.rank(name, limit))

    @get("/v1/examples", schemas.Described)
    async def examples(
        self,
        limit: Limit = 20,
        before: Annotated[
            int | None, Query(ge=1, le=2**53, description="Only those with smaller numbers.")
        ] = None,
        key: Annotated[
            str,
            Query(
                max_length=200,
                pattern=r"^[\x21-\x7e]*$",
                description="Only those whose keys begin so.",
            ),
        ] = "",
    ) -> Response:
        """The `examples` learned last, newest first, with the first 200 characters of each text or
        field.

        `time` is in seconds since 1970; `wrong` labels were crossed out; if the judgement is not
        `complete`, others were not judged. `person` is empty if the server does not know people;
        `place` is the rank of the best label before it was learned. A `change` of labels has its
        description as text.
        """
        entries = self.replica.journal.entries(before, limit, key)
        return as_json(
            {"examples": [entry_as_dict(entry, self.context.model) for entry in entries]}
        )

    @get("/v1/export", [layout.kind for layout in LAYOUTS.values()])
    async def export(
        self, format: Annotated[LayoutName, Query(description="The layout of the file.")] = "jsonl"
    ) -> Response:
        """Export all examples that were not undone, with person, time and key; jsonl is a training
        file.

        It may take as long as it is read. The file is complete only if its last chunk has arrived.
        """
        layout = LAYOUTS[format]
        with in_conflict():  # if the labels do not fit the layout
            fitting = await self.context.look_back(lambda journal: layout_for(journal, format))
        named = f'attachment; filename="examples.{layout.ending}"'
        return streamed(
            pieces(self.replica.journal, fitting), layout.kind, {"content-disposition": named}
        )


def rolling(places: list[int | None]) -> dict[str, Any]:
    """Return the share of the last examples whose label was ranked first, and among the first
    five.
    """
    measured: dict[str, Any] = {"window": len(places), "places": places}
    for k in (1, 5):
        hits = [place is not None and place <= k for place in places]
        measured[f"R{k}"] = sum(hits) / len(hits) if hits else None
    return measured


def as_connections(pairs: list[tuple[Any, float]]) -> Response:
    return as_json({"connections": [{"name": name, "weight": weight} for name, weight in pairs]})


def entry_as_dict(entry: Example, model: Categorizer) -> dict[str, Any]:
    """Return an example for an answer; a change of labels has its description as text."""
    found = entry._asdict() | {"change": isinstance(entry.labels, dict)}
    del found["vector"]
    document = entry.text
    if isinstance(entry.labels, dict):
        found |= {"labels": []}
        document = str(Change.of(entry.labels))
    elif isinstance(document, Mapping):
        short = {
            name: one[:LETTERS] if isinstance(one, str) else one for name, one in document.items()
        }
        found |= {"fields": short}
    found |= {"text": shown(document)[:LETTERS]}
    return found | (
        {} if model.vocabulary_ is None else {"names": [*map(model.name_of, found["labels"])]}
    )


# Models that rate texts, which are served read-only.


class RatingRoutes(Routes):
    """Rates texts, and explains a rating."""

    @post("/v1/rank", schemas.Described)
    async def rank(self, question: schemas.TextsQuestion) -> Response:
        """Rate one text or many.

        `answers` has the rating of each text and its distances to the ratings below and above.
        """
        context = self.context
        texts = [question.text] if isinstance(question.text, str) else question.text
        context.limits.check_texts(texts)
        found: list[dict[str, Any]] = []
        for text in texts:
            found += context.served.answer_text(text).records()
            await asyncio.sleep(0)  # let others have a turn
        context.metrics.texts.inc(len(texts))
        return as_json({"answers": found})

    @post("/v1/explain", schemas.Described)
    async def explain(self, question: schemas.ExplainTextQuestion) -> Response:
        """Say what each word of a text adds to its score.

        The rating (`answer`), its `score`, and `votes`, heaviest first, which sum to the score:
        feature, vote, and spans, its places in the text.
        """
        self.context.limits.check_texts([question.text])
        found = self.context.served.explain_text(question.text)
        return as_json({"answer": found.label, "score": found.score, "votes": votes_of(found)})

    @get("/v1/model", schemas.Described)
    async def model(self) -> Response:
        """What the model is: task, learner, settings, and its numbers of examples, features and
        so on.
        """
        model = self.context.served
        numbers = model.describe()
        return as_json(
            model.part_parameters()
            | {
                "task": model.task,
                "learner": numbers.pop("learner"),
                "numbers": numbers,
                "bytes": self.replica.bytes,
                "limits": asdict(self.context.limits),
            }
        )
