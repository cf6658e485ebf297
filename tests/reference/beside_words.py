"""Vectors learned beside words, from the formulas: one example after the other, weights in float32 as they are kept."""

import numpy as np


def slow_beside_words(V, by_words, truth, alpha, n_labels, passes=10, kappa=0.04):
    """Weights and biases that vectors of unit length learn beside s′; an example whose truth is −1 is left out."""
    u, bias = np.zeros((V.shape[1], n_labels), dtype=np.float32), [0.0] * n_labels
    random, n = np.random.default_rng(0), len(V)
    to_come = further = (passes - 1) * n
    for number in range(passes):
        for i in random.permutation(n).tolist():
            eta = alpha
            if number > 0:
                eta = alpha * (0.5 * to_come / further)
                to_come -= 1
            if truth[i] < 0:
                continue
            votes = np.zeros(n_labels, dtype=np.float32)
            for f, x in enumerate(V[i]):
                votes = votes + np.float32(x) * u[f]
            scores = [
                (1.0 - alpha) * float(by_words[i, c]) + alpha * (bias[c] + float(votes[c])) for c in range(n_labels)
            ]
            q = [1.0 / ((1.0 + (max(scores) - s)) ** 2) ** 2 for s in scores]
            total = 0.0
            for one in q:  # one after the other: sum() is more exact in some versions of Python
                total += one
            errors = [(1.0 if c == truth[i] else 0.0) - q[c] / total for c in range(n_labels)]
            bias = [b + kappa * eta * e for b, e in zip(bias, errors, strict=True)]
            for f, x in enumerate(V[i]):
                u[f] += np.float32(eta * x) * np.array(errors, dtype=np.float32)
    return u, bias
