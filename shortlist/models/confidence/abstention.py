"""None of these: why no label is assigned to a text.

What is unknown in a text has no votes, and the little that is known may be sure of itself: a model of questions about
programs finds a likely label for any newspaper article. So a text is not decided of whose features (words, pairs, runs
of characters) a smaller share is known than of all but one honest example in a hundred, when its turn came. Of new
texts like those that were learned about one in a hundred is left to people by that, or fewer: more is known by now.
Where hardly any honest example had anything unknown, a new word would be enough; there half of a text must be known.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, kernel

STRANGE = 0.01  # of the honest examples had as few features that were known
LOW = 0.03  # of the honest examples had a best score as low
ABOUT = 0.01  # of a score: a model that learned a little more scores the same text a little differently
HALF = 0.5  # of a text, where nothing is ever unknown


class Reason(IntEnum):
    """Why a text has no label; ASSIGNED where it has one."""

    ASSIGNED = 0
    NO_KNOWN_WORD = 1
    UNLIKE_ANYTHING_LEARNED = 2
    NOTHING_SURE_ENOUGH = 3
    NO_KNOWN_FEATURE = 4  # of a row of features, which has no words

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


ASSIGNED, NO_KNOWN_WORD, UNLIKE_ANYTHING_LEARNED, NOTHING_SURE_ENOUGH, _ = (np.uint8(reason) for reason in Reason)


def lowest_usual(values: Floats, share: float = STRANGE) -> float:
    """The value below which this share of the honest examples lies; −∞ where there are too few to say."""
    if values.size * share < 1.0:
        return -np.inf
    return float(np.sort(values)[int(values.size * share)])


def lowest_score(best: Floats) -> float:
    """The best score below which a text is unlike what was learned."""
    lowest = lowest_usual(best, LOW)
    return lowest - ABOUT * abs(lowest)


def least_known(shares: Floats) -> float:
    """The known share below which a text is unlike what was learned, from those of honest examples."""
    least = lowest_usual(shares)
    return least if least < 1.0 else HALF


@kernel
def reasons(scores: Floats, assigned: NDArray[np.bool_], lowest: float) -> NDArray[np.uint8]:
    """Why each ranking (scores float64[n, k], NaN where there is no label) has nothing ``assigned`` (n × k), if so."""
    n, k = scores.shape
    found = np.full(n, NOTHING_SURE_ENOUGH, dtype=np.uint8)
    for i in range(n):
        if k == 0 or np.isnan(scores[i, 0]):
            found[i] = NO_KNOWN_WORD
        elif scores[i, 0] < lowest:
            found[i] = UNLIKE_ANYTHING_LEARNED
        for j in range(k):
            if assigned[i, j]:
                found[i] = ASSIGNED
    return found
