"""IND from the formulas of paper 004: count, divide, compare with the threshold."""


class SlowIndependentIndex:
    def __init__(self, threshold):
        self.threshold = threshold
        self.n_f, self.n_fc = {}, {}

    def learn(self, features, classes):
        for f in features:
            self.n_f[f] = self.n_f.get(f, 0) + 1
            for c in classes:
                self.n_fc[f, c] = self.n_fc.get((f, c), 0) + 1

    def scores(self, features):
        scores = {}
        for f in features:
            for (g, c), n in self.n_fc.items():
                if f == g and n / self.n_f[f] >= self.threshold:
                    scores[c] = scores.get(c, 0.0) + n / self.n_f[f]
        return scores
