"""Figures 11 to 16 and 19 of paper 004: what each choice of Feature-Focus is worth.

The paper reports the best of several margins and passes by test accuracy; where a figure does so,
so do we. EURLEX57K stands in for Web and library titles for Ads, with the margins that the paper
found best there: on EURLEX57K, as on Web, none but 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from papers.cells import Cell, cell_in, number_in
from papers.claims import WORTH_A_WORD, Claim
from papers.experiment import (
    Curve,
    Done,
    Experiment,
    Figure,
    Job,
    Result,
    Row,
    Table,
    distinct,
    results,
)
from papers.index_comparison import PAPER
from papers.index_data import ORIGINALS, STAND_INS, load, split
from shortlist.data.batch import RowBatch
from shortlist.learners.index.edges import drop_light
from shortlist.learners.index.feature_focus import FeatureFocus


@dataclass(frozen=True)
class Ablation:
    """One setting that the paper varies, and what it published: R1 by default and as changed, and
    the seconds of a pass.
    """

    figure: str
    options: dict[str, Any]
    published: dict[str, tuple[float, float]]
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)


ABLATIONS = {
    "no constraints": Ablation(
        "figure 11",
        {"min_weight": 0.0, "max_edges": 1000},
        {
            "newsgroups": (0.865, 0.866),
            "rcv1": (0.787, 0.787),
            "finna": (0.711, 0.716),
            "eurlex": (0.347, 0.327),
        },
        {"newsgroups": (2, 3), "rcv1": (6, 45), "finna": (27, 2700), "eurlex": (64, 7200)},
    ),
    "w_min = 0.001": Ablation(
        "figure 13",
        {"min_weight": 0.001},
        {"rcv1": (0.787, 0.786), "finna": (0.725, 0.728), "eurlex": (0.352, 0.332)},
    ),
    "w_min = 0.1": Ablation(
        "figure 13",
        {"min_weight": 0.1},
        {"rcv1": (0.787, 0.761), "finna": (0.725, 0.701), "eurlex": (0.352, 0.30)},
    ),
    "no down-weighting": Ablation(
        "figure 16",
        {"rare": 0},
        {"newsgroups": (0.865, 0.860), "rcv1": (0.787, 0.758), "eurlex": (0.352, 0.327)},
    ),
}
DEFAULT = "default"
USUAL = (0.0, 0.1, 0.5)
MARGINS = {"newsgroups": USUAL, "rcv1": USUAL, "finna": USUAL, "eurlex": (0.0,)}
PASSES = {"newsgroups": 5, "rcv1": 5, "finna": 2, "eurlex": 2}
ABLATION_TRIALS = {"newsgroups": 4, "rcv1": 4, "finna": 3, "eurlex": 3}
CALLED = {"finna": "titles, for Ads", "eurlex": "EURLEX57K, for Web"}
WHY_CHANGED = {
    "finna": "a title has 7 words where an ad has 27, and each edge that is kept is one of few",
}
# figures 14 and 19
PASS_MARGINS = {"rcv1": (0.0, 0.1, 0.2, 0.5), "newsgroups": (0.0, 0.5, 1.0), "eurlex": USUAL}
MANY_PASSES = {"rcv1": 10, "newsgroups": 10, "eurlex": 4}
PASS_TRIALS = {"rcv1": 3, "newsgroups": 3, "eurlex": 1}
DEGREES = (1, 2, 3, 5, 10, 25, 50, 100)  # figure 12
DEGREE_SETS = ("rcv1", "finna", "eurlex")
FIVE_LABELS = (
    "on EURLEX57K R1 rises up to 25 edges, as the figure shows; its texts have five labels, those of "
    "Web have one"
)
LEAST_WEIGHTS = (0.02, 0.05, 0.1)
ALL_EDGES = 1000
DEGREE_PUBLISHED = {3: (80e3, 3.0), 25: (180e3, 15.1)}  # edges and d on RCV1


def called(name: str) -> str:
    """A data set, and what it stands in for."""
    return CALLED.get(name, name)


# Figures 11, 13, 16: what each choice is worth. The best of margins and passes, by test accuracy,
# as published.


def ablation_jobs(quick: bool) -> list[Job]:
    names = list(MARGINS)[: 1 if quick else None]
    return [
        {"set": name, "setting": setting, "margin": margin, "trial": trial}
        for name in names
        for setting in [DEFAULT, *settings_of(name)]
        # the last is the best on 20 Newsgroups
        for margin in MARGINS[name][-1 if quick else 0 :]
        for trial in range(1 if quick else ABLATION_TRIALS[name])
    ]


def settings_of(name: str) -> list[str]:
    """What the paper varies on a data set."""
    return [setting for setting, ablation in ABLATIONS.items() if name in ablation.published]


def ablation_run(data: Path, job: Job) -> Result:
    options: dict[str, Any] = {"margin": job["margin"]}
    if job["setting"] != DEFAULT:
        options |= ABLATIONS[job["setting"]].options
    passes = by_pass(data, job, options, PASSES[job["set"]])
    return {"R1": passes["test"], "seconds": passes["seconds"][0]}


def by_pass(
    data: Path, job: Job, options: dict[str, Any], passes: int, training: bool = False
) -> dict[str, list[float]]:
    """R1 on the test rows, and if asked on the training rows, after each pass, and the
    processor time of each.
    """
    X, Y = load(data, job["set"])
    train, test = split(job["set"], X.shape[0], job["trial"])
    learner = FeatureFocus(passes=passes, **options)
    rows = learner.check_rows(X[train])
    labels = Y[train]
    curves: dict[str, list[float]] = {"test": [], "train": [], "seconds": []}
    began = time.process_time()
    learner.reset()
    for _ in learner.learn_passes(RowBatch.of(rows, labels)):
        curves["seconds"].append(time.process_time() - began)
        curves["test"].append(learner.score(X[test], Y[test]))
        if training:
            curves["train"].append(learner.score_rows(rows, labels))
        began = time.process_time()
    return curves


def ablation_show(done: Done) -> list[Table | Figure]:
    shown: list[Table | Figure] = []
    for name in distinct(done, "set"):
        rows: dict[str, Row] = {}
        claims: list[Claim] = []
        plain, place = best_of_margins(done, set=name, setting=DEFAULT)
        default_seconds = seconds_of_a_pass(done, name, DEFAULT)
        for setting in settings_of(name):
            ablation = ABLATIONS[setting]
            values, changed_place = best_of_margins(done, set=name, setting=setting)
            old, new = ablation.published[name]
            gains = [a - b for a, b in zip(values, plain, strict=False)]
            seconds, changed_seconds = ablation.seconds.get(name, (None, None))
            rows[setting] = {
                "figure": ablation.figure,
                "R1, default": Cell.of(plain, old),
                "R1, changed": Cell.of(values, new),
                "gain": Cell.of(gains, new - old),
                "T_tr, default": Cell(default_seconds, published=seconds),
                "T_tr, changed": Cell(
                    seconds_of_a_pass(done, name, setting), published=changed_seconds
                ),
                "best at": f"{place}; {changed_place}",
            }
            claims += ablation_claims(name, setting, rows[setting])
        columns = list(rows["no constraints"])
        title = f"{called(name)}: R1 at the best of margins and {PASSES[name]} passes"
        shown.append(Table(title, columns, rows, claims=tuple(claims)))
    return shown


def best_of_margins(
    done: Done, passes: int | None = None, **parameters: Any
) -> tuple[list[float], str]:
    """R1 of every trial at the best margin and the best of some passes, and which these are."""
    every: dict[tuple[float | None, int], list[float]] = {}
    for job, result in done:
        if any(job[name] != value for name, value in parameters.items()):
            continue
        margin = job["margin"] if "margin" in job else job["setting"]
        for n, value in enumerate(result["R1"][:passes]):
            every.setdefault((margin, n + 1), []).append(value)
    (margin, n), values = max(every.items(), key=lambda item: np.mean(item[1]))
    return values, f"δ={margin}, pass {n}"


def seconds_of_a_pass(done: Done, name: str, setting: str) -> float:
    return float(np.median([r["seconds"] for r in results(done, set=name, setting=setting)]))


def ablation_claims(name: str, setting: str, row: Row) -> list[Claim]:
    """What the paper says of a change."""
    default, changed = cell_in(row, "R1, default"), cell_in(row, "R1, changed")
    figure = ABLATIONS[setting].figure
    where = called(name)
    why = WHY_CHANGED.get(name, "")
    if setting == "no down-weighting":
        says = f"{where}: it helps to count rare features less"
        return [Claim.ahead(figure, says, default, changed, why)]
    if setting == "w_min = 0.1":
        return [Claim.ahead(figure, f"{where}: w_min = 0.1 is worse", default, changed, why)]
    published = (changed.published or 0.0) - (default.published or 0.0)
    worth = WORTH_A_WORD + max(0.0, published)
    says = f"{where}: {setting} gains no more than the published {published:+.3f}"
    listed = [Claim.no_better(figure, says, changed, default, why, worth=worth)]
    if setting == "no constraints":
        usual, longer = number_in(row, "T_tr, default"), number_in(row, "T_tr, changed")
        says = f"{where}: without them a pass takes longer ({longer:.2g} s against {usual:.2g} s)"
        listed.append(Claim(figure, says, longer > usual))
    return listed


# Figures 14 and 19: passes and margins.


def passes_jobs(quick: bool) -> list[Job]:
    return [
        {"set": name, "margin": margin, "trial": trial, "passes": 2 if quick else MANY_PASSES[name]}
        for name, margins in PASS_MARGINS.items()
        for margin in margins
        for trial in range(1 if quick else PASS_TRIALS[name])
    ]


def passes_run(data: Path, job: Job) -> Result:
    curves = by_pass(
        data, job, {"margin": job["margin"]}, job["passes"], training=job["set"] != "rcv1"
    )
    return {part: curves[part] for part in ("test", "train")}


def passes_show(done: Done) -> list[Table | Figure]:
    shown: list[Table | Figure] = []
    for name, figure in (("rcv1", "14"), ("newsgroups", "19"), ("eurlex", "19")):
        curves = {}
        best = {}
        for margin in PASS_MARGINS[name]:
            trials = results(done, set=name, margin=margin)
            for part in ("test", "train"):
                by_trial = [trial[part] for trial in trials if trial[part]]
                if by_trial:
                    curves[f"δ = {margin:g}, {part}"] = Curve.of(by_trial)
            at = int(np.argmax(curves[f"δ = {margin:g}, test"].y))
            best[margin] = Cell.of([trial["test"][at] for trial in trials])
        title = f"Figure {figure}: {called(name)}, R1 by pass"
        claims = passes_claims(name, f"figure {figure}", curves, best)
        shown.append(Figure(title, "passes", "R1", curves, claims=claims))
    return shown


def passes_claims(
    name: str, figure: str, curves: dict[str, Curve], best: dict[float, Cell]
) -> tuple[Claim, ...]:
    """What figures 14 and 19 say: which margin is the best, and what it does to overfitting."""
    expected = {"rcv1": 0.1, "newsgroups": 1.0, "eurlex": 0.0}[name]
    rest = [margin for margin in best if margin != expected]
    rival = max(rest, key=lambda margin: best[margin].ours or 0.0)
    says = f"{called(name)}: δ = {expected:g} is ahead of δ = {rival:g} on test rows"
    claims = [Claim.ahead(figure, says, best[expected], best[rival])]
    if name != "rcv1":
        low, *_, high = PASS_MARGINS[name]
        near, far = (
            curves[f"δ = {m:g}, train"].y[-1] - curves[f"δ = {m:g}, test"].y[-1]
            for m in (high, low)
        )
        says = (
            f"{called(name)}: a larger margin brings training and test closer ({far:.3f} apart at "
            f"δ = {low:g}, {near:.3f} at {high:g})"
        )
        claims.append(Claim(figure, says, near < far))
    return tuple(claims)


# Figure 12: how many edges of a feature may vote.


def degree_jobs(quick: bool) -> list[Job]:
    trials = range(1 if quick else 3)
    by_degree = [
        {"set": name, "max_edges": d, "trial": t}
        for name, d, t in product(DEGREE_SETS, DEGREES, trials)
    ]
    by_weight = [
        {"set": name, "max_edges": ALL_EDGES, "least": least, "trial": t}
        for name, least, t in product(DEGREE_SETS, LEAST_WEIGHTS, trials)
    ]
    return by_degree + by_weight


def degree_run(data: Path, job: Job) -> Result:
    """Only some edges of a feature vote; or, as the paper suggests instead, those of at least
    some weight.
    """
    X, Y = load(data, job["set"])
    train, test = split(job["set"], X.shape[0], job["trial"])
    learner = FeatureFocus(margin=0.0, max_edges=job["max_edges"]).fit(X[train], Y[train])
    if "least" in job:
        drop_light(learner.index_, job["least"], True)
    voting = np.minimum(learner.index_.features["length"], job["max_edges"])
    return {
        "R1": learner.score(X[test], Y[test]),
        "edges": int(voting.sum()),
        "d": learner.edges_touched(X[test]),
    }


def degree_show(done: Done) -> list[Table | Figure]:
    curves = {}
    rows: dict[str, Row] = {}
    for name in DEGREE_SETS:
        by_degree = {d: results(done, set=name, max_edges=d) for d in DEGREES}
        by_trial = np.transpose([[trial["R1"] for trial in by_degree[d]] for d in DEGREES])
        curves[called(name)] = Curve.of(by_trial.tolist(), [float(d) for d in DEGREES])
        for d in (3, 25):
            published = DEGREE_PUBLISHED.get(d) if name == "rcv1" else None
            rows[f"{called(name)}, d_max = {d}"] = degree_row(by_degree[d], published)
        for least in LEAST_WEIGHTS:
            trials = results(done, set=name, least=least)
            rows[f"{called(name)}, weights of {least:g} and more"] = degree_row(trials)
    note = (
        "The paper says that there are about 80,000 edges instead of 180,000, and fewer than 3 are "
        "touched instead of 15; a least weight at retrieval may be better than a greatest number, "
        "which no figure shows."
    )
    title = "Figure 12: edges that vote, and d"
    table = Table(title, ["edges", "d", "R1"], rows, note, degree_claims(rows))
    return [
        Figure("Figure 12: R1 after one pass against d_max", "d_max", "R1", curves, log_x=True),
        table,
    ]


def degree_row(trials: list[Result], published: tuple[float, float] | None = None) -> Row:
    edges, d = published or (None, None)
    return {
        "edges": Cell.of([trial["edges"] for trial in trials], edges),
        "d": Cell.of([trial["d"] for trial in trials], d),
        "R1": Cell.of([trial["R1"] for trial in trials]),
    }


def degree_claims(rows: dict[str, Row]) -> tuple[Claim, ...]:
    """What figure 12 says: on RCV1 and on Web few edges are as good as many."""
    claims = []
    for name in ("rcv1", "eurlex"):
        few, many = (rows[f"{called(name)}, d_max = {d}"] for d in (3, 25))
        says = f"{called(name)}: 25 edges of a feature are no better than 3"
        pair = cell_in(many, "R1"), cell_in(few, "R1")
        claims.append(Claim.no_better("figure 12", says, *pair, FIVE_LABELS))
        remaining = number_in(few, "edges") / number_in(many, "edges")
        says = (
            f"{called(name)}: at d_max = 3 fewer than 60 % of the edges are left ({remaining:.0%})"
        )
        claims.append(Claim("figure 12", says, remaining < 0.6))
    return tuple(claims)


def experiment(
    name: str,
    title: str,
    needs: tuple[str, ...],
    jobs: Callable[[bool], list[Job]],
    run: Callable[[Path, Job], Result],
    show: Callable[[Done], list[Table | Figure]],
) -> Experiment:
    """One on RCV1 among other sets, on what stands in for it and on itself."""
    other_sets = " ".join(STAND_INS[need] for need in needs if need in STAND_INS and need != "rcv1")
    stands_in = Experiment(
        name, PAPER, title, needs, jobs, run, show, f"{STAND_INS['rcv1']} {other_sets}".rstrip()
    )
    return stands_in.with_original(
        ORIGINALS["rcv1"], f"{title}, on RCV1-v2 itself", stands_in=other_sets
    )


EXPERIMENTS = [
    experiment(
        "index-ablations",
        "What each choice is worth (figures 11, 13, 16)",
        tuple(MARGINS),
        ablation_jobs,
        ablation_run,
        ablation_show,
    ),
    experiment(
        "index-passes",
        "Passes and margins (figures 14, 19)",
        tuple(PASS_MARGINS),
        passes_jobs,
        passes_run,
        passes_show,
    ),
    experiment(
        "index-degree",
        "The degree constraint (figure 12)",
        DEGREE_SETS,
        degree_jobs,
        degree_run,
        degree_show,
    ),
]
