"""The tuned index's rules on dense vectors, from the formulas, in plain Python."""

import numpy as np

KAPPA = 0.04


class SlowTunedVectors:
    def __init__(self, n_features, n_labels, step=0.3):
        self.u = [[0.0] * n_labels for _ in range(n_features)]
        self.bias = [0.0] * n_labels
        self.step = step
        self.surprise = self.weight = self.missed = 0.0
        self.n_first = self.n_labels = 0

    def scores(self, x):
        total = [0.0] * len(self.bias)
        for f, v in enumerate(x):
            if v != 0.0:
                for c in range(len(total)):
                    total[c] += v * self.u[f][c]
        return total

    def short_scores(self, x):
        """As learning adds them up: four bytes each."""
        total = [np.float32(0.0)] * len(self.bias)
        for f, v in enumerate(x):
            if v != 0.0:
                for c in range(len(total)):
                    total[c] += np.float32(v) * np.float32(self.u[f][c])
        return [float(one) for one in total]

    def learn(self, x, own, first_pass=True, to_come=0.0, further=1.0, crossed=None):
        """crossed: the labels that were crossed out of an example that was judged in part."""
        if first_pass:
            mean = self.n_labels / self.n_first if self.n_first else 1
            self.n_first += 1
            self.n_labels += len(own) if crossed is None else max(len(own), mean)
        votes = self.short_scores(x)
        scores = [vote + bias for vote, bias in zip(votes, self.bias, strict=True)]
        wrong = [c for c in range(len(scores)) if c not in own and self.bias[c] != 0.0]  # one never met is no rival
        if crossed is not None:
            wrong = [c for c in wrong if c in crossed]
        if not any(x):
            wrong, votes = [], [0.0] * len(votes)  # nothing is said of any label, and nothing is learned of one
        contest = False
        if own and self.n_labels <= 1.05 * self.n_first:
            stands = {c: scores[c] if votes[c] != 0.0 else 0.0 for c in own}  # of one without a vote nothing is known
            r = min(own, key=lambda c: stands[c])
            low, high = stands[r], max((scores[c] for c in wrong), default=0.0)
            if first_pass:
                self.note_missed(not low > high)
            contest = self.missed <= 0.5
            if not first_pass and any(x):
                self.note_missed(not low > high)  # to be heard by the next one
        if contest:
            error = self.contend(r, low, scores, wrong, votes[r] != 0.0)
            eta, ahead = self.step * (5.0 / 3.0), min(1.0, max(0.0, high - low))
            self.note(ahead * ahead, first_pass)
        else:
            error = {c: -max(0.0, scores[c]) for c in wrong} | {
                c: max(0.0, 1.0 - scores[c]) if self.bias[c] != 0.0 and any(x) else 1.0 for c in own
            }
            error = {c: float(np.float32(e)) for c, e in error.items()}
            worst = min(1.0, -min([0.0, *error.values()]))
            z = worst * worst  # as compiled: ** 2 may round otherwise
            self.note(z, first_pass)
            mean = self.surprise
            eta = self.step * ((1.0 + 2.3 * z * max(0.0, 1.0 - 5.0 * mean)) / max(1.0, 5.0 * mean))
        if not first_pass:
            eta = eta * (0.5 * to_come / further)
        for f, v in enumerate(x):
            for c, e in error.items():
                if v != 0.0 and e != 0.0:
                    self.u[f][c] = float(np.float32(self.u[f][c]) + np.float32(eta * v) * np.float32(e))
        for c, e in error.items():
            if any(x):
                self.bias[c] += KAPPA * eta * e

    def note_missed(self, missed):
        self.missed += (missed - self.missed) / min(self.n_first, 300.0)

    def note(self, z, first_pass):
        if first_pass:
            self.weight = min(self.weight + 1.0, 5000.0)
            self.surprise += (z - self.surprise) / self.weight

    @staticmethod
    def contend(r, low, scores, wrong, known):
        short = {c: 1.5 + scores[c] - low for c in wrong}
        theta, n, before = 0.0, 0, -1
        while n != before:
            above = [c for c in wrong if short[c] > theta]
            total = 0.0
            for c in above:
                total += short[c]
            before, n, theta = n, len(above), total / (1.0 + len(above))
        scale = 1.0 / max(1.0, theta)
        error = {c: -scale * (short[c] - theta) for c in wrong if short[c] > theta} if n else {}
        if not n and (not wrong or not known):
            theta = min(1.0, max(0.0, 1.5 - low))
        return {c: float(np.float32(e)) for c, e in (error | {r: scale * theta}).items()}
