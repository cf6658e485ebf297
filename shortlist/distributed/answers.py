"""Ranking and evaluation on a cluster: every worker has the model, and answers for its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.distributed.categories import note, opened
from shortlist.distributed.cluster import Cluster, digest
from shortlist.distributed.parts import Part
from shortlist.errors import InputError
from shortlist.files.container import array_to_text, text_to_array
from shortlist.files.store import State
from shortlist.inputs import Examples, Skipped, Stream
from shortlist.inputs.labelled import with_labels
from shortlist.measures import Evaluation
from shortlist.models.base import Model
from shortlist.models.category_model import CategoryModel, JudgedRanking
from shortlist.ranking import Ranking

Arrays = dict[str, NDArray[Any]]


def rank(
    cluster: Cluster, parts: Sequence[Part], model: CategoryModel[Any], k: int = 5, skipped: Skipped | None = None
) -> Iterator[Ranking]:
    """The k best labels of the texts or rows of each part, in order."""
    names = model.classes_.tolist()
    for found in answers(cluster, parts, model, ranked, k, skipped=skipped):
        yield Ranking(found["ids"], found["scores"], names, found.get("probabilities"))


def evaluate(
    cluster: Cluster, parts: Sequence[Part], model: Model[Any], measures: Sequence[str], skipped: Skipped | None = None
) -> Evaluation:
    """Measures of a model, as on one machine."""
    return model._report(judge(cluster, parts, model, measures, skipped), measures).measures


def judge(
    cluster: Cluster, parts: Sequence[Part], model: Model[Any], measures: Sequence[str], skipped: Skipped | None = None
) -> Iterator[JudgedRanking]:
    """What the model makes of the examples of each part, beside the truth."""
    if not isinstance(model, CategoryModel):
        raise InputError(f"{model.task} are measured on one machine; leave out --workers and --dask")
    names, deep = model.classes_.tolist(), model._judged_depth(measures)
    for found in answers(cluster, parts, model, ranked_and_labelled, deep, skipped=skipped):
        yield JudgedRanking(Ranking(found["ids"], found["scores"], names), array_to_text(found["labels"]))


def answers(
    cluster: Cluster,
    parts: Sequence[Part],
    model: Model[Any],
    function: Callable[..., Arrays],
    *settings: int,
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
        yield {name: np.asarray(array) for name, array in found.arrays.items()}


# What workers do


def ask(part: Part, model: Model[Any], function: Callable[..., Arrays], settings: tuple[int, ...]) -> State:
    """One part's answer."""
    stream = part.open()
    arrays = function(model, part, stream, *settings)
    return State("Answer", {"skipped": stream.skipped.count, "sentences": stream.skipped.sentences}, arrays)


def ranked(model: CategoryModel[Any], part: Part, stream: Iterable[Examples], k: int) -> Arrays:
    """The best labels of each example, with probabilities where they are known."""
    ranking = Ranking.stack([model._rank_examples(batch, k) for batch in stream], k)
    found: Arrays = {"ids": ranking.ids, "scores": ranking.scores}
    return found if np.isnan(ranking.probabilities).all() else found | {"probabilities": ranking.probabilities}


def ranked_and_labelled(model: CategoryModel[Any], part: Part, stream: Stream, k: int) -> Arrays:
    """The best labels of each example, and its own."""
    batches = [batch.complete_only() for batch in with_labels(part.name, stream, stream)]
    own = [labels for batch in batches for labels in batch.labels or ()]
    return ranked(model, part, batches, k) | {"labels": text_to_array(own)}
