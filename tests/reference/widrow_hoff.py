"""Widrow-Hoff, word for word: plain lists, ratings 1..k, rounded to the nearest and clipped."""

import math


class WidrowHoffTwin:
    def __init__(self, k, n, eta, intercept):
        self.k, self.eta, self.intercept = k, eta, intercept
        self.w = [0.0] * n
        self.c = 0.0
        self.history = []  # (w, c) after each example

    def value(self, x):
        return sum(a * b for a, b in zip(self.w, x, strict=True)) + self.c

    def predict(self, x):
        return min(self.k, max(1, math.floor(self.value(x) + 0.5)))

    def learn(self, x, y):
        predicted = self.predict(x)
        error = y - self.value(x)
        self.w = [a + self.eta * error * b for a, b in zip(self.w, x, strict=True)]
        if self.intercept:
            self.c += self.eta * error
        self.history.append((self.w, self.c))
        return predicted

    def average_sums(self):
        w = [sum(column) for column in zip(*(w for w, _ in self.history), strict=True)]
        return w, sum(c for _, c in self.history)
