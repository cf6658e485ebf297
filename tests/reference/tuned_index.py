"""Count, then tune, from the formulas: Feature-Focus's twin with a dict of corrections."""

import numpy as np

from tests.reference.feature_focus import SlowFeatureFocus


class SlowTunedIndex(SlowFeatureFocus):
    def __init__(self, lead=2.0, step=1.0, **settings):
        super().__init__(**settings)
        self.lead, self.step = lead, step
        self.u = {}  # (f, c) -> u_fc, in the precision of the index

    def retrieve(self, x):
        scores = {}
        for f, v in x:
            for c, w in self.edges.get(f, [])[: self.d_max]:
                vote = v * self.rating(f) / self.total[f] * w + v * float(self.u.get((f, c), 0.0))
                scores[c] = scores.get(c, 0.0) + vote
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))

    def update(self, f, c, v):
        super().update(f, c, v)
        held = {c for c, _ in self.edges[f]}
        self.u = {(g, d): u for (g, d), u in self.u.items() if g != f or d in held}

    def tune(self, x, classes, part=1.0):
        scores = dict(self.retrieve(x))
        wrong = {c: s for c, s in scores.items() if c not in classes and s > 0}
        best_wrong = max(wrong, key=lambda c: wrong[c], default=None)
        highest = wrong.get(best_wrong, 0.0)
        square = sum(v * v for _, v in x)
        behind = [c for c in classes if self.lead - scores.get(c, 0.0) + highest > 0]
        for c in behind:
            loss = self.lead - scores.get(c, 0.0) + highest
            tau = min(self.step * part, loss / (2 * square)) / np.sqrt(len(behind))
            for f, v in x:
                for d, _ in self.edges.get(f, [])[: self.d_max]:
                    if d in (c, best_wrong):
                        before = self.u.get((f, d), np.float32(0))
                        self.u[f, d] = before + np.float32(tau * v) * (1 if d == c else -1)
