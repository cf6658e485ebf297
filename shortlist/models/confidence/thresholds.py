"""From which probability on a label is assigned, for a stated aim: found on the honest examples.

All labels of all honest rankings are laid out by falling probability, and assigned one after the other; the threshold
is where the aim is met best. For costs nothing need be tried: a probability is worth what it says.

What came is chance where it is little, and what was expected may be too low or too high: where counts say too little, a
label counts as right midway between both, (1 + p) / 2 or p / 2.

- A precision is counted, with one wrong label more than there were. Where that is met nowhere, as one wrong label in a
  hundred is more than a few thousand examples can exclude, it is midway that counts, of at least as many labels as may
  hold one wrong one, and no further down than counts speak for it best: who asks for more is never given more labels.
- A mean of F1 over labels hangs on rare ones, of which a thousand examples hold one or two, so midway counts. It is a
  mean over labels that come up, truly or assigned: which ones do is a matter of how many texts there are. They are
  taken for AGAIN times as many as the honest examples, which are a tenth of what was learned: who measures holds back a
  fifth or so. A label that is expected e times among them counts as far as it is likely to come up, 1 − exp(−e). True
  labels behind the first WIDTH places are nobody's: half of them count as further ones of the labels that are known to
  be true, half as as many labels more, which nobody can assign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Longs
from shortlist.arrays.validation import as_choice, as_real
from shortlist.models.confidence.calibration import LARGEST, exponential
from shortlist.models.confidence.window import Seen

# What labels are assigned for.


AVERAGES = ("micro", "macro", "example")


@dataclass(frozen=True)
class F1:
    """The largest F1 over all labels together, its mean over labels ("macro"), or over examples ("example")."""

    average: str = "micro"

    def __post_init__(self) -> None:
        as_choice(self.average, "average", AVERAGES)


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
AGAIN = 2.0
CERTAIN = LARGEST  # times of anything: what was counted came up, and what was not did not


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
            at = last_precise(falling[down], _midway(hits, falling)[down], 0.0, aim.share)
    else:
        at = best_f1(falling, *_worth(aim, seen, order, falling))
    return float(falling[at]) if at >= 0 else NOTHING


def _midway(hits: Floats, probabilities: Floats) -> Floats:
    """How much of each label is right: half by whether it was, half by how likely it was."""
    found: Floats = (hits + probabilities) / 2.0
    return found


def _worth(aim: F1, seen: Seen, order: Longs, falling: Floats) -> tuple[Floats, Longs, Floats, float, float]:
    """What ``best_f1`` asks for: of what F1 is averaged, by number, and how much of it is right and true."""
    hits = seen.hits.ravel()[order].astype(np.float64)
    if aim.average == "micro":
        return hits, np.zeros(order.size, dtype=np.int64), np.array([seen.true.sum()], dtype=np.float64), CERTAIN, 0.0
    if aim.average == "example":
        return hits, order // seen.ids.shape[1], seen.true.astype(np.float64), CERTAIN, 0.0
    right = _midway(hits, falling)
    _, keys = np.unique(seen.ids.ravel()[order], return_inverse=True)
    keys = keys.ravel()
    half = float(seen.beyond.sum() / max(1, seen.hits.sum()) / 2.0)  # of what is true behind, for one that is not
    known = np.count_nonzero(np.bincount(keys, hits))
    true = np.bincount(keys, right).astype(np.float64) * (1.0 + half)
    return right, keys, true, AGAIN, half * known


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


def chance_of_any(expected: Floats) -> Floats:
    """How likely it is that something comes up at all that is expected so often."""
    return 1.0 - exponential(-np.minimum(LARGEST, expected))


def best_f1(falling: Floats, right: Floats, keys: Longs, true: Floats, times: float, others: float) -> int:
    """The place down to which the mean of 2·correct / (assigned + true) over keys is largest; −1 for nothing at all.

    A key counts as far as it is likely to come up, truly or assigned, in so many ``times`` as many examples. So many
    ``others`` count, too, of which nothing is ever correct.
    """
    order = np.argsort(keys, kind="stable")  # the labels of each key, one after the other
    own = keys[order]
    first = np.searchsorted(own, own)  # of each key
    assigned = np.arange(own.size) - first + 1
    correct = np.cumsum(right[order])
    correct -= np.append(0.0, correct)[first]
    both = assigned + true[own]
    counts, before = chance_of_any(times * (both - correct)), chance_of_any(times * true)
    worth = counts * 2.0 * correct / both
    is_first = assigned == 1
    more, better = np.empty(own.size), np.empty(own.size)  # what each label adds to what counts, and to its F1
    more[order] = counts - np.where(is_first, before[own], np.roll(counts, 1))
    better[order] = worth - np.where(is_first, 0.0, np.roll(worth, 1))
    counted, total = others + before.sum() + np.cumsum(more), np.cumsum(better)
    total[~ends(falling)] = -np.inf
    mean = np.divide(total, counted, out=np.full(own.size, -np.inf), where=counted > 0.0)
    return int(mean.argmax()) if mean.max(initial=0.0) > 0.0 else -1
