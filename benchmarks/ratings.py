"""Ordered ratings: shortlist beside mord (LogisticAT, LogisticIT) and scikit-learn (LinearSVC, Ridge rounded).

    python benchmarks/ratings.py --movielens ml-100k/u.data --csv wine.csv --target quality --out ratings

writes ratings.md and ratings.json. Without --movielens and --csv only the generated sets are run. One run, one thread.

Each set is cut at random into 60 % to learn, 20 % to choose settings, 20 % to test. Every tool gets a few settings,
cheapest first; it takes the first one whose mean absolute error (MAE) on the second part is within 0.5 % of its own
best. Then it learns the first two parts, timed by processor time, and is tested once. The entry of shortlist is PRank
or Widrow-Hoff, whichever did better on the second part; both are shown. Distances are counted in steps of the scale.
Needs: pip install mord.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, normalize
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import shortlist as sl
from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from papers.rating_data import read_movielens
from papers.ratings import MoviesProtocol, viewer_stream

SLACK = 0.005
REPEATS = 5


# The tools and their settings, cheapest first.


class RoundedRidge(BaseEstimator):
    """Ridge regression on the ratings, rounded to the nearest one."""

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> RoundedRidge:
        self.ridge_ = Ridge(alpha=self.alpha).fit(X, y)
        self.bounds_ = y.min(), y.max()
        return self

    def predict(self, X: Any) -> Any:
        return np.clip(np.rint(self.ridge_.predict(X)), *self.bounds_).astype(int)


def prank(passes: int, times: float) -> Any:
    """PRank, averaged, on the features times a factor: its thresholds always move by one.

    One pass takes the rows as they come, in random order; more passes shuffle them each time.
    """
    learner = sl.PRank(passes=passes, random_state=None if passes == 1 else 0)
    return learner if times == 1 else make_pipeline(FunctionTransformer(lambda X: X * times), learner)


def from_mord(name: str, alpha: float) -> Any:
    """One of mord's, which need not be installed to run the others."""
    import mord

    return getattr(mord, name)(alpha=alpha)


@dataclass(frozen=True)
class Tool:
    name: str
    make: Callable[..., Any]
    settings: list[dict[str, Any]]
    ours: bool = False


def alphas(*values: float) -> list[dict[str, Any]]:
    return [{"alpha": value} for value in values]


TOOLS = [
    Tool("shortlist PRank", prank, [{"passes": p, "times": t} for p in (1, 3, 6, 10) for t in (1, 0.25, 4)], ours=True),
    Tool(
        "shortlist WidrowHoff",
        partial(sl.WidrowHoff, random_state=0),
        [{"passes": p, "learning_rate": rate} for p in (1, 3, 6, 10) for rate in (0.003, 0.01, 0.03, 0.1, 0.3)],
        ours=True,
    ),
    Tool("mord LogisticAT", partial(from_mord, "LogisticAT"), alphas(1.0, 10.0, 0.1)),
    Tool("mord LogisticIT", partial(from_mord, "LogisticIT"), alphas(1.0, 10.0, 0.1)),
    Tool("LinearSVC", LinearSVC, [{"C": c} for c in (0.01, 0.1, 1.0)]),
    Tool("Ridge, rounded", RoundedRidge, alphas(1.0, 10.0, 100.0)),
]


# The data: ratings as whole numbers from 1 on.


@dataclass(frozen=True)
class Problem:
    X: Any
    y: Any
    to_standardise: bool = False  # each column to mean 0 and variance 1, by the rows to learn from


def line(n: int = 100_000, n_features: int = 10) -> Problem:
    """The proportional-odds model itself: a direction, logistic noise, five steps."""
    generator = np.random.default_rng(10)
    X = generator.normal(size=(n, n_features))
    score = X @ generator.normal(size=n_features) + generator.logistic(size=n)
    return Problem(X, 1 + np.digitize(score, [-4, -1, 1, 4]), to_standardise=True)


def saddle(n: int = 100_000) -> Problem:
    """Paper 002's synthetic set, (x₁ − ½)(x₂ − ½) with noise and uneven steps, on its five quadratic features."""
    generator = np.random.default_rng(11)
    x1, x2 = generator.uniform(size=(2, n))
    score = 10 * (x1 - 0.5) * (x2 - 0.5) + generator.normal(0, 0.125, size=n)
    y = 1 + np.digitize(score, [-1, -0.1, 0.25, 1])
    return Problem(np.column_stack([x1, x2, x1**2, x2**2, x1 * x2]), y, to_standardise=True)


def counts(n: int = 50_000, n_features: int = 2000) -> Problem:
    """Sparse counts like those of short texts, a third of them telling, ten uneven steps."""
    generator = np.random.default_rng(12)
    X = scipy.sparse.random_array(
        (n, n_features), density=0.02, format="csr", rng=generator,
        data_sampler=lambda size: generator.geometric(0.5, size).astype(float),
    )  # fmt: skip
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    score = X @ (generator.laplace(size=n_features) * (generator.random(n_features) < 0.3))
    score = 2 * score / score.std() + generator.logistic(size=n)
    return Problem(X, 1 + np.digitize(score, np.quantile(score, [0.05, 0.15, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98])))


def movielens_all(path: Path) -> Problem:
    """All ratings of MovieLens 100k; the features are who rated and which film."""
    ratings = read_movielens(path)
    viewer, film = np.nonzero(ratings)
    n = viewer.size
    columns = np.column_stack([viewer, len(ratings) + film]).astype(np.int32)
    offsets = np.arange(0, 2 * n + 1, 2, dtype=np.int32)
    X = scipy.sparse.csr_array((np.ones(2 * n), columns.ravel(), offsets), shape=(n, sum(ratings.shape)))
    return Problem(X, ratings[viewer, film])


def movielens_viewers(path: Path, n: int = 100) -> list[Problem]:
    """Paper 002's set-up: a random viewer with more than 200 ratings; the features are the other such viewers'.

    Rows are scaled to length one, which serves every tool here, for some films have many raters. Viewers who gave some
    rating fewer than ten times are passed over: mord learns no scale with a gap.
    """
    ratings = read_movielens(path)
    streams = (viewer_stream(ratings, MoviesProtocol(seed=18), number) for number in count())
    return list(islice((Problem(normalize(X), y) for X, y in streams if np.bincount(y)[1:].min() >= 10), n))


def from_csv(path: Path, target: str) -> Problem:
    """Any CSV: the target's values in their order are the steps; texts become indicators; gaps are left out."""
    table = polars.read_csv(path).drop_nulls()
    y = np.unique(table[target].to_numpy(), return_inverse=True)[1] + 1
    others = table.drop(target)
    texts = [name for name, kind in others.schema.items() if not kind.is_numeric()]
    X = (others.to_dummies(texts) if texts else others).cast(polars.Float64).to_numpy()
    return Problem(X, y, to_standardise=True)


# The race.


def cut(problem: Problem) -> tuple[Problem, Problem, Problem]:
    order = np.random.default_rng(19).permutation(len(problem.y))
    a, b = int(0.6 * order.size), int(0.8 * order.size)
    X = problem.X
    if problem.to_standardise:
        X = StandardScaler().fit(X[order[:b]]).transform(X)
    return tuple(Problem(X[part], problem.y[part]) for part in (order[:a], order[a:b], order[b:]))  # type: ignore


def stacked(one: Problem, other: Problem) -> Problem:
    stack = scipy.sparse.vstack if scipy.sparse.issparse(one.X) else np.vstack
    both = stack([one.X, other.X])
    return Problem(scipy.sparse.csr_array(both) if scipy.sparse.issparse(both) else both, np.append(one.y, other.y))


def mae(model: Any, problem: Problem) -> float:
    return float(np.abs(model.predict(problem.X) - problem.y).mean())


def choose(tool: Tool, problems: list[tuple[Problem, Problem, Problem]]) -> tuple[dict[str, Any], float]:
    """The tool's setting, and its MAE on the rows to choose by."""
    found = [
        float(np.mean([error_of(tool, setting, learn, check) for learn, check, _ in problems]))
        for setting in tool.settings
    ]
    return next((s, e) for s, e in zip(tool.settings, found, strict=True) if e <= (1 + SLACK) * min(found))


def error_of(tool: Tool, setting: dict[str, Any], learn: Problem, check: Problem) -> float:
    try:
        return mae(tool.make(**setting).fit(learn.X, learn.y), check)
    except sl.InputError:  # a learning rate too large for the rows
        return np.inf


def timed_fit(tool: Tool, setting: dict[str, Any], data: Problem) -> tuple[Any, float]:
    """The fitted model, and the least processor time of a few fits (of one, where it takes a second)."""
    best = np.inf
    for _ in range(REPEATS):
        model = tool.make(**setting)
        start = time.process_time()
        model.fit(data.X, data.y)
        best = min(best, time.process_time() - start)
        if best > 1:
            break
    return model, best


def race(problems: list[Problem]) -> Iterator[dict[str, Any]]:
    parts = [cut(problem) for problem in problems]
    for tool in TOOLS:
        setting, chosen_by = choose(tool, parts)
        errors, exact, seconds = [], [], 0.0
        for learn, check, test in parts:
            model, spent = timed_fit(tool, setting, stacked(learn, check))
            seconds += spent
            errors.append(mae(model, test))
            exact.append(float((model.predict(test.X) == test.y).mean()))
        yield {
            "tool": tool.name,
            "ours": tool.ours,
            "setting": setting,
            "chosen_by": chosen_by,
            "mae": float(np.mean(errors)),
            "exact": float(np.mean(exact)),
            "seconds": seconds,
        }


def compared(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Ours against the rival with the least error, and against the fastest."""
    ours = min((result for result in results if result["ours"]), key=lambda r: r["chosen_by"])
    rivals = [result for result in results if not result["ours"]]
    best, fastest = min(rivals, key=lambda r: r["mae"]), min(rivals, key=lambda r: r["seconds"])
    return {
        "entry": ours["tool"],
        "mae_over_best": ours["mae"] / best["mae"] - 1,
        "best": best["tool"],
        "times_faster_than_best": best["seconds"] / ours["seconds"],
        "fastest": fastest["tool"],
        "times_faster_than_fastest": fastest["seconds"] / ours["seconds"],
    }


def throughput(n: int = 1_000_000, n_features: int = 10) -> dict[str, float]:
    """Examples a second that one pass learns, checks of the input included."""
    data = line(n, n_features)
    rates = {}
    for learner in (sl.PRank, sl.WidrowHoff, MulticlassPerceptron):
        seconds = timed_fit(Tool(learner.__name__, learner, []), {}, data)[1]
        rates[learner.__name__] = n / seconds
    return rates


# The report.


def markdown(report: dict[str, Any]) -> str:
    lines = [f"One thread of {report['machine']}; {', '.join(f'{k} {v}' for k, v in report['versions'].items())}.", ""]
    for name, one in report["sets"].items():
        against = one["compared"]
        lines += [
            f"### {name}: {one['rows']:,} rows, {one['columns']:,} columns, {one['steps']} steps",
            "",
            "| tool | setting | MAE | exact | training |",
            "|---|---|---|---|---|",
            *(
                f"| {r['tool']} | {', '.join(f'{k}={v}' for k, v in r['setting'].items())} | {r['mae']:.4f} "
                f"| {r['exact']:.1%} | {r['seconds']:.4f} s |"
                for r in one["results"]
            ),
            "",
            f"{against['entry']}: MAE {against['mae_over_best']:+.1%} against the best rival ({against['best']}), at "
            f"{against['times_faster_than_best']:.1f} times its training speed, and at "
            f"{against['times_faster_than_fastest']:.2f} times that of the fastest rival ({against['fastest']}).",
            "",
        ]
    rates = ", ".join(f"{name} {rate / 1e6:.1f} million" for name, rate in report["throughput"].items())
    lines.append(f"Examples a second, ten dense features, one pass over a million, checks included: {rates}.")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--movielens", type=Path, help="u.data of MovieLens 100k")
    options.add_argument("--csv", type=Path, action="append", default=[], help="a table with a column of ratings")
    options.add_argument("--target", action="append", default=[], help="the column of ratings, one for each --csv")
    options.add_argument("--out", type=Path, help="write OUT.md and OUT.json too")
    chosen = options.parse_args()
    if len(chosen.csv) != len(chosen.target):
        options.error("each --csv needs its --target")

    sets: dict[str, list[Problem]] = {"line": [line()], "saddle": [saddle()], "counts": [counts()]}
    if chosen.movielens:
        sets["MovieLens, all ratings"] = [movielens_all(chosen.movielens)]
        sets["MovieLens, 100 viewers one by one"] = movielens_viewers(chosen.movielens)
    for path, target in zip(chosen.csv, chosen.target, strict=True):
        sets[path.stem] = [from_csv(path, target)]

    tools = ("shortlist", "numpy", "scipy", "numba", "scikit-learn", "mord")
    report: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}",
        "versions": {name: sl.__version__ if name == "shortlist" else version(name) for name in tools},
        "sets": {},
    }
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop early
        sl.PRank().fit([[1.0]], [1])  # compile, or load what was compiled, outside the clock
        for name, problems in sets.items():
            results = list(race(problems))
            report["sets"][name] = {
                "rows": sum(len(p.y) for p in problems),
                "columns": problems[0].X.shape[1],
                "steps": int(max(p.y.max() for p in problems)),
                "results": results,
                "compared": compared(results),
            }
        report["throughput"] = throughput()
    print(markdown(report))
    if chosen.out:
        chosen.out.with_suffix(".md").write_text(markdown(report))
        chosen.out.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
