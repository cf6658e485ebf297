"""Scores to probabilities, lists that hold all true labels, and thresholds for assigning labels.

Everything here is computed from calibration examples (calibration_examples.py): rankings that were
made before their examples were learned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.compiled.kernels import Floats, Longs
from shortlist.data.validation import as_real
from shortlist.files.store import State

if TYPE_CHECKING:
    from shortlist.confidence.calibration_examples import CalibrationExamples

# Probabilities: at each place of a ranking, a logistic function of the score and of its distances.
#
#     p_j = 1 / (1 + exp(−w_j · x_j)), x_1 = (1, s_1, √s_1, s_1 − s_2, s_1 / (s_1 + … + s_8)),
#     x_j = (1, s_j, √s_j, s_{j−1} − s_j, s_1 − s_j),
#
# where only scores above 0 are summed, and others have the root 0. Features are centred, scaled and
# cut at four deviations. The weights maximise the likelihood of the calibration examples with a
# small penalty (Platt 1999, for each place). Places behind the first WIDTH use the last curve, with
# the score and its distance from the best alone, times WIDTH / j. Trials on ten collections found
# isotonic curves, further features (words known, examples of the label) and finer functions no
# better by more than chance. A square in place of the root is a little worse on most of them; with
# neither, the best label's error is up to 2 points larger.
#
# Four wrong examples without evidence are added, two with other labels and two alone. Without them,
# a model that has not been wrong yet would be as certain of a tie, or of a label with hardly a
# vote, as of anything else.
#
# Along the places a probability never rises: each is at most the one before it.


WIDTH = 16  # labels of each ranking that have a curve of their own
FEATURES = 5
TOGETHER = 8  # scores on which the probability of the best label depends
UNSPOKEN_FOR = (1.0 / TOGETHER, 1.0 / TOGETHER, 1.0, 1.0)  # shares of best labels without evidence
FURTHEST = 4.0  # deviations
PENALTY = 0.1  # in units of one example
# of Newton's method: after a step of CLOSE, about its square is missing
LONGEST_STEP = 2.0
STEPS = 60
CLOSE = 1e-2
# a step whose end falls by more than this share of the slope at its start went too far
TOO_STEEP = 0.5
ENOUGH = 4096  # newest examples that curves are fitted to
LARGEST = 40.0  # argument of an exponential


class Curves(NamedTuple):
    """The curve of each place: its weights, and centre and scale (1 / deviation) of its
    features, WIDTH × FEATURES.
    """

    weights: Floats
    centre: Floats
    scale: Floats

    @classmethod
    def flat(cls) -> Curves:
        """Curves before anything is fitted."""
        shape = (WIDTH, FEATURES)
        return cls(np.zeros(shape), np.zeros(shape), np.ones(shape))

    def to_state(self) -> State:
        return State("Curves", {}, self._asdict())

    @classmethod
    def from_state(cls, state: State) -> Curves:
        curves = cls(*(np.array(state.array(name, np.float64, 2)) for name in cls._fields))
        for array in curves:
            state.require(array.shape == (WIDTH, FEATURES), "each place has a curve")
            state.require(bool(np.isfinite(array).all()), "curves are made of finite numbers")
        state.require(bool((curves.scale > 0).all()), "scales are above 0")
        return curves


def logistic(x: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp((-x).clip(-LARGEST, LARGEST)))


def features(scores: Floats, k: int) -> Floats:
    """The features but the first, which is 1, of the first k ≤ WIDTH places: n × k × 4, NaN
    where there is no label.
    """
    scores_of_places = scores[:, :k]
    x = np.empty((*scores_of_places.shape, FEATURES - 1))
    x[:, :, 0], x[:, :, 1] = scores_of_places, np.sqrt(np.maximum(0.0, scores_of_places))
    x[:, 1:, 2] = scores_of_places[:, :-1] - scores_of_places[:, 1:]
    x[:, 1:, 3] = scores_of_places[:, :1] - scores_of_places[:, 1:]
    if k:
        best = scores_of_places[:, 0]
        together = np.fmax(0.0, scores[:, :TOGETHER]).sum(axis=1)
        second = scores[:, 1] if scores.shape[1] > 1 else np.full_like(best, np.nan)
        x[:, 0, 2] = best - np.where(np.isnan(second), np.minimum(0.0, best), second)
        x[:, 0, 3] = np.where(together > 0.0, best / np.where(together > 0.0, together, 1.0), 1.0)
    return x


def scaled(x: Floats, centre: Floats, scale: Floats) -> Floats:
    """Features centred, scaled and cut."""
    return ((x - centre) * scale).clip(-FURTHEST, FURTHEST)


def on_curves(x: Floats, places: slice, curves: Curves) -> Floats:
    """The probabilities that the curves of some places give for features n × places × 4."""
    weights, centre, scale = (array[places] for array in curves)
    return logistic(
        weights[:, 0] + (weights[:, 1:] * scaled(x, centre[:, 1:], scale[:, 1:])).sum(axis=2)
    )


def probabilities(scores: Floats, k: int, curves: Curves) -> Floats:
    """The probabilities of the first k labels of rankings (scores float64[n, at least k]: labels
    first, then NaN).

    NaN where there is no label.
    """
    n_near = min(k, WIDTH)
    with np.errstate(over="ignore"):  # infinite features are cut
        near = on_curves(features(scores, n_near), slice(n_near), curves)
        near = np.minimum.accumulate(near, axis=1)
        if k <= WIDTH:
            return near
        deep = deep_probabilities(scores[:, WIDTH:k], scores[:, :1], np.arange(WIDTH, k), curves)
    return np.hstack([near, np.minimum(near[:, -1:], deep)])


def deep_probabilities(
    scores: Floats, best: Floats, places: NDArray[np.integer], curves: Curves
) -> Floats:
    """The probabilities at places (from 0) from WIDTH on: of labels with these scores (n ×
    places) and best scores.
    """
    x = np.empty((*scores.shape, FEATURES - 1))
    x[:, :, 0], x[:, :, 1] = scores, np.sqrt(np.maximum(0.0, scores))
    x[:, :, 2] = curves.centre[-1, 3]
    x[:, :, 3] = best - scores
    return on_curves(x, slice(WIDTH - 1, WIDTH), curves) * WIDTH / (places + 1)


def fit_curves(seen: CalibrationExamples, start: Curves) -> Curves:
    """The most likely curves for calibration examples, found from the curves ``start``."""
    curves = Curves(*(array.copy() for array in start))
    weights, centre, scale = curves
    every = features(seen.scores_or_nan(), WIDTH)
    for place in range(WIDTH):
        is_ranked = seen.ids[:, place] >= 0
        if not is_ranked.any():
            if place > 0:
                for array in curves:
                    array[place] = array[place - 1]
            continue
        x = every[is_ranked, place]
        hits = seen.hits[is_ranked, place].astype(np.float64)
        centre[place, 1:] = x.sum(axis=0) / len(x)
        deviation = np.sqrt(np.square(x - centre[place, 1:]).sum(axis=0) / len(x))
        varied = (deviation > 1e-12) & (deviation < np.inf)
        scale[place, 1:] = 1.0 / np.where(varied, deviation, 1.0)
        if place == 0:
            x = np.vstack([x, [[0.0, 0.0, 0.0, share] for share in UNSPOKEN_FOR]])
            hits = np.append(hits, np.zeros(len(UNSPOKEN_FOR)))
        elif not weights[place].any():  # start from the place before
            weights[place] = weights[place - 1]
        x = scaled(x, centre[place, 1:], scale[place, 1:])
        most_likely(np.hstack([np.ones((len(x), 1)), x]), hits, weights[place])
    return curves


def most_likely(x: Floats, hits: Floats, weights: Floats) -> None:
    """Newton's method, in place, from the given weights to those that make the hits (float64[n], 0
    or 1) most likely.

    A step that ends where the likelihood falls again, half as steeply as it rose at the start, went
    too far and is halved: from extreme weights, steps would otherwise go back and forth without
    end.
    """
    x = np.ascontiguousarray(x.T)
    # the last step, and the slope along it at its start
    taken = np.zeros(FEATURES)
    rise = 0.0
    for _ in range(STEPS):
        p = logistic((weights[:, None] * x).sum(axis=0))
        slope = ((hits - p) * x).sum(axis=1) - PENALTY * weights
        if (slope * taken).sum() < -TOO_STEEP * rise:
            taken = 0.5 * taken
            rise = 0.5 * rise
            weights -= taken
            continue
        doubted = p * (1.0 - p) * x
        bend = (doubted[:, None] * x).sum(axis=2) + PENALTY * np.eye(FEATURES)
        taken = np.linalg.solve(bend, slope)
        largest = np.abs(taken).max()
        taken *= min(1.0, LONGEST_STEP / max(largest, LONGEST_STEP))
        rise = (slope * taken).sum()
        weights += taken
        if largest < CLOSE:
            break


# How far probabilities are from what came true: bins for a reliability diagram, and the expected
# calibration error.


BINS = 15


class Bin(NamedTuple):
    """Labels of nearly the same probability: the mean of it, the share that came true, and how
    many there are.
    """

    probability: float
    right: float
    n: int


def reliability(probabilities: Floats, hits: NDArray[np.bool_]) -> list[Bin]:
    """The bins of equal width that are not empty; probabilities that are NaN do not count."""
    is_known = ~np.isnan(probabilities)
    p = probabilities[is_known]
    right = hits[is_known]
    which = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    groups = (which == b for b in range(BINS))
    return [
        Bin(float(p[is_in_bin].mean()), float(right[is_in_bin].mean()), int(is_in_bin.sum()))
        for is_in_bin in groups
        if is_in_bin.any()
    ]


def calibration_error(probabilities: Floats, hits: NDArray[np.bool_]) -> float:
    """Σ_b n_b/n · |right_b − probability_b|, the expected calibration error; NaN without
    probabilities.
    """
    bins = reliability(probabilities, hits)
    n = sum(group.n for group in bins)
    return (
        sum(group.n * abs(group.right - group.probability) for group in bins) / n if n else np.nan
    )


# How long a list must be to hold all true labels: conformal prediction over the stream.
#
# The strangeness of a calibration example is 1 − p of its deepest true label, or infinite if that
# was not retrieved. A list down to the last label that is no stranger than the ⌈(n + 1)(1 − α)⌉-th
# of n examples holds all true labels of a new one with probability at least 1 − α, if it is like
# them (Vovk et al. 2005; with p as the score, lists are the shortest: Sadinle et al. 2019).
#
# For examples that are not like them α is moved (Gibbs and Candès 2021): each calibration example,
# before it is added, tells whether it would have been covered, and for each of LEVELS
#
#     a ← a + γ·(α − [not covered]),    γ = STEP·m^−5/8,
#
# m examples after the last drift. Falling steps let a settle where nothing changes, and keep the
# promise in the long run where it does (Angelopoulos, Barber and Bates 2024).


LEVELS = np.array([0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5])  # α
STEP = 0.3
SURE = 0.9  # the chance that lists cover what they promise, whatever examples were seen


def limit(ascending: Floats, alpha: Floats | float) -> Floats:
    """The ⌈(n + 1)(1 − α)⌉-th of n numbers; infinite if there are too few."""
    n = ascending.size
    at = np.ceil((n + 1) * (1.0 - np.asarray(alpha)) - 1e-9).astype(np.int64) - 1
    limits: Floats = np.append(ascending, np.inf)[np.minimum(np.maximum(at, 0), n)]
    return limits


def move_levels(strange: Floats, ascending: Floats, since: int, levels: Floats) -> Floats:
    """The levels (float64, in place of α) after new examples; ``since``: examples between the
    last drift and these.
    """
    for m, strangeness in enumerate(strange.tolist(), since + 1):
        root = math.sqrt(m)
        step = STEP / (root * math.sqrt(math.sqrt(root)))
        moved = levels + step * (LEVELS - (strangeness > limit(ascending, levels)))
        levels = np.minimum(np.maximum(moved, 0.0), 1.0)  # several times as fast as np.clip
    return levels


def level_for(alpha: float, moved: Floats) -> float:
    """The moved level for any α, interpolated between the moves of its neighbours in LEVELS."""
    b = min(max(1, int(np.searchsorted(LEVELS, alpha))), LEVELS.size - 1)
    share = min(1.0, max(0.0, (alpha - LEVELS[b - 1]) / (LEVELS[b] - LEVELS[b - 1])))
    shift = (1.0 - share) * (moved[b - 1] - LEVELS[b - 1]) + share * (moved[b] - LEVELS[b])
    return float(min(1.0, max(0.0, alpha + shift)))


def safe_level(n: int, alpha: float) -> float:
    """The level α' ≤ α whose limit, the ⌈(n + 1)(1 − α')⌉-th of n, covers 1 − α of all texts with a
    chance of SURE.

    The share that the k-th of n covers is distributed as Beta(k, n + 1 − k): k is the first for
    which a binomial count of n with chance 1 − α is below k with a chance of SURE (Vovk 2012). 0
    where n is too small for any.
    """
    from scipy.special import bdtr  # not above: to start must be quick

    counts = np.arange(1, n + 1)
    k = int(np.searchsorted(bdtr(counts - 1, n, 1.0 - alpha), SURE)) + 1
    return 0.0 if k > n else min(alpha, 1.0 - k / (n + 1))


def list_lengths(probabilities: Floats, retrieved: Longs, most: float) -> Longs:
    """How long each list is: down to the last label no stranger than ``most``, and at least one
    label if any.
    """
    k = probabilities.shape[1]
    with np.errstate(invalid="ignore"):
        within = 1.0 - probabilities[:, ::-1] <= most
    last = np.where(within.any(axis=1), k - np.argmax(within, axis=1), 1) if k else retrieved
    return np.minimum(retrieved if most == np.inf else last, retrieved)


# From which probability on a label is assigned, for an aim.
#
# All labels of all calibration rankings are sorted by falling probability and assigned one after
# the other; the threshold is where the aim is met best.
#
# A precision is counted with one wrong label more than there were. Where that is met nowhere, since
# one wrong label in a hundred is more than a few thousand examples can exclude, a label counts as
# right midway between what came and what was expected, (1 + p) / 2 or p / 2, of at least as many
# labels as may hold one wrong one, and no further down than where the counted precision is highest:
# a higher precision never gives more labels.


@dataclass(frozen=True)
class F1:
    """The largest F1 over all labels together."""


@dataclass(frozen=True)
class Precision:
    """As many labels as possible of which this share is right; ``alone``: of the best label of
    each text only.
    """

    share: float
    alone: bool = False

    def __post_init__(self) -> None:
        as_real(self.share, "precision", least=0, most=1)


Aim = F1 | Precision

NOTHING = np.inf  # a threshold that no label reaches


def find_threshold(aim: Aim, seen: CalibrationExamples, probabilities: Floats) -> float:
    """The threshold for an aim, from calibration examples and their probabilities (n × WIDTH,
    NaN for no label).
    """
    width = 1 if isinstance(aim, Precision) and aim.alone else probabilities.shape[1]
    flat = probabilities[:, :width].ravel()
    order = np.argsort(-flat, kind="stable")  # NaN last
    order = order[: np.count_nonzero(~np.isnan(flat))]
    falling = flat[order]
    hits = seen.hits[:, :width].ravel()[order].astype(np.float64)
    counts = np.arange(1, falling.size + 1)
    # ties stay together
    ends = np.append(falling[1:] < falling[:-1], np.ones(min(1, falling.size), dtype=np.bool_))
    if isinstance(aim, F1):
        f1 = np.where(ends, 2.0 * np.cumsum(hits) / (counts + int(seen.true.sum())), 0.0)
        return float(falling[f1.argmax()]) if f1.max(initial=0.0) > 0.0 else NOTHING

    def last_precise(right: Floats, more: float, n: int) -> int:
        """The last of the first n places down to which the precision holds with ``more`` wrong
        labels, or −1.
        """
        wrong = more + np.cumsum(1.0 - right)
        is_met = np.maximum(1.0, wrong) <= (1.0 - aim.share) * (counts + 1) + 1e-9
        return int(np.flatnonzero((is_met & ends)[:n]).max(initial=-1))

    at = last_precise(hits, 1.0, falling.size)
    if at < 0:
        wrong = np.where(ends, (1.0 + np.cumsum(1.0 - hits)) / (counts + 1), np.inf)
        surest = int(np.flatnonzero(wrong == wrong.min(initial=np.inf)).max(initial=-1))
        at = last_precise((hits + falling) / 2.0, 0.0, surest + 1)
    return float(falling[at]) if at >= 0 else NOTHING
