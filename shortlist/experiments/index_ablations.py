"""Figures 11 to 17 and 19 of paper 004: what each choice of Feature-Focus is worth.

The paper reports the best of several margins and passes by test accuracy; where a figure does so, so do we.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.categories.index.feature_focus import FeatureFocus
from shortlist.experiments.experiment import Cell, Curve, Experiment, Figure, Job, Result, Table
from shortlist.experiments.index_comparison import PAPER
from shortlist.experiments.index_data import ORIGINALS, STAND_INS, load, split


@dataclass(frozen=True)
class Ablation:
    """One setting that the paper varies: learners by margin, and what it published for the best of them."""

    figure: str
    margins: tuple[float, ...]
    options: dict[str, Any]
    published: dict[str, float]


PASSES = 5
USUAL = (0.0, 0.1, 0.5)
ABLATIONS = {
    "default": Ablation("11", USUAL, {}, {"newsgroups": 0.865, "rcv1": 0.787}),
    "no constraints": Ablation(
        "11", USUAL, {"min_weight": 0.0, "max_edges": 1000}, {"newsgroups": 0.866, "rcv1": 0.787}
    ),
    "w_min = 0.001": Ablation("13", USUAL, {"min_weight": 0.001}, {"rcv1": 0.786}),
    "w_min = 0.1": Ablation("13", USUAL, {"min_weight": 0.1}, {"rcv1": 0.761}),
    "no leakage": Ablation("15", USUAL, {"leakage": False}, {"newsgroups": 0.866, "rcv1": 0.780}),
    "no down-weighting": Ablation("16", USUAL, {"rare": 0}, {"newsgroups": 0.860, "rcv1": 0.758}),
    "Boolean": Ablation("17", (0.0, 1.0, 7.0), {"values": "boolean"}, {"newsgroups": 0.860, "rcv1": 0.780}),
}
WORTH_A_WORD = 0.005  # a change of R1; trials spread by 0.004 to 0.013
ABLATION_SETS, ABLATION_TRIALS = ("newsgroups", "rcv1"), 4
PASS_MARGINS = {"rcv1": (0.0, 0.1, 0.2, 0.5), "newsgroups": (0.0, 0.5, 1.0)}  # figures 14 and 19
MANY_PASSES, PASS_TRIALS = 10, 3
DEGREES = (1, 2, 3, 5, 10, 25, 50, 100)  # figure 12
DEGREE_SETS = ("rcv1", "finna")


# Figures 11, 13, 15, 16, 17: what each choice is worth. The best of margins and passes, by test accuracy, as published.


def ablation_jobs(quick: bool) -> list[Job]:
    trials = 1 if quick else ABLATION_TRIALS
    names = ABLATION_SETS[:1] if quick else ABLATION_SETS
    settings = [
        (name, setting, margin)
        for name in names
        for setting, ablation in ABLATIONS.items()
        for margin in ablation.margins[-1 if quick else 0 :]  # the last is the best on 20 Newsgroups
    ]
    return [{"set": s, "setting": a, "margin": m, "trial": t} for (s, a, m), t in product(settings, range(trials))]


def ablation_run(data: Path, job: Job) -> Result:
    options = ABLATIONS[job["setting"]].options | {"margin": job["margin"]}
    return {"R1": by_pass(data, job, options, PASSES)["test"]}


def by_pass(
    data: Path, job: Job, options: dict[str, Any], passes: int, training: bool = False
) -> dict[str, list[float]]:
    """R1 on the test rows, and if asked on the training rows, after each pass."""
    X, Y = load(data, job["set"])
    train, test = split(job["set"], X.shape[0], job["trial"])
    learner = FeatureFocus(passes=passes, **options)
    rows, own = learner._check(X[train]), Y[train]
    found: dict[str, list[float]] = {"test": [], "train": []}
    for _ in learner._fit_passes(rows, own):
        found["test"].append(learner.score(X[test], Y[test]))
        if training:
            found["train"].append(learner._score_rows(rows, own))
    return found


def ablation_show(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    tables: list[Table | Figure] = []
    for name in dict.fromkeys(job["set"] for job, _ in done):
        rows: dict[str, dict[str, Cell | str]] = {}
        for setting, ablation in ABLATIONS.items():
            every: dict[tuple[float, int], list[float]] = {}  # (margin, pass) -> R1 of each trial
            for job, result in done:
                if (job["set"], job["setting"]) == (name, setting):
                    for n, value in enumerate(result["R1"]):
                        every.setdefault((job["margin"], n + 1), []).append(value)
            (margin, n), values = max(every.items(), key=lambda item: np.mean(item[1]))
            rows[setting] = {
                "figure": ablation.figure,
                "R1": Cell.of(values, ablation.published.get(name)),
                "best at": f"δ={margin:g}, pass {n}",
            }
        title = f"{name}: R1 at the best of margins and {PASSES} passes"
        tables.append(Table(title, ["figure", "R1", "best at"], rows, directions(rows)))
    return tables


def directions(rows: dict[str, dict[str, Cell | str]]) -> str:
    """Which choices change R1 in another direction than published, where one of the two changes is worth a word."""
    cells = {setting: cell for setting, row in rows.items() if isinstance(cell := row["R1"], Cell)}
    default = cells["default"]
    other = []
    for setting, cell in cells.items():
        if None not in (cell.ours, cell.published, default.ours, default.published):
            ours, theirs = cell.ours - default.ours, cell.published - default.published  # type: ignore[operator]
            if ours * theirs < 0 and max(abs(ours), abs(theirs)) >= WORTH_A_WORD:
                other.append(f"{setting} {ours:+.3f}, published {theirs:+.3f}")
    if not other:
        return f"Every change of {WORTH_A_WORD} and more has the published direction."
    why = "; index-leakage looks for the reason" if any("leakage" in one for one in other) else ""
    return f"Changes that do not have the published direction: {', '.join(other)}{why}."


# Figures 14 and 19: passes and margins.


def passes_jobs(quick: bool) -> list[Job]:
    trials = range(1 if quick else PASS_TRIALS)
    jobs = [(name, margin) for name, margins in PASS_MARGINS.items() for margin in margins]
    passes = 2 if quick else MANY_PASSES
    return [{"set": name, "margin": m, "trial": t, "passes": passes} for (name, m), t in product(jobs, trials)]


def passes_run(data: Path, job: Job) -> Result:
    return by_pass(data, job, {"margin": job["margin"]}, job["passes"], training=job["set"] == "newsgroups")


def passes_show(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    figures: list[Table | Figure] = []
    for name, number in (("rcv1", "14"), ("newsgroups", "19")):
        curves = {}
        for margin in PASS_MARGINS[name]:
            for part in ("test", "train"):
                found = [r[part] for job, r in done if (job["set"], job["margin"]) == (name, margin) and r[part]]
                if found:
                    curves[f"δ = {margin:g}, {part}"] = Curve.of(found)
        figures.append(Figure(f"Figure {number}: {name}, R1 by pass", "passes", "R1", curves))
    return figures


# Figure 12: how many edges of a feature may vote.


def degree_jobs(quick: bool) -> list[Job]:
    trials = range(1 if quick else 3)
    return [{"set": name, "max_edges": d, "trial": t} for name, d, t in product(DEGREE_SETS, DEGREES, trials)]


def degree_run(data: Path, job: Job) -> Result:
    return {"R1": by_pass(data, job, {"margin": 0.0, "max_edges": job["max_edges"]}, 1)["test"][0]}


def degree_show(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    curves = {}
    for name in DEGREE_SETS:
        found = [[r["R1"] for job, r in done if (job["set"], job["max_edges"]) == (name, d)] for d in DEGREES]
        curves[name] = Curve.of(np.transpose(found).tolist(), [float(d) for d in DEGREES])
    return [Figure("Figure 12: R1 after one pass against d_max", "d_max", "R1", curves, log_x=True)]


def experiment(
    name: str, title: str, needs: tuple[str, ...],
    jobs: Callable[[bool], list[Job]], run: Callable[[Path, Job], Result], show: Callable[..., list[Table | Figure]],
) -> Experiment:  # fmt: skip
    """One on RCV1 among other sets, on what stands in for it and on itself."""
    others = " ".join(STAND_INS[need] for need in needs if need in STAND_INS and need != "rcv1")
    one = Experiment(name, PAPER, title, needs, jobs, run, show, f"{STAND_INS['rcv1']} {others}".rstrip())
    return one.with_original(ORIGINALS["rcv1"], f"{title}, on RCV1-v2 itself", stands_in=others)


EXPERIMENTS = [
    experiment("index-ablations", "What each choice is worth (figures 11, 13, 15, 16, 17)", ABLATION_SETS,
               ablation_jobs, ablation_run, ablation_show),
    experiment("index-passes", "Passes and margins (figures 14, 19)", tuple(PASS_MARGINS),
               passes_jobs, passes_run, passes_show),
    experiment("index-degree", "The degree constraint (figure 12)", DEGREE_SETS,
               degree_jobs, degree_run, degree_show),
]  # fmt: skip
