"""Figure 3 of paper 002 and its closing experiment: jobs of some trials each, and the losses at
some rounds.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from papers.experiment import Cell, Claim, Curve, Experiment, Figure, Job, Result, Table
from papers.rating_data import films
from papers.ratings import (
    Learners,
    MoviesProtocol,
    SyntheticProtocol,
    batch_trial,
    mean_and_half_width,
    movies_trial,
    paper_learners,
    synthetic_trial,
)
from shortlist.compiled.kernels import Floats

TRIALS, QUICK = {"synthetic": 100, "movies": 500}, {"synthetic": 5, "movies": 60}
EACH_JOB = {"synthetic": 5, "movies": 60}  # trials, for some seconds of work
ROUNDS_SHOWN = 50
# with what the features are shifted by
ONLINE = {"online": "mean", "online, shifted by a constant": "middle"}
PUBLISHED_ORDER = {"PRank": 1, "WH": 2, "MCP": 3}
SWINGS = (
    "rows are long here and there is little to learn in so few rounds: what decides online is how "
    "little a rule swings "
    "(docs/ratings.md)"
)
BAND = "The band is a 95 % confidence interval of the mean over trials."
BATCH: dict[str, tuple[float, Learners]] = {  # the range of the features, and the learners
    "last rule": (1.0, paper_learners(0.1)),
    "averaged": (1.0, paper_learners(0.1, hypothesis="averaged")),
    # 1.6: the same steps of WH
    "averaged, features × ¼": (0.25, paper_learners(1.6, hypothesis="averaged")),
    "averaged, features × ¼, intercepts": (
        0.25,
        paper_learners(0.3, intercepts=True, hypothesis="averaged"),
    ),
}


def synthetic_jobs(quick: bool) -> list[Job]:
    """The trials in portions."""
    return _portions("synthetic", quick)


def run_synthetic(folder: Path, job: Job) -> Result:
    """The curves of some trials."""
    protocol = SyntheticProtocol()
    return _at_some_rounds(
        [synthetic_trial(protocol, trial) for trial in range(job["first"], job["end"])]
    )


def show_synthetic(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    """The left plot of figure 3 and the losses at its end."""
    return _curves_shown("Figure 3, left", "synthetic streams", [result for _, result in done])


def movies_jobs(films: str, quick: bool) -> list[Job]:
    """The trials in portions, for each subset of viewers: online, and in the batch setting."""
    return [
        {"set": films, "setting": setting, "more_than": more_than, **job}
        for setting in (*ONLINE, *BATCH)
        for more_than in (200, 100)
        for job in _portions("movies", quick)
    ]


def run_movies(folder: Path, job: Job) -> Result:
    """The curves, or the held-out losses, of some trials."""
    ratings, highest = films(folder, job["set"])
    trials = range(job["first"], job["end"])
    if job["setting"] in ONLINE:
        protocol = MoviesProtocol(job["more_than"], highest=highest, shift=ONLINE[job["setting"]])
        return _at_some_rounds([movies_trial(protocol, ratings, trial) for trial in trials])
    width, learners = BATCH[job["setting"]]
    protocol = MoviesProtocol(
        job["more_than"], highest=highest, feature_range=width, learners=learners
    )
    return {"held_out": [batch_trial(protocol, ratings, trial).tolist() for trial in trials]}


def show_movies(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    """The middle and right plots of figure 3, and held-out losses in the batch setting."""
    shown: list[Table | Figure] = []
    for more_than, place in ((200, "middle"), (100, "right")):
        of = {
            setting: [r for j, r in done if (j["setting"], j["more_than"]) == (setting, more_than)]
            for setting in (*ONLINE, *BATCH)
        }
        for setting in ONLINE:
            more = setting.removeprefix("online")
            shown += _curves_shown(
                f"Figure 3, {place}",
                f"viewers with more than {more_than} ratings{more}",
                of[setting],
            )
        rows: dict[str, dict[str, Cell | str]] = {name: {} for name in PUBLISHED_ORDER}
        for setting in BATCH:
            mean, half = mean_and_half_width(
                np.concatenate([result["held_out"] for result in of[setting]])
            )
            for name, value, width in zip(rows, mean, half, strict=True):
                rows[name][setting] = Cell(float(value), float(width))
        shown.append(
            Table(
                f"Batch setting, viewers with more than {more_than} ratings: ranking loss on "
                "held-out films",
                list(BATCH),
                rows,
                "A quarter of a viewer's films is held out. ± is half of a 95 % interval. No "
                "figures were published.",
                _first_in_batch(rows),
            )
        )
    return shown


def _first_in_batch(rows: dict[str, dict[str, Cell | str]]) -> tuple[Claim, ...]:
    """That PRank came first: in which of the settings."""
    won = []
    for setting in BATCH:
        losses = {
            name: cell.ours for name, row in rows.items() if isinstance(cell := row[setting], Cell)
        }
        if min(losses, key=lambda name: losses[name] or 0.0) == "PRank":
            won.append(setting)
    settings = "; ".join(won) or "none"
    return (
        Claim(
            "batch",
            f"PRank is first on held-out films (in the settings: {settings})",
            bool(won),
            SWINGS,
        ),
    )


def _portions(kind: str, quick: bool) -> list[Job]:
    trials, size = (QUICK if quick else TRIALS)[kind], EACH_JOB[kind]
    return [{"first": first, "end": min(first + size, trials)} for first in range(0, trials, size)]


def _at_some_rounds(losses: list[Floats]) -> Result:
    averaged = np.cumsum(losses, axis=2) / np.arange(1, losses[0].shape[1] + 1)
    rounds = np.unique(np.linspace(1, averaged.shape[2], ROUNDS_SHOWN).astype(np.int64))
    return {"rounds": rounds.tolist(), "averaged": averaged[:, :, rounds - 1].tolist()}


def _curves_shown(where: str, what: str, results: list[Result]) -> list[Table | Figure]:
    title = f"{where}: {what}"
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
    same = (
        "as published"
        if order == [*PUBLISHED_ORDER]
        else f"not {' < '.join(PUBLISHED_ORDER)} as published"
    )
    note = (
        f"After the last round, mean of {sum(len(result['averaged']) for result in results)} "
        "trials; ± is half of a "
        "95 % interval. The paper shows curves, from which the place is read. Here "
        f"{' < '.join(order)}, {same}."
    )
    said = f"PRank is best at the end ({what}: {' < '.join(order)})"
    claims = [Claim(where.lower(), said, order[0] == "PRank", SWINGS)]
    if "synthetic" in what:
        claims.append(Claim(where.lower(), "MCP is worst at the end", order[-1] == "MCP"))
    table = Table(title, ["loss", "place"], rows, note, tuple(claims))
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
        stands_in="EachMovie was withdrawn in 2004; MovieLens 100k stands in. It is smaller: 148 "
        "viewers have more "
        "than 200 ratings and 361 more than 100.",
    ).with_original(
        {"movielens": "eachmovie"},
        "PRank, Widrow-Hoff and the multiclass Perceptron predict a viewer's ratings, on EachMovie "
        "itself",
        jobs=partial(movies_jobs, "eachmovie"),
    ),
]
