"""The solver of all document rankers: a structural SVM by cutting planes, with a certificate.

Yue, Finley, Radlinski, Joachims, *A support vector method for optimizing average precision* (2007),
Optimization Problem 1 and Algorithm 1, in the one-slack form of Joachims, Finley, Yu (2009), which
has the same optimum:

    P(w) = ½‖w‖² + C·R(w),    R(w) = (1/n)·Σ_i max_y [Δ(y_i, y) − w·(Ψ(x_i, y_i) − Ψ(x_i, y))]

R is convex and piecewise linear. Finding the worst ranking ŷ_i of every query at one w gives one
plane that touches R there and lies below it elsewhere: R(v) ≥ b − v·a with a = (1/n)·Σ_i [Ψ(x_i,
y_i) − Ψ(x_i, ŷ_i)] and b = (1/n)·Σ_i Δ(y_i, ŷ_i). With the planes found so far, of which the first
is 0 (R is never negative), the dual is

    D(α) = Σ_k α_k·b_k − ½‖w‖²,    w = Σ_k α_k·a_k,    α ≥ 0, Σ_k α_k = C.

Every P(w) lies above the optimum and every D(α) below it, so gap = (least P seen) − D(α), in units
of the objective P, bounds how far the objective of the returned w is from the optimum.

Deviations: one slack instead of n, so that a pass adds one constraint however many queries there
are; the dual over the constraints found so far is solved by pairwise steps, and only to half of the
present gap; a constraint unused for 50 passes is dropped, as SVM-struct does.

*Sums in whole numbers.* Planes are sums over documents, and floating-point sums differ in their
last digits with the order of adding. So each summand is rounded to a multiple of a small power of
two and added as a 64-bit whole number, which is exact: the same data give the same bits, in one
piece or in parts on many machines. Σ_i |coefficient_i| ≤ 4, so with |φ| ≤ 2^e no sum reaches
2^(e+2), and a unit of 2^(e−59) leaves room; the rounding is far below tol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shortlist.compiled.kernels import Floats, Ints, Longs, kernel
from shortlist.data.rows import Rows, is_full
from shortlist.data.rows import inner as inner_of_row
from shortlist.learners.documents.queries import Pairs, relevant_entries

UNUSED_PASSES = 50
STEPS_PER_PASS = 100_000
HEIGHT_UNIT = 2.0**-60  # heights lie between 0 and 1

Plane = tuple[Floats, float]
Search = Callable[[Floats, Longs, Longs], Longs]
Loss = Callable[[Longs, Longs, Longs], Floats]


class Solution(NamedTuple):
    """What the solver found: the best w, its objective P(w), the certificate, and the work it
    took.
    """

    w: Floats
    objective: float
    gap: float
    passes: int
    planes: int
    active: int


def solve(
    worst_plane: Callable[[Floats], Plane], n_features: int, *, C: float, tol: float, max_iter: int
) -> Solution:
    """Minimise ½‖w‖² + C·R(w) until the gap is at most tol, given the plane (a, b) that touches R
    at any w.

    ``worst_plane`` is a sum over queries, so it may be computed in parts that are added up.
    If ``max_iter`` passes do not suffice the gap that was reached is returned all the same.
    """
    w = best_w = np.zeros(n_features)
    normals = [w]
    heights = np.zeros(1)
    gram = np.zeros((1, 1))
    alpha = np.array([C])
    unused = np.zeros(1, dtype=np.int64)
    best = np.inf
    dual = 0.0
    planes = 0
    for passes in range(1, max_iter + 1):
        normal, height = worst_plane(w)
        primal = 0.5 * inner(w, w) + C * max(0.0, height - inner(w, normal))
        if primal < best:
            best = primal
            best_w = w
        if best - dual <= tol or passes == max_iter:
            break
        # Line 9 of Algorithm 1: the new constraint joins the working set.
        normals.append(normal)
        gram = np.pad(gram, (0, 1))
        gram[-1] = gram[:, -1] = [inner(normal, other) for other in normals]
        heights = np.append(heights, height)
        alpha = np.append(alpha, 0.0)
        unused = np.append(unused, 0)
        planes += 1
        # Line 10: optimise over the working set.
        solve_dual(gram, heights, alpha, 0.5 * (best - dual), STEPS_PER_PASS)
        alpha *= C / alpha.sum()  # rounding must not make the certificate look better than it is
        w = np.zeros(n_features)
        for k in np.flatnonzero(alpha):
            w += alpha[k] * normals[k]
        dual = max(dual, inner(heights, alpha) - 0.5 * inner(w, w))
        unused = np.where(alpha > 0, 0, unused + 1)
        keep = unused < UNUSED_PASSES
        keep[0] = True
        if not keep.all():
            normals = [normals[k] for k in np.flatnonzero(keep)]
            gram = gram[np.ix_(keep, keep)]
            heights = heights[keep]
            alpha = alpha[keep]
            unused = unused[keep]
    active = int(np.count_nonzero(alpha[1:]))
    return Solution(best_w, best, max(0.0, best - dual), passes, planes, active)


def inner(a: Floats, b: Floats) -> float:
    """a·b, summed by NumPy: BLAS would give other last digits with another number of threads."""
    return float((a * b).sum())


class RankingRisk:
    """R(w) over grouped documents: calling it with w gives the plane that touches R there.

    With Ψ of the paper, and c counting for a relevant document the non-relevant ones that ŷ puts
    before it, for a non-relevant one the relevant ones that ŷ puts after it:
        Ψ(x, y) − Ψ(x, ŷ) = 2/(|C^x|·|C^x̄|) · (Σ_{i∈C^x} c_i·φ_i − Σ_{j∈C^x̄} c_j·φ_j).
    """

    def __init__(self, rows: Rows, pairs: Pairs, search: Search, loss: Loss) -> None:
        self._rows = rows
        self._pairs = pairs
        self._search = search
        self._loss = loss
        largest = float(np.abs(rows.data).max()) if rows.data.size else 0.0
        # in which normals are added up
        self._unit = float(np.ldexp(1.0, max(int(np.frexp(largest)[1]) - 59, -1000)))
        sizes = np.diff(pairs.starts)
        relevant = np.arange(pairs.rows.size) < np.repeat(pairs.starts[:-1] + pairs.relevant, sizes)
        self._is_relevant = relevant
        self._block = 2 * np.repeat(np.arange(sizes.size), sizes) + ~relevant
        products = pairs.relevant * (sizes - pairs.relevant)
        scale = np.repeat(2.0 * pairs.weight / products, sizes)
        self._scale = np.where(relevant, scale, -scale)

    def __call__(self, w: Floats) -> Plane:
        """The plane that touches R at w; its normal and height are added up in whole numbers of
        units.
        """
        rows, starts, relevant, weight = self._pairs
        sums = np.zeros(w.size, dtype=np.int64)
        scores = scores_of(self._rows, w)[rows]
        # within each group: relevant by score, then non-relevant by score
        order = np.lexsort((-scores, self._block))
        above = self._search(scores[order], starts, relevant)
        losses = self._loss(above, starts, relevant)
        counts = above + self._relevant_after(above)
        indptr, indices, data, _ = self._rows
        coefficients = np.bincount(rows[order], self._scale * counts, self._rows.n_rows)
        add_rows(indptr, indices, data, coefficients.astype(np.float64), self._unit, sums)
        height = np.rint(weight * losses / HEIGHT_UNIT).astype(np.int64).sum()
        return sums.astype(np.float64) * self._unit, float(height) * HEIGHT_UNIT

    def _relevant_after(self, above: Longs) -> Longs:
        """For each non-relevant document, how many relevant ones stand after it; 0 for a
        relevant one.
        """
        _, starts, relevant, _ = self._pairs
        group, _, entry = relevant_entries(starts, relevant)
        sizes = np.diff(starts)
        # A relevant document with a others before it stands after the first a of them, and before
        # number a.
        place = (starts[:-1] + relevant)[group] + above[entry]
        passed = np.cumsum(np.bincount(place, minlength=above.size + 1))
        n_after = np.repeat(relevant + passed[starts[:-1]], sizes) - passed[:-1]
        return np.where(self._is_relevant, 0, n_after)


@kernel
def scores_of(rows: Rows, w: Floats) -> Floats:
    """w·φ of each document, each row added up in an order of its own (data/rows.py)."""
    scores = np.empty(rows.indptr.size - 1)
    for i in range(scores.size):
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        scores[i] = inner_of_row(rows.indices[entries], rows.data[entries], w)
    return scores


@kernel
def add_rows(
    indptr: Longs, indices: Ints, data: Floats, coefficients: Floats, unit: float, sums: Longs
) -> None:
    """Add coefficients[i] times row i to the sums, each product rounded to a whole number of units,
    in place.

    indptr int64[n+1], indices int32[m], data float64[m], coefficients float64[n], sums
    int64[features].
    """
    units = 1.0 / unit  # in 1; both are powers of two, and multiplying by them is exact
    for i in range(coefficients.size):
        first = indptr[i]
        last = indptr[i + 1]
        if coefficients[i] == 0.0:
            continue
        if is_full(indices[first:last]):
            for j in range(first, last):
                sums[j - first] += np.int64(np.rint(coefficients[i] * data[j] * units))
        else:
            value = 0.0
            summand = np.int64(0)
            for j in range(first, last):
                if data[j] != value:  # the indicators of a row are all 1
                    value = data[j]
                    summand = np.int64(np.rint(coefficients[i] * value * units))
                sums[indices[j]] += summand


# The dual over the working set: the plane that would gain most takes weight from the plane that
# loses least by it.


@kernel
def solve_dual(gram: Floats, heights: Floats, alpha: Floats, tol: float, max_steps: int) -> None:
    """Maximise heights·α − ½·α·gram·α over α ≥ 0 with Σα as it is, in place, until within tol of
    the maximum.

    gram float64[m, m], heights float64[m], alpha float64[m].
    """
    m = alpha.size
    gradient = heights.copy()
    for k in range(m):
        if alpha[k] > 0:
            for j in range(m):
                gradient[j] -= alpha[k] * gram[k, j]
    for _ in range(max_steps):
        up = 0
        for k in range(m):
            if gradient[k] > gradient[up]:
                up = k
        gap = 0.0
        for k in range(m):
            gap += alpha[k] * (gradient[up] - gradient[k])
        if gap <= tol:
            break
        down = -1
        step = 0.0
        best = 0.0
        for k in range(m):
            slope = gradient[up] - gradient[k]
            if alpha[k] > 0 and slope > 0:
                curvature = gram[up, up] + gram[k, k] - 2 * gram[up, k]
                length = alpha[k]
                if slope < curvature * length:
                    length = slope / curvature
                gain = length * (slope - 0.5 * length * curvature)
                if gain > best:
                    down = k
                    step = length
                    best = gain
        if down < 0:
            break  # what is left is rounding error
        alpha[up] += step
        alpha[down] = max(0.0, alpha[down] - step)
        for k in range(m):
            gradient[k] -= step * (gram[k, up] - gram[k, down])
