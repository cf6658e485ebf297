"""Labels for texts, or for rows of features."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.options import Reading
from shortlist.cli.tasks import Asked, Settings, bound_memory, change
from shortlist.cli.terminal import print_json, print_table, say, saying_what_is_forgotten
from shortlist.concurrency.prefetch import prefetch
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist import Ranking
    from shortlist.arrays.rows import Rows
    from shortlist.cli.on_cluster import OnCluster
    from shortlist.inputs import Examples, Stream

USUAL = ["R1", "R5", "MRR", "P@5", "nDCG@5"]
FEW = 50  # examples that are ranked, then learned, at a time for a learning curve
SHOWN = 30  # rows of a table for people


def open_data(reading: Reading, source: str) -> Stream:
    return reading.open(source)


def labelled(source: str, stream: Stream, batches: Iterator[Examples]) -> Iterator[Examples]:
    from shortlist.inputs.labelled import with_labels

    return with_labels(source, stream, batches)


def unfitted(settings: Settings, texts: bool) -> Any:
    """The model to train: a Categorizer where the data are texts, the learner alone where they are rows of features."""
    import shortlist

    learner, text = chosen(settings)
    if not texts and any(name.startswith("text.") for name in settings.values):
        raise InputError("the data hold rows of features, so that text.NAME=VALUE has no meaning")
    return shortlist.Categorizer(learner, text) if texts else learner


def train(batches: Iterator[Examples], stream: Stream, settings: Settings) -> Any:
    """A Categorizer where the data are texts, the learner alone where they are rows of features."""
    from shortlist.arrays.rows import Rows
    from shortlist.labels import LabelIndex, LabelSets, NumberedLabels

    chosen(settings)  # settings that do not exist are refused before anything is read
    first = next(batches, None)
    if first is None:
        raise InputError("there are no examples to learn from")
    model = unfitted(settings, first.texts is not None)
    if settings.max_memory is not None:
        bound_memory(model, settings.max_memory)
    if first.texts is not None:
        texts = ((texts_of(batch), batch.labels or []) for batch in chain([first], batches))
        with saying_what_is_forgotten(model):
            return model.fit_batches(texts)
    names, sets, parts = LabelIndex(), [], []
    for batch in prefetch(chain([first], batches)):
        sets.append(names.learn(batch.labels, len(batch)))
        parts.append(rows_of(batch))
    return model.fit_rows(Rows.stack(parts), NumberedLabels(names.names, LabelSets.stack(sets)))


def chosen(settings: Settings) -> tuple[Any, Any]:
    """The learner and the text part that were asked for."""
    from shortlist.experiments.compare import learner as named
    from shortlist.models.categorizer import default_text

    for_text = {name[5:]: value for name, value in settings.values.items() if name.startswith("text.")}
    for_learner = {name: value for name, value in settings.values.items() if not name.startswith("text.")}
    learner = change(named(settings.learner or "tuned-index"), for_learner)
    return learner, change(default_text(), for_text, prefix="text.")


def learn(model: Any, batches: Iterable[Examples], stream: Stream | None = None) -> None:
    """Learn the texts or rows of batches, whichever the model takes; some are read while others are learned."""
    learner = learner_of(model)
    if not hasattr(learner, "partial_fit"):
        raise InputError(f"{type(learner).__name__} cannot go on learning; train it anew")
    if hasattr(model, "text_"):
        model.learn_batches((texts_of(batch), batch.labels or []) for batch in batches)
        return
    for batch in prefetch(batches):
        model.learn_rows(rows_of(batch), batch.labels)


def texts_of(batch: Examples) -> Sequence[str]:
    if batch.texts is None:
        raise InputError("the model learns from texts, and the data hold rows of features; train another model on them")
    return batch.texts


def rows_of(batch: Examples) -> Rows:
    if batch.rows is None:
        raise InputError("the model learns from rows of features, and the data hold texts; train another model on them")
    return batch.rows


def lines(model: Any, batches: Iterator[Examples], stream: Stream, k: int, as_json: bool) -> Iterator[str]:
    """Label, score, label, score, … of each text or row."""
    from shortlist.models.categorizer import rank_examples

    for batch in batches:
        for n, ranking in enumerate(rank_examples(model, batch, k)):
            if as_json:
                named = {} if batch.ids is None else {"id": batch.ids[n]}
                found = {"labels": [label for label, _ in ranking], "scores": [score for _, score in ranking]}
                yield json.dumps(named | found, ensure_ascii=False)
            else:
                yield "\t".join(f"{one_line(label)}\t{score:.6g}" for label, score in ranking)


def evaluate(model: Any, batches: Iterator[Examples], stream: Stream, asked: Asked) -> None:
    """Measures of the rankings with 95 % intervals; for each label; as pictures."""
    from shortlist.models.categorizer import rank_batches

    kept = []

    def ranked(k: int) -> Iterator[tuple[Ranking, Sequence[list[str]]]]:
        for ranking, batch in rank_batches(model, batches, k):
            if asked.plot:
                kept.append(batch)
            yield ranking, batch.labels or []

    report(model, ranked, asked, kept)


def evaluate_there(model: Any, there: OnCluster, asked: Asked) -> None:
    """The same on a cluster."""
    if asked.plot:
        raise InputError("--plot needs the examples here; leave out --workers and --dask")
    report(model, lambda k: there.rank_labelled(model, k), asked, [])


def report(
    model: Any,
    ranked: Callable[[int], Iterable[tuple[Ranking, Sequence[list[str]]]]],
    asked: Asked,
    kept: list[Examples],
) -> None:
    """Measure rankings of the k best labels, given k, and print what was found."""
    from shortlist import Ranking
    from shortlist.labels import NumberedLabels
    from shortlist.measures import depth, measure, per_label, propensities_for
    from shortlist.measures import evaluate as evaluate_ranking

    learner = learner_of(model)
    n_labels = len(learner.classes_)
    chosen = [measure(name) for name in asked.measures or USUAL]
    k = depth(chosen, n_labels)
    rankings: list[Ranking] = []
    truth: list[Sequence[list[str]]] = []
    for some, own in ranked(k):
        rankings.append(some)
        truth.append(own)
    if not any(truth):
        raise InputError("there are no examples to evaluate")
    ranking, numbers = Ranking.stack(rankings, k), learner.label_numbers(NumberedLabels.stack(truth))
    found = evaluate_ranking(
        ranking, numbers, chosen, n_labels=n_labels,
        propensities=propensities_for(chosen, learner.label_counts_, learner.n_examples_),
    )  # fmt: skip
    table = per_label(ranking, numbers, n_labels=n_labels) if asked.per_label or asked.plot else None
    if asked.plot:
        draw(asked.plot, ranking, numbers, table, learner.label_counts_)
        draw_learning(asked.plot, model, kept, ranking.ids[:, 0], numbers)
        say(f"pictures are in {asked.plot}")
    rows = table.to_dicts() if table is not None and asked.per_label else []
    if asked.as_json:
        print_json(found.to_dict() | ({"labels": rows} if asked.per_label else {}))
        return
    print(found.table())
    if rows:
        keys = ["label", "true", "assigned", "precision", "recall", "f1"]
        shown = [[row[key] for key in keys] for row in rows[:SHOWN]]
        print_table("Each text is given as many labels as it has", keys, shown)
        if len(rows) > SHOWN:
            print(f"and {len(rows) - SHOWN:,} labels more; --json gives all")


def draw(folder: Path, ranking: Ranking, truth: Any, table: Any, counts: Any) -> None:
    """The precision-recall graph, R_k against k, and label frequency against recall."""
    import numpy as np

    from shortlist.measures import among_first_k, place_labels, precision_recall
    from shortlist.report import plots

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot make the folder {folder}: {problem.strerror}") from None
    positions = place_labels(ranking, truth, counts.size)
    plots.plot_precision_recall(folder / "precision-recall.png", {"model": precision_recall(positions)})
    plots.plot_among_first_k(folder / "first-k.png", {"model": among_first_k(positions, min(50, ranking.ids.shape[1]))})
    known = (table.labels < counts.size) & (table.true > 0)
    frequency = counts[np.where(known, table.labels, 0)][known]
    plots.plot_frequency_recall(folder / "frequency-recall.png", frequency, table.recall[known])


def draw_learning(folder: Path, model: Any, batches: list[Examples], best: Any, truth: Any) -> None:
    """R1 along the data: of the model as it is, and of one that learns each few examples after ranking them."""
    from shortlist.categories.learner import is_true
    from shortlist.files import store
    from shortlist.measures import progressive
    from shortlist.models.categorizer import rank_examples
    from shortlist.report import plots

    curves = {"as it is": progressive(is_true(best, truth))}
    if hasattr(learner_of(model), "partial_fit"):
        learning = store.build(model.to_state())
        hits: list[bool] = []
        for batch in batches:
            for first in range(0, len(batch), FEW):
                few = batch.take(list(range(first, min(first + FEW, len(batch)))))
                numbers = learner_of(learning).label_numbers(few.labels)
                hits += is_true(rank_examples(learning, few, 1).ids[:, 0], numbers).tolist()
                learn(learning, [few])
        curves["learning as it goes"] = progressive(hits)
    plots.plot_learning(folder / "learning.png", curves, "R1")


def describe(model: Any) -> dict[str, Any]:
    """The numbers of a model: examples, labels, features, edges."""
    learner = learner_of(model)
    facts = {
        "learner": type(learner).__name__,
        "examples": learner.n_examples_,
        "labels": len(learner.classes_),
        "features": learner.n_features_in_,
    }
    return facts | ({"edges": learner.n_edges_} if hasattr(learner, "n_edges_") else {})


def learner_of(model: Any) -> Any:
    """The learner of a Categorizer; a learner itself."""
    return getattr(model, "learner_", model)


def one_line(label: Any) -> str:
    """A label that can stand between tabs."""
    return str(label).replace("\t", " ").replace("\n", " ").replace("\r", " ")
