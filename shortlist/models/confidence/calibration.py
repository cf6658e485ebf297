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

from shortlist.arrays.kernels import Floats, Longs, kernel, step
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


Described = tuple[float, float, float, float]  # the features of a place but the first, which is 1


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


@step
def exponential(x: float) -> float:
    """e^x for |x| ≤ LARGEST, to eight digits: Taylor's series where it is short, squared again and again."""
    y = x / (1 << HALVINGS)
    value = 1.0 + y * (1.0 + y * (0.5 + y * (1 / 6 + y * (1 / 24 + y * (1 / 120)))))
    for _ in range(HALVINGS):
        value *= value
    return value


@step
def logistic(x: float) -> float:
    return 1.0 / (1.0 + exponential(-min(LARGEST, max(-LARGEST, x))))


@step
def describe(scores: Floats, n: int, j: int) -> Described:
    """The features of place j (from 0, below WIDTH) in a ranking of n labels, before they are centred.

    Of a longer ranking it is enough to know that n is at least TOGETHER.
    """
    score = np.float64(scores[j])
    root = np.sqrt(max(0.0, score))
    if j > 0:
        return score, root, scores[j - 1] - score, scores[0] - score
    together = 0.0
    for a in range(min(n, TOGETHER)):
        together += max(0.0, scores[a])
    margin = score - (scores[1] if n > 1 else min(0.0, score))
    return score, root, margin, score / together if together > 0.0 else 1.0


@step
def describe_deep(score: float, best: float, curves: Curves) -> Described:
    """The features of a place from WIDTH on."""
    return score, np.sqrt(max(0.0, score)), curves.centre[WIDTH - 1, 3], best - score


@step
def scaled(value: float, centre: float, scale: float) -> float:
    """A feature centred, scaled and cut. Compilers make no jumps of it, as they do of ``min`` and ``max``."""
    z = (value - centre) * scale
    z = z if z < FURTHEST else FURTHEST
    return z if z > -FURTHEST else -FURTHEST


@step
def log_odds(x: Described, place: int, curves: Curves) -> float:
    """What a curve makes of these features at a place (from 0, below WIDTH): the logarithm of the odds."""
    weights, centre, scale = curves.weights, curves.centre, curves.scale
    total = weights[place, 0]
    for a in range(1, FEATURES):
        total += weights[place, a] * scaled(x[a - 1], centre[place, a], scale[place, a])
    return total


@step
def chance(x: Described, place: int, curves: Curves) -> float:
    """The probability at a place (from 0, below WIDTH) with these features."""
    return logistic(log_odds(x, place, curves))


@step
def deep_chance(score: float, best: float, place: int, curves: Curves) -> float:
    """The probability at a place (from 0) from WIDTH on."""
    return chance(describe_deep(score, best, curves), WIDTH - 1, curves) * WIDTH / (place + 1)


@kernel
def probabilities(scores: Floats, k: int, weights: Floats, centre: Floats, scale: Floats) -> Floats:
    """The probabilities of the first k labels of rankings (scores float64[n, at least k]: labels first, then NaN).

    NaN where there is no label. One call does it all, and takes curves as three arrays, as Numba unpacks a tuple of
    them slowly: to rank one text takes no longer than a few dozen calls of NumPy.
    """
    found = np.empty((scores.shape[0], k))
    fill_log_odds(scores, Curves(weights, centre, scale), found)
    flat = found.reshape(-1)
    for a in range(flat.size):  # a loop of its own: processors work out several at a time
        flat[a] = logistic(flat[a])
    let_fall(scores, found)
    return found


@step
def fill_log_odds(scores: Floats, curves: Curves, found: Floats) -> None:
    """Write what curves make of the first labels of rankings into ``found`` (n × k), 0 where there is no label."""
    (n, width), k = scores.shape, found.shape[1]
    for i in range(n):
        length = 0
        while length < width and not np.isnan(scores[i, length]):
            length += 1
        for j in range(k):
            if j >= length:
                found[i, j] = 0.0
            elif j < WIDTH:
                found[i, j] = log_odds(describe(scores[i], length, j), j, curves)
            else:
                found[i, j] = log_odds(describe_deep(scores[i, j], scores[i, 0], curves), WIDTH - 1, curves)


@step
def let_fall(scores: Floats, found: Floats) -> None:
    """Make probabilities (n × k) of what curves say place by place: none rises, deep ones are fainter, NaN is none."""
    n, k = found.shape
    for i in range(n):
        for j in range(k):
            if np.isnan(scores[i, j]):
                found[i, j] = np.nan
            elif j >= WIDTH:
                found[i, j] = min(found[i, WIDTH - 1], found[i, j] * WIDTH / (j + 1))
            elif j > 0:
                found[i, j] = min(found[i, j - 1], found[i, j])


@kernel
def kept(seen: Seen, i: int) -> int:
    """How many labels of example i are kept."""
    n = 0
    while n < WIDTH and seen.ids[i, n] >= 0:
        n += 1
    return n


@kernel
def fit_curves(seen: Seen, rows: Longs, curves: Curves) -> None:
    """Write the most likely curves for the examples at ``rows``."""
    x = np.empty((rows.size + len(UNSPOKEN_FOR), FEATURES))
    hits = np.empty(rows.size + len(UNSPOKEN_FOR))
    for place in range(WIDTH):
        n = 0
        for i in rows:
            if seen.ids[i, place] >= 0:
                x[n, 0] = 1.0
                x[n, 1], x[n, 2], x[n, 3], x[n, 4] = describe(seen.scores[i], kept(seen, i), place)
                hits[n] = seen.hits[i, place]
                n += 1
        if n > 0:
            centre_and_scale(x[:n], curves.centre[place], curves.scale[place])
            if place == 0:
                for share in UNSPOKEN_FOR:
                    hits[n] = 0.0
                    describe_nothing(x[n], share, curves.centre[0], curves.scale[0])
                    n += 1
            if place > 0 and not curves.weights[place].any():  # the place before is a better guess than nothing
                curves.weights[place] = curves.weights[place - 1]
            most_likely(x[:n], hits[:n], curves.weights[place])
        elif place > 0:
            curves.weights[place] = curves.weights[place - 1]
            curves.centre[place] = curves.centre[place - 1]
            curves.scale[place] = curves.scale[place - 1]


@kernel
def describe_nothing(x: Floats, share: float, centre: Floats, scale: Floats) -> None:
    """The features of a best label for which nothing speaks, with a share of the scores, centred and scaled."""
    x[0], x[1], x[2], x[3], x[4] = 1.0, 0.0, 0.0, 0.0, share
    for a in range(1, FEATURES):
        x[a] = scaled(x[a], centre[a], scale[a])


@kernel
def centre_and_scale(x: Floats, centre: Floats, scale: Floats) -> None:
    """Centre and scale the features of x (n × FEATURES, in place) but the first, which is 1."""
    n = x.shape[0]
    centre[0], scale[0] = 0.0, 1.0
    for a in range(1, FEATURES):
        total, square = 0.0, 0.0
        for i in range(n):
            total += x[i, a]
        centre[a] = total / n
        for i in range(n):
            square += (x[i, a] - centre[a]) ** 2
        deviation = np.sqrt(square / n)
        scale[a] = 1.0 / deviation if 1e-12 < deviation < np.inf else 1.0
        for i in range(n):
            x[i, a] = scaled(x[i, a], centre[a], scale[a])


@kernel
def most_likely(x: Floats, hits: Floats, weights: Floats) -> None:
    """Newton's method from the weights as they are: those that make the hits (float64[n], 0 or 1) most likely.

    A step that ends where it goes down again, half as steeply as it began, went too far and is halved: from weights
    that are sure of everything steps would otherwise go back and forth for ever.
    """
    n = x.shape[0]
    slope, bend, p = np.empty(FEATURES), np.empty((FEATURES, FEATURES)), np.empty(n)
    taken, rise = np.zeros(FEATURES), 0.0  # the last step, and the slope along it where it began
    for _ in range(STEPS):
        for i in range(n):
            p[i] = 0.0
            for a in range(FEATURES):
                p[i] += weights[a] * x[i, a]
        for i in range(n):  # a loop of its own: processors work out several at a time
            p[i] = logistic(p[i])
        for a in range(FEATURES):
            slope[a] = -PENALTY * weights[a]
            for b in range(FEATURES):
                bend[a, b] = PENALTY if a == b else 0.0
        for i in range(n):
            missed, doubt = hits[i] - p[i], p[i] * (1.0 - p[i])
            for a in range(FEATURES):
                slope[a] += missed * x[i, a]
                doubted = doubt * x[i, a]
                for b in range(a + 1):
                    bend[a, b] += doubted * x[i, b]
        if along(slope, taken) < -TOO_STEEP * rise:
            taken *= 0.5
            rise *= 0.5
            weights -= taken
            continue
        taken[:] = slope
        solve(bend, taken)
        largest = 0.0
        for a in range(FEATURES):
            largest = max(largest, abs(taken[a]))
        taken *= min(1.0, LONGEST_STEP / max(largest, LONGEST_STEP))
        rise = along(slope, taken)
        weights += taken
        if largest < CLOSE:
            break


@step
def along(slope: Floats, taken: Floats) -> float:
    """How steeply it rises in the direction of a step, times its length."""
    total = 0.0
    for a in range(FEATURES):
        total += slope[a] * taken[a]
    return total


@kernel
def solve(matrix: Floats, vector: Floats) -> None:
    """Solve matrix · y = vector by Cholesky's method, y in place of the vector; the lower half is overwritten."""
    n = vector.size
    for a in range(n):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            matrix[a, b] = np.sqrt(total) if a == b else total / matrix[b, b]
    for a in range(n):
        for c in range(a):
            vector[a] -= matrix[a, c] * vector[c]
        vector[a] /= matrix[a, a]
    for a in range(n - 1, -1, -1):
        for c in range(a + 1, n):
            vector[a] -= matrix[c, a] * vector[c]
        vector[a] /= matrix[a, a]


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
