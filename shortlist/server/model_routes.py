"""Routes that look at the model, its labels and its examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Query, Response

from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.models.extra_fields import FieldsBeside
from shortlist.server import schemas
from shortlist.server.context import ServerContext
from shortlist.server.entries import Entry, Judgement, LabelChange
from shortlist.server.exporting import LAYOUTS, layout_for, pieces
from shortlist.server.journal_errors import as_conflict
from shortlist.server.label_names import LabelSearch
from shortlist.server.queue_files import columns_of
from shortlist.server.replica import unlearnable_answer
from shortlist.server.routes import SHOWN_CHARACTERS, Routes, as_json, get, get_text, streamed

LayoutName = Literal["jsonl", "csv", "xlsx", "fasttext", "label-studio"]
NameQuery = Annotated[str, Query(max_length=200)]


class ModelRoutes(Routes):
    """Describes the model, its labels and connections, and what it was taught."""

    def __init__(self, context: ServerContext) -> None:
        super().__init__(context)
        self._search = LabelSearch()
        self._fields_beside = FieldsBeside()

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
        `one_label_each`: whether no learned text had several labels.
        """
        context = self.context
        replica = self.replica
        model = replica.model
        replica.find_newest_snapshot()
        journal = replica.journal.version()
        values = [] if model.fields_ is None else self._fields_beside.of(model.text_)
        about: dict[str, Any] = {"edges": None}
        about |= model.describe() | model.part_parameters()
        about |= unlearnable_answer(replica.unlearnable)
        return as_json(
            about
            | {
                "journal": journal.examples,
                "undone": journal.undos,
                "follows": replica.version.examples,
                "snapshot": replica.snapshot,
                "read_only": context.settings.read_only,
                "bytes": replica.bytes,
                "limits": asdict(context.settings.limits),
                "fields": model.fields_,
                "text_columns": columns_of(model),
                "values": values,
                "one_label_each": model.has_one_label_each,
                "rolling": rolling(context.history.places()),
            }
        )

    @get("/v1/labels", schemas.Described)
    async def find_labels(
        self,
        q: Annotated[
            str, Query(max_length=200, description="Letters that the label contains.")
        ] = "",
        limit: schemas.Limit = 20,
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    ) -> Response:
        """Some of the `labels` with these letters in their names or synonyms, with the number of
        `examples` of each.

        `found` is how many there are in all; if there is none, `near` has labels whose names are
        nearly the same.
        """
        labels, n_found = self._search.find(self.replica.model, q, offset, limit)
        near = [] if n_found else self._search.near(self.replica.model, q)
        named = self.context.labels.named
        return as_json(
            {
                "labels": [named(label) | {"examples": n_examples} for label, n_examples in labels],
                "found": n_found,
                "near": [named(label) for label in near],
            }
        )

    @get("/v1/label", schemas.Described)
    async def of_label(self, name: NameQuery, limit: schemas.Limit = 20) -> Response:
        """The `connections` of a label: the features that speak most for it, with the share of
        their weight.
        """
        label = self.context.labels.known(name)
        return as_connections(await self.replica.look(Categorizer.strongest, label, limit))

    @get("/v1/feature", schemas.Described)
    async def of_feature(self, name: NameQuery, limit: schemas.Limit = 20) -> Response:
        """The `connections` of a word: the labels that it alone speaks for, with their weights."""
        return as_connections(self.replica.rank(name, limit))

    @get("/v1/examples", schemas.Described)
    async def examples(
        self,
        limit: schemas.Limit = 20,
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
        `judge` is `person`, `model` or `import`; `place` is the rank of the best label before it
        was learned. A `change` of labels has its description as text.
        """
        entries = self.context.history.newest(before, limit, key)
        return as_json(
            {"examples": [entry_as_dict(entry, self.replica.model) for entry in entries]}
        )

    @get_text("/v1/export", [layout.kind for layout in LAYOUTS.values()])
    async def export(
        self,
        format: Annotated[LayoutName, Query(description="The layout of the file.")] = "jsonl",
        excel: Annotated[
            bool, Query(description="csv with semicolons, as Excel opens it in much of Europe.")
        ] = False,
        by_people: Annotated[
            bool, Query(description="Only what people judged, not what the model decided.")
        ] = False,
    ) -> Response:
        """Export all examples that were not undone, with person, time and key; jsonl is a training
        file.

        It may take as long as it is read. The file is complete only if its last chunk has arrived.
        """
        vocabulary = self.replica.model.vocabulary_
        with as_conflict():  # if the labels do not fit the layout
            layout = await self.context.look_back(
                partial(
                    layout_for,
                    name=format,
                    vocabulary=vocabulary,
                    excel=excel,
                    by_people=by_people,
                )
            )
        return streamed(
            pieces(self.replica.journal, layout),
            layout.kind,
            {"content-disposition": f'attachment; filename="examples.{layout.ending}"'},
        )


def rolling(places: list[int | None]) -> dict[str, Any]:
    """Return the share of the last examples whose label was ranked first, and among the first
    five.
    """
    measures: dict[str, Any] = {"window": len(places), "places": places}
    for k in (1, 5):
        n_hits = sum(place is not None and place <= k for place in places)
        measures[f"R{k}"] = n_hits / len(places) if places else None
    return measures


def as_connections(pairs: list[tuple[Any, float]]) -> Response:
    return as_json({"connections": [{"name": name, "weight": weight} for name, weight in pairs]})


def entry_as_dict(entry: Entry, model: Categorizer) -> dict[str, Any]:
    """Return an entry for an answer; a change of labels has its description as text."""
    if isinstance(entry, Judgement):
        judgement = entry
    else:
        judgement = Judgement(str(entry.change), [], person=entry.person)
    answer: dict[str, Any] = {
        "number": entry.number,
        "time": entry.time,
        "key": entry.key,
        "undone": entry.undone,
        "change": isinstance(entry, LabelChange),
        "text": shown(judgement.text)[:SHOWN_CHARACTERS],
        "labels": judgement.labels,
        "wrong": judgement.wrong,
        "complete": judgement.complete,
        "place": judgement.place,
        "person": judgement.judge_in_words,
        "judge": judgement.judge,
    }
    if isinstance(judgement.text, Mapping):
        answer["fields"] = {
            name: value[:SHOWN_CHARACTERS] if isinstance(value, str) else value
            for name, value in judgement.text.items()
        }
    if model.vocabulary_ is not None:
        answer["names"] = [model.name_of(label) for label in answer["labels"]]
    return answer
