"""What paper 001 names as next steps, on its Reuters-21578: average precision in the update,
averages, votes, kernels.

A kernel keeps every document that changed it, and ranking by it costs as much as there are of
these: it learns from the first 2,000 documents, beside the same prototypes on the same documents.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

from papers.cells import Cell, cell_in
from papers.claims import Claim
from papers.comparators.extended_mmp import ExtendedMMP
from papers.experiment import Done, Experiment, Figure, Job, Result, Row, Table, distinct, results
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


def show(done: Done) -> list[Table | Figure]:
    rows: dict[str, Row] = {}
    for name in distinct(done, "learner"):
        folds = [trial["measures"] for trial in results(done, learner=name)]
        rows[name] = {title: Cell.of([trial[title] for trial in folds]) for title in MEASURES}
        rows[name]["folds"] = str(len(folds))
    plain, averaged, ap = (
        cell_in(rows[name], "AvgP") for name in ("MMP loss1", "MMP loss1, averaged", "MMP AP")
    )
    why = "moving by what is lost of average precision moves little for lists that are nearly right"
    claims = (
        Claim.ahead("section 5", "averaging is more robust, AvgP", averaged, plain, worth=0),
        Claim.ahead(
            "section 5", "average precision in the update helps AvgP", ap, plain, why, worth=0
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
