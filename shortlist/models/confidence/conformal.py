"""How long a list must be to hold what is true: conformal prediction over the stream.

How strange an honest example is: 1 − p of its deepest true label, or infinite if that was not retrieved. A list down to
the last label that is no stranger than the ⌈(n + 1)(1 − α)⌉-th of n honest examples holds all true labels of a new one
with probability at least 1 − α, if it is like them (Vovk et al. 2005; with p as the score, lists are the shortest:
Sadinle et al. 2019).

Where it is not like them, α is moved (Gibbs and Candès 2021): each honest example, before it is added, says whether
it would have been covered, and for each of LEVELS

    a ← a + γ·(α − [not covered]),    γ = STEP·m^−5/8,

m examples after the last drift (window.py). Steps that fall let a settle where nothing changes, and keep the promise in
the long run where it does (Angelopoulos, Barber and Bates 2024).
"""

from __future__ import annotations

import math

import numpy as np

from shortlist.arrays.kernels import Floats, Longs
from shortlist.models.confidence.calibration import Curves, deep_chances, probabilities
from shortlist.models.confidence.window import NEVER, WIDTH, Seen

LEVELS = np.array([0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5])  # α
STEP = 0.3
SURE = 0.9  # the chance that lists cover what they promise, whatever examples happened to be seen


def strangeness(seen: Seen, curves: Curves) -> Floats:
    """How strange each example is, between 0 and 1; infinite if a true label was not retrieved."""
    n, depth = seen.depth.size, seen.depth
    scores = seen.scores_or_nan()
    falling = np.hstack([np.ones((n, 1)), probabilities(scores, WIDTH, curves)])
    least = falling[np.arange(n), np.minimum(depth, WIDTH)]
    deep = np.flatnonzero((depth > WIDTH) & (depth < NEVER))
    deepest = seen.deepest[deep, None].astype(np.float64)
    chances = deep_chances(deepest, scores[deep, :1], depth[deep, None] - 1, curves)
    least[deep] = np.minimum(least[deep], chances[:, 0])
    return np.where(depth == NEVER, np.inf, 1.0 - least)


def limit(ascending: Floats, alpha: Floats | float) -> Floats:
    """The ⌈(n + 1)(1 − α)⌉-th of n numbers; infinite if there are too few."""
    n = ascending.size
    at = np.ceil((n + 1) * (1.0 - np.asarray(alpha)) - 1e-9).astype(np.int64) - 1
    found: Floats = np.append(ascending, np.inf)[np.clip(at, 0, n)]
    return found


def move_levels(strange: Floats, ascending: Floats, since: int, levels: Floats) -> Floats:
    """The levels (float64, in place of α) as new examples move them; ``since`` so many came after the last drift."""
    for m, one in enumerate(strange.tolist(), since + 1):
        root = math.sqrt(m)
        step = STEP / (root * math.sqrt(math.sqrt(root)))
        levels = np.clip(levels + step * (LEVELS - (one > limit(ascending, levels))), 0.0, 1.0)
    return levels


def level_for(alpha: float, moved: Floats) -> float:
    """The moved level for any α: the moves of the levels beside it, in proportion."""
    b = min(max(1, int(np.searchsorted(LEVELS, alpha))), LEVELS.size - 1)
    share = min(1.0, max(0.0, (alpha - LEVELS[b - 1]) / (LEVELS[b] - LEVELS[b - 1])))
    shift = (1.0 - share) * (moved[b - 1] - LEVELS[b - 1]) + share * (moved[b] - LEVELS[b])
    return float(min(1.0, max(0.0, alpha + shift)))


def safe_level(n: int, alpha: float) -> float:
    """The level α' ≤ α whose limit, the ⌈(n + 1)(1 − α')⌉-th of n, covers 1 − α of all texts with a chance of SURE.

    The share that the k-th of n covers is distributed as Beta(k, n + 1 − k): k is the first for which a binomial count
    of n with chance 1 − α is below k with a chance of SURE (Vovk 2012). 0 where n is too small for any.
    """
    from scipy.special import bdtr  # not above: to start must be quick

    counts = np.arange(1, n + 1)
    k = int(np.searchsorted(bdtr(counts - 1, n, 1.0 - alpha), SURE)) + 1
    return 0.0 if k > n else min(alpha, 1.0 - k / (n + 1))


def lengths(probabilities: Floats, retrieved: Longs, most: float) -> Longs:
    """How long each list is: down to the last label no stranger than ``most``, and at least one, if any is there."""
    k = probabilities.shape[1]
    with np.errstate(invalid="ignore"):
        within = 1.0 - probabilities[:, ::-1] <= most
    last = np.where(within.any(axis=1), k - np.argmax(within, axis=1), 1) if k else retrieved
    return np.minimum(retrieved if most == np.inf else last, retrieved)
