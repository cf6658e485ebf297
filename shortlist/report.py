"""An evaluation of a model that ranks labels, with plots. Plots need matplotlib: ``pip install
'.[plot]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from shortlist.models.model import Model, Report, Table

FORMATS = (".png", ".svg")
Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]


def plot_curves(
    path: str | Path, curves: Curves, x: str, y: str, title: str, **limits: tuple[float, float]
) -> None:
    """Curves through points; ``limits`` are those of the axes, xlim and ylim."""
    axes = _axes(path, x, y, title)
    _draw(axes, curves, marker="o", markersize=3)
    axes.set(**limits)
    _save(axes, path)


def plot_frequency_recall(path: str | Path, frequency: ArrayLike, recall: ArrayLike) -> None:
    """Recall of each label against its frequency in training, with the mean of labels of like
    frequency.
    """
    x, y = np.asarray(frequency, dtype=np.float64), np.asarray(recall, dtype=np.float64)
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
    octave = np.floor(np.log2(np.maximum(x, 0.5)))
    means = [(x[octave == one].mean(), y[octave == one].mean()) for one in np.unique(octave)]
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
    short = [label if len(label) <= 20 else f"{label[:19]}…" for label in labels]
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
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError(
            f"a plot is written to a file ending in {' or '.join(FORMATS)}, not {str(path)!r}"
        )
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(f"plots need matplotlib; {installing('plot')}") from None
    axes = Figure(figsize=(6, 4.5), layout="constrained").subplots()
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.grid(alpha=0.3)
    return axes


def _draw(axes: Any, curves: Curves, **style: Any) -> None:
    for name, (x, y) in curves.items():
        axes.plot(x, y, label=name, **style)
    if len(curves) > 1:
        axes.legend()


def _save(axes: Any, path: str | Path) -> None:
    import matplotlib

    # the same numbers give the same file
    with matplotlib.rc_context({"svg.hashsalt": "shortlist"}):
        axes.figure.savefig(
            path, dpi=150, metadata={"Date": None} if Path(path).suffix.lower() == ".svg" else None
        )


LONGEST = 80  # characters of a text in a table


def brief(batch: Examples, i: int) -> str:
    """Return the text of an example, cut short, or its id."""
    if batch.texts is None:
        return "" if batch.ids is None else batch.ids[i]
    text = " ".join(shown(batch.texts[i]).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def worst_errors(
    ranking: Ranking,
    truth: LabelSets,
    names: Sequence[str],
    labels: Sequence[Any],
    n: int,
    called: Callable[[Any], str] = str,
) -> Table:
    """Return the examples whose first label is wrong, by the margin over the best true label."""
    best, own = ranking.scores[:, 0], score_of_truth(ranking, truth)
    right = are_hits(ranking.ids[:, 0], truth)
    margin = np.where(np.isnan(best) | right | (np.diff(truth.indptr) == 0), -np.inf, best - own)
    worst = np.argsort(-margin, kind="stable")[:n]
    first = ranking.labels[:, 0]
    rows = [
        [
            int(i) + 1,
            ", ".join(map(called, labels[i])),
            called(first[i]),
            float(margin[i]),
            names[i],
        ]
        for i in worst
        if margin[i] > -np.inf
    ]
    return Table(
        "The worst errors",
        ["example", "true", "ranked first", "by a margin of", "text"],
        rows,
        "errors",
    )


def score_of_truth(ranking: Ranking, truth: LabelSets) -> NDArray[np.float64]:
    """Return the score of the best true label of each example, 0 if none was retrieved."""
    found = np.zeros(len(ranking))
    for i in range(len(ranking)):
        hits = np.isin(ranking.ids[i], truth.ids[truth.indptr[i] : truth.indptr[i + 1]]) & (
            ranking.ids[i] >= 0
        )
        found[i] = ranking.scores[i, np.argmax(hits)] if hits.any() else 0.0
    return found


def most_confused(ranking: Ranking, truth: LabelSets, n: int) -> tuple[Longs, Longs]:
    """Return the n labels with most errors, and how often a true one (row) had each ranked first
    (column).

    An example whose first label is true counts once; any other counts for each of its true labels.
    """
    row = np.repeat(np.arange(len(ranking)), np.diff(truth.indptr))
    true, first = truth.ids.astype(np.int64), ranking.ids[row, 0].astype(np.int64)
    # its other labels are not errors
    kept = (first >= 0) & ~(are_hits(ranking.ids[:, 0], truth)[row] & (true != first))
    true, first = true[kept], first[kept]
    wide = 1 + max(true.max(initial=0), first.max(initial=0))
    wrong = np.bincount(true[true != first], minlength=wide) + np.bincount(
        first[true != first], minlength=wide
    )
    chosen = np.flatnonzero(wrong)[np.argsort(-wrong[np.flatnonzero(wrong)], kind="stable")][:n]
    chosen = chosen[np.argsort(-np.bincount(true, minlength=wide)[chosen], kind="stable")]
    place = np.full(wide, -1)
    place[chosen] = np.arange(chosen.size)
    inside = (place[true] >= 0) & (place[first] >= 0)
    cells = place[true[inside]] * chosen.size + place[first[inside]]
    return chosen, np.bincount(cells, minlength=chosen.size**2).reshape(chosen.size, chosen.size)


CONFUSED = 20  # labels in a confusion matrix


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
    kept = list(batches)
    chosen = model.default_measures if measures is None else measures
    judged = list(model.judge_batches(kept, chosen))
    ranking, truth = model.joined_judgements(judged, chosen)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"cannot make the folder {folder}: {problem.strerror}") from None
        draw_ranking(folder, ranking, truth, model.learner_.label_counts_)
        true = [label for batch in kept for own in batch.labels or () for label in own]
        draw_confusion(folder, ranking, truth, true, model.name_of)
    report = model.report_on(judged, chosen, details=details)
    if folder is not None and "confidence" in report.details:
        draw_confidence(folder, report.details["confidence"])
    if errors:
        names = [brief(batch, i) for batch in kept for i in range(len(batch))]
        labels = [own for batch in kept for own in batch.labels or ()]
        report.tables.append(worst_errors(ranking, truth, names, labels, errors, model.name_of))
        table = worst_errors(ranking, truth, names, labels, errors)
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
    known = (table.labels < counts.size) & (table.true > 0)
    frequency = counts[np.where(known, table.labels, 0)][known]
    plot_frequency_recall(folder / "frequency-recall.png", frequency, table.recall[known])


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
    names: dict[int, Any] = dict(enumerate(ranking.label_names)) | dict(
        zip(truth.ids.tolist(), labels, strict=True)
    )
    chosen, counts = most_confused(ranking, truth, CONFUSED)
    if chosen.size:
        plot_confusion(
            folder / "confusion.png", [called(names[i]) for i in chosen.tolist()], counts
        )


def draw_confidence(folder: Path, found: dict[str, Any]) -> None:
    """Plot reliability, and the share of right decisions against the share decided
    automatically.
    """

    def column(table: str, name: str) -> list[float]:
        return [row[name] for row in found[table]]

    bins = (column("reliability", name) for name in ("probability", "right", "n"))
    plot_reliability(folder / "reliability.png", *bins)
    curve = column("automation by share", "share"), column("automation by share", "right")
    plot_curves(
        folder / "automation.png",
        {"model": curve},
        "share of texts decided alone",
        "share of them that is right",
        "Decided alone",
        xlim=(0, 1.02),
    )
