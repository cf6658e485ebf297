"""Count, then tune, from the formulas: Feature-Focus's twin with dicts of corrections and biases."""

import numpy as np

from tests.reference.feature_focus import SlowFeatureFocus

KAPPA = 0.04


class SlowTunedIndex(SlowFeatureFocus):
    def __init__(self, step=0.3, **settings):
        super().__init__(margin=0.0, **settings)
        self.step = step
        self.u = {}  # (f, c) -> u_fc
        self.bias = {}
        self.surprise = 0.0
        self.n_first = self.n_labels = 0  # examples seen for the first time, and their labels
        self.missed = 0.0

    def retrieve(self, x):
        scores = {}
        for f, v in x:
            for c, w in self.edges.get(f, [])[: self.d_max]:
                vote = v * self.rating(f) / self.total[f] * w + v * self.u.get((f, c), 0.0)
                scores[c] = scores.get(c, 0.0) + vote
        return {c: score + self.bias.get(c, 0.0) for c, score in scores.items()}

    def learn(self, x, classes, first_pass=True, to_come=0, further=1):
        """In a further pass: how many examples there are to come, this one included, of all of further passes."""
        if first_pass:
            self.n_first += 1
            self.n_labels += len(classes)
        w_min = self.w_min * self.n_first / self.n_labels if self.n_labels > self.n_first else self.w_min
        scores = self.retrieve(x)
        wrong = {c: score for c, score in scores.items() if c not in classes}
        contest = False
        if classes and self.n_labels <= 1.05 * self.n_first:
            r = min(classes, key=lambda c: scores.get(c, 0.0))
            low, high = scores.get(r, 0.0), max(wrong.values(), default=0.0)
            if first_pass:
                self.missed += ((not low > high) - self.missed) / min(self.n_first, 300.0)
            contest = self.missed <= 0.5
        rival, keep = None, 0
        if contest:
            error = self.contend(r, low, wrong, r in scores)
            eta, keep = self.step * (5.0 / 3.0), self.d_max
            self.note_surprise(max(0.0, high - low), first_pass)
            if wrong and error.get(first := max(wrong, key=wrong.get), 0.0) < 0:
                rival = first
        else:
            error = {c: -max(0.0, score) for c, score in wrong.items()}
            error |= {c: max(0.0, 1.0 - scores.get(c, 0.0)) for c in classes}
            z = self.note_surprise(-min([0.0, *error.values()]), first_pass)
            mean = self.surprise
            eta = self.step * ((1.0 + 2.3 * z * max(0.0, 1.0 - 5.0 * mean)) / max(1.0, 5.0 * mean))
        counted = [c for c in classes if error.get(c, 0.0) > 0]
        if not first_pass:
            eta = eta * (0.5 * to_come / further)
        for f, v in x:
            edges = self.edges.setdefault(f, [])
            voted = {c for c, _ in edges[: self.d_max]}
            if first_pass:
                self.seen[f] = self.seen.get(f, 0) + 1
                known = {c for c, _ in edges}
                raised = [(c, w + v if c in counted else w) for c, w in edges]
                new = [(c, v) for c in counted if c not in known]
                if rival is not None and rival not in known and len(edges) + len(new) < self.d_max:
                    new.append((rival, 1e-9 * v))
                self.total[f] = self.total.get(f, 0.0) + v * len(counted)
                self.edges[f] = sorted(raised + new, key=lambda edge: -edge[1])  # stable, as the lists are
                voted |= {c for c, _ in new}
            for c in voted:
                u = self.u.get((f, c), 0.0) + eta * v * error.get(c, 0.0)
                self.u[f, c] = float(np.float32(u))  # four bytes beside each edge
            light = {} if not first_pass else {c: w for c, w in self.edges[f][keep:] if w / self.total[f] < w_min}
            self.edges[f] = [edge for edge in self.edges[f] if edge[0] not in light]
            self.u = {(g, c): u for (g, c), u in self.u.items() if g != f or c not in light}
            if not self.leakage:
                self.total[f] -= sum(sorted(light.values()))
        for c in scores:
            self.bias[c] = self.bias.get(c, 0.0) + KAPPA * eta * error.get(c, 0.0)

    def note_surprise(self, best, first_pass):
        best = min(1.0, best)
        z = best * best  # as compiled: ** 2 may round otherwise
        if first_pass:
            self.surprise += (z - self.surprise) / self.n_first
        return z

    def contend(self, r, low, wrong, retrieved):
        """The least change after which r leads all others by 1.5, at most 1 long."""
        short = {c: 1.5 + score - low for c, score in wrong.items()}
        theta, n = 0.0, -1
        while True:
            near = [own for own in short.values() if own > theta]
            if len(near) == n:
                break
            n, theta = len(near), sum(near) / (1.0 + len(near))
        scale = 1.0 / max(1.0, theta)
        if n == 0 and (not wrong or not retrieved):
            theta = min(1.0, max(0.0, 1.5 - low))
        error = {c: -scale * (own - theta) for c, own in short.items() if n > 0 and own > theta}
        return error | {r: scale * theta}
