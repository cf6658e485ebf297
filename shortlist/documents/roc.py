"""RocSVM: the SVM that optimises the area under the ROC curve, paper 003's SVM-roc.

Joachims, *A support vector method for multivariate performance measures* (2005). Δ_roc is the fraction of
relevant/non-relevant pairs in the wrong order. Each pair is decided on its own: the wrong order gains 1/(R·N) of loss
and costs 2·(s_i − s̄_j)/(R·N), so the most violated ranking has j before i exactly where s_i − s̄_j < ½, which one
merge of the two sorted lists finds.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.documents.ranker import StructuralRanker


class RocSVM(StructuralRanker):
    """Linear ranker of documents that minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds the mean of 1 − ROC area.

    A relevance above 0 counts as relevant. ``score`` is the ROC area, averaged over the queries that have both a
    relevant and a non-relevant document.
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"roc": {}}

    _score_needs_both = True

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        above = np.zeros(scores.size, dtype=np.int64)
        most_violated(scores, starts, relevant, above)
        return above

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        return roc_loss(above, starts, relevant)


# Joachims (2005), Algorithm 3, for every query.


@kernel
def most_violated(scores: Floats, starts: Longs, relevant: Longs, above: Longs) -> None:
    """Write for each relevant document how many non-relevant ones the most violated ranking puts before it.

    scores float64[m]: each query's relevant documents by falling score, then its non-relevant ones likewise;
    starts int64[n+1], relevant int64[n], above int64[m].
    """
    for q in range(relevant.size):
        first_bar = starts[q] + relevant[q]
        j = first_bar
        for i in range(starts[q], first_bar):
            while j < starts[q + 1] and scores[i] - scores[j] < 0.5:
                j += 1
            above[i] = j - first_bar


@kernel
def roc_loss(above: Longs, starts: Longs, relevant: Longs) -> Floats:
    """The share of the R·N pairs in the wrong order, given the non-relevant documents before each relevant one."""
    losses = np.empty(relevant.size)
    for q in range(relevant.size):
        R = relevant[q]
        N = starts[q + 1] - starts[q] - R
        swapped = 0.0
        for i in range(R):
            swapped += above[starts[q] + i]
        losses[q] = swapped / (R * N)
    return losses
