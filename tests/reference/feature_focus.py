"""Feature-Focus from the formulas of paper 004: dicts and lists, no thought of speed.

A weight has the 24 digits of a float32, as it has in the index.
"""

import math
import struct


def rounded(weight):
    return struct.unpack("f", struct.pack("f", weight))[0]


def raised(weight, v, total):
    """The sum of both. If v is far less, the last digit is rounded by lot: a number below 2²⁹ is
    made of the bits of w'_f, and it is rounded up if what has no place in 24 digits is at least
    what is missing from that to 2²⁹.
    """
    if v * 4096.0 >= weight:
        return rounded(weight + v)
    lot = struct.unpack("Q", struct.pack("d", total))[0] % (2**29 - 3) * 331804471 % (2**29 - 3)
    digits, exponent = math.frexp(weight + v)
    whole = int(digits * 2**53)  # 53 digits, of which 29 have no place
    return math.ldexp(float((whole + lot) // 2**29), exponent - 24)


class SlowFeatureFocus:
    def __init__(
        self,
        min_weight=0.01,
        max_edges=25,
        margin=0.1,
        leakage=True,
        rare=10,
        first=50,
        memory=float("inf"),
    ):
        self.w_min, self.d_max, self.delta_m = min_weight, max_edges, margin
        self.leakage, self.rare, self.first, self.memory = leakage, rare, first, memory
        self.edges = {}  # f -> list of [c, w'_fc], heaviest first
        self.total = {}  # f -> w'_f
        self.seen = {}  # f -> #_f

    def rating(self, f):
        return min(1.0, self.seen[f] / self.rare) if self.rare else 1.0

    def retrieve(self, x):
        """RankedRetrieval: [(class, score)], best first, ties to the lower class."""
        scores = {}
        for f, v in x:
            for c, w in self.edges.get(f, [])[: self.d_max]:
                scores[c] = scores.get(c, 0.0) + v * self.rating(f) / self.total[f] * w
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))

    def update(self, f, c, v):
        """FSU."""
        edges = self.edges.setdefault(f, [])
        self.total[f] = self.total.get(f, 0.0) + v
        for edge in edges:
            if edge[0] == c:
                edge[1] = raised(edge[1], v, self.total[f])
                break
        else:
            edges.append([c, rounded(v)])
        if self.total[f] > self.memory:
            for edge in edges:
                edge[1] = rounded(edge[1] * (self.memory / self.total[f]))
            self.total[f] = self.memory
        dropped = [edge for edge in edges if edge[1] / self.total[f] < self.w_min]
        self.edges[f] = sorted(
            (edge for edge in edges if edge not in dropped), key=lambda edge: -edge[1]
        )
        if not self.leakage:
            self.total[f] -= sum(sorted(w for _, w in dropped))

    def learn(self, x, classes, first_pass=True):
        if first_pass:
            for f, _ in x:
                self.seen[f] = self.seen.get(f, 0) + 1
        ranking = self.retrieve(x)
        retrieved = dict(ranking[: self.first])
        wrong = max((s for c, s in ranking if c not in classes), default=0.0)
        late = [c for c in classes if retrieved.get(c, 0.0) - wrong <= self.delta_m]
        for c in late:
            for f, v in x:
                self.update(f, c, v)


def merged(learners, w_min, leakage):
    """Learners, each ({(f, c): w'}, {f: (total, seen)}), as one: everything adds, then edges
    below w_min go.
    """
    edges, features = {}, {}
    for own_edges, own_features in learners:
        for pair, w in own_edges.items():
            edges[pair] = edges.get(pair, 0.0) + w
        for f, (total, seen) in own_features.items():
            before = features.get(f, (0.0, 0))
            features[f] = (before[0] + total, before[1] + seen)
    light = {(f, c) for (f, c), w in edges.items() if w / features[f][0] < w_min}
    if not leakage:
        for f, c in light:
            features[f] = (features[f][0] - edges[f, c], features[f][1])
    return {pair: w for pair, w in edges.items() if pair not in light}, features


def mixed(began, parts):
    """A learner of W + Σ (W_s − W), for parts that went on from where one began: sums, totals (of
    what is left, if nothing leaks) and counts.
    """
    new = type(began)(
        began.w_min, began.d_max, began.delta_m, began.leakage, began.rare, began.first
    )

    def mix(values):
        before, *after = values
        return before + sum(value - before for value in after)

    everyone = [began, *parts]
    for f in sorted({f for one in everyone for f in one.seen}):
        new.seen[f] = mix([one.seen.get(f, 0) for one in everyone])
        new.total[f] = mix([one.total.get(f, 0.0) for one in everyone])
        lists = [dict(map(tuple, one.edges.get(f, []))) for one in everyone]
        edges = {
            c: mix([own.get(c, 0.0) for own in lists])
            for c in dict.fromkeys(c for own in lists for c in own)
        }
        edges = {c: w for c, w in edges.items() if w > 0}
        if not new.leakage:
            new.total[f] = sum(edges.values())
        kept = {c: w for c, w in edges.items() if w / new.total[f] >= new.w_min}
        if not new.leakage:
            new.total[f] -= sum(w for c, w in edges.items() if c not in kept)
        new.edges[f] = sorted(([c, w] for c, w in kept.items()), key=lambda edge: -edge[1])
    return new
