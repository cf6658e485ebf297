"""Ranking with an index where not every label may be ranked: labels are left out as they are retrieved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, part
from shortlist.arrays.rows import Rows
from shortlist.categories.allowed import Allowed
from shortlist.categories.best import keep_best
from shortlist.categories.index.company import NO_VOTES, Mates, Votes, let_mates_vote, room_for_mates
from shortlist.categories.index.lists import Index
from shortlist.categories.index.retrieval import retrieve
from shortlist.categories.scratch import room_for_touched

NONE = np.empty(0)


def rank_allowed(
    rows: Rows, index: Index, bias: Floats, max_edges: int, rare: int, allowed: Allowed, ids: Ints, scores: Floats,
    of_labels: Votes = NO_VOTES,
) -> None:  # fmt: skip
    """The best labels of each row that may be ranked, into ids and scores (n × k)."""
    own, touched = np.zeros(bias.size), room_for_touched(bias.size)
    offsets = NONE if allowed.offsets is None else allowed.offsets
    factors = NONE if allowed.factors is None else allowed.factors
    _rank_allowed(
        rows, index, bias, max_edges, rare, of_labels, allowed.labels, offsets, factors, own, touched,
        np.empty_like(touched), room_for_mates(), ids, scores,
    )  # fmt: skip


@part
def _rank_allowed(
    rows: Rows, index: Index, bias: Floats, max_edges: int, rare: int, of_labels: Votes, allowed: NDArray[np.bool_],
    offsets: Floats, factors: Floats, scores: Floats, touched: Ints, kept: Ints, mates: Mates,
    ids: Ints, best: Floats,
) -> None:  # fmt: skip
    """Retrieve for each row and keep the k best labels that are allowed (bool[labels]); ties to the lower id.

    Offsets are added to their scores, and those above 0 are multiplied by factors (float64[labels], or none).
    """
    for i in range(rows.indptr.size - 1):
        found = touched[: retrieve(rows, i, index, max_edges, rare, scores, touched)]
        for c in found:
            scores[c] += bias[c]
        let_mates_vote(found, scores, of_labels, mates)
        n = 0
        for c in found:
            if allowed[c]:
                if offsets.size:
                    scores[c] += offsets[c]
                if factors.size and scores[c] > 0.0:
                    scores[c] *= factors[c]
                kept[n] = c
                n += 1
        keep_best(kept[:n], scores, ids[i], best[i])
        for c in found:
            scores[c] = 0.0
