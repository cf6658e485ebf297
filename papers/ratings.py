"""The experiments of paper 002: PRank, Widrow-Hoff (WH) and the multiclass Perceptron (MCP) on
streams of ratings.

Figure 3, left: synthetic streams with the kernel (x·x' + 1)², given to the learners as the features
it stands for. Middle and right: collaborative filtering, where the ratings of a random viewer are
to be predicted from those of the other viewers; where EachMovie, which is withdrawn, is not there,
MovieLens stands in. Each algorithm is measured by its time-averaged ranking loss (1/T)·Σ_{t≤T} |ŷ_t
− y_t|.

The paper does not tell the learning rate of WH: a sweep of it shows what depends on it. Beside the
paper's three stand rules that look at no row, WH on centred ratings, and ordinal logistic
regression.

Trials are independent and each draws from a generator of its own number, so that any number of
workers gives the same result: ``python -m papers prank-synthetic prank-movielens``.
``rating_tables`` shows what comes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from papers.comparators.ordinal_logistic import OrdinalLogistic
from papers.rating_data import Ratings
from shortlist.compiled.kernels import Floats, Longs
from shortlist.errors import InputError
from shortlist.learners.ratings.prank import PRank
from shortlist.learners.ratings.rating_learner import RatingLearner
from shortlist.learners.ratings.widrow_hoff import WidrowHoff

Learners = dict[str, Callable[..., RatingLearner]]  # made with the scale of the ratings


def paper_learners(learning_rate: float, *, intercepts: bool = False, **common: Any) -> Learners:
    """The three algorithms; as the paper has them without intercepts and with one fixed
    learning rate for WH.
    """
    common = {"hypothesis": "last", "passes": 1, **common}
    return {
        "PRank": partial(PRank, **common),
        "WH": partial(WidrowHoff, learning_rate=learning_rate, fit_intercept=intercepts, **common),
        "MCP": partial(MulticlassPerceptron, fit_intercept=intercepts, **common),
    }


@dataclass(frozen=True)
class SyntheticProtocol:
    """x uniform in the unit square; y = max{r : 10·(x₁ − ½)·(x₂ − ½) + ξ > b_r}, ξ normal, b_1
    = −∞.
    """

    trials: int = 100
    rounds: int = 7000
    thresholds: tuple[float, ...] = (-1.0, -0.1, 0.25, 1.0)  # b_2 … b_5
    noise: float = 0.125
    seed: int = 2
    learners: Learners = field(default_factory=lambda: paper_learners(0.05))


@dataclass(frozen=True)
class MoviesProtocol:
    """A random viewer among those with more than ``more_than`` ratings; as many of that viewer's
    films, shuffled.

    The features of a film are the ratings of the other such viewers, shifted and scaled to
    ``feature_range`` from the lowest to the highest; 0 where there is none. The paper's shift is a
    constant of the scale, its middle; ours is the mean of all ratings, so that no rating means the
    usual one.
    """

    more_than: int = 200
    trials: int = 500
    highest: int = 5  # of the ratings, from 1 on
    feature_range: float = 1.0  # as EachMovie has it
    shift: str = "mean"  # or "middle"
    held_out: float = 0.25  # in the batch experiment
    seed: int = 2
    learners: Learners = field(default_factory=lambda: paper_learners(0.1))


def mean_and_half_width(values: Floats) -> tuple[Floats, Floats]:
    """The mean over the first axis and half the width of its 95 % interval, by the normal
    distribution.
    """
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1:], np.nan)
    return values.mean(axis=0), 1.959964 * spread / np.sqrt(len(values))


# Figure 3, left.


def synthetic_stream(protocol: SyntheticProtocol, trial: int) -> tuple[Floats, Longs]:
    """The rows and ratings of one trial."""
    generator = np.random.default_rng([protocol.seed, trial])
    X = generator.uniform(size=(protocol.rounds, 2))
    score = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5) + generator.normal(
        0.0, protocol.noise, protocol.rounds
    )
    return X, 1 + (score[:, None] > np.array(protocol.thresholds)).sum(axis=1)


def quadratic_features(X: Floats) -> Floats:
    """φ(x) = (1, √2·x₁, √2·x₂, x₁², √2·x₁x₂, x₂²), whose inner product φ(x)·φ(x') is the kernel
    (x·x' + 1)².
    """
    first, second = X.T
    root = np.sqrt(2)
    return np.column_stack([np.ones(len(X)), root * X, first**2, root * first * second, second**2])


def synthetic_trial(protocol: SyntheticProtocol, trial: int) -> Floats:
    X, y = synthetic_stream(protocol, trial)
    return _online_losses(protocol.learners, len(protocol.thresholds) + 1, quadratic_features(X), y)


# Figure 3, middle and right.


def viewer_stream(ratings: Ratings, protocol: MoviesProtocol, trial: int) -> tuple[Floats, Longs]:
    """The films of one random viewer, shuffled: as rows the other viewers' shifted ratings, and
    the viewer's own.
    """
    generator = np.random.default_rng([protocol.seed, trial])
    subset = ratings[(ratings > 0).sum(axis=1) > protocol.more_than]
    if len(subset) < 2:
        raise InputError(f"fewer than two viewers have more than {protocol.more_than} ratings")
    viewer = generator.integers(len(subset))
    films = generator.permutation(np.flatnonzero(subset[viewer]))
    middle = (1 + protocol.highest) / 2
    shift = middle if protocol.shift == "middle" else float(ratings[ratings > 0].mean())
    unit = protocol.feature_range / (protocol.highest - 1)
    others = np.delete(subset, viewer, axis=0)[:, films].T
    return np.where(others > 0, (others - shift) * unit, 0.0), subset[viewer, films].astype(
        np.int64
    )


def movies_trial(protocol: MoviesProtocol, ratings: Ratings, trial: int) -> Floats:
    """As many rounds as every chosen viewer has ratings for."""
    X, y = viewer_stream(ratings, protocol, trial)
    return _online_losses(
        protocol.learners, protocol.highest, X[: protocol.more_than], y[: protocol.more_than]
    )


def running_median(y: Longs, highest: int) -> Longs:
    """The median of the ratings before each, the lower of two; the middle of the scale at first."""
    guesses = np.full(y.size, (1 + highest) // 2)
    for t in range(1, y.size):
        guesses[t] = np.sort(y[:t])[(t - 1) // 2]
    return guesses


def without_rows_trial(protocol: MoviesProtocol, ratings: Ratings, trial: int) -> Floats:
    """What the viewer's own ratings tell: the loss in each round of WH on ratings less the middle
    of the scale, and of the running median, which sees no row.
    """
    X, y = viewer_stream(ratings, protocol, trial)
    X, y = X[: protocol.more_than], y[: protocol.more_than]
    middle = (1 + protocol.highest) / 2
    scale = [rating - middle for rating in _scale(protocol.highest)]
    centred = protocol.learners["WH"](scale=scale).predict_and_learn(X, y - middle) + middle
    return np.abs([centred - y, running_median(y, protocol.highest) - y])


def batch_trial(protocol: MoviesProtocol, ratings: Ratings, trial: int) -> Floats:
    """The paper's closing experiment: learn from some films of the viewer, rate the others."""
    X, y = viewer_stream(ratings, protocol, trial)
    n = len(y) - round(protocol.held_out * len(y))
    learners = [new(scale=_scale(protocol.highest)) for new in protocol.learners.values()]
    return np.array([-one.fit(X[:n], y[:n]).score(X[n:], y[n:]) for one in learners])


def logistic_trial(protocol: MoviesProtocol, ratings: Ratings, trial: int) -> float:
    """The same of ordinal logistic regression."""
    X, y = viewer_stream(ratings, protocol, trial)
    n = len(y) - round(protocol.held_out * len(y))
    learner = OrdinalLogistic(protocol.highest).fit(X[:n], y[:n])
    return float(np.abs(learner.predict(X[n:]) - y[n:]).mean())


def _online_losses(learners: Learners, highest: int, X: Floats, y: Longs) -> Floats:
    """|ŷ_t − y_t| of each algorithm in each round, predicted before learning."""
    fresh = [new(scale=_scale(highest)) for new in learners.values()]
    return np.array([np.abs(one.predict_and_learn(X, y) - y) for one in fresh], dtype=np.float64)


def _scale(highest: int) -> list[int]:
    return list(range(1, highest + 1))
