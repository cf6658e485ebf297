"""A stream that goes through its last examples again, from the description in shortlist/categories/index/recent.py."""

import math

from tests.reference.tuned_index import SlowTunedIndex

LONGEST, KEPT, ENTRIES, AGAIN = 16_384, 4096, 262_144, 3


class SlowStream(SlowTunedIndex):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.kept = []
        self.lately = 0.0

    def learn_next(self, x, classes, wrong=None):
        self.learn(x, classes, wrong=wrong)
        missed, first = self.missed, self.first
        if self.stats.n_first > LONGEST or self.stats.n_labels > 1.05 * self.stats.n_first:
            self.kept = []
            return
        if missed is not None:
            self.lately += (missed - self.lately) / 16.0
        mean = self.stats.missed
        if self.lately > mean + 0.15 + 3.5 * math.sqrt(mean * (1.0 - mean) / 31.0):
            self.kept = []
            return
        self.small = True  # what is gone through again is scored by what others have counted
        for own, label, _ in gone_through_again(self.kept):
            self.learn(own, [label], first_pass=False, to_come=1, further=1)
        self.small = False
        if len(classes) == 1 and wrong is None:
            self.kept = last_of([*self.kept, (x, classes[0], first)])
            if x and first not in (None, classes[0]) and is_another_now(self.kept, first, classes[0]):
                self.kept = [one for one in self.kept if one[1] != first]


def gone_through_again(kept):
    """Those that came 2^k, 2^(k−1) and 2^(k−2) examples ago."""
    lags = [1 << k for k in range(20) if 1 << k <= len(kept)]
    return [kept[-lag] for lag in lags[::-1][:AGAIN]]


def is_another_now(kept, first, label):
    """Whether the last 16 in which a label was first have another one far more often than those before."""
    own = [true == label for _, true, front in kept if front == first]
    before, lately = own[:-16], own[-16:]
    if not before:
        return False
    q = (sum(before) + 1) / (len(before) + 2)
    return sum(lately) / 16 > q + 0.15 + 3.5 * math.sqrt(q * (1.0 - q) * (1.0 / 16.0 + 1.0 / len(before)))


def last_of(examples):
    """The last examples that are not too many, nor have too many entries."""
    kept, entries = [], 0
    for x, label, first in reversed(examples):
        if not 0 < len(x) <= ENTRIES:
            continue
        entries += len(x)
        if len(kept) == KEPT or entries > ENTRIES:
            break
        kept.append((x, label, first))
    return kept[::-1]
