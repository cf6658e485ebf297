"""MrrSVM: the SVM that optimises mean reciprocal rank, the other next step that paper 003 names.

Chakrabarti, Khanna, Sawant, Bhattacharyya, *Structured learning for non-smooth ranking losses* (2008). The loss,
1 − 1/(t + 1), depends only on the number t of non-relevant documents before the first relevant one. Once t is chosen,
only scores count: every other relevant document i goes behind the t first non-relevant ones and the c_i that outscore
it, c_1 ≤ c_2 ≤ … . So a ranking is worth

    1 − 1/(t + 1) + 2/(R·N)·[ S̄_t − t·s_1 + Σ_{i ≥ 2} (S̄_b − b·s_i) ],    b = max(t, c_i),    S̄: prefix sums of s̄,

and all t = 0..N are tried in O(R + N) after the sort, because the i with c_i ≤ t come first and enter only by their
number and the sum of their scores.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.documents.ranker import StructuralRanker


class MrrSVM(StructuralRanker):
    """Linear ranker of documents that optimises the mean reciprocal rank.

    Minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds 1 − MRR. A relevance above 0 counts as relevant. ``score``
    is the mean of 1/(rank of the first relevant document).

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
    >>> from shortlist import MrrSVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = MrrSVM().fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    >>> [rows.tolist() for query, rows, scores in ranker.rank([[0.0, 1.0], [1.0, 0.0]], query=["q3", "q3"])]
    [[1, 0]]
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"mrr": {}}

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        return most_violated(scores, starts, relevant)

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        return above[starts[:-1]] / (above[starts[:-1]] + 1.0)  # 1 − 1/(t + 1)


# The most violated ranking for the reciprocal rank, for every query.


@kernel
def most_violated(scores: Floats, starts: Longs, relevant: Longs) -> Longs:
    """For each relevant document, how many non-relevant ones the most violated ranking puts before it: int64[m].

    scores float64[m]: each query's relevant documents by falling score, then its non-relevant ones likewise;
    starts int64[n+1], relevant int64[n].
    """
    above = np.zeros(scores.size, dtype=np.int64)
    for q in range(relevant.size):
        first, R = starts[q], relevant[q]
        s, s_bar, before = scores[first : first + R], scores[first + R : starts[q + 1]], above[first : first + R]
        N = s_bar.size
        prefix = np.zeros(N + 1)
        prefix[1:] = np.cumsum(s_bar)
        j = 0
        later = 0.0  # Σ (S̄_b − b·s_i) over the i ≥ 2 with c_i > t, where b = c_i
        for i in range(R):
            while j < N and s_bar[j] > s[i]:
                j += 1
            before[i] = j
            if i > 0:
                later += prefix[j] - j * s[i]
        best_t, best = 0, -np.inf
        i, sum_s = 1, 0.0  # documents 2..i have c ≤ t, and sum_s is the sum of their scores
        for t in range(N + 1):
            while i < R and before[i] <= t:
                later -= prefix[before[i]] - before[i] * s[i]
                sum_s += s[i]
                i += 1
            value = -1.0 / (t + 1) + 2.0 / (R * N) * (i * prefix[t] - t * (s[0] + sum_s) + later)
            if value > best:
                best_t, best = t, value
        before[0] = best_t
        for i in range(1, R):
            before[i] = max(best_t, before[i])
    return above
