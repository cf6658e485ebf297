"""The structural SVMs of documents, one for each measure that is optimised: MapSVM, RocSVM, MrrSVM
and NdcgSVM.

A class finds the most violated ranking of each group of documents (``_search``) and the loss of
given rankings (``_loss``); the solver is in structural_svm.py. A query has R relevant documents
with scores s_1 ≥ s_2 ≥ … and N non-relevant ones with scores s̄_1 ≥ s̄_2 ≥ … .
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs, kernel
from shortlist.compiled.logarithms import binary_logs
from shortlist.data.validation import as_whole
from shortlist.errors import InputError
from shortlist.learners.documents.linear_ranker import StructuralRanker
from shortlist.learners.documents.queries import Pairs, Queries, relevant_entries

HIGHEST_GRADE = 50


# Mean average precision: Yue, Finley, Radlinski, Joachims, *A support vector method for optimizing
# average precision* (2007), Algorithm 2. The j-th non-relevant document goes just before relevant
# document opt_j, the k that maximises
#
#   δ_j(k, R+1) = Σ_{i=k}^{R} [ (j/(j+i) − (j−1)/(j+i−1))/R − 2·(s_i − s̄_j)/(R·N) ],
#
# where k = R+1 leaves it at the bottom.
#
# Deviation: the paper tries every k for every j, O(R·N). With harmonic numbers H and prefix sums S
# every δ is O(1),
#
#   δ_j(k, R+1) = [ H_{j+R} − H_{j+k−1} − (j−1)·(R−k+1)/((j+R)·(j+k−1)) ]/R
#                 − 2·[ S_R − S_{k−1} − (R−k+1)·s̄_j ]/(R·N),
#
# and since opt_1 ≤ opt_2 ≤ … (Theorem 2), the opt of a j between two known ones lies between
# theirs. Halving the distance between known ones, divide and conquer costs O((R+N)·log N) after the
# sort.


class MapSVM(StructuralRanker):
    """Linear ranker of documents that optimises mean average precision.

    Minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds the mean of 1 − AP. A relevance above 0
    counts as relevant. ``score`` is mean average precision.

    Parameters
    ----------
    C : float, default 1.0
        How much the loss counts against ‖w‖².
    tol : float, default 1e-3
        The duality gap, in units of the objective, at which to stop. Where C is below 1 it is
        tol·C: w = 0 costs at most C, and with a small C would otherwise do for an answer.
    max_iter : int, default 10000
        Passes over the data after which to stop in any case, with a warning that names the gap
        reached.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The weights w.
    objective_, duality_gap_ : float
        The objective at ``coef_``, and an upper bound on how far it is above the least possible
        one.
    n_iter_, n_constraints_, n_active_constraints_ : int
        Passes over the data, constraints found, and those that hold the solution.
    queries_set_aside_ : array
        Ids of the queries without a relevant or without a non-relevant document, which teach
        nothing.

    Examples
    --------
    >>> from shortlist import MapSVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = MapSVM().fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    >>> ranking = ranker.rank([[0.0, 1.0], [1.0, 0.0]], query=["q3", "q3"])
    >>> [rows.tolist() for query, rows, scores in ranking]
    [[1, 0]]
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"map": {}}

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        longest = int(np.diff(starts).max())
        harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, longest + 1))])
        return most_violated_map(scores, starts, relevant, harmonic)

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        return map_loss(above, starts, relevant)


@kernel
def most_violated_map(scores: Floats, starts: Longs, relevant: Longs, harmonic: Floats) -> Longs:
    """For each relevant document, how many non-relevant ones the most violated ranking puts before
    it: int64[m].

    scores float64[m]: each query's relevant documents by falling score, then its non-relevant ones
    likewise; starts int64[n+1], relevant int64[n], harmonic float64[longest query + 1].
    """
    above = np.zeros(scores.size, dtype=np.int64)
    for q in range(relevant.size):
        first = starts[q]
        R = relevant[q]
        s = scores[first : first + R]
        s_bar = scores[first + R : starts[q + 1]]
        opt = place_each(s, s_bar, harmonic)
        j = 0
        for i in range(R):
            while j < opt.size and opt[j] <= i + 1:
                j += 1
            above[first + i] = j
    return above


@kernel
def place_each(s: Floats, s_bar: Floats, harmonic: Floats) -> Longs:
    """opt_j in 1..R+1 of every non-relevant document, s float64[R], s_bar float64[N], both
    falling.
    """
    R = s.size
    N = s_bar.size
    prefix = np.zeros(R + 1)
    prefix[1:] = np.cumsum(s)
    opt = np.empty(N + 1, dtype=np.int64)
    opt[0] = 1
    stride = 1
    while stride <= N:
        stride *= 2
    # opt of every (2·stride)-th j is known; the j halfway between two of them lies between theirs
    while stride > 1:
        stride //= 2
        for j in range(stride, N + 1, 2 * stride):
            best_k = 0
            best = -np.inf
            last_k = opt[j + stride] if j + stride <= N else R + 1
            for k in range(opt[j - stride], last_k + 1):
                precision = (
                    harmonic[j + R]
                    - harmonic[j + k - 1]
                    - (j - 1) * (R - k + 1) / ((j + R) * (j + k - 1.0))
                )
                score = prefix[R] - prefix[k - 1] - (R - k + 1) * s_bar[j - 1]
                delta = precision - 2.0 * score / N  # R times δ_j(k, R+1)
                if delta > best:
                    best_k = k
                    best = delta
            opt[j] = best_k
    return opt[1:]


def map_loss(above: Longs, starts: Longs, relevant: Longs) -> Floats:
    """1 − AP of each query, AP = 1/R · Σ_i i/(i + a_i), with a_i non-relevant documents before
    relevant one i.
    """
    group, nth, entry = relevant_entries(starts, relevant)
    return 1.0 - np.bincount(group, (nth + 1) / (nth + 1 + above[entry]), relevant.size) / relevant


# The area under the ROC curve, paper 003's SVM-roc: Joachims, *A support vector method for
# multivariate performance measures* (2005). Δ_roc is the fraction of relevant/non-relevant pairs in
# the wrong order. Each pair is decided on its own: the wrong order gains 1/(R·N) of loss and costs
# 2·(s_i − s̄_j)/(R·N), so the most violated ranking has j before i exactly where s_i − s̄_j < ½,
# which one merge of the two sorted lists finds.


class RocSVM(StructuralRanker):
    """Linear ranker of documents that optimises the area under the ROC curve.

    Minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds the mean of 1 − ROC area. A relevance
    above 0 counts as relevant. ``score`` is the ROC area, averaged over the queries that have both
    a relevant and a non-relevant document.

    Parameters
    ----------
    C, tol, max_iter
        As those of :class:`~shortlist.learners.documents.svms.MapSVM`.

    Attributes
    ----------
    coef_, objective_, duality_gap_, n_iter_, n_constraints_, n_active_constraints_,
    queries_set_aside_
        As those of :class:`~shortlist.learners.documents.svms.MapSVM`.

    Examples
    --------
    >>> from shortlist import RocSVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = RocSVM().fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"roc": {}}

    _score_needs_both = True

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        return most_violated_roc(scores, starts, relevant)

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        group, _, entry = relevant_entries(starts, relevant)
        n_pairs = relevant * (np.diff(starts) - relevant)
        return np.bincount(group, above[entry], relevant.size) / n_pairs


@kernel
def most_violated_roc(scores: Floats, starts: Longs, relevant: Longs) -> Longs:
    """The most violated rankings, as those of ``most_violated_map``."""
    above = np.zeros(scores.size, dtype=np.int64)
    for q in range(relevant.size):
        first_bar = starts[q] + relevant[q]
        j = first_bar
        for i in range(starts[q], first_bar):
            while j < starts[q + 1] and scores[i] - scores[j] < 0.5:
                j += 1
            above[i] = j - first_bar
    return above


# Mean reciprocal rank, a next step that paper 003 names: Chakrabarti, Khanna, Sawant,
# Bhattacharyya, *Structured learning for non-smooth ranking losses* (2008). The loss, 1 − 1/(t +
# 1), depends only on the number t of non-relevant documents before the first relevant one. Once t
# is chosen, only scores count: every other relevant document i goes behind the t first non-relevant
# ones and the c_i that outscore it, c_1 ≤ c_2 ≤ … . So a ranking is worth
#
#     1 − 1/(t + 1) + 2/(R·N)·[ S̄_t − t·s_1 + Σ_{i ≥ 2} (S̄_b − b·s_i) ],    b = max(t, c_i),
#     S̄: prefix sums of s̄,
#
# and all t = 0..N are tried in O(R + N) after the sort, because the i with c_i ≤ t come first and
# enter only by their number and the sum of their scores.


class MrrSVM(StructuralRanker):
    """Linear ranker of documents that optimises the mean reciprocal rank.

    Minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds 1 − MRR. A relevance above 0 counts as
    relevant. ``score`` is the mean of 1/(rank of the first relevant document).

    Parameters
    ----------
    C, tol, max_iter
        As those of :class:`~shortlist.learners.documents.svms.MapSVM`.

    Attributes
    ----------
    coef_, objective_, duality_gap_, n_iter_, n_constraints_, n_active_constraints_,
    queries_set_aside_
        As those of :class:`~shortlist.learners.documents.svms.MapSVM`.

    Examples
    --------
    >>> from shortlist import MrrSVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = MrrSVM().fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"mrr": {}}

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        return most_violated_mrr(scores, starts, relevant)

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        return above[starts[:-1]] / (above[starts[:-1]] + 1.0)  # 1 − 1/(t + 1)


@kernel
def most_violated_mrr(scores: Floats, starts: Longs, relevant: Longs) -> Longs:
    """The most violated rankings, as those of ``most_violated_map``."""
    above = np.zeros(scores.size, dtype=np.int64)
    for q in range(relevant.size):
        first = starts[q]
        R = relevant[q]
        s = scores[first : first + R]
        s_bar = scores[first + R : starts[q + 1]]
        n_above = above[first : first + R]
        N = s_bar.size
        prefix = np.zeros(N + 1)
        prefix[1:] = np.cumsum(s_bar)
        j = 0
        later = 0.0  # Σ (S̄_b − b·s_i) over the i ≥ 2 with c_i > t, where b = c_i
        for i in range(R):
            while j < N and s_bar[j] > s[i]:
                j += 1
            n_above[i] = j
            if i > 0:
                later += prefix[j] - j * s[i]
        best_t = 0
        best = -np.inf
        i = 1  # documents 2..i have c ≤ t,
        sum_s = 0.0  # and this is the sum of their scores
        for t in range(N + 1):
            while i < R and n_above[i] <= t:
                later -= prefix[n_above[i]] - n_above[i] * s[i]
                sum_s += s[i]
                i += 1
            value = -1.0 / (t + 1) + 2.0 / (R * N) * (i * prefix[t] - t * (s[0] + sum_s) + later)
            if value > best:
                best_t = t
                best = value
        n_above[0] = best_t
        for i in range(1, R):
            n_above[i] = max(best_t, n_above[i])
    return above


# NDCG@k for graded relevance, the other next step that paper 003 names. Chakrabarti et al. (2008)
# have it for documents that are relevant or not.
#
#     NDCG@k = DCG/IDCG,   DCG = Σ_{p ≤ k} (2^{g_p} − 1)·D(p),   D(p) = 1/log2(1 + p),
#
# where IDCG is the greatest DCG there is.
#
# *Grades.* With G_1 < G_2 < … the gains that occur (G_0 = 0), DCG = Σ_l (G_l − G_{l−1})·DCG_l,
# where DCG_l counts 1 for each document of gain ≥ G_l. So 1 − NDCG@k is a weighted mean of losses 1
# − DCG_l/IDCG_l, one for each grade: do the documents of at least this grade stand on top? Each has
# its own Ψ and worst ranking, and the weight (G_l − G_{l−1})·IDCG_l/IDCG. The slack is their
# weighted sum, which still bounds 1 − NDCG@k.
#
# *Search.* A ranking of R relevant and N non-relevant documents, each kind by falling score, is a
# path that places one document after the other. With a_i the non-relevant documents before relevant
# document i, it is worth Σ_i [2/(R·N)·(S̄_{a_i} − a_i·s_i) − D(i + a_i)/IDCG] (S̄: prefix sums of
# s̄, D(p) = 0 beyond k). Dynamic programming over the first k places, O(k²), finds the best start;
# behind place k only scores count, so each remaining relevant document goes behind the non-relevant
# ones that outscore it. D, cut off at k, is not convex: choosing each place on its own, as for
# average precision, would not do.


class NdcgSVM(StructuralRanker):
    """Linear ranker of documents that optimises NDCG@k, for graded relevance.

    Minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds the mean of 1 − NDCG@k. Relevance is a
    grade of at least 0, with gain 2^grade − 1. ``score`` is the mean of NDCG@k.

    Parameters
    ----------
    k : int, default 10
        How many of the first documents count.
    C, tol, max_iter
        As those of :class:`~shortlist.learners.documents.svms.MapSVM`.

    Attributes
    ----------
    coef_, objective_, duality_gap_, n_iter_, n_constraints_, n_active_constraints_,
    queries_set_aside_
        As those of :class:`~shortlist.learners.documents.svms.MapSVM`.

    Examples
    --------
    >>> from shortlist import NdcgSVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = NdcgSVM(k=5).fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"ndcg": {}}

    def __init__(
        self, k: int = 10, C: float = 1.0, tol: float = 1e-3, max_iter: int = 10_000
    ) -> None:
        super().__init__(C, tol, max_iter)
        self.k = k

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        return most_violated_ndcg(scores, starts, relevant, self._discounts(starts))

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
        return discounts(places)

    def _pairs(
        self, relevance: Floats, queries: Queries, *, both: bool
    ) -> tuple[Pairs, NDArray[np.bool_]]:
        wrong = (relevance < 0) | (relevance > HIGHEST_GRADE)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"relevance[{row}] is {relevance[row]:g}; a grade must lie between 0 and "
                f"{HIGHEST_GRADE}"
            )
        return super()._pairs(relevance, queries, both=both)

    def _grades(self, relevance: Floats) -> list[tuple[NDArray[np.bool_], float]]:
        """The grades above the lowest, each with its share of the query's IDCG."""
        k = as_whole(self.k, "k", least=1)
        gains = 2.0**relevance - 1.0
        levels = np.unique(np.append(gains, 0.0))
        good = gains >= levels[1:, None]
        ideal = np.diff(levels) * [discounts(min(k, n)).sum() for n in good.sum(axis=1)]
        return list(zip(good, ideal / ideal.sum(), strict=True))


def discounts(n: int) -> Floats:
    """D(1), …, D(n)."""
    return 1.0 / binary_logs(1.0 + np.arange(1, n + 1))


@kernel
def most_violated_ndcg(scores: Floats, starts: Longs, relevant: Longs, discounts: Floats) -> Longs:
    """The most violated rankings, as those of ``most_violated_map``, of groups; discounts
    float64[at most k].
    """
    above = np.zeros(scores.size, dtype=np.int64)
    for p in range(relevant.size):
        first = starts[p]
        R = relevant[p]
        s = scores[first : first + R]
        s_bar = scores[first + R : starts[p + 1]]
        n_above = above[first : first + R]
        N = s_bar.size
        k = min(discounts.size, R + N)
        ideal = discounts[: min(k, R)].sum()
        scale = 2.0 / (R * N)
        prefix = np.zeros(N + 1)
        prefix[1:] = np.cumsum(s_bar)
        j = 0
        # for the places behind k: the non-relevant documents that outscore document i
        for i in range(R):
            while j < N and s_bar[j] > s[i]:
                j += 1
            n_above[i] = j

        # value[i, a]: the best that i relevant and a non-relevant documents on the first i + a
        # places can be worth.
        value = np.zeros((min(k, R) + 1, min(k, N) + 1))
        took_relevant = np.zeros(value.shape, dtype=np.bool_)
        best_i = 0
        best_a = 0
        best = -np.inf
        for i in range(value.shape[0]):
            for a in range(min(k - i, N) + 1):
                if i > 0:
                    value[i, a] = (
                        value[i - 1, a]
                        + scale * (prefix[a] - a * s[i - 1])
                        - discounts[i + a - 1] / ideal
                    )
                    took_relevant[i, a] = True
                if a > 0 and (i == 0 or value[i, a - 1] > value[i, a]):
                    value[i, a] = value[i, a - 1]
                    took_relevant[i, a] = False
                if i + a == k:
                    total = value[i, a]
                    for rest in range(i, R):
                        b = max(a, n_above[rest])
                        total += scale * (prefix[b] - b * s[rest])
                    if total > best:
                        best_i = i
                        best_a = a
                        best = total

        for rest in range(best_i, R):
            n_above[rest] = max(best_a, n_above[rest])
        while best_i > 0:
            if took_relevant[best_i, best_a]:
                best_i -= 1
                n_above[best_i] = best_a
            else:
                best_a -= 1
    return above
