"""Rankings of examples made before each is learned: learning scores an example first in any case.

Such a ranking is the one that ``rank`` would give just then. A new text is read without the features that no example
had, and what is left has unit length; here the example has all its features. Unseen features have no votes, so it is
enough to divide the votes by the length of the known part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, part
from shortlist.arrays.rows import Rows
from shortlist.categories.best import keep_best
from shortlist.categories.index.lists import Index
from shortlist.categories.scratch import Scratch


class Ahead(NamedTuple):
    """Room for the rankings of some rows."""

    place: Ints  # int32[rows], which of the rankings is that of a row, −1 for none; empty if there is no observer
    ids: Ints  # int32[rankings, k], −1 where there is no label
    scores: Floats  # float64[rankings, k], NaN where there is no label
    known: NDArray[np.float32]  # the share of the features of each that earlier examples had
    unit_length: bool  # whether the known part of a row is scaled to unit length


def room_for_rankings(n_rows: int, which: Longs, k: int, unit_length: bool) -> Ahead:
    """Room for rankings of k labels of the rows ``which``, of so many."""
    place = np.full(n_rows if which.size else 0, -1, dtype=np.int32)
    place[which] = np.arange(which.size)
    shape = which.size, k
    return Ahead(
        place, np.full(shape, -1, dtype=np.int32), np.full(shape, np.nan),
        np.ones(which.size, dtype=np.float32), unit_length,
    )  # fmt: skip


NOBODY = room_for_rankings(0, np.zeros(0, dtype=np.int64), 0, unit_length=False)


@part
def rank_ahead(rows: Rows, i: int, index: Index, bias: Floats, scratch: Scratch, n: int, ahead: Ahead) -> None:
    """Write the ranking of row i, which has votes for n labels, if it is asked for."""
    if ahead.place.size == 0 or ahead.place[i] < 0:
        return
    at, known, square = ahead.place[i], 0, 0.0
    first, last = rows.indptr[i], rows.indptr[i + 1]
    for j in range(first, last):
        if index.features[rows.indices[j]]["seen"] > 0:
            known += 1
            square += rows.data[j] * rows.data[j]
    length = 1.0
    if known < last - first:
        ahead.known[at] = known / (last - first)
        if ahead.unit_length and square > 0.0:
            length = np.sqrt(square)
    found = scratch.touched[:n]
    for c in found:
        scratch.kept[c] = scratch.scores[c] / length + bias[c]
    keep_best(found, scratch.kept, ahead.ids[at], ahead.scores[at])
