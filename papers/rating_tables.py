"""Figure 3 of paper 002 and its closing experiment: jobs of some trials each, and the losses at
some rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from papers.cells import Cell, cell_in, number_in
from papers.claims import Claim
from papers.experiment import Curve, Done, Experiment, Figure, Job, Result, Row, Table, results
from papers.rating_data import films
from papers.ratings import (
    Learners,
    MoviesProtocol,
    SyntheticProtocol,
    batch_trial,
    logistic_trial,
    mean_and_half_width,
    movies_trial,
    paper_learners,
    synthetic_trial,
    without_rows_trial,
)
from shortlist.compiled.kernels import Floats

TRIALS = {"synthetic": 100, "movies": 500}
QUICK = {"synthetic": 5, "movies": 60}
EACH_JOB = {"synthetic": 5, "movies": 60}  # trials, for some seconds of work
ROUNDS_SHOWN = 50
EARLY = 200  # rounds of a synthetic stream, within which WH is best
# with what the features are shifted by
ONLINE = {"online": "mean", "online, shifted by a constant": "middle"}
WITHOUT_ROWS = ("WH, centred ratings", "running median")
PUBLISHED_ORDER = {"PRank": 1, "WH": 2, "MCP": 3}
RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # of WH
SWEEP_TRIALS = 20
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
LOGISTIC = "ordinal logistic regression"
OTHERS = ("without rows", LOGISTIC)


def synthetic_jobs(quick: bool) -> list[Job]:
    """The trials in portions; and a sweep of WH's learning rate."""
    portions = _portions("synthetic", quick)
    return portions + [{"rate": rate} for rate in RATES if not quick]


def run_synthetic(folder: Path, job: Job) -> Result:
    """The curves of some trials, or how WH ends with a learning rate."""
    if "rate" not in job:
        protocol = SyntheticProtocol()
        trials = range(job["first"], job["end"])
        return _at_some_rounds([synthetic_trial(protocol, trial) for trial in trials])
    learners = {"WH": paper_learners(job["rate"])["WH"]}
    protocol = SyntheticProtocol(learners=learners)
    losses = [synthetic_trial(protocol, trial)[0].mean() for trial in range(SWEEP_TRIALS)]
    return {"final": losses}


def show_synthetic(done: Done) -> list[Table | Figure]:
    """The left plot of figure 3 and the losses at its end."""
    portions = results(done, rate=None)
    shown, final = _curves_shown("Figure 3, left", "synthetic streams", portions)
    averaged = np.concatenate([trial["averaged"] for trial in portions]).mean(axis=0)
    early = averaged[:, np.array(portions[0]["rounds"]) <= EARLY]
    at_first = list(PUBLISHED_ORDER)[int(early.mean(axis=1).argmin())]
    place = "figure 3, left"
    rows: dict[str, Row] = {}
    for rate in RATES:
        for sweep in results(done, rate=rate):
            rows[f"learning rate {rate:g}"] = {"WH": Cell.of(sweep["final"])}
    claims = [
        Claim(place, f"WH is best in the first {EARLY} rounds ({at_first})", at_first == "WH"),
        Claim.ahead(place, "PRank ends ahead of WH, loss", final["WH"], final["PRank"]),
        Claim.ahead(place, "WH ends ahead of MCP, loss", final["MCP"], final["WH"]),
    ]
    prank = final["PRank"].ours or 0.0
    ahead = [name for name, row in rows.items() if number_in(row, "WH") < prank]
    note = (
        f"PRank ends with {prank:.3f}. The paper does not tell the rate; WH ends ahead of PRank with "
        f"{', '.join(ahead) or 'none'}."
    )
    title = "Figure 3, left: WH's loss after the last round, by its learning rate"
    return [*shown, Table(title, ["WH"], rows, note, tuple(claims))]


def movies_jobs(name: str, quick: bool) -> list[Job]:
    """The trials in portions, for each subset of viewers: online, and in the batch setting."""
    return [
        {"set": name, "setting": setting, "more_than": more_than, **portion}
        for setting in (*ONLINE, *BATCH, *OTHERS)
        for more_than in (200, 100)
        for portion in _portions("movies", quick)
    ]


def run_movies(folder: Path, job: Job) -> Result:
    """The curves, or the held-out losses, of some trials."""
    ratings, highest = films(folder, job["set"])
    trials = range(job["first"], job["end"])
    setting = job["setting"]
    protocol = MoviesProtocol(job["more_than"], highest=highest, shift=ONLINE.get(setting, "mean"))
    if setting in ONLINE:
        return _at_some_rounds([movies_trial(protocol, ratings, trial) for trial in trials])
    if setting == "without rows":
        return _at_some_rounds([without_rows_trial(protocol, ratings, trial) for trial in trials])
    if setting == LOGISTIC:
        return {"held_out": [[logistic_trial(protocol, ratings, trial)] for trial in trials]}
    width, learners = BATCH[setting]
    protocol = MoviesProtocol(
        job["more_than"], highest=highest, feature_range=width, learners=learners
    )
    return {"held_out": [batch_trial(protocol, ratings, trial).tolist() for trial in trials]}


def show_movies(done: Done) -> list[Table | Figure]:
    """The middle and right plots of figure 3, and held-out losses in the batch setting."""
    shown: list[Table | Figure] = []
    for more_than, place in ((200, "middle"), (100, "right")):
        without_rows = results(done, setting="without rows", more_than=more_than)
        for setting in ONLINE:
            portions = results(done, setting=setting, more_than=more_than)
            what = f"viewers with more than {more_than} ratings{setting.removeprefix('online')}"
            curves, final = _curves_shown(f"Figure 3, {place}", what, portions, without_rows)
            shown += curves
            if setting == "online":
                shown.append(_order(f"figure 3, {place}", final))
        shown.append(_batch(more_than, done))
    return shown


def _order(place: str, final: dict[str, Cell]) -> Table:
    """The published order at the end, and beside it what a rule reaches that knows the middle of
    the ratings, or sees nothing else.
    """
    beside = [final[name].ours or 0.0 for name in WITHOUT_ROWS]
    behind = [name for name in PUBLISHED_ORDER if (final[name].ours or 0.0) > max(beside)]
    why = (
        "without an intercept a rule spends its few rounds on finding the middle of the ratings: "
        f"WH on centred ratings ({beside[0]:.3f}), and even the running median ({beside[1]:.3f}), "
        f"which sees no row, are ahead of {', '.join(behind) or 'none'}"
    )
    claims = (
        Claim.ahead(place, "PRank is ahead of WH, loss", final["WH"], final["PRank"], why),
        Claim.ahead(place, "WH is ahead of MCP, loss", final["MCP"], final["WH"], why),
    )
    rows: dict[str, Row] = {name: {"loss": cell} for name, cell in final.items()}
    title = f"{place.capitalize()}: the loss at the end, beside what the ratings alone tell"
    return Table(title, ["loss"], rows, claims=claims)


def _batch(more_than: int, done: Done) -> Table:
    """Held-out losses; PRank is the first in some setting if it is ahead of both others there."""
    rows: dict[str, Row] = {name: {} for name in PUBLISHED_ORDER}
    behind = []
    for setting in BATCH:
        portions = results(done, setting=setting, more_than=more_than)
        trials = np.concatenate([trial["held_out"] for trial in portions])
        for name, values in zip(rows, trials.T, strict=True):
            rows[name][setting] = Cell.of(values.tolist())
        prank, *rivals = (cell_in(rows[name], setting) for name in rows)
        second = min(rivals, key=lambda cell: cell.ours or 0.0)
        says = f"PRank is first on held-out films, {setting}, loss"
        behind.append(Claim.ahead("batch", says, second, prank))
    portions = results(done, setting=LOGISTIC, more_than=more_than)
    if portions:
        values = np.concatenate([trial["held_out"] for trial in portions])[:, 0]
        rows[LOGISTIC] = {"last rule": Cell.of(values.tolist())}
    won = [claim for claim in behind if claim.holds]
    settings = "; ".join(claim.says for claim in won) or "in no setting"
    claims = (Claim("batch", f"there is a setting in which {settings}", bool(won)),)
    title = f"Batch setting, viewers with more than {more_than} ratings: loss on held-out films"
    note = "A quarter of a viewer's films is held out. No figures were published."
    return Table(title, list(BATCH), rows, note, claims)


def _portions(kind: str, quick: bool) -> list[Job]:
    trials, size = (QUICK if quick else TRIALS)[kind], EACH_JOB[kind]
    return [{"first": first, "end": min(first + size, trials)} for first in range(0, trials, size)]


def _at_some_rounds(losses: list[Floats]) -> Result:
    averaged = np.cumsum(losses, axis=2) / np.arange(1, losses[0].shape[1] + 1)
    rounds = np.unique(np.linspace(1, averaged.shape[2], ROUNDS_SHOWN).astype(np.int64))
    return {"rounds": rounds.tolist(), "averaged": averaged[:, :, rounds - 1].tolist()}


def _curves_shown(
    where: str, what: str, portions: list[Result], without_rows: Sequence[Result] = ()
) -> tuple[list[Table | Figure], dict[str, Cell]]:
    """The curves, and the losses of all trials after the last round."""
    names = list(PUBLISHED_ORDER)
    averaged = np.concatenate([trial["averaged"] for trial in portions])
    if without_rows:
        names += WITHOUT_ROWS
        beside = np.concatenate([trial["averaged"] for trial in without_rows])
        averaged = np.concatenate([averaged, beside], axis=1)
    mean, half = mean_and_half_width(averaged)
    x = [float(place) for place in portions[0]["rounds"]]
    curves = {
        name: Curve(x, mean[a].tolist(), (mean[a] - half[a]).tolist(), (mean[a] + half[a]).tolist())
        for a, name in enumerate(names)
    }
    final = {name: Cell.of(averaged[:, a, -1].tolist()) for a, name in enumerate(names)}
    order = sorted(PUBLISHED_ORDER, key=lambda name: final[name].ours or 0.0)
    rows: dict[str, Row] = {
        name: {
            "loss": final[name],
            "place": Cell(order.index(name) + 1, published=PUBLISHED_ORDER[name]),
        }
        for name in PUBLISHED_ORDER
    }
    note = (
        f"After the last round, mean and spread of {len(averaged)} trials. The paper shows "
        f"curves, from which the place is read. Here {' < '.join(order)}."
    )
    title = f"{where}: {what}"
    table = Table(title, ["loss", "place"], rows, note)
    figure = Figure(title, "round", "time-averaged ranking loss", curves, note=BAND)
    return [table, figure], final


def movies_experiment(name: str, stands_in: str) -> Experiment:
    return Experiment(
        name=f"prank-{name}",
        paper="Crammer and Singer (paper 002)",
        title="PRank, Widrow-Hoff and the multiclass Perceptron predict a viewer's ratings",
        needs=(name,),
        jobs=partial(movies_jobs, name),
        run=run_movies,
        show=show_movies,
        stands_in=stands_in,
    )


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
    movies_experiment(
        "movielens",
        "EachMovie was withdrawn in 2004; MovieLens 100k stands in. It is smaller: 148 viewers "
        "have more than 200 ratings and 361 more than 100.",
    ).with_original(
        {"movielens": "eachmovie"},
        "PRank, Widrow-Hoff and the multiclass Perceptron predict a viewer's ratings, on EachMovie "
        "itself",
        jobs=partial(movies_jobs, "eachmovie"),
    ),
    movies_experiment("movielens-1m", "EachMovie was withdrawn in 2004; MovieLens 1M stands in."),
]
