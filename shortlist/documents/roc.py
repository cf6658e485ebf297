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
from shortlist.documents.queries import relevant_entries
from shortlist.documents.ranker import StructuralRanker


class RocSVM(StructuralRanker):
    """Linear ranker of documents that optimises the area under the ROC curve.

    Minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds the mean of 1 − ROC area. A relevance above 0 counts as
    relevant. ``score`` is the ROC area, averaged over the queries that have both a relevant and a non-relevant
    document.

    Parameters
    ----------
    C, tol, max_iter, verbose
        As those of :class:`~shortlist.documents.average_precision.MapSVM`.

    Attributes
    ----------
    coef_, objective_, duality_gap_, n_iter_, n_constraints_, n_active_constraints_, queries_set_aside_
        As those of :class:`~shortlist.documents.average_precision.MapSVM`.

    Examples
    --------
    >>> from shortlist import RocSVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = RocSVM().fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    >>> [rows.tolist() for query, rows, scores in ranker.rank([[0.0, 1.0], [1.0, 0.0]], query=["q3", "q3"])]
    [[1, 0]]
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"roc": {}}

    _score_needs_both = True

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        return most_violated(scores, starts, relevant)

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        group, _, entry = relevant_entries(starts, relevant)
        return np.bincount(group, above[entry], relevant.size) / (relevant * (np.diff(starts) - relevant))


# Joachims (2005), Algorithm 3, for every query.


@kernel
def most_violated(scores: Floats, starts: Longs, relevant: Longs) -> Longs:
    """For each relevant document, how many non-relevant ones the most violated ranking puts before it: int64[m].

    scores float64[m]: each query's relevant documents by falling score, then its non-relevant ones likewise;
    starts int64[n+1], relevant int64[n].
    """
    above = np.zeros(scores.size, dtype=np.int64)
    for q in range(relevant.size):
        first_bar = starts[q] + relevant[q]
        j = first_bar
        for i in range(starts[q], first_bar):
            while j < starts[q + 1] and scores[i] - scores[j] < 0.5:
                j += 1
            above[i] = j - first_bar
    return above
