"""Retrieval scores scaled within each query, as features."""

from __future__ import annotations

import numpy as np
import scipy  # scipy.stats is imported at its first use
from numpy.typing import ArrayLike

from shortlist.arrays.kernels import Floats
from shortlist.arrays.rows import Rows
from shortlist.documents.queries import as_queries

METHODS = ("range", "percentile")


def scaled_within_queries(rows: Rows, query: ArrayLike | None, method: str) -> Floats:
    """Each feature of each query's documents scaled to [0, 1], as a dense array.

    "range" is (f − least)/(greatest − least) within the query, 0 where all are equal, as in SVM-acc4 of paper 003;
    "percentile" is the share of the query's other documents that score lower, as in its SVM-acc3.
    """
    queries = as_queries(query, rows.n_rows)
    scaled: Floats = rows.to_matrix().toarray()
    for first, last in zip(queries.starts[:-1], queries.starts[1:], strict=True):
        block = scaled[first:last]
        if method == "range":
            least, greatest = block.min(axis=0), block.max(axis=0)
            scaled[first:last] = (block - least) / np.where(greatest > least, greatest - least, 1.0)
        else:
            lower = scipy.stats.rankdata(block, method="min", axis=0) - 1
            scaled[first:last] = lower / max(1, last - first - 1)
    return scaled
