"""Rankers of documents on a cluster: structural SVMs, whose planes are sums over queries.

Each worker keeps its queries and finds, for the w of each pass, their most violated rankings; what it sends is the sum
of their constraints, in whole numbers, so that the sum over workers is exact. The small quadratic programme over the
constraints is solved here. The model is that of one machine, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone

from shortlist.arrays.kernels import Floats
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_numbers, as_rows
from shortlist.distributed.categories import note
from shortlist.distributed.cluster import Cluster, digest
from shortlist.distributed.parts import Part
from shortlist.documents.queries import as_queries
from shortlist.documents.ranker import StructuralRanker
from shortlist.documents.structural_svm import Plane, RankingRisk, as_plane, largest_value, unit_of
from shortlist.errors import InputError
from shortlist.files.container import array_to_text, text_to_array
from shortlist.files.store import State
from shortlist.inputs import Examples, Skipped
from shortlist.inputs.labelled import judged
from shortlist.models.document_ranker import DocumentRanker


def train(
    cluster: Cluster, parts: Sequence[Part], model: DocumentRanker, skipped: Skipped | None = None
) -> DocumentRanker:
    """Fit a DocumentRanker. Notes in ``skipped`` what was left out."""
    learner = model._new_learner()
    if not isinstance(learner, StructuralRanker):
        raise InputError(f"a {type(learner).__name__} cannot be trained on a cluster")
    keys = [digest("queries", part, model) for part in parts]
    surveys = list(cluster.each(survey, lambda n: (parts[n], model), keys))
    names = [name for found in surveys for name in array_to_text(found.array("queries", np.uint8))]
    as_queries(names, len(names))  # a query that stands in two places is refused
    if not names:
        raise InputError("there are no documents")
    for found in surveys:
        note(skipped, found)
    set_aside = np.concatenate([found.array("set_aside", np.bool_) for found in surveys])
    n_features = max(found.settings["features"] for found in surveys)
    largest = max(found.settings["largest"] for found in surveys)
    taught = int((~set_aside).sum())
    known = digest(*keys)

    @cache
    def risk_of(n: int) -> Any:
        return cluster.submit(risk, parts[n], model, learner, n_features, taught, largest)

    def worst_plane(w: Floats) -> Plane:
        def add_up() -> State:
            found = cluster.each(constraint, lambda n: (risk_of(n), w), n_tasks=len(parts))
            sums = [one.array("sums", np.int64) for one in found]
            return State("Constraint", arrays={"sums": np.sum(sums, axis=0)})

        sums = cluster.kept(digest("constraint", known, w), add_up).array("sums", np.int64)
        return as_plane(sums, unit_of(largest))

    fitted: DocumentRanker = clone(model)
    fitted.learner_ = learner.fit_risk(worst_plane, n_features, np.array(names)[set_aside], len(names))
    fitted.n_examples_ = sum(found.settings["examples"] for found in surveys)
    fitted.n_queries_ = len(names)
    return fitted


# What workers do


def survey(part: Part, model: DocumentRanker) -> State:
    """The queries of a part, which of them teach nothing, and the size of its features."""
    stream = part.open()
    rows, relevance, query = gathered(part, stream)
    learner = model._new_learner()
    scaled = as_rows(model.scaled(rows, query))
    queries = as_queries(query, rows.n_rows)
    _, taught = learner._pairs(as_numbers(relevance, "relevance"), queries, both=True)
    settings = {
        "examples": rows.n_rows,
        "features": rows.n_features,
        "largest": largest_value(scaled),
        "skipped": stream.skipped.count,
        "sentences": stream.skipped.sentences,
    }
    return State("Queries", settings, {"queries": text_to_array(queries.names.tolist()), "set_aside": ~taught})


def risk(
    part: Part, model: DocumentRanker, learner: StructuralRanker, n_features: int, taught: int, largest: float
) -> RankingRisk:
    """The part of R(w) that a part's queries make up."""
    rows, relevance, query = gathered(part, part.open())
    scaled = as_rows(model.scaled(rows._replace(n_features=n_features), query))
    pairs, _ = learner._pairs(relevance, as_queries(query, rows.n_rows), both=True, among=taught)
    return RankingRisk(scaled, pairs, learner._search, learner._loss, largest)


def constraint(risk: RankingRisk, w: Floats) -> State:
    """A part's share of the plane that touches R at w."""
    return State("Constraint", arrays={"sums": risk.add_up(w)})


def gathered(part: Part, stream: Iterable[Examples]) -> tuple[Rows, Floats, list[str]]:
    """All documents of a part, their relevance and their queries."""
    rows: list[Rows] = []
    relevance, query = [np.empty(0)], []
    for batch in judged(part.name, stream):
        rows += [batch.rows] if batch.rows is not None else []
        relevance += [batch.relevance] if batch.relevance is not None else []
        query += batch.query or []
    return Rows.stack(rows), np.concatenate(relevance), query
