"""None of these: why no label is assigned to a text."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs

STRANGE = 0.01  # of the honest examples had a best score as low


class Reason(IntEnum):
    """Why a text has no label; ASSIGNED where it has one."""

    ASSIGNED = 0
    NO_KNOWN_WORD = 1
    UNLIKE_ANYTHING_LEARNED = 2
    NOTHING_SURE_ENOUGH = 3

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


def lowest_usual(best_scores: Floats) -> float:
    """The best score below which a text is unlike what was learned: that of one in a hundred honest examples."""
    if best_scores.size * STRANGE < 1.0:
        return -np.inf  # too few to say
    return float(np.sort(best_scores)[int(best_scores.size * STRANGE)])


def reasons(scores: Floats, retrieved: Longs, assigned: Longs, lowest: float) -> NDArray[np.uint8]:
    """Why each ranking (scores n × k, of ``retrieved`` labels each) has nothing ``assigned``, if so."""
    found = np.full(retrieved.size, Reason.NOTHING_SURE_ENOUGH, dtype=np.uint8)
    best = scores[:, 0] if scores.shape[1] else np.full(retrieved.size, np.nan)
    with np.errstate(invalid="ignore"):
        found[best < lowest] = Reason.UNLIKE_ANYTHING_LEARNED
    found[retrieved == 0] = Reason.NO_KNOWN_WORD
    found[assigned > 0] = Reason.ASSIGNED
    return found
