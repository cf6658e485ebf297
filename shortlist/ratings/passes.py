"""How often ``fit`` goes through its rows, and in which order."""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Longs
from shortlist.arrays.rows import Rows

ENOUGH, MOST_PASSES = 2000, 20  # rows seen for each column, all passes together; but no more passes than these
RUN = 16  # rows that stay together when a pass is shuffled


def usual_passes(rows: Rows) -> int:
    """How often to go through these rows: until ENOUGH have been seen for each column."""
    return min(max(1, -(-ENOUGH * rows.n_features // rows.n_rows)), MOST_PASSES)


def in_runs(n: int, generator: np.random.Generator) -> Longs:
    """0..n−1 in a new order: runs of neighbours, the runs shuffled, and each run shuffled within.

    A row alone is some hundred bytes far away in memory, for which the loop would wait longer than it computes; a run
    of rows comes in one stream.
    """
    starts = generator.permutation(np.arange(0, n, RUN, dtype=np.int64))
    order = generator.permuted(starts[:, None] + np.arange(RUN, dtype=np.int64), axis=1).reshape(-1)
    return order[order < n]
