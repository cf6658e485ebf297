"""Plots of curves, written to a PNG or SVG file. They need matplotlib: ``pip install '.[plot]'``.

Every function takes a path and numbers: a curve is a pair of arrays (x, y), and several named curves share one plot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist.errors import InputError, installing

FORMATS = (".png", ".svg")
Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]


def plot_curves(path: str | Path, curves: Curves, x: str, y: str, title: str, **limits: tuple[float, float]) -> None:
    """Curves through points; ``limits`` are those of the axes, xlim and ylim."""
    axes = _axes(path, x, y, title)
    _draw(axes, curves, marker="o", markersize=3)
    axes.set(**limits)
    _save(axes, path)


def plot_learning(path: str | Path, curves: Curves, measure: str) -> None:
    """A measure averaged over the stream so far (``measures.progressive``), as in figures 4 and 5 of paper 001."""
    axes = _axes(path, "examples seen", f"{measure}, average so far", f"{measure} along the data")
    thinned = {}
    for name, (seen, value) in curves.items():
        x, y = np.asarray(seen, dtype=np.float64), np.asarray(value, dtype=np.float64)
        few = np.unique(np.geomspace(1, max(x.size, 1), 500).astype(np.int64)) - 1  # as many as can be told apart
        thinned[name] = (x[few], y[few]) if x.size else (x, y)
    _draw(axes, thinned)
    axes.set_xscale("log")
    _save(axes, path)


def plot_frequency_recall(path: str | Path, frequency: ArrayLike, recall: ArrayLike) -> None:
    """Recall of each label against its frequency in training, with the mean of labels of like frequency."""
    x, y = np.asarray(frequency, dtype=np.float64), np.asarray(recall, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"frequency and recall must be two lists of one length, not {x.shape} and {y.shape}")
    axes = _axes(
        path, "training examples with the label", "recall of the label", "Recall of rare and of frequent labels"
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
        raise InputError(f"counts must have a row and a column for each of {len(labels)} labels, not {cells.shape}")
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


def plot_reliability(path: str | Path, probability: ArrayLike, right: ArrayLike, n: ArrayLike) -> None:
    """How often labels of nearly the same probability are right (``evaluate`` gives the bins); larger dots are more."""
    axes = _axes(path, "probability of the best label", "share that is right", "Right as often as it says?")
    axes.plot([0, 1], [0, 1], "--", color="grey", label="as it says")
    counts = np.asarray(n, dtype=np.float64)
    axes.plot(probability, right, color="C0", alpha=0.5)
    axes.scatter(probability, right, s=10 + 190 * counts / counts.max(initial=1), color="C0", label="as it is")
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02))
    axes.legend()
    _save(axes, path)


def _axes(path: str | Path, x: str, y: str, title: str) -> Any:
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError(f"a plot is written to a file ending in {' or '.join(FORMATS)}, not {str(path)!r}")
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

    with matplotlib.rc_context({"svg.hashsalt": "shortlist"}):  # the same numbers give the same file
        axes.figure.savefig(path, dpi=150, metadata={"Date": None} if Path(path).suffix.lower() == ".svg" else None)
