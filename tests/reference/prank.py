"""PRank, word for word: one example at a time, plain lists, ratings 1..k, every hypothesis
written down.
"""


class PRankTwin:
    def __init__(self, k, n):
        self.k = k
        self.w = [0] * n
        self.b = [0] * (k - 1)
        self.history = []  # the rule (w, b) after each example

    def score(self, x):
        return sum(a * c for a, c in zip(self.w, x, strict=True))

    def predict(self, x):
        """ŷ = min{ r : w·x − b_r < 0 }, with b_k = ∞."""
        for r in range(1, self.k):
            if self.score(x) - self.b[r - 1] < 0:
                return r
        return self.k

    def learn(self, x, y):
        """One round; gives the rating predicted before the update."""
        predicted = self.predict(x)
        if predicted != y:
            tau = self.tau(self.score(x), y)
            self.w = [a + sum(tau) * c for a, c in zip(self.w, x, strict=True)]
            self.b = [threshold - one for threshold, one in zip(self.b, tau, strict=True)]
        self.history.append((list(self.w), list(self.b), predicted == y))
        return predicted

    def tau(self, score, y):
        tau = []
        for r in range(1, self.k):
            y_r = -1 if y <= r else +1
            tau.append(y_r if (score - self.b[r - 1]) * y_r <= 0 else 0)
        return tau

    def average_sums(self):
        """The sums over all examples of w and of b: the averaged rule times the number of
        examples.
        """
        w = [sum(column) for column in zip(*(w for w, _, _ in self.history), strict=True)]
        b = [sum(column) for column in zip(*(b for _, b, _ in self.history), strict=True)]
        return w, b

    def vote(self, x):
        """The weighted median of the ratings that the rules give, each with the number of examples
        it lived through.

        The very first rule, all zero, has lived through the examples that it rated right.
        """
        votes = [0] * (self.k + 1)
        for w, b, _ in self.history:
            rule = PRankTwin(self.k, len(w))
            rule.w, rule.b = w, b
            votes[rule.predict(x)] += 1
        below = 0
        for r in range(1, self.k):
            below += votes[r]
            if 2 * below > sum(votes):
                return r
        return self.k
