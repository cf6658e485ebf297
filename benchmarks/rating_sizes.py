"""Ordered ratings with no settings, from few rows and from many: Rater() and PRank() beside mord's LogisticAT.

    python benchmarks/rating_sizes.py [DATA]

Mean absolute error in steps of the scale on 2,000 rows that were not learned, and the processor time to learn, each the
mean over several draws. Generated: a direction, logistic noise, steps of equal shares; MovieLens (DATA has the folder
movielens100k): 100 viewers, as many films of each as there are rows, the features being other viewers' ratings.
PRank and mord get columns of mean 0 and variance 1; Rater scales for itself. Needs: pip install mord.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import mord
import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import shortlist as sl
from papers.rating_data import read_movielens
from papers.ratings import MoviesProtocol, viewer_stream

TEST = 2000
SIZES = (50, 200, 1000, 5000, 50_000)
SHAPES = {"ten steps, 10 columns": (10, 10, 3.0), "five steps, 60 columns": (5, 60, 3.0), "noisy": (10, 10, 1.0)}


class LogisticAT:
    """mord's, which counts ratings from 0 and knows no gaps."""

    def fit(self, X: Any, y: Any) -> LogisticAT:
        self.steps_, numbers = np.unique(y, return_inverse=True)
        self.model_ = mord.LogisticAT(alpha=1.0).fit(X, numbers)
        return self

    def predict(self, X: Any) -> Any:
        return self.steps_[self.model_.predict(X)]


TOOLS: dict[str, Callable[[], Any]] = {
    "Rater()": sl.Rater,
    "PRank()": sl.PRank,
    "PRank(passes=1)": lambda: sl.PRank(passes=1),
    "mord LogisticAT": LogisticAT,
}


class Part(NamedTuple):
    """Rows to learn, with their ratings, and rows to test on, with theirs."""

    X: Any
    y: Any
    test_X: Any
    test_y: Any


def generated(n: int, steps: int, columns: int, strength: float) -> Iterator[Part]:
    """Some draws, fewer the larger they are."""
    for draw in range(max(1, min(10, 10_000 // n))):
        generator = np.random.default_rng([draw, n, columns])
        X = generator.normal(size=(n + TEST, columns))
        w = generator.normal(size=columns)
        score = strength * (X @ w) / np.linalg.norm(w) + generator.logistic(size=n + TEST)
        y = 1 + np.digitize(score, np.quantile(score, np.arange(1, steps) / steps))
        yield Part(X[:n], y[:n], X[n:], y[n:])


def viewers(path: Path, n: int) -> Iterator[Part]:
    """A hundred viewers, each with so many films to learn from; the features are the other viewers'."""
    ratings = read_movielens(path)
    streams = (viewer_stream(ratings, MoviesProtocol(seed=18), number) for number in count())
    for X, y in islice(streams, 100):
        yield Part(X[:n], y[:n], X[n:], y[n:])


def tried(parts: list[Part]) -> dict[str, tuple[float, float]]:
    """Mean absolute error and mean seconds of each tool."""
    found = {}
    for name, new in TOOLS.items():
        errors, seconds = [], []
        for part in parts:
            scaler = None if name == "Rater()" else StandardScaler().fit(part.X)
            X, test = (one if scaler is None else scaler.transform(one) for one in (part.X, part.test_X))
            began = time.process_time()
            model = new().fit(X, part.y)
            seconds.append(time.process_time() - began)
            errors.append(np.abs(model.predict(test) - part.test_y).mean())
        found[name] = float(np.mean(errors)), float(np.mean(seconds))
    return found


def print_table(title: str, by_size: dict[int, list[Part]]) -> None:
    print(f"\n| {title}, rows | {' | '.join(TOOLS)} | {', s | '.join(('Rater()', 'mord LogisticAT'))}, s |")
    print("|---|" + "---|" * (len(TOOLS) + 2))
    for n, parts in by_size.items():
        found = tried(parts)
        errors = " | ".join(f"{found[name][0]:.3f}" for name in TOOLS)
        times = " | ".join(f"{found[name][1]:.4f}" for name in ("Rater()", "mord LogisticAT"))
        print(f"| {n:,} | {errors} | {times} |", flush=True)


def main(data: str | None = None) -> None:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop early
        tried([next(generated(50, 3, 2, 1.0))])  # compile, or load what was compiled, outside the clock
        for title, shape in SHAPES.items():
            print_table(title, {n: list(generated(n, *shape)) for n in SIZES})
        if data is not None:
            path = Path(data) / "movielens100k" / "u.data"
            print_table("MovieLens, 100 viewers", {n: list(viewers(path, n)) for n in (50, 100, 150)})


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        sys.exit()
    main(*sys.argv[1:])
