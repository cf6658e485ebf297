"""Paper 004's protocol on one's own data: random splits, each method's R1, R5, HR and cost, and
how far the best of Feature-Focus is ahead of the others.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

from papers.cells import cell_in, number_in
from papers.contrasts import Contrast
from papers.experiment import Done, Experiment, Figure, Job, Row, Table, results
from papers.finding import content_digest
from papers.index_comparison import METHODS, QUICK_METHODS, row_of, run
from papers.report.comparisons import comparisons
from shortlist.errors import InputError

TRIALS = 10
QUICK_TRIALS = 2


def experiment(path: Path, seed: int) -> Experiment:
    """The protocol on a file of texts, or of rows, with labels."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    digest = content_digest(path.parent, path.name)

    def jobs(quick: bool) -> list[Job]:
        trials = range(QUICK_TRIALS if quick else TRIALS)
        methods = [method for method in METHODS if method in QUICK_METHODS]
        return [
            {"set": str(path), "digest": digest, "seed": seed, "method": method, "trial": trial}
            for method, trial in product(methods, trials)
        ]

    return Experiment(
        "own", "The protocol of paper 004", f"{path.name}, seed {seed}", (), jobs, run, show
    )


def show(done: Done) -> list[Table | Figure]:
    methods = [method for method in METHODS if method in QUICK_METHODS]
    rows: dict[str, Row] = {method: row_of(results(done, method=method)) for method in methods}
    best = max(
        (method for method in methods if method.startswith("FF")),
        key=lambda method: number_in(rows[method], "R1"),
    )
    values = {method: cell_in(rows[method], "R1").values for method in methods}
    contrasts = {
        f"R1 of {best} less that of {method}": Contrast.of(values[best], values[method])
        for method in methods
        if method != best
    }
    table = Table("Random 90-10 splits", list(rows[best]), rows)
    return [table, comparisons(contrasts)]
