"""Count, then tune, from the formulas: Feature-Focus's twin with dicts of corrections and biases.

A block of examples is learned at a time; a block of one is the published order, one example after the other. An example
is its features and its labels and, if it was judged in part, those that were crossed out.
"""

import math
from copy import copy
from dataclasses import dataclass

import numpy as np

from tests.reference.company import SlowCompany
from tests.reference.feature_focus import SlowFeatureFocus, raised, rounded

KAPPA = 0.04


@dataclass
class Stats:
    surprise: float = 0.0
    n_first: int = 0  # examples seen for the first time, and their labels
    n_labels: int = 0
    missed: float = 0.0
    pace: float = 1.0
    agreement: float = 0.0

    def see(self, classes, wrong=None):
        n = len(classes)
        if wrong is not None:
            n = max(n, self.n_labels / self.n_first if self.n_first else 1)
        self.n_first += 1
        self.n_labels += n

    def many(self):
        return 0 < 4 * self.n_first <= self.n_labels

    def set_pace(self, agreement):
        self.agreement += (abs(agreement) - self.agreement) / min(self.n_first, 5000.0)
        if self.agreement > 0 and self.n_labels > 1.05 * self.n_first:
            share = max(-5.0, min(5.0, agreement / self.agreement))
            self.pace = max(1.0, min(4.0, self.pace * (1.0 + 0.001 * share)))

    def note_missed(self, missed):
        self.missed += (missed - self.missed) / min(self.n_first, 300.0)

    def note_surprise(self, z):
        self.surprise += (z - self.surprise) / self.n_first


@dataclass
class Said:
    """What an example has to say, by what was known before its block."""

    x: list
    classes: list
    wrong: list | None
    retrieved: list
    error: dict
    eta: float
    keep: int
    rival: object
    missed: float | None
    first: object
    z: float
    agreement: float
    scores: dict


class SlowTunedIndex(SlowFeatureFocus):
    def __init__(self, step=0.3, few=False, small=False, **settings):
        super().__init__(margin=0.0, **settings)
        self.few, self.small = few, small  # examples of each label; in all
        self.step = step
        self.u = {}  # (f, c) -> u_fc
        self.bias = {}
        self.stats = Stats()
        self.company = SlowCompany(step)

    def width(self):
        return 5 * self.d_max if self.stats.many() else self.d_max

    def votes(self, x):
        scores = {}
        for f, v in x:
            for c, w in self.edges.get(f, [])[: self.width()]:
                vote = v * self.rating(f) / self.total[f] * w + v * self.u.get((f, c), 0.0)
                scores[c] = scores.get(c, 0.0) + vote
        return scores

    def votes_of_others(self, x, r):
        """The votes that there would be if x, whose label is r, had not been counted."""
        scores = {}
        for f, v in x:
            left, seen = self.total.get(f, 0.0) - v, self.seen.get(f, 0) - 1
            whole = v if seen >= self.rare else v * (seen / self.rare)
            for c, w in self.edges.get(f, [])[: self.width()]:
                others = max(0.0, w - v) if c == r else w
                vote = min(whole, whole / left * others) if seen > 0 and left >= 0.001 * v else 0.0
                scores[c] = scores.get(c, 0.0) + (vote + v * self.u.get((f, c), 0.0))
        return scores

    def retrieve(self, x, without=None):
        scores = self.votes(x) if without is None else self.votes_of_others(x, without)
        return {c: score + self.bias.get(c, 0.0) for c, score in scores.items()}

    def answer(self, x):
        """The scores by which labels are ranked."""
        scores = self.retrieve(x)
        return self.company.finished(scores) if self.stats.many() else scores

    def learn(self, x, classes, first_pass=True, to_come=0, further=1, wrong=None):
        self.learn_block([(x, classes, wrong)], first_pass, to_come, further)

    def learn_block(self, block, first_pass=True, to_come=0, further=1):
        """In a further pass: how many examples there are to come, this block included, of all of further passes."""
        width, many = self.width(), self.stats.many()
        said = [self.say(*example, first_pass=first_pass, to_come=to_come - t, further=further)
                for t, example in enumerate(block)]  # fmt: skip
        self.missed = said[-1].missed if first_pass else None
        self.first = said[-1].first
        for one in said if first_pass and many else ():
            if one.wrong is None:
                self.company.take(one.scores, one.classes)
        for one in said if first_pass else ():
            self.stats.see(one.classes, one.wrong)
            if one.missed is not None:
                self.stats.note_missed(one.missed)
            self.stats.note_surprise(one.z)
            if one.wrong is None:  # one that was judged in part does not move the pace
                self.stats.set_pace(one.agreement)
        for one in said:
            for c in one.retrieved:
                self.bias[c] = self.bias.get(c, 0.0) + KAPPA * one.eta * one.error.get(c, 0.0)
        for f in dict.fromkeys(f for one in said for f, _ in one.x):
            own = [(one, dict(one.x)[f]) for one in said if f in dict(one.x)]
            self.count_and_correct(f, own, width) if first_pass else self.correct(f, own, width)

    def say(self, x, classes, crossed=None, *, first_pass, to_come, further):
        stats = copy(self.stats)
        if first_pass:
            stats.see(classes, crossed)
        single = stats.n_labels <= 1.05 * stats.n_first
        again = self.small and not first_pass and single and (self.few or stats.missed <= 0.5)
        scores = self.retrieve(x, classes[0] if again and len(classes) == 1 else None)
        if crossed is not None:  # of what nobody judged nothing is said
            scores = {c: score for c, score in scores.items() if c in classes or c in crossed}
        wrong = {c: score for c, score in scores.items() if c not in classes}
        contest, missed, front, rival, keep = False, None, None, None, 0
        if classes and single:
            stands = {c: scores[c] if self.is_heard(c, scores) else 0.0 for c in classes}
            r = min(classes, key=stands.get)
            low, high = stands[r], max(wrong.values(), default=0.0)
            missed = 0.0 if low > high else 1.0
            front = r if low > high else max(wrong, key=wrong.get, default=None)
            if first_pass:
                stats.note_missed(missed)
            contest = self.few or stats.missed <= 0.5
        if contest:
            error = self.contend(r, low, wrong, self.is_heard(r, scores))
            eta, keep = self.step * (5.0 / 3.0), self.width()
            best = min(1.0, max(0.0, high - low))
            z = best * best  # as compiled: ** 2 may round otherwise
            if wrong and error.get(first := max(wrong, key=wrong.get), 0.0) < 0:
                rival = first
        else:
            error = {c: -max(0.0, score) for c, score in wrong.items()}
            error |= {c: max(0.0, 1.0 - scores.get(c, 0.0)) for c in classes}
            error = {c: float(np.float32(e)) for c, e in error.items()}
            best = min(1.0, -min([0.0, *error.values()]))
            z = best * best
            if first_pass:
                stats.note_surprise(z)
            mean = stats.surprise
            eta = self.step * stats.pace * ((1.0 + 2.3 * z * max(0.0, 1.0 - 5.0 * mean)) / max(1.0, 5.0 * mean))
        if not first_pass:
            trust = 1.0 - math.sqrt(z) if contest and not self.few else 1.0
            eta = eta * (min(1.0, 0.5 * stats.pace) * to_come / further * trust)
        a = 0.0
        for f, v in x:
            for c, _ in self.edges.get(f, [])[: self.width()]:
                a += v * error.get(c, 0.0) * self.u.get((f, c), 0.0)
        return Said(x, classes, crossed, list(scores), error, eta, keep, rival, missed, front, z, a, scores)

    def is_heard(self, c, scores):
        """Whether anything votes for a label."""
        return c in scores

    def correct(self, f, own, width):
        for one, v in own:
            for c, _ in self.edges.get(f, [])[:width]:
                self.shift(f, c, v, one)

    def shift(self, f, c, v, one):
        u = self.u.get((f, c), 0.0) + one.eta * v * one.error.get(c, 0.0)
        self.u[f, c] = float(np.float32(u))  # four bytes beside each edge

    def count_and_correct(self, f, own, width):
        """The list of f keeps its order for the block, new edges behind it; then it is put in order, and cut."""
        stats = self.stats
        w_min = self.w_min
        if stats.n_labels > stats.n_first:
            w_min = (0.5 if stats.many() else 1.0) * self.w_min * stats.n_first / stats.n_labels
        edges = [list(edge) for edge in self.edges.get(f, [])]
        n_old, voted = len(edges), {c for c, _ in edges[:width]}
        for one, v in own:
            self.seen[f] = self.seen.get(f, 0) + 1
            counted = [c for c in one.classes if one.error.get(c, 0.0) > 0]
            before = self.total.setdefault(f, 0.0)
            for _ in counted:
                self.total[f] += v
            known = {c for c, _ in edges}
            for c in voted:
                self.shift(f, c, v, one)
            for n, edge in enumerate(edges):
                if edge[0] in counted:
                    edge[1] = raised(edge[1], v, before)
                    if n >= n_old:
                        self.shift(f, edge[0], v, one)
            new = [[c, rounded(v)] for c in counted if c not in known]
            if one.rival is not None and one.rival not in known and len(edges) + len(new) < width:
                new.append([one.rival, rounded(1e-9 * v)])
            for c, _ in new:
                self.u.pop((f, c), None)
                self.shift(f, c, v, one)
            edges += new
            last = one is own[-1][0]
            if last:
                edges.sort(key=lambda edge: -edge[1])  # stable, as the lists are
            dropped = 0.0
            while len(edges) > (one.keep if last else max(one.keep, n_old)) and edges[-1][1] / self.total[f] < w_min:
                c, w = edges.pop()
                dropped += w
                self.u.pop((f, c), None)
            if not self.leakage:
                self.total[f] = max(0.0, self.total[f] - dropped)
        self.edges[f] = [tuple(edge) for edge in edges]

    def contend(self, r, low, wrong, retrieved):
        """The least change after which r leads all others by 1.5, or by 2, at most 1 long."""
        lead = 2.0 if self.few else 1.5
        short = {c: lead + score - low for c, score in wrong.items()}
        theta, n = 0.0, -1
        while True:
            near = [own for own in short.values() if own > theta]
            if len(near) == n:
                break
            n, theta = len(near), sum(near) / (1.0 + len(near))
        scale = 1.0 / max(1.0, theta)
        if n == 0 and (not wrong or not retrieved):
            theta = min(1.0, max(0.0, lead - low))
        error = {c: -scale * (own - theta) for c, own in short.items() if n > 0 and own > theta}
        return {c: float(np.float32(e)) for c, e in (error | {r: scale * theta}).items()}
