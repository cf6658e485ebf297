"""NdcgSVM: the SVM that optimises NDCG@k, for graded relevance.

The natural next step that paper 003 names, with the same Ψ and solver. Chakrabarti, Khanna, Sawant, Bhattacharyya,
*Structured learning for non-smooth ranking losses* (2008), do it for relevant/non-relevant.

    NDCG@k = DCG/IDCG,   DCG = Σ_{p ≤ k} (2^{g_p} − 1)·D(p),   D(p) = 1/log2(1 + p),   IDCG the greatest DCG there is.

*Grades.* With G_1 < G_2 < … the gains that occur (G_0 = 0), DCG = Σ_l (G_l − G_{l−1})·DCG_l, where DCG_l counts 1 for
each document of gain ≥ G_l. So 1 − NDCG@k is a weighted mean of losses 1 − DCG_l/IDCG_l, one for each grade, which ask
whether the documents of at least this grade stand on top. Each has its own Ψ and worst ranking, and the weight
(G_l − G_{l−1})·IDCG_l/IDCG. The slack is their weighted sum; it still bounds 1 − NDCG@k, and nothing changes where
only two grades occur.

*Search.* A ranking of R relevant and N non-relevant documents, each kind by falling score, is a path that places one
document after the other. With a_i the non-relevant documents before relevant document i, it is worth
Σ_i [2/(R·N)·(S̄_{a_i} − a_i·s_i) − D(i + a_i)/IDCG] (S̄: prefix sums of s̄, D(p) = 0 beyond k). Dynamic programming over
the first k places, O(k²), finds the best start; behind place k only scores count, so each remaining relevant document
goes behind the non-relevant ones that outscore it. D, cut off at k, is not convex: choosing each place on its own, as
for average precision, would not do.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.arrays.logarithms import binary_logs
from shortlist.arrays.validation import as_whole
from shortlist.documents.queries import Pairs, Queries, relevant_entries
from shortlist.documents.ranker import StructuralRanker
from shortlist.errors import InputError

HIGHEST_GRADE = 50


class NdcgSVM(StructuralRanker):
    """Linear ranker of documents that optimises NDCG@k, for graded relevance.

    Minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds the mean of 1 − NDCG@k. Relevance is a grade of at least 0,
    with gain 2^grade − 1. ``score`` is the mean of NDCG@k.

    Parameters
    ----------
    k : int, default 10
        How many of the first documents count.
    C, tol, max_iter, verbose
        As those of :class:`~shortlist.documents.average_precision.MapSVM`.

    Attributes
    ----------
    coef_, objective_, duality_gap_, n_iter_, n_constraints_, n_active_constraints_, queries_set_aside_
        As those of :class:`~shortlist.documents.average_precision.MapSVM`.

    Examples
    --------
    >>> from shortlist import NdcgSVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = NdcgSVM(k=5).fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    >>> [rows.tolist() for query, rows, scores in ranker.rank([[0.0, 1.0], [1.0, 0.0]], query=["q3", "q3"])]
    [[1, 0]]
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"ndcg": {}}

    def __init__(
        self, k: int = 10, C: float = 1.0, tol: float = 1e-3, max_iter: int = 10_000, verbose: bool = False
    ) -> None:
        super().__init__(C, tol, max_iter, verbose)
        self.k = k

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        return most_violated(scores, starts, relevant, self._discounts(starts))

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        discounts = self._discounts(starts)
        group, nth, entry = relevant_entries(starts, relevant)
        place = nth + above[entry]
        counts = place < discounts.size
        dcg = np.bincount(group[counts], discounts[place[counts]], relevant.size)
        return 1.0 - dcg / np.cumsum(discounts)[np.minimum(relevant, discounts.size) - 1]

    def _discounts(self, starts: Longs) -> Floats:
        """D(1), D(2), … as far as it counts."""
        places = min(as_whole(self.k, "k", least=1), int(np.diff(starts).max()))
        return 1.0 / binary_logs(1.0 + np.arange(1, places + 1))

    def _pairs(self, relevance: Floats, queries: Queries, *, both: bool) -> tuple[Pairs, NDArray[np.bool_]]:
        """One group for each query and grade above the lowest, weighted with its share of the query's IDCG."""
        k = as_whole(self.k, "k", least=1)
        wrong = (relevance < 0) | (relevance > HIGHEST_GRADE)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(f"relevance[{row}] is {relevance[row]:g}; a grade must lie between 0 and {HIGHEST_GRADE}")
        gains = 2.0**relevance - 1.0
        groups = []
        taken = np.zeros(len(queries), dtype=np.bool_)
        for q in range(len(queries)):
            rows = np.arange(queries.starts[q], queries.starts[q + 1])
            levels = np.unique(np.append(gains[rows], 0.0))
            steps = np.diff(levels)
            atleast = gains[rows] >= levels[1:, None]
            lengths = np.minimum(k, atleast.sum(1))
            ideal = steps * np.array([(1.0 / binary_logs(1.0 + np.arange(1, n + 1))).sum() for n in lengths])
            used = ~atleast.all(axis=1) if both else np.ones(steps.size, dtype=np.bool_)
            taken[q] = used.any()
            groups += [(rows, atleast[level], ideal[level] / ideal.sum()) for level in np.flatnonzero(used)]
        count = np.count_nonzero(taken)
        return Pairs.of([(rows, good, weight / count) for rows, good, weight in groups]), taken


# The most violated ranking for NDCG@k, for every group.


@kernel
def most_violated(scores: Floats, starts: Longs, relevant: Longs, discounts: Floats) -> Longs:
    """For each relevant document, how many non-relevant ones the most violated ranking puts before it: int64[m].

    scores float64[m]: each group's relevant documents by falling score, then its non-relevant ones likewise;
    starts int64[n+1], relevant int64[n], discounts float64[at most k].
    """
    above = np.zeros(scores.size, dtype=np.int64)
    for p in range(relevant.size):
        first, R = starts[p], relevant[p]
        s, s_bar, before = scores[first : first + R], scores[first + R : starts[p + 1]], above[first : first + R]
        N = s_bar.size
        k = min(discounts.size, R + N)
        ideal = discounts[: min(k, R)].sum()
        scale = 2.0 / (R * N)
        prefix = np.zeros(N + 1)
        prefix[1:] = np.cumsum(s_bar)
        j = 0
        for i in range(R):  # for the places behind k: the non-relevant documents that outscore document i
            while j < N and s_bar[j] > s[i]:
                j += 1
            before[i] = j

        # value[i, a]: the best that i relevant and a non-relevant documents on the first i + a places can be worth.
        value = np.zeros((min(k, R) + 1, min(k, N) + 1))
        took_relevant = np.zeros(value.shape, dtype=np.bool_)
        best_i, best_a, best = 0, 0, -np.inf
        for i in range(value.shape[0]):
            for a in range(min(k - i, N) + 1):
                if i > 0:
                    value[i, a] = value[i - 1, a] + scale * (prefix[a] - a * s[i - 1]) - discounts[i + a - 1] / ideal
                    took_relevant[i, a] = True
                if a > 0 and (i == 0 or value[i, a - 1] > value[i, a]):
                    value[i, a] = value[i, a - 1]
                    took_relevant[i, a] = False
                if i + a == k:
                    total = value[i, a]
                    for rest in range(i, R):
                        b = max(a, before[rest])
                        total += scale * (prefix[b] - b * s[rest])
                    if total > best:
                        best_i, best_a, best = i, a, total

        for rest in range(best_i, R):
            before[rest] = max(best_a, before[rest])
        while best_i > 0:
            if took_relevant[best_i, best_a]:
                best_i -= 1
                before[best_i] = best_a
            else:
                best_a -= 1
    return above
