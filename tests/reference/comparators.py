"""The comparators of paper 004, written from its text: one row and one class at a time."""

import math

import numpy as np

from tests.reference.feature_focus import SlowFeatureFocus


def slow_perceptron(X, sign, patience, generator, starts):
    """A Perceptron as a dict of weights; a feature that a mistake brings in begins at its start."""
    w = {}

    def score(x):
        return sum(w.get(f, 0.0) * v for f, v in enumerate(x) if v)

    fewest, in_vain = math.inf, 0
    while in_vain < patience:
        for i in generator.permutation(len(X)):
            if sign[i] * score(X[i]) <= 0:
                for f, v in enumerate(X[i]):
                    if v:
                        w[f] = w.get(f, starts[f]) + sign[i] * v
        errors = sum(sign[i] * score(X[i]) <= 0 for i in range(len(X)))
        if errors < fewest:
            fewest, in_vain = errors, 0
        else:
            in_vain += 1
    return np.array([w.get(f, 0.0) for f in range(X.shape[1])])


def slow_top_down(probability, children, p_min):
    """Figure 7 for one row: from the probability of each node among its siblings to the deepest
    candidates.
    """
    candidates = {}

    def descend(node, p):
        for child in children.get(node, []):
            below = p * probability(child)
            if below >= p_min:
                candidates[child] = below
                descend(child, below)

    descend(None, 1.0)
    return {
        node: p
        for node, p in candidates.items()
        if not any(c in candidates for c in children.get(node, []))
    }


class SlowUnweightedIndex(SlowFeatureFocus):
    """Corrects its index only when it misses a class or retrieves too many; committees learn
    what is retrieved.
    """

    def __init__(self, tolerance, min_weight, members=0, start=None):
        super().__init__(min_weight=min_weight, max_edges=10**9, rare=0)
        self.tolerance, self.members, self.start = tolerance, members, start
        self.w = {}  # (class, member) -> feature -> weight

    def retrieved(self, x):
        return {c for f, _ in x for c, _ in self.edges.get(f, [])}

    def score(self, x, c, m):
        return sum(self.w.get((c, m), {}).get(f, 0.0) * v for f, v in x)

    def committee_score(self, x, c):
        return sum(self.score(x, c, m) for m in range(self.members)) / self.members

    def learn(self, x, classes):
        retrieved = self.retrieved(x)
        for c in retrieved | set(classes):
            sign = 1 if c in classes else -1
            for m in range(self.members):
                if sign * self.score(x, c, m) <= 0:
                    w = self.w.setdefault((c, m), {})
                    for f, v in x:
                        w[f] = w.get(f, self.start(f, c, m)) + sign * v
        if set(classes) - retrieved or len(retrieved - set(classes)) > self.tolerance:
            for c in classes:
                for f, v in x:
                    self.update(f, c, v)
