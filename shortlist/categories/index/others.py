"""The votes for an example that is gone through again: only what others have counted speaks for its label.

An example that was counted votes for its own label: words that no other example has speak for it alone, and what is
left to correct is little. For a new text nobody has done that. With w′_fc, w′_f and #_f as they are once the
example, whose label is r, has been counted, the votes that a new text with the same words would have are those of

    w′_fr − x[f] in place of w′_fr,    w′_f − x[f] in place of w′_f,    #_f − 1 in place of #_f.

Corrections stay as they are. An example that taught nothing when it was new has not been counted, which nobody has
noted; so no weight falls below 0, and no label has more than the whole vote of a word.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, part
from shortlist.arrays.rows import Rows
from shortlist.categories.index.lists import Index
from shortlist.categories.index.retrieval import LEAST, add_votes
from shortlist.categories.scratch import Scratch
from shortlist.labels import LabelSets

LEFT = 0.001  # of x[f]: where others have counted less, they have counted nothing, but for rounding


@part
def add_votes_to_learn(
    rows: Rows, labels: LabelSets, i: int, index: Index, max_edges: int, rare: int, again: bool, scratch: Scratch
) -> int:
    """As ``add_votes``; where example i is gone through ``again`` and has one label, by what others have counted."""
    first, last = labels.indptr[i], labels.indptr[i + 1]
    if again and last - first == 1:
        return add_votes_of_others(rows, i, index, max_edges, rare, labels.ids[first], scratch.scores, scratch.touched)
    return add_votes(rows, i, index, max_edges, rare, scratch.scores, scratch.touched)


@part
def add_votes_of_others(
    rows: Rows, i: int, index: Index, max_edges: int, rare: int, r: int, scores: Floats, touched: Ints
) -> int:
    """As ``add_votes``, as if row i, whose label is r, had not been counted."""
    n = 0
    for j in range(rows.indptr[i], rows.indptr[i + 1]):
        if rows.indices[j] >= index.features.size or index.features[rows.indices[j]]["length"] == 0:
            continue
        feature, x = index.features[rows.indices[j]], rows.data[j]
        whole, share = votes_of_others(feature, x, rare)
        first = feature["start"]
        for edge in index.edges[first : first + min(feature["length"], max_edges)]:
            c = edge["label"]
            weight = max(0.0, edge["weight"] - x) if c == r else np.float64(edge["weight"])
            before = scores[c]
            touched[np.uint64(n)] = c  # to be overwritten by the next one, unless c is new
            n += before == 0.0
            score = before + (min(whole, share * weight) + x * edge["tuned"])
            scores[c] = score if score != 0.0 else LEAST
    return n


@part
def votes_of_others(feature: np.void, x: float, rare: int) -> tuple[float, float]:
    """r_f · x[f] by what others have seen, and that divided by their w′_f; both 0 where they have counted nothing."""
    left, seen = feature["total"] - x, feature["seen"] - 1.0
    if seen <= 0.0 or left < LEFT * x:
        return 0.0, 0.0
    whole = x if seen >= rare else x * (seen / rare)
    return whole, whole / left
