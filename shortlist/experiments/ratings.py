"""The experiments of paper 002: PRank, Widrow-Hoff (WH) and the multiclass Perceptron (MCP) on streams of ratings.

Figure 3, left: synthetic streams with the kernel (x·x' + 1)². Middle and right: collaborative filtering, where the
ratings of a random viewer are to be predicted from those of the other viewers; where EachMovie, which is withdrawn, is
not there, MovieLens stands in. Each algorithm is measured by its time-averaged ranking loss (1/T)·Σ_{t≤T} |ŷ_t − y_t|.

The paper does not tell the learning rate of WH. What depends on it is told in docs/ratings.md.

Trials are independent and each draws from a generator of its own number, so that any number of workers gives the same
result: ``shortlist reproduce prank-synthetic prank-movielens``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.arrays.kernels import Floats, Longs
from shortlist.errors import InputError
from shortlist.experiments.experiment import Cell, Curve, Experiment, Figure, Job, Result, Table
from shortlist.experiments.rating_data import Ratings, films
from shortlist.ratings.learner import RatingLearner
from shortlist.ratings.multiclass_perceptron import MulticlassPerceptron
from shortlist.ratings.prank import PRank
from shortlist.ratings.widrow_hoff import WidrowHoff

Learners = dict[str, Callable[..., RatingLearner]]  # made with the scale of the ratings


def paper_learners(learning_rate: float, *, intercepts: bool = False, **common: Any) -> Learners:
    """The three algorithms; as the paper has them without intercepts and with one fixed learning rate for WH."""
    common = {"hypothesis": "last", "passes": 1, **common}
    return {
        "PRank": partial(PRank, **common),
        "WH": partial(WidrowHoff, learning_rate=learning_rate, fit_intercept=intercepts, **common),
        "MCP": partial(MulticlassPerceptron, fit_intercept=intercepts, **common),
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

    The features of a film are the ratings of the other such viewers, shifted by the mean of all ratings and scaled to
    ``feature_range`` from lowest to highest; 0 where there is none.
    """

    more_than: int = 200
    trials: int = 500
    highest: int = 5  # of the ratings, from 1 on
    feature_range: float = 1.0  # as EachMovie has it
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


def synthetic(protocol: SyntheticProtocol | None = None) -> Curves:
    """The left plot of figure 3."""
    protocol = protocol or SyntheticProtocol()
    losses = [_synthetic_trial(protocol, trial) for trial in range(protocol.trials)]
    return Curves.of(list(protocol.learners), np.stack(losses))


def _synthetic_trial(protocol: SyntheticProtocol, trial: int) -> Floats:
    return _online_losses(protocol.learners, len(protocol.thresholds) + 1, *synthetic_stream(protocol, trial))


# Figure 3, middle and right.


def viewer_stream(ratings: Ratings, protocol: MoviesProtocol, trial: int) -> tuple[Floats, Longs]:
    """The films of one random viewer, shuffled: as rows the other viewers' shifted ratings, and the viewer's own."""
    generator = np.random.default_rng([protocol.seed, trial])
    subset = ratings[(ratings > 0).sum(axis=1) > protocol.more_than]
    if len(subset) < 2:
        raise InputError(f"fewer than two viewers have more than {protocol.more_than} ratings")
    viewer = generator.integers(len(subset))
    films = generator.permutation(np.flatnonzero(subset[viewer]))
    shift, unit = ratings[ratings > 0].mean(), protocol.feature_range / (protocol.highest - 1)
    others = np.delete(subset, viewer, axis=0)[:, films].T
    return np.where(others > 0, (others - shift) * unit, 0.0), subset[viewer, films].astype(np.int64)


def movies(ratings: Ratings, protocol: MoviesProtocol = MOVIES_200) -> Curves:
    """The middle or right plot of figure 3: as many rounds as every chosen viewer has ratings for."""
    losses = [_movies_trial(protocol, ratings, trial) for trial in range(protocol.trials)]
    return Curves.of(list(protocol.learners), np.stack(losses))


def _movies_trial(protocol: MoviesProtocol, ratings: Ratings, trial: int) -> Floats:
    X, y = viewer_stream(ratings, protocol, trial)
    return _online_losses(protocol.learners, protocol.highest, X[: protocol.more_than], y[: protocol.more_than])


def movies_batch(ratings: Ratings, protocol: MoviesProtocol = MOVIES_200) -> Losses:
    """The paper's closing experiment: learn from some films of the viewer, rate the others."""
    each = np.stack([_batch_trial(protocol, ratings, trial) for trial in range(protocol.trials)])
    mean, half = mean_and_half_width(each)
    return Losses(list(protocol.learners), protocol.trials, mean, half, each)


def _batch_trial(protocol: MoviesProtocol, ratings: Ratings, trial: int) -> Floats:
    X, y = viewer_stream(ratings, protocol, trial)
    n = len(y) - round(protocol.held_out * len(y))
    learners = [new(scale=_scale(protocol.highest)) for new in protocol.learners.values()]
    return np.array([-one.fit(X[:n], y[:n]).score(X[n:], y[n:]) for one in learners])


def _online_losses(learners: Learners, highest: int, X: Floats, y: Longs) -> Floats:
    """|ŷ_t − y_t| of each algorithm in each round, predicted before learning."""
    fresh = [new(scale=_scale(highest)) for new in learners.values()]
    return np.array([np.abs(one.predict_and_learn(X, y) - y) for one in fresh], dtype=np.float64)


def _scale(highest: int) -> list[int]:
    return list(range(1, highest + 1))


# As experiments: the trials of a job, with the time-averaged losses at some rounds of each.

TRIALS, QUICK = {"synthetic": 100, "movies": 500}, {"synthetic": 5, "movies": 60}
EACH_JOB = {"synthetic": 5, "movies": 60}  # trials, for some seconds of work
ROUNDS_SHOWN = 50
PUBLISHED_ORDER = {"PRank": 1, "WH": 2, "MCP": 3}
BAND = "The band is a 95 % confidence interval of the mean over trials."
BATCH: dict[str, tuple[float, Learners]] = {  # the range of the features, and the learners
    "last rule": (1.0, paper_learners(0.1)),
    "averaged": (1.0, paper_learners(0.1, hypothesis="averaged")),
    "averaged, features × ¼": (0.25, paper_learners(1.6, hypothesis="averaged")),  # 1.6: the same steps of WH
    "averaged, features × ¼, intercepts": (0.25, paper_learners(0.3, intercepts=True, hypothesis="averaged")),
}


def synthetic_jobs(quick: bool) -> list[Job]:
    """The trials in portions."""
    return _portions("synthetic", quick)


def run_synthetic(folder: Path, job: Job) -> Result:
    """The curves of some trials."""
    protocol = SyntheticProtocol()
    return _at_some_rounds([_synthetic_trial(protocol, trial) for trial in range(job["first"], job["end"])])


def show_synthetic(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    """The left plot of figure 3 and the losses at its end."""
    return _curves_shown("Figure 3, left: synthetic streams", [result for _, result in done])


def movies_jobs(films: str, quick: bool) -> list[Job]:
    """The trials in portions, for each subset of viewers: online, and in the batch setting."""
    return [
        {"set": films, "setting": setting, "more_than": more_than, **job}
        for setting in ("online", *BATCH)
        for more_than in (200, 100)
        for job in _portions("movies", quick)
    ]


def run_movies(folder: Path, job: Job) -> Result:
    """The curves, or the held-out losses, of some trials."""
    ratings, highest = films(folder, job["set"])
    trials = range(job["first"], job["end"])
    if job["setting"] == "online":
        protocol = MoviesProtocol(job["more_than"], highest=highest)
        return _at_some_rounds([_movies_trial(protocol, ratings, trial) for trial in trials])
    width, learners = BATCH[job["setting"]]
    protocol = MoviesProtocol(job["more_than"], highest=highest, feature_range=width, learners=learners)
    return {"held_out": [_batch_trial(protocol, ratings, trial).tolist() for trial in trials]}


def show_movies(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    """The middle and right plots of figure 3, and held-out losses in the batch setting."""
    shown: list[Table | Figure] = []
    for more_than, place in ((200, "middle"), (100, "right")):
        of = {setting: [r for j, r in done if (j["setting"], j["more_than"]) == (setting, more_than)]
              for setting in ("online", *BATCH)}  # fmt: skip
        title = f"Figure 3, {place}: viewers with more than {more_than} ratings"
        shown += _curves_shown(title, of["online"])
        rows: dict[str, dict[str, Cell | str]] = {name: {} for name in PUBLISHED_ORDER}
        for setting in BATCH:
            mean, half = mean_and_half_width(np.concatenate([result["held_out"] for result in of[setting]]))
            for name, value, width in zip(rows, mean, half, strict=True):
                rows[name][setting] = Cell(float(value), float(width))
        shown.append(
            Table(
                f"Batch setting, viewers with more than {more_than} ratings: ranking loss on held-out films",
                list(BATCH), rows,
                "A quarter of a viewer's films is held out. ± is half of a 95 % interval. No figures were published.",
            )
        )  # fmt: skip
    return shown


def _portions(kind: str, quick: bool) -> list[Job]:
    trials, size = (QUICK if quick else TRIALS)[kind], EACH_JOB[kind]
    return [{"first": first, "end": min(first + size, trials)} for first in range(0, trials, size)]


def _at_some_rounds(losses: list[Floats]) -> Result:
    averaged = np.cumsum(losses, axis=2) / np.arange(1, losses[0].shape[1] + 1)
    rounds = np.unique(np.linspace(1, averaged.shape[2], ROUNDS_SHOWN).astype(np.int64))
    return {"rounds": rounds.tolist(), "averaged": averaged[:, :, rounds - 1].tolist()}


def _curves_shown(title: str, results: list[Result]) -> list[Table | Figure]:
    mean, half = mean_and_half_width(np.concatenate([result["averaged"] for result in results]))
    x = [float(one) for one in results[0]["rounds"]]
    curves: dict[str, Curve] = {}
    rows: dict[str, dict[str, Cell | str]] = {}
    place = np.argsort(np.argsort(mean[:, -1]))
    for a, (name, published) in enumerate(PUBLISHED_ORDER.items()):
        low, high = (mean[a] - half[a]).tolist(), (mean[a] + half[a]).tolist()
        curves[name] = Curve(x, mean[a].tolist(), low, high)
        rows[name] = {
            "loss": Cell(float(mean[a, -1]), float(half[a, -1])),
            "place": Cell(int(place[a]) + 1, published=published),
        }
    order = [list(PUBLISHED_ORDER)[a] for a in np.argsort(mean[:, -1])]
    same = "as published" if order == [*PUBLISHED_ORDER] else f"not {' < '.join(PUBLISHED_ORDER)} as published"
    note = (
        f"After the last round, mean of {sum(len(result['averaged']) for result in results)} trials; ± is half of a "
        f"95 % interval. Published are curves, from which the place is read. Here {' < '.join(order)}, {same}."
    )
    table = Table(title, ["loss", "place"], rows, note)
    return [table, Figure(title, "round", "time-averaged ranking loss", curves, note=BAND)]


EXPERIMENTS = [
    Experiment(
        name="prank-synthetic",
        paper="Crammer and Singer (paper 002)",
        title="PRank, Widrow-Hoff and the multiclass Perceptron on synthetic streams",
        needs=(),
        jobs=synthetic_jobs,
        run=run_synthetic,
        show=show_synthetic,
    ),
    Experiment(
        name="prank-movielens",
        paper="Crammer and Singer (paper 002)",
        title="PRank, Widrow-Hoff and the multiclass Perceptron predict a viewer's ratings",
        needs=("movielens",),
        jobs=partial(movies_jobs, "movielens"),
        run=run_movies,
        show=show_movies,
        stands_in="EachMovie was withdrawn in 2004; MovieLens 100k stands in. It is smaller: 148 viewers have more "
        "than 200 ratings and 361 more than 100.",
    ).with_original(
        {"movielens": "eachmovie"},
        "PRank, Widrow-Hoff and the multiclass Perceptron predict a viewer's ratings, on EachMovie itself",
        jobs=partial(movies_jobs, "eachmovie"),
    ),
]
