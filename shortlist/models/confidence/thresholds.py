"""From which probability on a label is assigned, for a stated aim: found on the honest examples.

All labels of all honest rankings are laid out by falling probability, and assigned one after the other; the threshold
is where the aim is met best. For costs nothing need be tried: a probability is worth what it says.

A precision is counted, with one wrong label more than there were. Where that is met nowhere, as one wrong label in a
hundred is more than a few thousand examples can exclude, a label counts as right midway between what came and what was
expected, (1 + p) / 2 or p / 2, of at least as many labels as may hold one wrong one, and no further down than counts
speak for it best: who asks for more is never given more labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats
from shortlist.arrays.validation import as_real
from shortlist.models.confidence.window import Seen

# What labels are assigned for.


@dataclass(frozen=True)
class F1:
    """The largest F1 over all labels together."""


@dataclass(frozen=True)
class Precision:
    """As many labels as possible of which this share is right; ``alone``: of the best label of each text only."""

    share: float
    alone: bool = False

    def __post_init__(self) -> None:
        as_real(self.share, "precision", least=0, most=1)


@dataclass(frozen=True)
class Costs:
    """The least cost, where a wrong label costs so much, and one that is missing so much."""

    wrong: float = 1.0
    missing: float = 1.0

    def __post_init__(self) -> None:
        as_real(self.wrong, "the cost of a wrong label", least=0)
        as_real(self.missing, "the cost of a missing label", least=0)


Aim = F1 | Precision | Costs


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
    flat = probabilities[:, :width].ravel()
    order = np.argsort(-flat, kind="stable")  # NaN last
    order = order[: np.count_nonzero(~np.isnan(flat))]
    falling, hits = flat[order], seen.hits[:, :width].ravel()[order].astype(np.float64)
    if isinstance(aim, Precision):
        at = last_precise(falling, hits, 1.0, aim.share)
        if at < 0:
            down = slice(surest(falling, hits) + 1)
            at = last_precise(falling[down], (hits + falling)[down] / 2.0, 0.0, aim.share)
    else:
        at = best_f1(falling, hits, int(seen.true.sum()))
    return float(falling[at]) if at >= 0 else NOTHING


def ends(falling: Floats) -> NDArray[np.bool_]:
    """Where a threshold may lie: labels with the same probability are assigned together."""
    return np.append(falling[1:] < falling[:-1], np.ones(min(1, falling.size), dtype=np.bool_))


def last_precise(falling: Floats, right: Floats, more: float, share: float) -> int:
    """The last place down to which the share of what is right is kept, counting so many ``more`` wrong labels; or −1.

    At least as many labels are assigned as may hold one wrong one.
    """
    wrong, n = more + np.cumsum(1.0 - right), np.arange(1, falling.size + 1)
    kept = np.maximum(1.0, wrong) <= (1.0 - share) * (n + 1) + 1e-9
    return int(np.flatnonzero(kept & ends(falling)).max(initial=-1))


def surest(falling: Floats, hits: Floats) -> int:
    """The last place of those down to which one wrong label more than there were is the least share; −1 for none."""
    shares = (1.0 + np.cumsum(1.0 - hits)) / np.arange(2, falling.size + 2)
    shares[~ends(falling)] = np.inf
    return int(np.flatnonzero(shares == shares.min(initial=np.inf)).max(initial=-1))


def best_f1(falling: Floats, hits: Floats, true: int) -> int:
    """The place down to which 2·correct / (assigned + true) is largest; −1 for nothing at all."""
    f1 = 2.0 * np.cumsum(hits) / (np.arange(1, falling.size + 1) + true)
    f1[~ends(falling)] = 0.0
    return int(f1.argmax()) if f1.max(initial=0.0) > 0.0 else -1
