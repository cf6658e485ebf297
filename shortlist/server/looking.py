"""Routes that look at the model, and change nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response

from shortlist.models.categorizer import Categorizer
from shortlist.models.text_batches import FieldsBeside
from shortlist.server import schemas
from shortlist.server.context import Context
from shortlist.server.queue.importing import columns_of
from shortlist.server.replica import first_of
from shortlist.server.responses import answers, as_json

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


class LookingRoutes:
    """Describes the model, finds labels and connections."""

    def __init__(self, context: Context) -> None:
        self._context, self._replica = context, context.replica
        self._labels = LabelSearch(context.model)
        self._beside = FieldsBeside()

    def router(self) -> APIRouter:
        router = APIRouter()
        router.get("/v1/model", **answers(schemas.ModelAnswer))(self.model)
        router.get("/v1/labels", **answers(schemas.LabelsAnswer, 422))(self.find_labels)
        router.get("/v1/label", **answers(schemas.ConnectionsAnswer, 404, 422))(self.of_label)
        router.get("/v1/feature", **answers(schemas.ConnectionsAnswer, 422))(self.of_feature)
        return router

    async def model(self) -> Response:
        """What the model is, how good it was on the last examples before it learned them, and how fast it is."""
        context, replica = self._context, self._replica
        replica.see_snapshots()
        journal, undone = replica.journal.counts()
        about: dict[str, Any] = {"edges": None} | context.model.describe() | context.model._parameters()
        return as_json(about | {
            "journal": journal, "undone": undone, "follows": replica.version.examples, "snapshot": replica.snapshot,
            "passed_over": len(replica.passed), "passed": first_of(replica.passed),
            "bytes": replica.bytes, "read_only": context.settings.read_only, "limits": asdict(context.limits),
            "fields": context.model.fields_, "text_columns": columns_of(context.model), "values": self._values(),
            "rolling": rolling(replica.journal.places()[::-1]), "speed": context.speed.read(),
        })  # fmt: skip

    def _values(self) -> list[dict[str, Any]]:
        model = self._context.model
        return [] if model.fields_ is None else self._beside.of(model.text_)

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

    async def of_label(self, name: Name, limit: Limit = 20) -> Response:
        """The features with the strongest connections to a label, and the share of their weight that goes there."""
        label = self._context.known_label(name)
        return as_connections(await self._replica.look(Categorizer.strongest, label, limit))

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
