"""The best of many scored labels: a heap of as many as are wanted, then sorted."""

from __future__ import annotations

from shortlist.arrays.kernels import Floats, Ints, kernel


@kernel
def keep_best(candidates: Ints, scores: Floats, ids: Ints, best: Floats) -> None:
    """The best candidates, best first, by a heap of as many as ids has room for; its top is the worst of them."""
    k = min(candidates.size, ids.size)
    if k == 0:
        return
    for a in range(k):
        ids[a], best[a] = candidates[a], scores[candidates[a]]
    for a in range(k // 2 - 1, -1, -1):
        sift(ids, best, a, k)
    for a in range(k, candidates.size):
        c = candidates[a]
        if worse(best[0], ids[0], scores[c], c):
            ids[0], best[0] = c, scores[c]
            sift(ids, best, 0, k)
    for last in range(k - 1, 0, -1):
        ids[0], ids[last] = ids[last], ids[0]
        best[0], best[last] = best[last], best[0]
        sift(ids, best, 0, last)


@kernel
def worse(s: float, c: int, other_s: float, other_c: int) -> bool:
    return s < other_s or (s == other_s and c > other_c)


@kernel
def sift(ids: Ints, best: Floats, at: int, n: int) -> None:
    """Let the entry at that place of the heap sink until nothing below it is worse."""
    c, s = ids[at], best[at]
    child = 2 * at + 1
    while child < n:
        if child + 1 < n and worse(best[child + 1], ids[child + 1], best[child], ids[child]):
            child += 1
        if not worse(best[child], ids[child], s, c):
            break
        ids[at], best[at] = ids[child], best[child]
        at, child = child, 2 * child + 1
    ids[at], best[at] = c, s
