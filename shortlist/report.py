"""An evaluation of a model that ranks labels, with plots. Plots need matplotlib: ``pip install
'.[plot]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.compiled.kernels import Longs
from shortlist.data.labels import LabelSets
from shortlist.data.ranking import Ranking
from shortlist.errors import InputError, installing
from shortlist.inputs import Examples
from shortlist.learners.predictions import are_hits
from shortlist.measures import among_first_k, per_label, place_labels, precision_recall
from shortlist.models.auditing import shown
from shortlist.models.category_model import CategoryModel
from shortlist.models.model import Model, Report, ReportTable

PLOT_ENDINGS = (".png", ".svg")
CurvePoints = Mapping[str, tuple[ArrayLike, ArrayLike]]


def plot_curves(
    path: str | Path, curves: CurvePoints, x: str, y: str, title: str, **limits: tuple[float, float]
) -> None:
    """CurvePoints through points; ``limits`` are those of the axes, xlim and ylim."""
    axes = _axes(path, x, y, title)
    _draw(axes, curves, marker="o", markersize=3)
    axes.set(**limits)
    _save(axes, path)


def plot_frequency_recall(path: str | Path, frequency: ArrayLike, recall: ArrayLike) -> None:
    """Recall of each label against its frequency in training, with the mean of labels of like
    frequency.
    """
    x = np.asarray(frequency, dtype=np.float64)
    y = np.asarray(recall, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(
            f"frequency and recall must be two lists of one length, not {x.shape} and {y.shape}"
        )
    axes = _axes(
        path,
        "training examples with the label",
        "recall of the label",
        "Recall of rare and of frequent labels",
    )
    axes.plot(x, y, ".", alpha=0.4, label="one label")
    octaves = np.floor(np.log2(np.maximum(x, 0.5)))
    means = [
        (x[octaves == octave].mean(), y[octaves == octave].mean()) for octave in np.unique(octaves)
    ]
    axes.plot(*zip(*means, strict=True), "o-", label="mean of an octave")
    axes.set_xscale("symlog", linthresh=1)
    axes.set(xlim=(0, 2 * x.max(initial=1)), ylim=(-0.02, 1.02))
    axes.legend()
    _save(axes, path)


def plot_confusion(path: str | Path, labels: Sequence[str], counts: ArrayLike) -> None:
    """How often each true label (row) had each label ranked first (column)."""
    cells = np.asarray(counts)
    if cells.shape != (len(labels), len(labels)):
        raise InputError(
            f"counts must have a row and a column for each of {len(labels)} labels, not "
            f"{cells.shape}"
        )
    axes = _axes(path, "ranked first", "true", "The labels with most errors")
    axes.grid(visible=False)
    share = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    short = [cut_short(label, 20) for label in labels]
    axes.set_xticks(range(len(short)), short, rotation=90, fontsize=7)
    axes.set_yticks(range(len(short)), short, fontsize=7)
    for i, j in zip(*np.nonzero(cells), strict=True):
        ink = "w" if share[i, j] > 0.5 else "k"
        axes.text(j, i, f"{cells[i, j]:,}", ha="center", va="center", fontsize=6, color=ink)
    _save(axes, path)


def plot_reliability(
    path: str | Path, probability: ArrayLike, right: ArrayLike, n: ArrayLike
) -> None:
    """How often labels of nearly the same probability are right (``evaluate`` gives the bins);
    larger dots are more.
    """
    axes = _axes(
        path, "probability of the best label", "share that is right", "Right as often as it says?"
    )
    axes.plot([0, 1], [0, 1], "--", color="grey", label="as it says")
    counts = np.asarray(n, dtype=np.float64)
    axes.plot(probability, right, color="C0", alpha=0.5)
    axes.scatter(
        probability,
        right,
        s=10 + 190 * counts / counts.max(initial=1),
        color="C0",
        label="as it is",
    )
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02))
    axes.legend()
    _save(axes, path)


def _axes(path: str | Path, x: str, y: str, title: str) -> Any:
    if Path(path).suffix.lower() not in PLOT_ENDINGS:
        raise InputError(
            f"a plot is written to a file ending in {' or '.join(PLOT_ENDINGS)}, not {str(path)!r}"
        )
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(f"plots need matplotlib; {installing('plot')}") from None
    axes = Figure(figsize=(6, 4.5), layout="constrained").subplots()
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.grid(alpha=0.3)
    return axes


def _draw(axes: Any, curves: CurvePoints, **style: Any) -> None:
    for name, (x, y) in curves.items():
        axes.plot(x, y, label=name, **style)
    if len(curves) > 1:
        axes.legend()


def _save(axes: Any, path: str | Path) -> None:
    import matplotlib

    # the same numbers give the same file
    metadata = {"Date": None} if Path(path).suffix.lower() == ".svg" else None
    with matplotlib.rc_context({"svg.hashsalt": "shortlist"}):
        axes.figure.savefig(path, dpi=150, metadata=metadata)


TEXT_LENGTH = 80  # characters of a text in a table


def brief(batch: Examples, i: int) -> str:
    """Return the text of an example, cut short, or its id."""
    if batch.texts is not None:
        return cut_short(" ".join(shown(batch.texts[i]).split()), TEXT_LENGTH)
    return "" if batch.ids is None else batch.ids[i]


def cut_short(text: str, length: int) -> str:
    """Return a text of at most so many characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def worst_errors(
    ranking: Ranking,
    truth: LabelSets,
    names: Sequence[str],
    labels: Sequence[Any],
    n: int,
    called: Callable[[Any], str] = str,
) -> ReportTable:
    """Return the examples whose first label is wrong, by the margin over the best true label."""
    best = ranking.scores[:, 0]
    right = are_hits(ranking.ids[:, 0], truth)
    margin = best - score_of_truth(ranking, truth)
    margin[np.isnan(best) | right | (np.diff(truth.indptr) == 0)] = -np.inf
    ranked_first = ranking.labels[:, 0]
    rows = []
    for i in np.argsort(-margin, kind="stable")[:n]:
        if margin[i] > -np.inf:
            true = ", ".join(map(called, labels[i]))
            first = called(ranked_first[i])
            rows.append([int(i) + 1, true, first, float(margin[i]), names[i]])
    columns = ["example", "true", "ranked first", "by a margin of", "text"]
    return ReportTable("The worst errors", columns, rows, "errors")


def score_of_truth(ranking: Ranking, truth: LabelSets) -> NDArray[np.float64]:
    """Return the score of the best true label of each example, 0 if none was retrieved."""
    scores = np.zeros(len(ranking))
    for i, ids in enumerate(ranking.ids):
        true = truth.ids[truth.indptr[i] : truth.indptr[i + 1]]
        hits = np.isin(ids, true) & (ids >= 0)
        if hits.any():
            scores[i] = ranking.scores[i, np.argmax(hits)]
    return scores


def most_confused(ranking: Ranking, truth: LabelSets, n: int) -> tuple[Longs, Longs]:
    """Return the n labels with most errors, and how often a true one (row) had each ranked first
    (column).

    An example whose first label is true counts once; any other counts for each of its true labels.
    """
    row = np.repeat(np.arange(len(ranking)), np.diff(truth.indptr))
    true = truth.ids.astype(np.int64)
    first = ranking.ids[row, 0].astype(np.int64)
    is_wrong = true != first
    # if the first label is true, the other true ones are not errors
    counted = (first >= 0) & ~(are_hits(ranking.ids[:, 0], truth)[row] & is_wrong)
    true = true[counted]
    first = first[counted]
    is_wrong = is_wrong[counted]
    n_labels = 1 + max(true.max(initial=0), first.max(initial=0))
    errors = np.bincount(true[is_wrong], minlength=n_labels)
    errors += np.bincount(first[is_wrong], minlength=n_labels)
    chosen = np.argsort(-errors, kind="stable")[: min(n, np.count_nonzero(errors))]
    frequency = np.bincount(true, minlength=n_labels)
    chosen = chosen[np.argsort(-frequency[chosen], kind="stable")]
    place = np.full(n_labels, -1)
    place[chosen] = np.arange(chosen.size)
    inside = (place[true] >= 0) & (place[first] >= 0)
    cells = place[true[inside]] * chosen.size + place[first[inside]]
    return chosen, np.bincount(cells, minlength=chosen.size**2).reshape(chosen.size, chosen.size)


MOST_CONFUSED_LABELS = 20  # in a confusion matrix


def evaluate_closely(
    model: Model[Any],
    batches: Iterable[Examples],
    measures: Sequence[str] | None = None,
    *,
    details: bool = False,
    errors: int = 0,
    folder: Path | None = None,
) -> Report:
    """Evaluate, list the worst errors, and draw curves into a folder."""
    if not isinstance(model, CategoryModel):
        raise InputError(
            f"errors and curves are those of rankings of labels; there are none of {model.task}"
        )
    examples = list(batches)
    chosen = model.default_measures if measures is None else measures
    judged = list(model.judge_batches(examples, chosen))
    ranking, truth = model.joined_judgements(judged, chosen)
    labels = [true for batch in examples for true in batch.labels or ()]
    report = model.report_on(judged, chosen, details=details)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"cannot make the folder {folder}: {problem.strerror}") from None
        draw_ranking(folder, ranking, truth, model.learner_.label_counts_)
        draw_confusion(folder, ranking, truth, list(chain.from_iterable(labels)), model.name_of)
        if "confidence" in report.details:
            draw_confidence(folder, report.details["confidence"])
    if errors:
        texts = [brief(batch, i) for batch in examples for i in range(len(batch))]
        report.tables.append(worst_errors(ranking, truth, texts, labels, errors, model.name_of))
        table = worst_errors(ranking, truth, texts, labels, errors)
        report.details["errors"] = [
            dict(zip(table.columns, row, strict=True)) for row in table.rows
        ]
    return report


def draw_ranking(
    folder: Path, ranking: Ranking, truth: LabelSets, counts: NDArray[np.int64]
) -> None:
    """Plot precision against recall, R_k against k, and recall against label frequency."""
    positions = place_labels(ranking, truth, counts.size)
    table = per_label(ranking, truth, n_labels=counts.size)
    plot_curves(
        folder / "precision-recall.png",
        {"model": precision_recall(positions)},
        "recall",
        "precision",
        "Precision at each level of recall",
        xlim=(0, 1),
        ylim=(0, 1.02),
    )
    plot_curves(
        folder / "first-k.png",
        {"model": among_first_k(positions, min(50, ranking.ids.shape[1]))},
        "k",
        "share of examples",
        "A true label among the first k",
        ylim=(0, 1.02),
    )
    learned = (table.labels < counts.size) & (table.true > 0)
    frequency = counts[table.labels[learned]]
    plot_frequency_recall(folder / "frequency-recall.png", frequency, table.recall[learned])


def draw_confusion(
    folder: Path,
    ranking: Ranking,
    truth: LabelSets,
    labels: list[Any],
    called: Callable[[Any], str] = str,
) -> None:
    """Plot the confusion matrix with the names of labels. ``labels`` are those of ``truth``,
    one by one.
    """
    names: dict[int, Any] = dict(enumerate(ranking.label_names))
    names |= zip(truth.ids.tolist(), labels, strict=True)
    chosen, counts = most_confused(ranking, truth, MOST_CONFUSED_LABELS)
    if chosen.size:
        shown_names = [called(names[i]) for i in chosen.tolist()]
        plot_confusion(folder / "confusion.png", shown_names, counts)


def draw_confidence(folder: Path, details: dict[str, Any]) -> None:
    """Plot reliability, and the share of right decisions against the share decided
    automatically.
    """

    def column(table: str, name: str) -> list[float]:
        return [row[name] for row in details[table]]

    plot_reliability(
        folder / "reliability.png",
        column("reliability", "probability"),
        column("reliability", "right"),
        column("reliability", "n"),
    )
    curve = (column("automation by share", "share"), column("automation by share", "right"))
    plot_curves(
        folder / "automation.png",
        {"model": curve},
        "share of texts decided automatically",
        "share of them that is right",
        "Automatic decisions",
        xlim=(0, 1.02),
    )
