"""Words and a vector in one score, from the formulas: the tuned index's twin, with a dict of weights for vectors."""

import numpy as np

from tests.reference.tuned_index import SlowTunedIndex


class SlowTunedBoth(SlowTunedIndex):
    def __init__(self, n_labels, **settings):
        super().__init__(**settings)
        self.n_labels = n_labels
        self.weights = {}  # (g, c) -> u_gc
        self.v = []

    def learn_both(self, x, v, classes, first_pass=True, to_come=0, further=1):
        """x: (feature, value) of the words; v: those of the vector that are not 0."""
        self.v = v
        self.learn(x, classes, first_pass, to_come, further)
        for g, value in v:
            for c, e in self.said.error.items():
                if e != 0.0:
                    moved = self.weights.get((g, c), 0.0) + self.said.eta * value * e
                    self.weights[g, c] = float(np.float32(moved))

    def scores(self, x, v):
        self.v = v
        return self.retrieve(x)

    def retrieve(self, x):
        if not self.v:
            return super().retrieve(x)
        words, self.heard, scores = self.votes(x), set(), {}
        for c in range(self.n_labels):
            if c in words or self.bias.get(c, 0.0) != 0.0:
                total = words.get(c, 0.0)
                for g, value in self.v:
                    total += value * self.weights.get((g, c), 0.0)
                if total != 0.0:
                    self.heard.add(c)
                scores[c] = total + self.bias.get(c, 0.0)
        return scores

    def is_heard(self, c, scores):
        return c in self.heard if self.v else c in scores

    def say(self, x, classes, crossed=None, **pass_):
        self.said = super().say(x, classes, crossed, **pass_)
        if self.v:  # then a label has a bias from its first example on
            self.said.retrieved += [c for c in classes if c not in self.said.retrieved]
        return self.said
