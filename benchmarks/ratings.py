"""Ordered ratings: the sets on which raters are compared, and how they are cut. ``python -m benchmarks`` runs them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from papers.rating_data import read_movielens


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


def movielens_all(path: Path) -> Problem:
    """All ratings of MovieLens 100k; the features are who rated and which film."""
    ratings = read_movielens(path)
    viewer, film = np.nonzero(ratings)
    n = viewer.size
    columns = np.column_stack([viewer, len(ratings) + film]).astype(np.int32)
    offsets = np.arange(0, 2 * n + 1, 2, dtype=np.int32)
    X = scipy.sparse.csr_array((np.ones(2 * n), columns.ravel(), offsets), shape=(n, sum(ratings.shape)))
    return Problem(X, ratings[viewer, film])


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
