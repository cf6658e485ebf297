"""Scores -> probabilities: at each place of a ranking, a logistic function of the score and of its distances.

    p_j = 1 / (1 + exp(−w_j · x_j)),
    x_1 = (1, s_1, √s_1, s_1 − s_2, s_1 / (s_1 + … + s_8)),    x_j = (1, s_j, √s_j, s_{j−1} − s_j, s_1 − s_j),

where only scores above 0 are summed, and others have the root 0. Features are centred and scaled, and cut at four
deviations: nobody knows what lies further out. The weights are the most likely ones for the honest examples, with a
small penalty (Platt 1999, place by place). Behind the first WIDTH places, the last of them speaks, of the score and of
its distance from the best alone, and fainter by WIDTH / j. Trials on ten collections found isotonic curves, further
features (words known, examples of the label) and finer functions no better by more than chance. A square in place of
the root is a little worse on most of them; with neither, the best label's error is up to 2 points larger. Of several
true labels the second is near the first; that none but a few have votes tells that it is sure nevertheless.

To the honest examples four are added for which nothing speaks, two among others of the kind and two alone, and which
are wrong. Or a model that has not been wrong yet would be as sure of a tie, or of a label with hardly a vote, as of
anything else.

Along those places a probability never rises: each is at most the one before it. Only sums, products, quotients and
roots are used, in a fixed order, and an exponential made of them: results are equal on all machines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats
from shortlist.files.store import State
from shortlist.models.confidence.window import WIDTH, Seen

FEATURES = 5
TOGETHER = 8  # scores on which the probability of the best label depends
UNSPOKEN_FOR = (1.0 / TOGETHER, 1.0 / TOGETHER, 1.0, 1.0)  # shares of best labels for which nothing speaks
FURTHEST = 4.0  # deviations
PENALTY = 0.1  # as so much of one example
LONGEST_STEP, STEPS, CLOSE = 2.0, 60, 1e-2  # of Newton's method: after a step of CLOSE, about its square is missing
TOO_STEEP = 0.5  # of the slope along a step, falling where it ends: it went too far
ENOUGH = 4096  # examples to draw curves from, the newest
HALVINGS = 10  # of the argument of an exponential, whose value is then squared as often
LARGEST = 40.0  # argument of an exponential


class Curves(NamedTuple):
    """The curve of each place: its weights, and centre and scale (1 / deviation) of its features, WIDTH × FEATURES."""

    weights: Floats
    centre: Floats
    scale: Floats

    @classmethod
    def flat(cls) -> Curves:
        shape = (WIDTH, FEATURES)
        return cls(np.zeros(shape), np.zeros(shape), np.ones(shape))

    def copy(self) -> Curves:
        return Curves(*(array.copy() for array in self))

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


def exponential(x: Floats) -> Floats:
    """e^x for |x| ≤ LARGEST, to eight digits: Taylor's series where it is short, squared again and again."""
    y = x / (1 << HALVINGS)
    value: Floats = 1.0 + y * (1.0 + y * (0.5 + y * (1 / 6 + y * (1 / 24 + y * (1 / 120)))))
    for _ in range(HALVINGS):
        value *= value
    return value


def logistic(x: Floats) -> Floats:
    return 1.0 / (1.0 + exponential((-x).clip(-LARGEST, LARGEST)))


def describe(scores: Floats, k: int) -> Floats:
    """The features but the first, which is 1, of the first k ≤ WIDTH places: n × k × 4, NaN where there is no label."""
    own = scores[:, :k]
    x = np.empty((*own.shape, FEATURES - 1))
    x[:, :, 0], x[:, :, 1] = own, np.sqrt(np.maximum(0.0, own))
    x[:, 1:, 2], x[:, 1:, 3] = own[:, :-1] - own[:, 1:], own[:, :1] - own[:, 1:]
    if k:
        best, together = own[:, 0], np.fmax(0.0, scores[:, :TOGETHER]).sum(axis=1)
        second = scores[:, 1] if scores.shape[1] > 1 else np.full_like(best, np.nan)
        x[:, 0, 2] = best - np.where(np.isnan(second), np.minimum(0.0, best), second)
        x[:, 0, 3] = np.where(together > 0.0, best / np.where(together > 0.0, together, 1.0), 1.0)
    return x


def scaled(x: Floats, centre: Floats, scale: Floats) -> Floats:
    """Features centred, scaled and cut."""
    return ((x - centre) * scale).clip(-FURTHEST, FURTHEST)


def chances(x: Floats, places: slice, curves: Curves) -> Floats:
    """What the curves of some places make of their features (n × places × 4)."""
    weights, centre, scale = (array[places] for array in curves)
    return logistic(weights[:, 0] + (weights[:, 1:] * scaled(x, centre[:, 1:], scale[:, 1:])).sum(axis=2))


def probabilities(scores: Floats, k: int, curves: Curves) -> Floats:
    """The probabilities of the first k labels of rankings (scores float64[n, at least k]: labels first, then NaN).

    NaN where there is no label.
    """
    near = min(k, WIDTH)
    with np.errstate(over="ignore"):  # what is beyond all numbers is cut
        found = np.minimum.accumulate(chances(describe(scores, near), slice(near), curves), axis=1)
        if k <= WIDTH:
            return found
        deep = deep_chances(scores[:, WIDTH:k], scores[:, :1], np.arange(WIDTH, k), curves)
    return np.hstack([found, np.minimum(found[:, -1:], deep)])


def deep_chances(scores: Floats, best: Floats, places: NDArray[np.integer], curves: Curves) -> Floats:
    """The probabilities at places (from 0) from WIDTH on, of labels with these scores (n × places) and these best."""
    x = np.empty((*scores.shape, FEATURES - 1))
    x[:, :, 0], x[:, :, 1] = scores, np.sqrt(np.maximum(0.0, scores))
    x[:, :, 2], x[:, :, 3] = curves.centre[-1, 3], best - scores
    return chances(x, slice(WIDTH - 1, WIDTH), curves) * WIDTH / (places + 1)


def fit_curves(seen: Seen, start: Curves) -> Curves:
    """The most likely curves for honest examples, searched from others."""
    curves = start.copy()
    weights, centre, scale = curves
    features = describe(seen.scores_or_nan(), WIDTH)
    for place in range(WIDTH):
        there = seen.ids[:, place] >= 0
        if not there.any():
            if place > 0:
                for array in curves:
                    array[place] = array[place - 1]
            continue
        x, hits = features[there, place], seen.hits[there, place].astype(np.float64)
        centre[place, 1:] = x.sum(axis=0) / len(x)
        deviation = np.sqrt(np.square(x - centre[place, 1:]).sum(axis=0) / len(x))
        varied = (deviation > 1e-12) & (deviation < np.inf)
        scale[place, 1:] = 1.0 / np.where(varied, deviation, 1.0)
        if place == 0:
            x = np.vstack([x, [[0.0, 0.0, 0.0, share] for share in UNSPOKEN_FOR]])
            hits = np.append(hits, np.zeros(len(UNSPOKEN_FOR)))
        elif not weights[place].any():  # the place before is a better guess than nothing
            weights[place] = weights[place - 1]
        x = scaled(x, centre[place, 1:], scale[place, 1:])
        most_likely(np.hstack([np.ones((len(x), 1)), x]), hits, weights[place])
    return curves


def most_likely(x: Floats, hits: Floats, weights: Floats) -> None:
    """Newton's method from the weights as they are: those that make the hits (float64[n], 0 or 1) most likely.

    A step that ends where it goes down again, half as steeply as it began, went too far and is halved: from weights
    that are sure of everything steps would otherwise go back and forth for ever.
    """
    x = np.ascontiguousarray(x.T)
    taken, rise = np.zeros(FEATURES), 0.0  # the last step, and the slope along it where it began
    for _ in range(STEPS):
        p = logistic((weights[:, None] * x).sum(axis=0))
        slope = ((hits - p) * x).sum(axis=1) - PENALTY * weights
        if (slope * taken).sum() < -TOO_STEEP * rise:
            taken, rise = 0.5 * taken, 0.5 * rise
            weights -= taken
            continue
        doubted = p * (1.0 - p) * x
        bend = (doubted[:, None] * x).sum(axis=2) + PENALTY * np.eye(FEATURES)
        taken = solve(bend, slope)
        largest = np.abs(taken).max()
        taken *= min(1.0, LONGEST_STEP / max(largest, LONGEST_STEP))
        rise = (slope * taken).sum()
        weights += taken
        if largest < CLOSE:
            break


def solve(matrix: Floats, vector: Floats) -> Floats:
    """The y of matrix · y = vector, by Gauss and Jordan: a library rounds in a way that differs between machines."""
    both = np.column_stack([matrix, vector])
    for a in range(len(both)):
        both[a] /= both[a, a]
        others = np.arange(len(both)) != a
        both[others] -= both[others, a, None] * both[a]
    return both[:, -1]


# How far probabilities are from what came true: bins for a reliability diagram, and the expected calibration error.


BINS = 15


class Bin(NamedTuple):
    """Labels of nearly the same probability: the mean of it, the share that came true, and how many there are."""

    probability: float
    right: float
    n: int


def reliability(probabilities: Floats, hits: NDArray[np.bool_], bins: int = BINS) -> list[Bin]:
    """The bins of equal width in which there is anything; probabilities that are NaN do not count."""
    known = ~np.isnan(probabilities)
    p, right = probabilities[known], hits[known]
    which = np.minimum((p * bins).astype(np.int64), bins - 1)
    groups = (which == b for b in range(bins))
    return [Bin(float(p[own].mean()), float(right[own].mean()), int(own.sum())) for own in groups if own.any()]


def calibration_error(probabilities: Floats, hits: NDArray[np.bool_], bins: int = BINS) -> float:
    """Σ_b n_b/n · |right_b − probability_b|, the expected calibration error; NaN where there is nothing."""
    found = reliability(probabilities, hits, bins)
    n = sum(own.n for own in found)
    return sum(own.n * abs(own.right - own.probability) for own in found) / n if n else np.nan
