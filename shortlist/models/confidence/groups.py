"""How frequent labels are: rare, in between, or frequent. Lists of labels can promise as much for each of these groups.

On a stream that is what a label was when an example came, with that example itself: by no examples behind it, however
many came in one batch with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Ints, Longs, kernel
from shortlist.labels import LabelSets

FEW, SOME = 10, 100  # labels with fewer examples than FEW are rare, those with fewer than SOME are not yet frequent
GROUPS = 3
GROUP_NAMES = ("rare", "less frequent", "frequent")

Bytes = NDArray[np.uint8]


class Groups(NamedTuple):
    """The groups of the labels of rankings, one for each place, and of their true labels, one after the other."""

    ranked: Bytes
    true: Bytes

    @classmethod
    def of(cls, groups: Bytes, ids: Ints, truth: LabelSets) -> Groups:
        """Where each label has one group for all rankings; labels beyond are rare."""
        known = np.append(groups, np.uint8(0))
        return cls(*(known[np.where((own < 0) | (own >= groups.size), groups.size, own)] for own in (ids, truth.ids)))

    @classmethod
    def stack(cls, parts: list[Groups], width: int) -> Groups:
        """Those of rankings of one part after the other, with so many places."""
        ranked, first = np.zeros((sum(len(part.ranked) for part in parts), width), dtype=np.uint8), 0
        for part, _ in parts:
            n, k = part.shape
            ranked[first : first + n, :k] = part
            first += n
        return cls(ranked, np.concatenate([part.true for part in parts]))


def groups_of(label_counts: Longs) -> Bytes:
    """How frequent labels are, seen so often each: 0 rare, 1 in between, 2 frequent."""
    return (label_counts >= FEW).astype(np.uint8) + (label_counts >= SOME)


def groups_then(label_counts: Longs, labels: LabelSets, which: Longs, ids: Ints) -> Groups:
    """How frequent labels were when each of some examples of a stream had come, of which ``ids`` are rankings.

    labels are those of the last examples, in their order, and label_counts is what was counted behind all of them;
    which numbers some of them, ascending.
    """
    counts = np.zeros(ids.shape, dtype=np.int64)
    of_true = np.zeros(int(np.diff(labels.indptr)[which].sum()), dtype=np.int64)
    count_back(label_counts.copy(), labels.indptr, labels.ids, which, ids, counts, of_true)
    return Groups(groups_of(counts), groups_of(of_true))


@kernel
def count_back(
    counts: Longs, indptr: Longs, label_ids: Ints, which: Longs, ids: Ints, of_ranked: Longs, of_true: Longs
) -> None:
    """From the last example to the first: take its labels off ``counts``, and note at ``which`` what is left.

    of_ranked (int64[examples, k]) is for the labels of ids (int32[examples, k]), of_true for the true ones.
    """
    behind, n = indptr[-1], of_true.size
    for i in range(which.size - 1, -1, -1):
        first, last = indptr[which[i]], indptr[which[i] + 1]
        for b in range(last, behind):
            counts[label_ids[b]] -= 1
        behind = last
        for j in range(ids.shape[1]):
            if 0 <= ids[i, j] < counts.size:
                of_ranked[i, j] = counts[ids[i, j]]
        n -= last - first
        for b in range(first, last):
            of_true[n + b - first] = counts[label_ids[b]]
