"""MapSVM: the SVM that optimises mean average precision.

Yue, Finley, Radlinski, Joachims, *A support vector method for optimizing average precision* (2007), Algorithm 2.
R relevant documents with scores s_1 ≥ s_2 ≥ …, N non-relevant ones with scores s̄_1 ≥ s̄_2 ≥ … . The j-th non-relevant
document goes just before relevant document opt_j, the k that maximises

    δ_j(k, R+1) = Σ_{i=k}^{R} [ (j/(j+i) − (j−1)/(j+i−1))/R − 2·(s_i − s̄_j)/(R·N) ],    k = R+1: it stays at the bottom.

Deviation: the paper tries every k for every j, O(R·N). With harmonic numbers H and prefix sums S every δ is O(1),

    δ_j(k, R+1) = [ H_{j+R} − H_{j+k−1} − (j−1)·(R−k+1)/((j+R)·(j+k−1)) ]/R − 2·[ S_R − S_{k−1} − (R−k+1)·s̄_j ]/(R·N),

and since opt_1 ≤ opt_2 ≤ … (Theorem 2), the opt of a j between two known ones lies between theirs. Halving the
distance between known ones, divide and conquer costs O((R+N)·log N) after the sort.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.documents.queries import relevant_entries
from shortlist.documents.ranker import StructuralRanker


class MapSVM(StructuralRanker):
    """Linear ranker of documents that optimises mean average precision.

    Minimises ½‖w‖² + (C/n)·Σ_i ξ_i, where Σ_i ξ_i/n bounds the mean of 1 − AP. A relevance above 0 counts as relevant.
    ``score`` is mean average precision.

    Parameters
    ----------
    C : float, default 1.0
        How much the loss counts against ‖w‖².
    tol : float, default 1e-3
        The duality gap, in units of the objective, at which to stop. Where C is below 1 it is tol·C: w = 0 costs at
        most C, and with a small C would otherwise do for an answer.
    max_iter : int, default 10000
        Passes over the data after which to stop in any case, with a warning that names the gap reached.
    verbose : bool, default False
        Whether to show the gap while fitting, where standard error is a terminal.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The weights w.
    objective_, duality_gap_ : float
        The objective at ``coef_``, and an upper bound on how far it is above the least possible one.
    n_iter_, n_constraints_, n_active_constraints_ : int
        Passes over the data, constraints found, and those that hold the solution.
    queries_set_aside_ : array
        Ids of the queries without a relevant or without a non-relevant document, which teach nothing.

    Examples
    --------
    >>> from shortlist import MapSVM
    >>> X, relevance = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.3], [0.2, 0.8]], [1, 0, 1, 0]
    >>> ranker = MapSVM().fit(X, relevance, query=["q1", "q1", "q2", "q2"])
    >>> ranker.score(X, relevance, query=["q1", "q1", "q2", "q2"])
    1.0
    >>> [rows.tolist() for query, rows, scores in ranker.rank([[0.0, 1.0], [1.0, 0.0]], query=["q3", "q3"])]
    [[1, 0]]
    """

    short_names: ClassVar[dict[str, dict[str, Any]]] = {"map": {}}

    def _search(self, scores: Floats, starts: Longs, relevant: Longs) -> Longs:
        longest = int(np.diff(starts).max())
        harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, longest + 1))])
        return most_violated(scores, starts, relevant, harmonic)

    def _loss(self, above: Longs, starts: Longs, relevant: Longs) -> Floats:
        return map_loss(above, starts, relevant)


# Algorithm 2, for every query.


@kernel
def most_violated(scores: Floats, starts: Longs, relevant: Longs, harmonic: Floats) -> Longs:
    """For each relevant document, how many non-relevant ones the most violated ranking puts before it: int64[m].

    scores float64[m]: each query's relevant documents by falling score, then its non-relevant ones likewise;
    starts int64[n+1], relevant int64[n], harmonic float64[longest query + 1].
    """
    above = np.zeros(scores.size, dtype=np.int64)
    for q in range(relevant.size):
        first, R = starts[q], relevant[q]
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
    """opt_j in 1..R+1 of every non-relevant document, s float64[R], s_bar float64[N], both falling."""
    R, N = s.size, s_bar.size
    prefix = np.zeros(R + 1)
    prefix[1:] = np.cumsum(s)
    opt = np.empty(N + 1, dtype=np.int64)
    opt[0] = 1
    stride = 1
    while stride <= N:
        stride *= 2
    while stride > 1:  # opt of every (2·stride)-th j is known; the j halfway between two of them lies between theirs
        stride //= 2
        for j in range(stride, N + 1, 2 * stride):
            best_k, best = 0, -np.inf
            for k in range(opt[j - stride], (opt[j + stride] if j + stride <= N else R + 1) + 1):
                precision = harmonic[j + R] - harmonic[j + k - 1] - (j - 1) * (R - k + 1) / ((j + R) * (j + k - 1.0))
                score = prefix[R] - prefix[k - 1] - (R - k + 1) * s_bar[j - 1]
                delta = precision - 2.0 * score / N  # R times δ_j(k, R+1)
                if delta > best:
                    best_k, best = k, delta
            opt[j] = best_k
    return opt[1:]


def map_loss(above: Longs, starts: Longs, relevant: Longs) -> Floats:
    """1 − AP of each query, AP = 1/R · Σ_i i/(i + a_i), with a_i non-relevant documents before relevant one i."""
    group, nth, entry = relevant_entries(starts, relevant)
    return 1.0 - np.bincount(group, (nth + 1) / (nth + 1 + above[entry]), relevant.size) / relevant
