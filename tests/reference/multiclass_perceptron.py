"""The multiclass Perceptron with uniform updates, word for word: plain lists, ratings 1..k."""


class MulticlassPerceptronTwin:
    def __init__(self, k, n, intercept):
        self.k, self.intercept = k, intercept
        self.w = [[0.0] * n for _ in range(k)]
        self.c = [0.0] * k
        self.history = []  # (prototypes, intercepts) after each example

    def scores(self, x):
        return [
            sum(a * b for a, b in zip(w, x, strict=True)) + c
            for w, c in zip(self.w, self.c, strict=True)
        ]

    def predict(self, x):
        scores = self.scores(x)
        return 1 + scores.index(max(scores))

    def learn(self, x, y):
        predicted = self.predict(x)
        scores = self.scores(x)
        errors = [r for r in range(self.k) if r != y - 1 and scores[r] >= scores[y - 1]]
        steps = {y - 1: 1.0} | {r: -1.0 / len(errors) for r in errors} if errors else {}
        self.w = [
            [a + steps.get(r, 0.0) * b for a, b in zip(w, x, strict=True)]
            for r, w in enumerate(self.w)
        ]
        if self.intercept:
            self.c = [c + steps.get(r, 0.0) for r, c in enumerate(self.c)]
        self.history.append((self.w, self.c))
        return predicted

    def average_sums(self):
        rules = zip(*(w for w, _ in self.history), strict=True)
        w = [[sum(column) for column in zip(*prototype, strict=True)] for prototype in rules]
        return w, [sum(column) for column in zip(*(c for _, c in self.history), strict=True)]
