"""From which probability on a label is assigned, for a stated aim: found on the honest examples.

All labels of all honest rankings are laid out by falling probability, and assigned one after the other; the threshold
is where the aim is met best. For costs nothing need be tried: a probability is worth what it says.

A mean of F1 over labels hangs on rare ones, of which a thousand examples hold one or two: whether these were right is
chance, and a threshold that follows it is too. Probabilities know nothing of chance, but may be too low or too high for
rare labels. There, a label counts as right midway between what came and what was expected: (1 + p) / 2 or p / 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel
from shortlist.models.confidence.aims import F1, Aim, Costs, Precision
from shortlist.models.confidence.groups import Bytes
from shortlist.models.confidence.window import Seen

NOTHING = np.inf  # a threshold that no label reaches


@dataclass(frozen=True)
class Automation:
    """What deciding alone above a threshold brings: the share of texts decided, and how many of them rightly."""

    precision: float  # that was asked for
    threshold: float
    share: float
    right: float  # NaN where nothing is decided


def find_threshold(aim: Aim, seen: Seen, probabilities: Floats) -> float:
    """The threshold for an aim, from honest examples and the probabilities (n × WIDTH, NaN where none) of theirs."""
    if isinstance(aim, Costs):
        both = aim.wrong + aim.missing
        return aim.wrong / both if both > 0 else 1.0
    width = 1 if isinstance(aim, Precision) and aim.alone else probabilities.shape[1]
    flat, hits = probabilities[:, :width].ravel(), seen.hits[:, :width].ravel()
    order = np.argsort(-flat, kind="stable")  # NaN last
    order = order[: np.count_nonzero(~np.isnan(flat))]
    falling, hits = flat[order], hits[order]
    if isinstance(aim, Precision):
        at = last_precise(falling, hits, aim.share)
    else:
        at = best_f1(falling, *_worth(aim, seen, order, falling))
    return float(falling[at]) if at >= 0 else NOTHING


def _worth(aim: F1, seen: Seen, order: Longs, falling: Floats) -> tuple[Floats, Ints, Floats]:
    """For each place in ``order`` how much of it is right, and of what F1 is averaged, by number; and how many true
    labels each of these has."""
    hits = seen.hits.ravel()[order].astype(np.float64)
    if aim.average == "micro":
        return hits, np.zeros(order.size, dtype=np.int32), np.array([seen.true.sum()], dtype=np.float64)
    if aim.average == "example":
        return hits, (order // seen.ids.shape[1]).astype(np.int32), seen.true.astype(np.float64)
    midway = (hits + falling) / 2.0
    _, numbers = np.unique(seen.ids.ravel()[order], return_inverse=True)
    return midway, numbers.ravel().astype(np.int32), np.bincount(numbers.ravel(), midway).astype(np.float64)


@kernel
def last_precise(falling: Floats, hits: Bytes, share: float) -> int:
    """The last place down to which the share of hits is kept, counting one wrong label more than there were; or −1.

    Labels with the same probability are assigned together.
    """
    found, wrong, n = -1, 0, falling.size
    for a in range(n):
        wrong += hits[a] == 0
        last = a + 1 == n or falling[a + 1] < falling[a]
        if last and wrong + 1 <= (1.0 - share) * (a + 2) + 1e-9:
            found = a
    return found


@kernel
def best_f1(falling: Floats, right: Floats, keys: Ints, true: Floats) -> int:
    """The place down to which the mean of 2·correct / (assigned + true) over keys is largest; −1 for nothing at all.

    Keys for which nothing is true or assigned do not count.
    """
    assigned, correct = np.zeros(true.size, dtype=np.int64), np.zeros(true.size)
    total, counted, best, found = 0.0, 0, 0.0, -1
    for key in range(true.size):
        counted += true[key] > 0
    for a in range(falling.size):
        key = keys[a]
        both = assigned[key] + true[key]
        if both > 0:
            total -= 2.0 * correct[key] / both
        else:
            counted += 1
        assigned[key] += 1
        correct[key] += right[a]
        total += 2.0 * correct[key] / (both + 1)
        if (a + 1 == falling.size or falling[a + 1] < falling[a]) and total > best * counted:
            best, found = total / counted, a
    return found


def automation(seen: Seen, probabilities: Floats, shares: list[float]) -> list[Automation]:
    """What deciding alone brings on the honest examples, for each precision asked for."""
    table = []
    for share in shares:
        threshold = find_threshold(Precision(share, alone=True), seen, probabilities)
        with np.errstate(invalid="ignore"):
            decided = probabilities[:, 0] >= threshold
        n = int(np.count_nonzero(decided))
        right = float(seen.hits[decided, 0].sum() / n) if n else np.nan
        table.append(Automation(share, threshold, n / max(1, decided.size), right))
    return table
