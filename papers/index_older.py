"""Figure 18 of paper 004: the older, unweighted index, alone and with classifiers that rank what it
proposes.

As in the paper the best of several passes is taken, by test accuracy. Paper 004 refers to Madani et
al. (2007) for the algorithm, which keeps its weights on the side of the classes. That text is not
at hand; ours, made from the summary in paper 004, keeps them on the side of the features. It is
another algorithm, so that what was published stands in the note and in no column.
"""

from __future__ import annotations

import functools
from itertools import product
from pathlib import Path

import numpy as np

from papers.comparators.unweighted_index import UnweightedIndex
from papers.experiment import Cell, Claim, Experiment, Figure, Job, Result, Table
from papers.index_comparison import PAPER
from papers.index_data import STAND_INS, load, split
from shortlist.data.batch import RowBatch
from shortlist.learners.index.feature_focus import FeatureFocus

TOLERANCES = (2, 5, 20)
PASSES, TRIALS = 10, 2
# the tolerance that the paper shows with classifiers
CLASSIFIERS = {"newsgroups": 5, "industry": 20}
FF = {"newsgroups": (0.5, 1), "industry": (0.5, 3)}  # margin and passes of figure 9
OURS = (
    "is not the algorithm of 2007, whose text is not at hand: it ranks by shares of features, as "
    "FF does"
)
NOTE = (
    "Published for the algorithm of 2007: newsgroups 0.681 alone and 0.768 with classifiers, "
    "Industry 0.658 and 0.795, "
    f"FF 0.86 and 0.88. Ours, made from paper 004's summary, {OURS}."
)


def jobs(quick: bool) -> list[Job]:
    sets = list(CLASSIFIERS)[: 1 if quick else 2]
    trials = range(1 if quick else TRIALS)
    alone = [
        {"set": s, "tolerance": t, "classifiers": 0, "trial": n}
        for s, t, n in product(sets, TOLERANCES, trials)
    ]
    ranked = [
        {"set": s, "tolerance": CLASSIFIERS[s], "classifiers": 10, "trial": 0}
        for s in sets
        if not quick
    ]
    focus = [
        {"set": s, "tolerance": None, "classifiers": 0, "trial": n}
        for s, n in product(sets, trials)
    ]
    return [*alone, *ranked, *focus]


def run(data: Path, job: Job) -> Result:
    X, Y = load(data, job["set"])
    train, test = split(job["set"], X.shape[0], job["trial"])
    if job["tolerance"] is None:
        margin, passes = FF[job["set"]]
        return {
            "R1": [
                FeatureFocus(margin=margin, passes=passes)
                .fit(X[train], Y[train])
                .score(X[test], Y[test])
            ]
        }
    learner = UnweightedIndex(job["tolerance"], classifiers=job["classifiers"], passes=PASSES)
    learner.reset()
    passes_made = learner.learn_passes(RowBatch.of(X[train], Y[train]))
    return {"R1": [learner.score(X[test], Y[test]) for _ in passes_made]}


def show(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    rows: dict[str, dict[str, Cell | str]] = {}
    best: dict[tuple[str, str], float] = {}
    for name in dict.fromkeys(job["set"] for job, _ in done):
        for tolerance, classifiers in dict.fromkeys(
            (job["tolerance"], job["classifiers"]) for job, _ in done
        ):
            own = [
                r["R1"]
                for job, r in done
                if (job["set"], job["tolerance"], job["classifiers"])
                == (name, tolerance, classifiers)
            ]
            if not own:
                continue
            at = int(np.argmax(np.mean(own, axis=0)))
            values = [by_pass[at] for by_pass in own]
            kind = (
                "FF"
                if tolerance is None
                else f"t_tol = {tolerance}" + ", classifiers" * bool(classifiers)
            )
            rows[f"{name}, {kind}"] = {
                "R1": Cell.of(values),
                "pass": str(at + 1),
                "trials": str(len(own)),
            }
            group = "FF" if tolerance is None else "unweighted"
            best[name, group] = max(best.get((name, group), 0.0), float(np.mean(values)))
    claims = tuple(
        Claim(
            "figure 18",
            f"FF is ahead of the unweighted index on {name} ({best[name, 'FF']:.3f} against "
            f"{best[name, 'unweighted']:.3f})",
            best[name, "FF"] > best[name, "unweighted"],
            f"ours {OURS}",
        )
        for name in dict.fromkeys(name for name, _ in best)
    )
    return [Table("R1 at the best pass", ["R1", "pass", "trials"], rows, NOTE, claims)]


EXPERIMENTS = [
    Experiment(
        "index-older",
        PAPER,
        "The older, unweighted index (figure 18)",
        ("newsgroups", "rcv1"),
        functools.partial(jobs),
        run,
        show,
        STAND_INS["industry"],
    ),
]
