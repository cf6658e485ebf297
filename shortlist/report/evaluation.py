"""An evaluation of a model that ranks labels, with pictures of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Ints
from shortlist.categories.answering import is_true
from shortlist.errors import InputError
from shortlist.inputs import Examples
from shortlist.labels import LabelSets
from shortlist.measures import among_first_k, per_label, place_labels, precision_recall, progressive
from shortlist.models.base import Model, Report
from shortlist.models.category_model import CategoryModel
from shortlist.ranking import Ranking
from shortlist.report import plots

FEW = 50  # examples that are ranked, then learned, at a time for a learning curve


def evaluate_and_draw(
    folder: Path, model: Model[Any], batches: Iterable[Examples], measures: Sequence[str] | None, details: bool
) -> Report:
    """Evaluate, and draw curves into a folder."""
    if not isinstance(model, CategoryModel):
        raise InputError(f"curves are drawn of rankings of labels; there is nothing to draw for {model.task}")
    kept: list[Examples] = []

    def keeping() -> Iterator[Examples]:
        for batch in batches:
            kept.append(batch)
            yield batch

    chosen = model.usual_measures if measures is None else measures
    judged = list(model.judge(keeping(), chosen))
    ranking, truth = model.together(judged, chosen)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot make the folder {folder}: {problem.strerror}") from None
    draw_ranking(folder, ranking, truth, model.learner_.label_counts_)
    draw_learning(folder, model, kept, ranking.ids[:, 0], truth)
    return model.report(judged, chosen, details=details)


def draw_ranking(folder: Path, ranking: Ranking, truth: LabelSets, counts: NDArray[np.int64]) -> None:
    """The precision-recall graph, R_k against k, and label frequency against recall."""
    positions = place_labels(ranking, truth, counts.size)
    table = per_label(ranking, truth, n_labels=counts.size)
    plots.plot_precision_recall(folder / "precision-recall.png", {"model": precision_recall(positions)})
    plots.plot_among_first_k(folder / "first-k.png", {"model": among_first_k(positions, min(50, ranking.ids.shape[1]))})
    known = (table.labels < counts.size) & (table.true > 0)
    frequency = counts[np.where(known, table.labels, 0)][known]
    plots.plot_frequency_recall(folder / "frequency-recall.png", frequency, table.recall[known])


def draw_learning(folder: Path, model: CategoryModel, batches: list[Examples], best: Ints, truth: LabelSets) -> None:
    """R1 along the data: of the model as it is, and of one that learns each few examples after ranking them."""
    curves = {"as it is": progressive(is_true(best, truth))}
    if model.can_learn:
        learning = model.copy()
        hits: list[bool] = []
        for batch in batches:
            for first in range(0, len(batch), FEW):
                few = batch.take(list(range(first, min(first + FEW, len(batch)))))
                numbers = learning.learner_.label_numbers(few.labels)
                hits += is_true(learning.rank_examples(few, 1).ids[:, 0], numbers).tolist()
                learning.learn_batches([few])
        curves["learning as it goes"] = progressive(hits)
    plots.plot_learning(folder / "learning.png", curves, "R1")
