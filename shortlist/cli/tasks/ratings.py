"""Ratings on an ordered scale, for rows of numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from shortlist.cli.options import Reading
from shortlist.cli.tasks import Asked, Settings, change, choose
from shortlist.cli.terminal import print_json, print_table
from shortlist.concurrency.prefetch import prefetch
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.cli.on_cluster import OnCluster
    from shortlist.inputs import Examples, Stream

LEARNERS = {"prank": "PRank", "widrow-hoff": "WidrowHoff", "multiclass-perceptron": "MulticlassPerceptron"}
USUAL = ["MAE", "exact", "within@1"]
SEPARATORS = {"csv": ",", "tsv": "\t"}


def open_data(reading: Reading, source: str) -> Stream:
    """Tables are read as numbers; other formats as they are."""
    from shortlist.inputs import sniff

    found = reading.format or (None if source == "-" else sniff(source))
    if found in (None, *SEPARATORS):
        return reading.open(source, format="numbers", target=reading.target, separator=SEPARATORS.get(found or "csv"))
    if found == "svmlight":
        return reading.open(source)
    raise InputError(f"ratings are learned from tables of numbers (csv, tsv) or svmlight, not from {found}")


def labelled(source: str, stream: Stream, batches: Iterator[Examples]) -> Iterator[Examples]:
    from shortlist.inputs.labelled import with_labels

    return with_labels(source, stream, batches, "--target")


def train(batches: Iterator[Examples], stream: Stream, settings: Settings) -> Any:
    """A Rater: columns, scales and a learner of ratings."""
    import shortlist
    from shortlist.models.rater import Rater, default_learner

    kind = choose(LEARNERS, settings.learner)
    usual = default_learner() if kind == "PRank" else getattr(shortlist, kind)(**default_learner().get_params())
    learner = change(usual, settings.values)
    rows, ratings = gathered(batches)
    return Rater(learner).fit(rows, as_values(ratings, settings.values.get("scale")), stream.columns)


def unfitted(settings: Settings, texts: bool = False) -> Any:
    raise InputError("ratings are learned one after the other, on one machine; leave out --workers and --dask")


def learn(model: Any, batches: Iterable[Examples], stream: Stream) -> None:
    for batch in prefetch(batches):
        model.learn(batch.rows, as_values([own[0] for own in batch.labels or ()], model.classes_), stream.columns)


def lines(model: Any, batches: Iterator[Examples], stream: Stream, k: int, as_json: bool) -> Iterator[str]:
    """The rating of each row, and how far it lies from the rating below and from the one above."""
    for batch in batches:
        ratings = model.rate(batch.rows, stream.columns).tolist()
        distances = model.neighbour_distances(batch.rows, stream.columns).tolist()
        for rating, (below, above) in zip(ratings, distances, strict=True):
            if as_json:
                steps = {"from_step_below": _known(below), "from_step_above": _known(above)}
                yield json.dumps({"rating": rating} | steps)
            else:
                yield f"{rating}\t{below:.6g}\t{above:.6g}"


def evaluate(model: Any, batches: Iterator[Examples], stream: Stream, asked: Asked) -> None:
    """Mean absolute error, exact and within-one accuracy, and who was rated what."""
    from shortlist.measures import confusion, evaluate_ratings

    if asked.plot:
        raise InputError("--plot draws rankings of labels; there is nothing to draw for ratings")
    rows, ratings = gathered(batches)
    truth, scale = as_values(ratings, model.classes_), model.classes_.tolist()
    predicted = model.rate(rows, stream.columns)
    found = evaluate_ratings(predicted, truth, asked.measures or USUAL, scale=scale)
    table = confusion(predicted, truth, scale)
    if asked.as_json:
        print_json(found.to_dict() | {"scale": scale, "confusion": table.tolist()})
        return
    print(found.table())
    shown = [[str(step), *row] for step, row in zip(scale, table.tolist(), strict=True)]
    print_table("Rows are true ratings, columns those given", ["", *map(str, scale)], shown)


def evaluate_there(model: Any, there: OnCluster, asked: Asked) -> None:
    raise InputError("ratings are measured on one machine; leave out --workers and --dask")


def describe(model: Any) -> dict[str, Any]:
    return {
        "learner": type(model.learner_).__name__,
        "examples": model.n_examples_,
        "ratings": len(model.classes_),
        "features": model.mean_.size,
    }


def gathered(batches: Iterator[Examples]) -> tuple[Any, list[str]]:
    """All rows, and the rating of each as it stands in the file."""
    from shortlist.arrays.rows import Rows

    every = list(batches)
    if not every:
        raise InputError("there are no examples")
    if every[0].rows is None:
        raise InputError("ratings are learned from rows of numbers, and the data hold texts")
    return (
        Rows.stack([batch.rows for batch in every if batch.rows is not None]).to_matrix(),
        [own[0] for batch in every for own in batch.labels or ()],
    )


def as_values(ratings: list[str], scale: Any) -> Any:
    """Ratings as the scale has them: numbers if they all are, text otherwise."""
    import numpy as np

    if scale is not None and not all(isinstance(step, (int, float, np.number)) for step in scale):
        return np.array(ratings, dtype=object if not ratings else str)
    try:
        numbers = np.array(ratings, dtype=np.float64)
    except ValueError:
        if scale is not None:
            bad = next(rating for rating in ratings if not _is_number(rating))
            raise InputError(f"the rating {bad!r} is no number, and those of the model are") from None
        return np.array(ratings)
    return numbers.astype(np.int64) if (numbers == np.round(numbers)).all() else numbers


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _known(distance: float) -> float | None:
    return distance if abs(distance) != float("inf") else None
