"""At which level labels score that are not in question, and how far further passes have moved it.

A score says how sure a label is by how far it stands above those of the many labels that are wrong. Honest rankings are
made in the first pass, and further ones tune on. Where labels are corrected each for itself they press wrong ones down,
by 0.02 to 0.05 on sets of several labels each: then a label with the same score is right more often than it was.

The level is what stands at the places TOGETHER + 1 to WIDTH of rankings, of rows with no more labels than TOGETHER.
Some rows, all learned by then, are ranked after the first pass and after the last one, and the scores of the honest
rankings are moved by the mean difference. Of rows that were learned it is nearly that of new ones (to 0.004 on nine
sets), which differences at the first places are not: there, what was learned by heart counts. Rankings of no more
labels than TOGETHER have no such places, and stay as they are.
"""

from __future__ import annotations

import math

import numpy as np

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.models.confidence.calibration import TOGETHER
from shortlist.models.confidence.window import WIDTH

ROWS = 64  # what a single one is off by, about 0.02, is a hundredth of a deviation of scores in their mean


@kernel
def rows_of_few_labels(order: Longs, starts: Longs) -> Longs:
    """Up to ROWS of the rows in ``order``, from all parts of it, of those that have no more labels than TOGETHER.

    Row i has the labels starts[i]:starts[i+1]. No array of all rows is made, as a fit holds the most just then.
    """
    n_few = 0
    for i in order:
        n_few += starts[i + 1] - starts[i] <= TOGETHER
    chosen = np.empty(min(ROWS, n_few), np.int64)
    n = passed = 0
    for i in order:
        if n < chosen.size and starts[i + 1] - starts[i] <= TOGETHER:
            if passed == n * n_few // chosen.size:
                chosen[n] = i
                n += 1
            passed += 1
    return chosen


def moved_level(before: Floats, after: Floats) -> float:
    """By how much the level of the same rows differs in two rankings (scores n × at most WIDTH, NaN for no label)."""
    both = min(before.shape[1], after.shape[1], WIDTH)
    differences = (after[:, TOGETHER:both] - before[:, TOGETHER:both]).ravel()
    known = differences[~np.isnan(differences)]
    return math.fsum(known.tolist()) / known.size if known.size else 0.0  # a sum that no machine rounds otherwise
