"""Orders of labels learned from the formulas of shortlist/categories/label_ranking.py: dicts, all pairs, no speed."""

import numpy as np


def learn_by_mmp(stream, labels, n_features, loss):
    """(x, pairs) one after the other; gives the prototypes after each example."""
    w = {c: np.zeros(n_features) for c in labels}
    history = []
    for x, pairs in stream:
        scores = {c: w[c] @ x for c in labels}
        wrong = [(r, s) for r, s in pairs if scores[r] <= scores[s]]
        for r, s in wrong:
            share = {1: 1 / len(wrong), 2: 1.0, 3: 1 / len(pairs)}[loss]
            w[r] = w[r] + share * x
            w[s] = w[s] - share * x
        history.append({c: w[c].copy() for c in labels})
    return history


def learn_by_prank(stream, labels, n_features):
    """(x, order) one after the other; gives the prototypes after the last, and the thresholds."""
    k = len(labels)
    w = {c: np.zeros(n_features) for c in labels}
    b = [0.0] * (k - 1)
    for x, order in stream:
        for i, c in enumerate(order, 1):
            place = round(1 + (i - 1) * (k - 1) / (len(order) - 1)) if len(order) > 1 else (k + 1) // 2
            tau = []
            for r in range(1, k):
                y = 1 if r <= k - place else -1
                tau.append(y if (w[c] @ x - b[r - 1]) * y <= 0 else 0)
            w[c] = w[c] + sum(tau) * x
            b = [threshold - t for threshold, t in zip(b, tau, strict=True)]
    return w, b


def pairs_of(order):
    return [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
