"""TunedIndex from the formulas of shortlist/learners/index/training.py: dicts and lists, no thought
of speed.

An example is its words [(f, x)], its vector [v] and its labels; if it was judged in part, also
those that are wrong.
"""

import numpy as np

from tests.reference.feature_focus import raised, rounded

MARGIN, BEHIND, FURTHER, BIAS_RATE = 2.0, 0.5, 0.5, 0.04
KEPT = 512
LEAST_PACE, KNOWN_AFTER, KNOWN_FEATURE_AFTER, RECENT = 0.25, 25.0, 50.0, 6.0


class SlowTunedIndex:
    def __init__(self, step=0.5, min_weight=0.006, max_edges=100, rare=10, n_vector=0):
        self.step, self.min_weight, self.max_edges, self.rare = step, min_weight, max_edges, rare
        self.edges = {}  # f -> list of [c, w'_fc, u_fc], heaviest first
        self.total, self.seen = {}, {}  # f -> w'_f, #_f
        self.weights = {}  # (g, c) -> U_gc
        self.named, self.met = set(), set()  # labels with a name, and with an example
        self.bias = {}
        self.n_examples = self.n_labels = 0
        self.progress = {}  # c -> examples, and how many of the last ones are missed
        self.kept = []  # the last examples of a stream

    def scores(self, x, v=()):
        """The labels that are retrieved, in the order of retrieval, and their scores without
        biases.
        """
        scores = {}
        for f, value in x:
            share = value * (
                min(1.0, self.seen[f] / self.rare) if f in self.seen and self.rare else 1.0
            )
            for c, w, u in self.edges.get(f, []):
                scores[c] = scores.get(c, 0.0) + (share / self.total[f] * w + value * u)
        if any(v):
            known = set(scores)
            scores = {c: scores.get(c, 0.0) for c in sorted({*scores, *self.bias, *self.named})}
            for g, value in enumerate(v):
                for c in scores:
                    scores[c] += value * self.weights.get((g, c), 0.0)
            scores = {
                c: s
                for c, s in scores.items()
                if s != 0 or c in known or self.bias.get(c, 0.0) != 0
            }
        return scores

    def name(self, c, vector):
        """The initial weights of a label."""
        self.named.add(c)
        self.weights |= {(g, c): float(np.float32(value)) for g, value in enumerate(vector)}

    def answer(self, x, v=()):
        return {c: score + self.bias.get(c, 0.0) for c, score in self.scores(x, v).items()}

    def learn(self, x, labels, v=(), wrong=None, again=None, in_stream=False):
        """``again``: None for a new example, otherwise the share of the step that an example
        has that is seen again.
        """
        if again is None:
            n = len(labels)
            if wrong is not None:
                n = max(n, self.n_labels / self.n_examples if self.n_examples else 1)
            self.n_examples += 1
            self.n_labels += n
        self.met |= set(labels)
        scores = self.scores(x, v)
        less = MARGIN - BEHIND if any(v) and self.is_single() else 0.0
        scores = {c: score if c in self.met else score - less for c, score in scores.items()}
        if wrong is not None:
            scores = {c: score for c, score in scores.items() if c in labels or c in wrong}
        retrieved = {c for c, score in scores.items() if score != 0.0}
        scores |= {c: 0.0 for c in labels if c not in scores}
        scores = {c: score + self.bias.get(c, 0.0) for c, score in scores.items()}
        eta, rival, contest = self.step * (1.0 if again is None else again), None, self.is_single()
        factor = 1.0
        if contest and labels:
            errors, rival, behind = contest_errors(scores, labels, retrieved)
            eta *= 1.0 if again is None else 1.0 - behind
            for c in labels if again is None else []:
                seen, missed = self.progress.get(c, (0.0, 0.0))
                missed *= 1.0 - 1.0 / RECENT
                if behind > 0.0:
                    missed += 1.0 / RECENT
                self.progress[c] = seen + 1.0, missed
            if in_stream:
                factor = max(map(self.factor_of, labels))
        else:
            errors = {
                c: max(0.0, 1.0 - s) if c in labels else -max(0.0, s) for c, s in scores.items()
            }
        errors = {c: float(np.float32(e)) for c, e in errors.items()}
        if any(errors.values()):
            for f, value in x:
                of_feature = KNOWN_FEATURE_AFTER / (KNOWN_FEATURE_AFTER + self.seen.get(f, 0))
                shift = eta * value * max(factor, of_feature)
                self.correct(f, shift, errors)
                if again is None:
                    self.count(f, value, shift, errors, labels, rival, contest)
            if any(v):
                for g, value in enumerate(v):
                    for c, e in errors.items():
                        u = self.weights.get((g, c), 0.0) + eta * factor * value * e
                        self.weights[g, c] = float(np.float32(u))
        if again is None:
            for f, _ in x:
                self.seen[f] = self.seen.get(f, 0) + 1
        for c in scores:
            self.bias[c] = self.bias.get(c, 0.0) + BIAS_RATE * eta * factor * errors.get(c, 0.0)

    def factor_of(self, c):
        seen, missed = self.progress.get(c, (0.0, 0.0))
        return max(LEAST_PACE, KNOWN_AFTER / (KNOWN_AFTER + seen), 2.0 * missed - 1.0)

    def is_single(self):
        return self.n_labels <= 1.05 * self.n_examples

    def correct(self, f, shift, errors):
        for edge in self.edges.get(f, []):
            edge[2] = float(np.float32(edge[2] + shift * errors.get(edge[0], 0.0)))

    def count(self, f, x, shift, errors, labels, rival, contest):
        edges, before = self.edges.setdefault(f, []), self.total.get(f, 0.0)
        counted, known = [c for c in labels if errors[c] > 0], {c for c, _, _ in edges}
        for edge in edges:
            if edge[0] in counted:
                edge[1] = raised(edge[1], x, before)
        edges.sort(key=lambda edge: -edge[1])  # stable, as the lists are
        self.total[f] = before
        for c in counted:
            self.total[f] += x
            if c not in known:
                self.add(f, c, x, shift * errors[c])
        if rival is not None and rival not in known and len(edges) < self.max_edges:
            self.add(f, rival, 1e-9 * x, shift * errors[rival])
        least = 0.0 if contest else self.min_weight * self.n_examples / self.n_labels
        while edges and edges[-1][1] / self.total[f] < least:
            edges.pop()

    def add(self, f, c, w, u):
        edges = self.edges[f]
        if len(edges) >= self.max_edges:
            edges.pop()
        edges.append([c, rounded(w), float(np.float32(u))])
        edges.sort(key=lambda edge: -edge[1])

    # ``fit`` and streams.

    def fit(self, examples, passes):
        """Examples (x, labels) or (x, labels, v), in this order in each pass."""
        n, further = len(examples), len(examples) * max(1, passes - 1)
        for t, (x, labels, *v) in enumerate(examples * passes):
            to_come = n * passes - t if passes > 1 else 0
            self.learn(x, labels, *v, again=None if t < n else FURTHER * to_come / further)

    def learn_next(self, x, labels, v=(), wrong=None):
        """The next example of a stream; those that came 2^k, 2^(k−1), 2^(k−2) and 2^(k−3)
        examples ago come again.
        """
        self.learn(x, labels, v, wrong, in_stream=True)
        if not self.is_single():
            return
        lags = [1 << k for k in range(20) if 1 << k <= len(self.kept)]
        for lag in lags[::-1][:4]:
            self.learn(*self.kept[-lag], again=1.0, in_stream=True)
        if len(labels) == 1 and wrong is None:
            self.kept = [*self.kept, (x, labels, v)][-KEPT:]


def contest_errors(scores, labels, retrieved):
    """The errors, the best wrong label if it has one, and by how much it leads the true label
    (0 … 1).
    """
    y = min(labels, key=scores.get)
    low, wrong = scores[y], {c: s for c, s in scores.items() if c not in labels}
    short = {c: own for c, s in wrong.items() if (own := MARGIN + s - low) > 0}
    theta, n = sum(short.values()) / (1.0 + len(short)), None
    while n != len(short):
        n = len(short)
        short = {c: own for c, own in short.items() if own > theta}
        theta = sum(short.values()) / (1.0 + len(short))
    scale = 1.0 / max(1.0, theta)
    if not short and (not wrong or y not in retrieved):
        theta = min(1.0, max(0.0, MARGIN - low))
    errors = {c: -scale * (own - theta) for c, own in short.items()} | {y: scale * theta}
    best = max(wrong, key=wrong.get, default=None)
    behind = min(1.0, max(0.0, wrong[best] - low)) if wrong else 0.0
    rival = best if best is not None and float(np.float32(errors.get(best, 0.0))) < 0 else None
    return dict.fromkeys(scores, 0.0) | errors, rival, behind


def share_of_vector(words, vectors, labels, least=500):
    """The share of the vectors, by how often the nearest mean of the others is that of the own
    label.
    """
    wrong = [0, 0]
    for kind, rows in enumerate((words, vectors)):
        rows = [row / (np.linalg.norm(row) or 1.0) for row in np.asarray(rows, dtype=float)]
        for i, row in enumerate(rows):
            others = {}
            for j, other in enumerate(rows):
                if j != i:
                    others.setdefault(labels[j], []).append(other)
            if labels[i] in others:
                cosines = {
                    c: row @ sum(some) / (np.linalg.norm(sum(some)) or 1.0)
                    for c, some in others.items()
                }
                own = cosines.pop(labels[i])
                wrong[kind] += own < max(cosines.values(), default=-1.0)
    ratio = (wrong[0] + 6.5) / (wrong[1] + 5.0)
    enough = sum(labels.count(label) > 1 for label in labels) >= least
    share = least_harmful_share(words, vectors, labels) if enough else 0.65
    return share if share < 0.65 else 0.65 + min(0.2, max(0.0, ratio - 1.2))


def least_harmful_share(words, vectors, labels):
    """The largest of these shares that makes no more errors than the best, each example being left
    out of a kernel ridge regression on all others.
    """
    words, vectors = (
        np.array([row / (np.linalg.norm(row) or 1.0) for row in np.asarray(rows, dtype=float)])
        for rows in (words, vectors)
    )
    classes = sorted(set(labels))
    truth = np.array(
        [[label == candidate for candidate in classes] for label in labels], dtype=float
    )
    which = [i for i, label in enumerate(labels) if labels.count(label) > 1]
    errors = {}
    for share in (0.1, 0.2, 0.35, 0.5, 0.65):
        K = (1 - share) * words @ words.T + share * vectors @ vectors.T
        errors[share] = 0
        for i in which:
            rest = [j for j in range(len(labels)) if j != i]
            ridge = K[np.ix_(rest, rest)] + 0.5 * np.eye(len(rest))
            predicted = K[i, rest] @ np.linalg.solve(ridge, truth[rest])
            errors[share] += classes[predicted.argmax()] != labels[i]
    most = min(errors.values()) + 1
    return max(share for share, n in errors.items() if n <= most)
