"""Ranking with an index where not every label may be ranked: labels are left out as they are retrieved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, kernel
from shortlist.arrays.rows import Rows
from shortlist.categories.allowed import Allowed
from shortlist.categories.best import keep_best
from shortlist.categories.index.lists import Index
from shortlist.categories.index.retrieval import retrieve
from shortlist.categories.scratch import room_for_touched

NONE = np.empty(0)


def rank_allowed(
    rows: Rows, index: Index, bias: Floats, max_edges: int, rare: int, allowed: Allowed, ids: Ints, scores: Floats
) -> None:
    """The best labels of each row that may be ranked, into ids and scores (n × k)."""
    own, touched = np.zeros(bias.size), room_for_touched(bias.size)
    bias = bias if allowed.offsets is None else bias + allowed.offsets
    factors = NONE if allowed.factors is None else allowed.factors
    _rank_allowed(
        rows, index, bias, max_edges, rare, allowed.labels, factors, own, touched, np.empty_like(touched), ids,
        scores,
    )  # fmt: skip


@kernel
def _rank_allowed(
    rows: Rows, index: Index, bias: Floats, max_edges: int, rare: int, allowed: NDArray[np.bool_], factors: Floats,
    scores: Floats, touched: Ints, kept: Ints, ids: Ints, best: Floats,
) -> None:  # fmt: skip
    """Retrieve for each row and keep the k best labels that are allowed (bool[labels]); ties to the lower id.

    Scores above 0 are multiplied by factors (float64[labels], or none).
    """
    for i in range(rows.indptr.size - 1):
        found = touched[: retrieve(rows, i, index, max_edges, rare, scores, touched)]
        n = 0
        for c in found:
            if allowed[c]:
                scores[c] += bias[c]
                if factors.size and scores[c] > 0.0:
                    scores[c] *= factors[c]
                kept[n] = c
                n += 1
        keep_best(kept[:n], scores, ids[i], best[i])
        for c in found:
            scores[c] = 0.0
