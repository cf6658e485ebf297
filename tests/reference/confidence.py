"""How sure a ranking is, from the formulas: one ranking at a time, plain lists, every threshold
tried.
"""

import math
from fractions import Fraction


def features(scores, place):
    """x_j of a ranking, ``place`` from 0."""
    if place == 0:
        second = scores[1] if len(scores) > 1 else min(0.0, scores[0])
        together = sum(max(0.0, score) for score in scores[:8])
        share = scores[0] / together if together > 0 else 1.0
        return [1.0, scores[0], root(scores[0]), scores[0] - second, share]
    return [
        1.0,
        scores[place],
        root(scores[place]),
        scores[place - 1] - scores[place],
        scores[0] - scores[place],
    ]


def root(score):
    return math.sqrt(max(0.0, score))


def probability(x, weights, centre, scale, furthest):
    total = weights[0]
    for a in range(1, len(x)):
        total += weights[a] * min(furthest, max(-furthest, (x[a] - centre[a]) * scale[a]))
    return 1 / (1 + math.exp(-total))


def probabilities(scores, curves, width, furthest):
    """Those of all labels of a ranking."""
    found = []
    for place, score in enumerate(scores):
        x, at = features(scores, place), min(place, width - 1)
        if place >= width:
            x = [1.0, score, root(score), curves.centre[at][3], scores[0] - score]
        p = probability(x, curves.weights[at], curves.centre[at], curves.scale[at], furthest)
        found.append(
            min([p, *found[-1:]]) if place < width else min(found[at], p * width / (place + 1))
        )
    return found


def slope(X, hits, weights, penalty):
    """The slope of the penalised likelihood, 0 where it is largest."""
    found = [-penalty * w for w in weights]
    for x, hit in zip(X, hits, strict=True):
        p = 1 / (1 + math.exp(-sum(w * v for w, v in zip(weights, x, strict=True))))
        found = [s + (hit - p) * v for s, v in zip(found, x, strict=True)]
    return found


def limit(strangeness, alpha):
    """The ⌈(n + 1)(1 − α)⌉-th smallest; ``alpha`` is a Fraction."""
    at = math.ceil((len(strangeness) + 1) * (1 - Fraction(alpha)))
    return sorted(strangeness)[max(1, at) - 1] if at <= len(strangeness) else math.inf


def truth(ids, true, width, never):
    """What is kept of one ranking: hits, how many true labels are behind them, and the deepest
    place.
    """
    hits = [int(label in true) for label in ids[:width]]
    beyond = sum(label not in ids[:width] for label in true)
    places = [ids.index(label) + 1 if label in ids else never for label in true]
    return hits, beyond, max(places, default=0)


def precise_threshold(probabilities, hits, share):
    """The lowest threshold above which one wrong label more than there were would leave this share
    right.

    Where there is none: above which this share is right midway, of at least as many labels as may
    hold one wrong one, and no lower than where one wrong label more than there were is the least
    share.
    """

    def chosen(worth, threshold):
        return [own for p, own in zip(probabilities, worth, strict=True) if p >= threshold]

    def share_wrong(threshold):
        counted = chosen(hits, threshold)
        return Fraction(counted.count(0) + 1, len(counted) + 1)

    tries = set(probabilities)
    found = [t for t in tries if share_wrong(t) <= 1 - share + 1e-9]
    if not found and tries:
        surest = min(t for t in tries if share_wrong(t) == min(map(share_wrong, tries)))
        for t in (t for t in tries if t >= surest):
            right = chosen(midway(hits, probabilities), t)
            if max(1, len(right) - sum(right)) <= (1 - share) * (len(right) + 1) + 1e-9:
                found.append(t)
    return min(found, default=math.inf)


def f1(probabilities, hits, true, threshold):
    """F1 of the labels that are at least so probable, of which so many are true in all."""
    chosen = [hit for p, hit in zip(probabilities, hits, strict=True) if p >= threshold]
    return 2 * sum(chosen) / (len(chosen) + true)


def midway(hits, probabilities):
    """How much of each label is right: half by whether it was, half by how likely it was."""
    return [0.5 * hit + 0.5 * p for hit, p in zip(hits, probabilities, strict=True)]


def contradiction(expected, hits, stretches, alarm):
    """The stretch of the last examples with the largest z above ``alarm``; 0 where there is
    none.
    """
    keep = 0
    for s in stretches:
        if s <= len(hits) - stretches[0]:
            p, came = expected[-s:], hits[-s:]
            spread = sum(q * (1 - q) for q in p)
            z = abs(sum(came) - sum(p)) / math.sqrt(1 + (1 + s / (len(hits) - s)) * spread)
            if z > alarm:
                keep, alarm = s, z
    return keep


# Spot checks.


def least_mean(outcomes, bets, error):
    """The least mean that bets on these outcomes do not refute, by trying means."""

    def is_refuted(mean):
        won = sum(
            math.prod(math.exp(bet * x) / (1 - mean + mean * math.exp(bet)) for x in outcomes)
            for bet in bets
        )
        return won / len(bets) >= 1 / error

    low, high = 0.0, sum(outcomes) / len(outcomes)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if is_refuted(middle) else (low, middle)
    return low


def pauses(outcomes, target, alarm=1000, resume=500):
    """Whether deciding is paused after each outcome: sums over all moments at which bets began."""
    against = [-0.5 * 8 ** (i / 3) for i in range(4)]
    resuming = [0.1 * 80 ** (i / 15) for i in range(16)]
    paused, since, answers = False, [], []
    for outcome in outcomes:
        since.append(outcome)
        bets, mean = (resuming, 2 * target - 1) if paused else (against, target)
        total = 0.0
        for bet in bets:
            for start in range(len(since)):
                total += math.prod(
                    math.exp(bet * x) / (1 - mean + mean * math.exp(bet)) for x in since[start:]
                )
        if total / len(bets) >= (resume if paused else alarm):
            paused, since = not paused, []
        answers.append(paused)
    return answers
