"""MMP, the per-topic Perceptron and Rocchio from the formulas of paper 001: whole vectors, all
pairs, no speed.
"""

import numpy as np


class SlowPrototypes:
    """Prototypes of known labels, and of an imagined label that is never relevant, with which
    new labels start.
    """

    def __init__(self, n_features, labels=(), margin=0.0):
        self.imagined = np.zeros(n_features)
        self.w = {c: np.zeros(n_features) for c in labels}
        self.margin = margin
        self.history = []  # the prototypes after each example
        self.lives = []  # (prototypes, how many examples they were there after)
        self.losses = []

    def meet(self, y):
        for c in y:
            self.w.setdefault(c, self.imagined.copy())

    def others(self, y, crossed):
        """The labels known that are not relevant; of an example that was judged in part, those
        crossed out.
        """
        return [s for s in self.w if s not in y and (crossed is None or s in crossed)]

    def errors(self, x, y, margin, crossed=None):
        """E, the pairs (r, s) of a relevant and another label in the wrong order."""
        return [
            (r, s)
            for r in y
            for s in self.others(y, crossed)
            if self.w[r] @ x - self.w[s] @ x <= margin
        ]

    def note_losses(self, x, y, crossed=None):
        others = len(self.others(y, crossed))
        errors = len(self.errors(x, y, 0.0, crossed))
        self.losses.append(
            [float(errors > 0), errors, errors / (len(y) * others) if y and others else 0.0]
        )

    def note_hypothesis(self, changed):
        now = {c: w.copy() for c, w in self.w.items()} | {None: self.imagined.copy()}
        self.history.append(now)
        if changed or not self.lives:
            self.lives.append([now, 0])
        self.lives[-1][1] += 1

    def averaged(self):
        """The mean of the prototypes after each example; a label not yet there counts as the
        imagined one.
        """
        return {c: np.mean([old.get(c, old[None]) for old in self.history], axis=0) for c in self.w}

    def voted(self, x):
        """Each set of prototypes votes, as often as it lived, with the share of other labels
        below each label.
        """
        total = dict.fromkeys(self.w, 0.0)
        for old, life in self.lives:
            s = {c: old.get(c, old[None]) @ x for c in self.w}
            for c in self.w:
                below = sum(1.0 if s[c] > s[d] else 0.5 for d in self.w if d != c and s[c] >= s[d])
                total[c] += life * below
        return {c: total[c] / (len(self.history) * max(len(self.w) - 1, 1)) for c in self.w}


class SlowMMP(SlowPrototypes):
    def __init__(self, n_features, loss, labels=(), margin=0.0, C=None):
        super().__init__(n_features, labels, margin)
        self.loss, self.C = loss, C

    def learn(self, x, y, crossed=None):
        """crossed: the labels that were crossed out of an example that was judged in part."""
        self.meet(y)
        self.note_losses(x, y, crossed)
        self.crossed = crossed
        E = self.errors(x, y, self.margin, crossed)
        if E and self.C is None:
            self.move(x, y, E)
        elif E:
            self.move_worst_pair(x, y)
        self.note_hypothesis(changed=bool(E))

    def move(self, x, y, E):
        c = {1: len(E), 2: 1, 3: len(y) * len(self.others(y, self.crossed)), "AP": len(E)}[
            self.loss
        ]
        if self.loss == "AP":
            c = c / self.precision_lost(y, E)
        imagined = (
            0
            if self.crossed is not None
            else sum(self.w[r] @ x - self.imagined @ x <= self.margin for r in y)
        )
        for r in y:
            n_r = sum(pair[0] == r for pair in E)
            self.w[r] = self.w[r] + n_r / c * x
        for s in self.w:
            if s not in y:
                n_s = sum(pair[1] == s for pair in E)
                self.w[s] = self.w[s] - n_s / c * x
        self.imagined = self.imagined - imagined / c * x

    def precision_lost(self, y, E):
        """1 − AP of the relevant labels y, the best first, where those that err against one
        stand above it.
        """
        above = sorted(sum(pair[0] == r for pair in E) for r in y)
        return 1 - sum(i / (i + n) for i, n in enumerate(above, 1)) / len(above)

    def move_worst_pair(self, x, y):
        score = {c: w @ x for c, w in self.w.items()}
        r = min(sorted(y), key=lambda c: score[c])
        s = max(sorted(self.others(y, self.crossed)), key=lambda c: score[c])
        if x @ x > 0:
            tau = min(self.C, (self.margin - score[r] + score[s]) / (2 * x @ x))
            self.w[r] = self.w[r] + tau * x
            self.w[s] = self.w[s] - tau * x


class SlowTopicPerceptron(SlowPrototypes):
    def learn(self, x, y, crossed=None):
        self.meet(y)
        self.note_losses(x, y, crossed)
        changed = False
        for c in [*self.w, None] if crossed is None else [*y, *self.others(y, crossed)]:
            w = self.imagined if c is None else self.w[c]
            label = 1 if c in y else -1
            if label * (w @ x) <= 0:
                changed = True
                if c is None:
                    self.imagined = w + label * x
                else:
                    self.w[c] = w + label * x
        self.note_hypothesis(changed)


def slow_rocchio(X, Y, labels, beta=16.0, gamma=4.0):
    """label -> its prototype."""
    prototypes = {}
    for r in labels:
        inside = np.array([x for x, y in zip(X, Y, strict=True) if r in y])
        outside = np.array([x for x, y in zip(X, Y, strict=True) if r not in y])
        w = beta * inside.mean(axis=0)
        if len(outside):
            w = w - gamma * outside.mean(axis=0)
        w = np.maximum(0, w)
        prototypes[r] = w / np.linalg.norm(w) if w.any() else w
    return prototypes
