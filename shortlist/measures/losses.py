"""Measures that look at the whole ranking: the losses and the coverage of paper 001, ROC area and accuracy of 003.

Y is the set of all items, y the relevant ones, s_r the score of item r. The error set is
E = {(r, q) : r ∈ y, q ∈ Y − y, s_r ≤ s_q}: a tie is an error, so that the losses do not depend on how ties are broken.

With a complete ranking these are the papers' numbers exactly. In a ranking that was cut, or that lists only what was
retrieved at all, the other items tie with each other below all that are listed: a relevant item that is missing loses
against every non-relevant one, and has rank |Y|. So cutting a ranking short never makes it look better. A true label
that no ranking can hold because it was never learned counts as one more item of Y, for the example it belongs to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.measures.positions import Positions
from shortlist.measures.registry import registered

Values = NDArray[np.float64]


@registered("loss1", "lower", "[E ≠ ∅]", paper="001", needs=["complete rankings"])
def imperfect(positions: Positions) -> Values:
    """Share of examples that are not ranked perfectly, every relevant item strictly above every other one."""
    return (positions.total(positions.errors) > 0).astype(np.float64)


@registered("loss2", "lower", "|E|", paper="001", needs=["complete rankings"])
def wrong_pairs(positions: Positions) -> Values:
    """Number of pairs of a relevant and a non-relevant item that are in the wrong order or tie."""
    return positions.total(positions.errors)


@registered("loss3", "lower", "|E| / (|y|·|Y − y|), 0 if y = Y", paper="001", needs=["complete rankings"])
def share_of_wrong_pairs(positions: Positions) -> Values:
    """Share of the pairs of a relevant and a non-relevant item that are in the wrong order or tie."""
    return positions.total(positions.errors) / np.maximum(positions.size * positions.others, 1)


@registered(
    "coverage", "lower", "max_{r∈y} rank(r) − 1; rank |Y| if r is missing", paper="001", needs=["complete rankings"]
)
def coverage(positions: Positions) -> Values:
    """How far down the ranking the last relevant item stands; 0 where one relevant item comes first."""
    last = np.zeros(positions.n)
    ends = positions.nth == positions.size[positions.row]
    last[positions.row[ends]] = positions.rank[ends]
    return np.minimum(last, positions.size + positions.others) - 1


@registered(
    "ROC", "higher", "1 − (|E| − ½·|{(r, q) ∈ E : s_r = s_q}|) / (|y|·|Y − y|)", paper="003",
    needs=["complete rankings"],
)  # fmt: skip
def roc_area(positions: Positions) -> Values:
    """Area under the ROC curve of one example: the share of pairs in the right order, a tie counting one half.
    Examples with nothing but relevant items are left out."""
    pairs = (positions.size * positions.others).astype(np.float64)
    pairs[pairs == 0] = np.nan
    return 1 - positions.total(positions.errors - positions.ties / 2) / pairs


@registered(
    "accuracy@t", "higher", "|{d : [s_d > t] = [d relevant]}| / number of documents", families=["documents"],
    paper="003",
)  # fmt: skip
def accuracy(positions: Positions, t: float) -> Values:
    """Share of a query's documents on the right side of the score t; SVMs put it at 0."""
    above = positions.above(t)
    hits = positions.total(positions.rank <= above[positions.row])
    return (hits + positions.others - (above - hits)) / positions.length


@registered(
    "best-accuracy", "higher", "the largest accuracy@t over all positions to cut the ranking", families=["documents"],
    paper="003",
)  # fmt: skip
def best_accuracy(positions: Positions) -> Values:
    """Share of a query's documents on the right side of the best cut of its ranking."""
    best = positions.others.astype(np.float64)  # every item that was cut off
    np.maximum.at(best, positions.row, 2 * positions.nth - positions.rank + positions.others[positions.row])
    return best / positions.length
