"""How learning goes (tuning.py): what is counted of the examples on the way, by which the rules are chosen."""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, part
from shortlist.arrays.partial import is_complete
from shortlist.categories.index.contest import HALF, RECENT
from shortlist.labels import SINGLE, LabelSets

# Entries of stats: z̄, the examples in it; all, and their labels; the share of the last new ones that were missed; g
# and ā.
SURPRISE, WEIGHT, EXAMPLES, LABELS, MISSED, PACE, AGREEMENT = 0, 1, 2, 3, 4, 5, 6
START = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])  # stats before anything is learned
MEMORY = 5000.0  # examples in z̄
MANY = 4.0  # labels on average
MOST_PACE, CHANGE, MOST_AGREEMENT = 4.0, 0.001, 5.0  # of g; by how much a = ā moves it; of a / ā


@part
def note_labels(stats: Floats, labels: LabelSets, i: int) -> None:
    """Count example i and its labels. One that was judged in part has at least as many as examples have on average."""
    n = float(labels.indptr[i + 1] - labels.indptr[i])
    if not is_complete(labels.partial, i):
        n = max(n, stats[LABELS] / stats[EXAMPLES] if stats[EXAMPLES] > 0.0 else 1.0)
    stats[EXAMPLES] += 1.0
    stats[LABELS] += n


@part
def note_missed(stats: Floats, missed: float) -> None:
    stats[MISSED] += (missed - stats[MISSED]) / min(stats[EXAMPLES], RECENT)


@part
def note_surprise(stats: Floats, z: float) -> None:
    stats[WEIGHT] = min(stats[WEIGHT] + 1.0, MEMORY)
    stats[SURPRISE] += (z - stats[SURPRISE]) / stats[WEIGHT]


@part
def set_pace(stats: Floats, labels: LabelSets, i: int, agreement: float) -> None:
    """g after the new example i, whose errors agree that much with the corrections so far.

    One that was judged in part tells only of labels that somebody has looked at: it does not move the pace.
    """
    if not is_complete(labels.partial, i):
        return
    stats[AGREEMENT] += (abs(agreement) - stats[AGREEMENT]) / min(stats[EXAMPLES], MEMORY)
    if stats[AGREEMENT] > 0.0 and not are_single(stats):
        share = max(-MOST_AGREEMENT, min(MOST_AGREEMENT, agreement / stats[AGREEMENT]))
        stats[PACE] = max(1.0, min(MOST_PACE, stats[PACE] * (1.0 + CHANGE * share)))


@part
def are_single(stats: Floats) -> bool:
    """Whether examples have one label each, so far."""
    return stats[LABELS] <= SINGLE * stats[EXAMPLES]


@part
def are_contending(stats: Floats, few: bool) -> bool:
    """Whether labels contend (contest.py): examples have one each, which can be foreseen or are few."""
    return are_single(stats) and (few or stats[MISSED] <= HALF)


@part
def are_many(stats: Floats) -> bool:
    """Whether examples have many labels on average, so far."""
    return stats[EXAMPLES] > 0.0 and stats[LABELS] >= MANY * stats[EXAMPLES]


def joined(stats_of_parts: list[Floats], shares: list[float]) -> Floats:
    """What learners that learned apart have in their stats: what is a mean averaged by shares, counts added."""
    stats, means = np.sum(stats_of_parts, axis=0), np.average(stats_of_parts, axis=0, weights=shares)
    stats[:EXAMPLES], stats[MISSED:] = means[:EXAMPLES], means[MISSED:]
    return stats
