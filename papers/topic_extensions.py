"""What paper 001 names as next steps, on its Reuters-21578: average precision in the update,
averages, votes, kernels.

A kernel keeps every document that changed it, and ranking by it costs as much as there are of
these: it learns from the first 2,000 documents, beside the same prototypes on the same documents.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

from papers.comparators.extended_mmp import ExtendedMMP
from papers.experiment import Cell, Claim, Experiment, Figure, Job, Result, Table
from papers.topics import FOLDS, MEASURES, PAPER, learned, reuters
from shortlist.learners.prototypes.mmp import MMP

FEW = 2000  # documents for kernels
LEARNERS: dict[str, tuple[Callable[[], MMP], int | None]] = {
    "MMP loss1": (MMP, None),
    "MMP AP": (lambda: MMP("AP"), None),
    "MMP loss1, averaged": (lambda: MMP(hypothesis="averaged"), None),
    "MMP loss1, voted": (lambda: ExtendedMMP(hypothesis="voted"), None),
    "MMP AP, averaged": (lambda: MMP("AP", hypothesis="averaged"), None),
    "MMP loss1, 2,000 documents": (MMP, FEW),
    "the same, kernel (x·x' + 1)²": (lambda: ExtendedMMP(kernel="polynomial", degree=2), FEW),
}
TRIALS = {"MMP loss1, voted": 2, "the same, kernel (x·x' + 1)²": 1, "MMP loss1, 2,000 documents": 1}
NOT_QUICK = {"MMP loss1, voted", "the same, kernel (x·x' + 1)²", "MMP loss1, 2,000 documents"}


def jobs(quick: bool) -> list[Job]:
    if quick:
        return [{"learner": name, "trial": 0} for name in LEARNERS if name not in NOT_QUICK]
    every = product(LEARNERS, range(FOLDS))
    return [
        {"learner": name, "trial": trial}
        for name, trial in every
        if trial < TRIALS.get(name, FOLDS)
    ]


def run(data: Path, job: Job) -> Result:
    new, some = LEARNERS[job["learner"]]
    return {"measures": learned(data, "reuters", job["trial"], new(), reuters(data), some)[0]}


def show(done: list[tuple[Job, Result]]) -> list[Table | Figure]:
    rows: dict[str, dict[str, Cell | str]] = {}
    for name in dict.fromkeys(job["learner"] for job, _ in done):
        own = [result["measures"] for job, result in done if job["learner"] == name]
        rows[name] = {title: Cell.of([one[title] for one in own]) for title in MEASURES}
        rows[name]["folds"] = str(len(own))

    def value(name: str, measure: str) -> float:
        cell = rows[name][measure]
        return (cell.ours or 0.0) if isinstance(cell, Cell) else 0.0

    plain, better = value("MMP loss1", "AvgP"), value("MMP loss1, averaged", "AvgP")
    ap = value("MMP AP", "AvgP")
    claims = (
        Claim(
            "section 5",
            f"averaging is more robust ({better:.3f} AvgP against {plain:.3f})",
            better > plain,
        ),
        Claim(
            "section 5",
            f"average precision in the update may help ({ap:.3f} AvgP against {plain:.3f})",
            ap > plain,
            "moving by what is lost of average precision moves little for lists that are nearly "
            "right",
        ),
    )
    note = "No figures were published. Kernels are compared on the first 2,000 documents of a fold."
    return [Table("Named as next steps", [*MEASURES, "folds"], rows, note, claims)]


EXPERIMENTS = [
    Experiment(
        "mmp-extensions",
        PAPER,
        "MMP with what the paper names as next steps",
        ("reuters21578",),
        jobs,
        run,
        show,
    ),
]
