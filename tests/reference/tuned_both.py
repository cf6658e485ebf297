"""Words and a vector, from the formulas: the twins of the tuned index and of tuned vectors, and what each misses."""

from tests.reference.tuned_index import SlowTunedIndex
from tests.reference.tuned_vectors import SlowTunedVectors


class SlowTunedBoth:
    def __init__(self, n_vector, n_labels, step, **settings):
        self.words = SlowTunedIndex(step=step, **settings)
        self.vectors = SlowTunedVectors(n_vector, n_labels, step)
        self.n, self.missed_by_words, self.missed_by_vectors = 1, 1.0, 1.0

    def learn(self, x, v, classes, first_pass=True, to_come=0, further=1):
        """x: (feature, value) of the words; v: the vector."""
        if first_pass and classes and x and any(v):
            self.n += 1
            weight = 1.0 / min(self.n, 300.0)
            self.missed_by_words += weight * (missed(self.words.retrieve(x), classes) - self.missed_by_words)
            self.missed_by_vectors += weight * (missed(self.of_vector(v), classes) - self.missed_by_vectors)
        self.words.learn(x, classes, first_pass, to_come, further)
        self.vectors.learn(v, classes, first_pass, float(to_come), float(further))

    def of_vector(self, v):
        votes = self.vectors.scores(v)
        return {c: votes[c] + b for c, b in enumerate(self.vectors.bias) if b != 0.0}  # the labels that it has met

    def share_of_vector(self):
        words, vectors = (max(share, 1.0 / 300.0) ** 2 for share in (self.missed_by_words, self.missed_by_vectors))
        return words / (words + vectors)

    def scores(self, x, v):
        if not any(v):
            return self.words.retrieve(x)
        if not x:
            return self.of_vector(v)
        a, votes, of_vector = self.share_of_vector(), self.words.votes(x), self.vectors.scores(v)
        found = {}
        for c in range(len(of_vector)):
            bias = (1.0 - a) * self.words.bias.get(c, 0.0) + a * self.vectors.bias[c]
            if c in votes or bias != 0.0:
                found[c] = (1.0 - a) * votes.get(c, 0.0) + a * of_vector[c] + bias
        return found


def missed(scores, classes):
    """Whether a wrong label is first, or none is."""
    right = max((s for c, s in scores.items() if c in classes), default=float("-inf"))
    return float(not right > max((s for c, s in scores.items() if c not in classes), default=float("-inf")))
