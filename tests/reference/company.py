"""Labels that vote for labels, from the formulas: a dict of votes, learned from rankings of words."""

import numpy as np

MATES = 20


def heard(score):
    return min(1.0, max(0.0, score))


class SlowCompany:
    def __init__(self, step):
        self.eta = min(step, 1.5) / 30.0
        self.v = {}  # (l, c) -> v_lc
        self.rankings = []

    def mates(self, scores):
        """The best labels, and their scores by words alone, best first."""
        return sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:MATES]

    def finished(self, scores):
        """The scores of all labels once the best have voted for one another."""
        mates = self.mates(scores)
        return scores | {c: self.score(mates, c, s) for c, s in mates}

    def score(self, mates, c, s):
        for other, of_words in mates:
            s += heard(of_words) * self.v.get((other, c), 0.0)
        return s

    def learn(self, mates, classes, step):
        finished = {c: self.score(mates, c, s) for c, s in mates}
        for c, s in finished.items():
            error = max(0.0, 1.0 - s) if c in classes else -max(0.0, s)
            for other, of_words in mates:
                v = self.v.get((other, c), 0.0) + step * error * heard(of_words)
                self.v[other, c] = float(np.float32(v))

    def take(self, scores, classes):
        """A new example."""
        mates = self.mates(scores)
        if mates:
            self.rankings.append((mates, classes))
            self.learn(mates, classes, self.eta)

    def go_through_again(self, which, further):
        """The further pass of that number, from 1, of so many."""
        begin, end = (further + 1 - which) / further, (further - which) / further
        begin, end = begin * self.eta, end * self.eta
        for t, (mates, classes) in enumerate(self.rankings):
            step = begin + (end - begin) * t / len(self.rankings)
            self.learn(mates, classes, step)

    def votes(self):
        return {pair: v for pair, v in self.v.items() if v}
