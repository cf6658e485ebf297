"""Slow, obvious twins of the measures, written from the formulas: one instance at a time, with sets
and full lists.

``ranking`` is a list of (item, score), best first; ``y`` the set of relevant items; ``Y`` the set
of all items. Items that are not in the ranking share a score below all others.
"""

import math
from itertools import product


def rank(ranking, r):
    items = [item for item, _ in ranking]
    return items.index(r) + 1 if r in items else math.inf


def score(ranking, r):
    return dict(ranking).get(r, -math.inf)


def among_first(ranking, y, Y, k):
    return float(any(item in y for item, _ in ranking[:k]))


def reciprocal_rank(ranking, y, Y):
    for place, (item, _) in enumerate(ranking, start=1):
        if item in y:
            return 1 / place
    return 0.0


def precision(ranking, y, Y, k):
    return sum(item in y for item, _ in ranking[:k]) / k


def recall(ranking, y, Y, k):
    return sum(item in y for item, _ in ranking[:k]) / len(y)


def one_error(ranking, y, Y):
    return float(not ranking or ranking[0][0] not in y)


def average_precision(ranking, y, Y):
    total = 0.0
    for r in y:
        if rank(ranking, r) < math.inf:
            total += sum(rank(ranking, other) <= rank(ranking, r) for other in y) / rank(ranking, r)
    return total / len(y)


def dcg(gains, k):
    return sum(
        gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1) if place <= k
    )


def ndcg(ranking, y, Y, k=math.inf, gain=None):
    gain = gain or dict.fromkeys(y, 1.0)
    return dcg([gain.get(item, 0.0) for item, _ in ranking], k) / dcg(
        sorted(gain.values(), reverse=True), k
    )


def error_set(ranking, y, Y):
    return [(r, s) for r, s in product(y, Y - y) if score(ranking, r) <= score(ranking, s)]


def loss1(ranking, y, Y):
    return float(len(error_set(ranking, y, Y)) > 0)


def loss2(ranking, y, Y):
    return float(len(error_set(ranking, y, Y)))


def loss3(ranking, y, Y):
    return len(error_set(ranking, y, Y)) / (len(y) * len(Y - y)) if Y - y else 0.0


def coverage(ranking, y, Y):
    return float(max(min(rank(ranking, r), len(Y)) for r in y) - 1)


def roc_area(ranking, y, Y):
    if not Y - y:
        return math.nan
    right = 0.0
    for r, s in product(y, Y - y):
        one, other = score(ranking, r), score(ranking, s)
        right += 1.0 if one > other else 0.5 if one == other else 0.0
    return right / (len(y) * len(Y - y))


def best_accuracy(ranking, y, Y):
    items = [item for item, _ in ranking]
    return max(
        sum((place < cut) == (item in y) for place, item in enumerate(items)) / len(items)
        for cut in range(len(items) + 1)
    )


def max_f1(rankings, ys):
    """F1 of average precision at r and average recall at r, the largest over r."""
    best = 0.0
    for r in range(1, max(map(len, rankings)) + 1):
        p = sum(
            precision(ranking, y, None, r) for ranking, y in zip(rankings, ys, strict=True)
        ) / len(ys)
        q = sum(recall(ranking, y, None, r) for ranking, y in zip(rankings, ys, strict=True)) / len(
            ys
        )
        best = max(best, 2 * p * q / (p + q) if p + q else 0.0)
    return best


def assigned(ranking, y, k=None, t=None):
    """The labels that are assigned: the first k, those above t, or as many as are true."""
    if t is not None:
        return {item for item, s in ranking if s > t}
    return {item for item, _ in ranking[: len(y) if k is None else k]}


def label_counts(rankings, ys, **cut):
    """label -> (true, assigned, correct), for labels that are true or assigned somewhere."""
    counts = {}
    for ranking, y in zip(rankings, ys, strict=True):
        given = assigned(ranking, y, **cut)
        for label in y | given:
            true, have, correct = counts.get(label, (0, 0, 0))
            counts[label] = (
                true + (label in y),
                have + (label in given),
                correct + (label in y & given),
            )
    return counts


def micro_f1(rankings, ys, **cut):
    counts = label_counts(rankings, ys, **cut).values()
    if not counts:
        return math.nan
    return (
        2
        * sum(c for _, _, c in counts)
        / (sum(t for t, _, _ in counts) + sum(a for _, a, _ in counts))
    )


def macro_f1(rankings, ys, **cut):
    counts = label_counts(rankings, ys, **cut).values()
    return sum(2 * c / (t + a) for t, a, c in counts) / len(counts) if counts else math.nan


def inverse_propensity(count, n_examples, A, B):
    C = (math.log(n_examples) - 1) * (B + 1) ** A
    return 1 + C * math.exp(-A * math.log(count + B))


def psp(rankings, ys, weight, k):
    reached = sum(
        weight(item)
        for ranking, y in zip(rankings, ys, strict=True)
        for item, _ in ranking[:k]
        if item in y
    )
    return reached / sum(sum(sorted(map(weight, y), reverse=True)[:k]) for y in ys)


def psndcg(rankings, ys, weight, k):
    reached = best = 0.0
    for ranking, y in zip(rankings, ys, strict=True):
        norm = dcg([1.0] * len(y), k)
        reached += dcg([weight(item) if item in y else 0.0 for item, _ in ranking], k) / norm
        best += dcg(sorted(map(weight, y), reverse=True), k) / norm
    return reached / best


def precision_recall(rankings, ys, levels):
    """Interpolated precision: the largest precision at any rank whose recall is at least the
    level.
    """
    curve = []
    for level in levels:
        total = 0.0
        for ranking, y in zip(rankings, ys, strict=True):
            ranks = range(1, len(ranking) + 1)
            reached = [r for r in ranks if recall(ranking, y, None, r) >= level - 1e-12]
            total += max((precision(ranking, y, None, r) for r in reached), default=0.0)
        curve.append(total / len(ys))
    return curve


BY_NAME = {
    "R1": lambda *a: among_first(*a, k=1),
    "R3": lambda *a: among_first(*a, k=3),
    "MRR": reciprocal_rank,
    "P@1": lambda *a: precision(*a, k=1),
    "P@3": lambda *a: precision(*a, k=3),
    "recall@1": lambda *a: recall(*a, k=1),
    "recall@3": lambda *a: recall(*a, k=3),
    "one-error": one_error,
    "AP": average_precision,
    "nDCG": ndcg,
    "nDCG@1": lambda *a: ndcg(*a, k=1),
    "nDCG@3": lambda *a: ndcg(*a, k=3),
    "loss1": loss1,
    "loss2": loss2,
    "loss3": loss3,
    "coverage": coverage,
    "ROC": roc_area,
}
