"""The experiments of paper 002: PRank, Widrow-Hoff (WH) and the multiclass Perceptron (MCP) on streams of ratings.

Figure 3, left: synthetic streams with the kernel (x·x' + 1)². Middle and right: collaborative filtering, where the
ratings of a random viewer are to be predicted from those of the other viewers; MovieLens stands in for EachMovie,
which is withdrawn. Each algorithm is measured by its time-averaged ranking loss (1/T)·Σ_{t≤T} |ŷ_t − y_t|.

The paper does not tell the learning rate of WH. What depends on it is told in docs/ratings.md.

Trials are independent and each draws from a generator of its own number: any number of workers gives the same result.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars
from threadpoolctl import threadpool_limits

from shortlist.door import as_whole
from shortlist.errors import InputError
from shortlist.kernels import Floats, Longs
from shortlist.ratings.learner import RatingLearner
from shortlist.ratings.multiclass_perceptron import MulticlassPerceptron
from shortlist.ratings.prank import PRank
from shortlist.ratings.widrow_hoff import WidrowHoff

Learners = dict[str, Callable[[], RatingLearner]]
Trial = Callable[[int], Floats]
Progress = Callable[[int, int], None]  # trials done, trials in all
SCALE = [1, 2, 3, 4, 5]


def paper_learners(learning_rate: float, **common: Any) -> Learners:
    """The three algorithms as the paper has them: no intercepts, one fixed learning rate for WH."""
    common = {"scale": SCALE, "hypothesis": "last", **common}
    return {
        "PRank": partial(PRank, **common),
        "WH": partial(WidrowHoff, learning_rate=learning_rate, fit_intercept=False, **common),
        "MCP": partial(MulticlassPerceptron, fit_intercept=False, **common),
    }


@dataclass(frozen=True)
class SyntheticProtocol:
    """x uniform in the unit square; y = max{r : 10·(x₁ − ½)·(x₂ − ½) + ξ > b_r}, ξ normal, b_1 = −∞."""

    trials: int = 100
    rounds: int = 7000
    thresholds: tuple[float, ...] = (-1.0, -0.1, 0.25, 1.0)  # b_2 … b_5
    noise: float = 0.125
    seed: int = 2
    learners: Learners = field(
        default_factory=lambda: paper_learners(0.05, kernel="polynomial", degree=2, gamma=1.0, coef0=1.0)
    )


@dataclass(frozen=True)
class MoviesProtocol:
    """A random viewer among those with more than ``more_than`` ratings; as many of that viewer's films, shuffled.

    The features of a film are the ratings of the other such viewers, less the mean of all ratings and divided by the
    width of the scale; 0 where there is none.
    """

    more_than: int = 200
    trials: int = 500
    held_out: float = 0.25  # in the batch experiment
    seed: int = 2
    learners: Learners = field(default_factory=lambda: paper_learners(0.1))


MOVIES_200, MOVIES_100 = MoviesProtocol(200), MoviesProtocol(100)


@dataclass(frozen=True)
class Curves:
    """Time-averaged ranking loss by round: for each algorithm its mean over trials and a 95 % confidence band."""

    names: list[str]
    trials: int
    mean: Floats  # algorithms × rounds
    low: Floats
    high: Floats
    final: Floats  # trials × algorithms: the loss of each trial after its last round

    @classmethod
    def of(cls, names: list[str], losses: Floats) -> Curves:
        """From the loss of every trial, algorithm and round."""
        averaged = np.cumsum(losses, axis=2) / np.arange(1, losses.shape[2] + 1)
        mean, half = mean_and_half_width(averaged)
        return cls(names, len(losses), mean, mean - half, mean + half, averaged[:, :, -1])

    def order(self) -> list[str]:
        """The algorithms by their loss after the last round, best first."""
        return [self.names[i] for i in np.argsort(self.mean[:, -1], kind="stable")]


@dataclass(frozen=True)
class Losses:
    """Mean ranking loss on held-out examples, with the half width of its 95 % confidence interval."""

    names: list[str]
    trials: int
    mean: Floats  # algorithms
    half_width: Floats
    each: Floats  # trials × algorithms


def mean_and_half_width(values: Floats) -> tuple[Floats, Floats]:
    """The mean over the first axis and half the width of its 95 % interval, by the normal distribution."""
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1:], np.nan)
    return values.mean(axis=0), 1.959964 * spread / np.sqrt(len(values))


# Figure 3, left.


def synthetic_stream(protocol: SyntheticProtocol, trial: int) -> tuple[Floats, Longs]:
    """The rows and ratings of one trial."""
    generator = np.random.default_rng([protocol.seed, trial])
    X = generator.uniform(size=(protocol.rounds, 2))
    score = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5) + generator.normal(0.0, protocol.noise, protocol.rounds)
    return X, 1 + (score[:, None] > np.array(protocol.thresholds)).sum(axis=1)


def synthetic(
    protocol: SyntheticProtocol | None = None, *, workers: int = 1, progress: Progress | None = None
) -> Curves:
    """The left plot of figure 3."""
    protocol = protocol or SyntheticProtocol()
    losses = _trials(_synthetic_trial, (protocol,), protocol.trials, workers, progress)
    return Curves.of(list(protocol.learners), losses)


def _synthetic_trial(protocol: SyntheticProtocol, trial: int) -> Floats:
    return _online_losses(protocol.learners, *synthetic_stream(protocol, trial))


# Figure 3, middle and right.


def read_movielens(path: str | Path) -> Longs:
    """MovieLens 100k's u.data (viewer, film, rating, time; from grouplens.org) as viewers × films, 0 where unrated."""
    try:
        columns = polars.read_csv(path, separator="\t", has_header=False, columns=[0, 1, 2])
        viewer, film, rating = (columns.to_series(i).cast(polars.Int64).to_numpy() for i in range(3))
    except (OSError, polars.exceptions.PolarsError) as problem:
        raise InputError(f"cannot read {path} as MovieLens ratings: {str(problem).splitlines()[0]}") from None
    if rating.size == 0 or min(viewer.min(), film.min(), rating.min()) < 1 or rating.max() > 5:
        raise InputError(f"{path} does not hold MovieLens ratings: viewers and films from 1 on, ratings 1 to 5")
    ratings = np.zeros((viewer.max(), film.max()), dtype=np.int64)
    ratings[viewer - 1, film - 1] = rating
    return ratings


def viewer_stream(ratings: Longs, more_than: int, generator: np.random.Generator) -> tuple[Floats, Longs]:
    """The films of one random viewer, shuffled: as rows the other viewers' shifted ratings, and the viewer's own."""
    subset = ratings[(ratings > 0).sum(axis=1) > more_than]
    if len(subset) < 2:
        raise InputError(f"fewer than two viewers have more than {more_than} ratings")
    viewer = generator.integers(len(subset))
    films = generator.permutation(np.flatnonzero(subset[viewer]))
    shift, width = ratings[ratings > 0].mean(), SCALE[-1] - SCALE[0]
    others = np.delete(subset, viewer, axis=0)[:, films].T
    return np.where(others > 0, (others - shift) / width, 0.0), subset[viewer, films]


def movies(
    ratings: Longs, protocol: MoviesProtocol = MOVIES_200, *, workers: int = 1, progress: Progress | None = None
) -> Curves:
    """The middle or right plot of figure 3: as many rounds as every chosen viewer has ratings for."""
    losses = _trials(_movies_trial, (protocol, ratings), protocol.trials, workers, progress)
    return Curves.of(list(protocol.learners), losses)


def _movies_trial(protocol: MoviesProtocol, ratings: Longs, trial: int) -> Floats:
    generator = np.random.default_rng([protocol.seed, trial])
    X, y = viewer_stream(ratings, protocol.more_than, generator)
    return _online_losses(protocol.learners, X[: protocol.more_than], y[: protocol.more_than])


def movies_batch(
    ratings: Longs, protocol: MoviesProtocol = MOVIES_200, *, workers: int = 1, progress: Progress | None = None
) -> Losses:
    """The paper's closing experiment: learn from some films of the viewer, rate the others."""
    each = _trials(_batch_trial, (protocol, ratings), protocol.trials, workers, progress)
    mean, half = mean_and_half_width(each)
    return Losses(list(protocol.learners), protocol.trials, mean, half, each)


def _batch_trial(protocol: MoviesProtocol, ratings: Longs, trial: int) -> Floats:
    generator = np.random.default_rng([protocol.seed, trial])
    X, y = viewer_stream(ratings, protocol.more_than, generator)
    n = len(y) - round(protocol.held_out * len(y))
    return np.array([-new().fit(X[:n], y[:n]).score(X[n:], y[n:]) for new in protocol.learners.values()])


# Running trials.


def _online_losses(learners: Learners, X: Floats, y: Longs) -> Floats:
    """|ŷ_t − y_t| of each algorithm in each round, predicted before learning."""
    return np.array([np.abs(new().predict_and_learn(X, y) - y) for new in learners.values()], dtype=np.float64)


def _trials(
    run: Callable[..., Floats], data: tuple[Any, ...], trials: int, workers: int, progress: Progress | None
) -> Floats:
    """The results of all trials, in order, stacked."""
    results: list[Floats] = []
    with _mapper(partial(run, *data), as_whole(workers, "workers", least=1)) as results_of:
        for result in results_of(range(as_whole(trials, "trials", least=1))):
            results.append(result)
            if progress is not None:
                progress(len(results), trials)
    return np.stack(results)


@contextmanager
def _mapper(run: Trial, workers: int) -> Iterator[Callable[[range], Iterator[Floats]]]:
    """A function from trial numbers to results, here or in worker processes; one thread each, so that sums agree."""
    if workers == 1:
        with threadpool_limits(1):
            yield lambda numbers: map(run, numbers)
    else:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _set_up, (run,)) as pool:
            yield lambda numbers: pool.map(_run, numbers, chunksize=5)


_trial: Trial | None = None  # in a worker process: what it runs, with the data that belong to it


def _set_up(run: Trial) -> None:
    global _trial
    _trial = run
    threadpool_limits(1)


def _run(number: int) -> Floats:
    assert _trial is not None
    return _trial(number)
