"""By how much the labels of an example miss what they should score, each for itself (tuning.py)."""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, part
from shortlist.arrays.partial import is_complete
from shortlist.categories.scratch import Scratch
from shortlist.labels import LabelSets


@part
def each_for_itself(bias: Floats, scratch: Scratch, own: Ints, touched: Ints) -> float:
    """e_c of the true labels, 1 where one is not retrieved, and of the retrieved wrong ones; gives the surprise z.

    The loop has no branch: a processor cannot foresee which wrong label scores. A true one that is retrieved has no
    error after it.
    """
    scores, change, kept, worst = scratch.scores, scratch.change, scratch.kept, 0.0
    for b in range(own.size):
        kept[b], scores[own[b]], change[own[b]] = scores[own[b]], -np.inf, 1.0
    for c in touched:
        score = max(0.0, scores[c] + bias[c])
        change[c] = 0.0 - np.float32(score)
        worst = max(worst, score)
    for b in range(own.size):
        c = own[b]
        scores[c] = kept[b]
        change[c] = np.float32(max(0.0, 1.0 - (scores[c] + bias[c]))) if change[c] == 0.0 else 1.0
    return min(1.0, np.float64(np.float32(worst))) ** 2


@part
def has_error(own: Ints, touched: Ints, change: Floats) -> bool:
    """Whether a label of an example, one of its own or one that is retrieved, has an error."""
    for c in touched:
        if change[c] != 0.0:
            return True
    found = False
    for c in own:
        found |= change[c] != 0.0
    return found


@part
def is_missed(labels: LabelSets, i: int, bias: Floats, scratch: Scratch, n: int) -> int:
    """Whether a wrong one of the n retrieved labels is first, or none is; −1 where no label is known to be right."""
    own = labels.ids[labels.indptr[i] : labels.indptr[i + 1]]
    if own.size == 0 or not is_complete(labels.partial, i):
        return -1
    for c in own:
        scratch.change[c] = 1.0
    right = wrong = -np.inf
    for c in scratch.touched[:n]:
        score = scratch.scores[c] + bias[c]
        if scratch.change[c] > 0.0:
            right = max(right, score)
        else:
            wrong = max(wrong, score)
    return 0 if right > wrong else 1


@part
def only_judged(labels: LabelSets, i: int, scratch: Scratch, n: int) -> int:
    """Leave of the n retrieved labels only those that were judged, in their order; gives how many these are."""
    if is_complete(labels.partial, i):
        return n
    scratch.clock[0] += 1
    for b in range(labels.indptr[i], labels.indptr[i + 1]):
        scratch.mark[labels.ids[b]] = scratch.clock[0]
    for b in range(labels.partial.indptr[i], labels.partial.indptr[i + 1]):
        scratch.mark[labels.partial.ids[b]] = scratch.clock[0]
    kept = 0
    for a in range(n):
        c = scratch.touched[a]
        if scratch.mark[c] == scratch.clock[0]:
            scratch.touched[kept] = c
            kept += 1
        else:
            scratch.scores[c] = 0.0
    return kept
