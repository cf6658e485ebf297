"""Ranking and evaluation on a cluster: every worker has the model, and answers for its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from shortlist.arrays.kernels import Floats
from shortlist.distributed.categories import note, opened
from shortlist.distributed.cluster import Cluster, digest
from shortlist.distributed.documents import gathered
from shortlist.distributed.parts import Part
from shortlist.files.store import State, array_to_text, text_to_array
from shortlist.inputs import Skipped
from shortlist.inputs.labelled import with_labels
from shortlist.labels import NumberedLabels
from shortlist.measures import Evaluation, depth, evaluate_documents, measure, propensities_for
from shortlist.measures import evaluate as evaluate_ranking
from shortlist.models.categorizer import rank_examples
from shortlist.models.document_ranker import DocumentRanker
from shortlist.ranking import Ranking

Arrays = dict[str, Any]
Judged = tuple[Ranking, list[list[Any]]]


def rank(
    cluster: Cluster, parts: Sequence[Part], model: Any, k: int = 5, skipped: Skipped | None = None
) -> Iterator[Ranking]:
    """The k best labels of the texts or rows of each part, in order."""
    names = getattr(model, "learner_", model).classes_.tolist()
    for found in answers(cluster, parts, model, ranked, k, skipped=skipped):
        yield Ranking(found["ids"], found["scores"], names)


def rank_labelled(
    cluster: Cluster, parts: Sequence[Part], model: Any, k: int = 5, skipped: Skipped | None = None
) -> Iterator[Judged]:
    """The k best labels of the examples of each part, and the labels that they have."""
    names = getattr(model, "learner_", model).classes_.tolist()
    for found in answers(cluster, parts, model, ranked_and_labelled, k, skipped=skipped):
        yield Ranking(found["ids"], found["scores"], names), array_to_text(found["labels"])


def score_judged(
    cluster: Cluster, parts: Sequence[Part], model: DocumentRanker, skipped: Skipped | None = None
) -> tuple[Floats, Floats, list[str]]:
    """The score, the relevance and the query of each document."""
    found = list(answers(cluster, parts, model, scored, skipped=skipped))
    scores, relevance = (np.concatenate([one[name] for one in found]) for name in ("scores", "relevance"))
    return scores, relevance, [name for one in found for name in array_to_text(one["query"])]


def evaluate(
    cluster: Cluster, parts: Sequence[Part], model: Any, measures: Sequence[str], skipped: Skipped | None = None
) -> Evaluation:
    """Measures of a Categorizer, a learner of categories, or a DocumentRanker, as on one machine."""
    if isinstance(model, DocumentRanker):
        return evaluate_documents(*score_judged(cluster, parts, model, skipped), measures)
    learner = getattr(model, "learner_", model)
    chosen, n_labels = [measure(name) for name in measures], len(learner.classes_)
    k = depth(chosen, n_labels)
    found = list(rank_labelled(cluster, parts, model, k, skipped))
    truth = learner.label_numbers(NumberedLabels.stack(labels for _, labels in found))
    propensities = propensities_for(chosen, learner.label_counts_, learner.n_examples_)
    ranking = Ranking.stack([one for one, _ in found], k)
    return evaluate_ranking(ranking, truth, chosen, n_labels=n_labels, propensities=propensities)


def answers(
    cluster: Cluster,
    parts: Sequence[Part],
    model: Any,
    function: Callable[..., Arrays],
    *settings: Any,
    skipped: Skipped | None = None,
) -> Iterator[Arrays]:
    """The arrays that ``function(model, part, stream, *settings)`` makes of each part, in order.

    Workers must be able to import the function. Notes in ``skipped`` what was left out.
    """
    state = model.to_state()
    known = digest("answers", function.__module__, function.__name__, state, *settings)
    shared = cluster.submit(opened, state)
    keys = [digest(known, part) for part in parts]
    for found in cluster.each(ask, lambda n: (parts[n], shared, function, settings), keys):
        note(skipped, found)
        yield found.arrays


# What workers do


def ask(part: Part, model: Any, function: Callable[..., Arrays], settings: tuple[Any, ...]) -> State:
    """One part's answer."""
    stream = part.open()
    arrays = function(model, part, stream, *settings)
    return State("Answer", {"skipped": stream.skipped.count, "sentences": stream.skipped.sentences}, arrays)


def ranked(model: Any, part: Part, stream: Any, k: int) -> Arrays:
    """The best labels of each example."""
    ranking = Ranking.stack([rank_examples(model, batch, k) for batch in stream], k)
    return {"ids": ranking.ids, "scores": ranking.scores}


def ranked_and_labelled(model: Any, part: Part, stream: Any, k: int) -> Arrays:
    """The best labels of each example, and its own."""
    batches = list(with_labels(part.name, stream, stream))
    own = [labels for batch in batches for labels in batch.labels or ()]
    return ranked(model, part, batches, k) | {"labels": text_to_array(own)}


def scored(model: DocumentRanker, part: Part, stream: Any) -> Arrays:
    """The score of each document, its relevance and its query."""
    rows, relevance, query = gathered(part, stream)
    return {"scores": model.scores(rows, query), "relevance": relevance, "query": text_to_array(query)}
