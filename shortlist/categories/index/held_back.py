"""How much the vector shall count of a score where ``fit`` has few examples: what is best on halves of them.

What words and vector miss while examples are new (sharing.py) tells too little where there are fewer than 4,000: these
are gone through many times, after which both know more, and score higher, one more than the other. So each half of the
examples is learned for itself, words and vector score the examples of the other half, and with the share a = 0, 0.1,
…, 1 of the vector so many have a label of theirs in front:

    n(a) = |{i : argmax_c (1 − a)·s_words + a·s_vector is a label of i}|,    α = Σ_a a·2^(n(a)/4) / Σ_a 2^(n(a)/4).

The share that is best on so few may be so by chance: one with which four examples less are right counts half as much.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from shortlist.arrays.kernels import Longs
from shortlist.arrays.rows import Rows, RowStore
from shortlist.categories.index import together
from shortlist.categories.index.means import chosen
from shortlist.labels import NumberedLabels

if TYPE_CHECKING:
    from shortlist.categories.index.tuned_both import TunedBoth

FEWEST = 8  # examples: halves of fewer tell nothing
SHARES = [tenths / 10.0 for tenths in range(11)]
QUARTERS = [1.0, math.sqrt(math.sqrt(2.0)), math.sqrt(2.0), math.sqrt(2.0) * math.sqrt(math.sqrt(2.0))]  # 2^(r/4)
MOST = 0.99  # of a score that either has
BLOCK, SCORES = 256, 1 << 18  # rows that are scored at a time; but no more scores, or a single row


def best_share(learner: TunedBoth, rows: Rows | RowStore, labels: NumberedLabels) -> float:
    """α of a learner with these settings, for examples like these."""
    order = np.random.default_rng(0).permutation(rows.n_rows)
    right = np.zeros(len(SHARES), dtype=np.int64)
    for own, other in ((order[::2], order[1::2]), (order[1::2], order[::2])):
        half = clone(learner)
        half._is_half = True
        for _ in half._fit_passes(chosen(rows, own), labels.take(own.tolist())):
            pass
        at_a_time = max(1, min(BLOCK, SCORES // max(1, len(half._labels))))
        for first in range(0, other.size, at_a_time):
            some = other[first : first + at_a_time]
            right += right_by_share(half, chosen(rows, some), labels.take(some.tolist()))
    weights = [math.ldexp(QUARTERS[n % 4], n // 4) for n in (right - right.max()).tolist()]
    alpha: float = sum(weight * a for weight, a in zip(weights, SHARES, strict=True)) / sum(weights)
    return min(MOST, max(1.0 - MOST, alpha))


def right_by_share(half: TunedBoth, rows: Rows, labels: NumberedLabels) -> Longs:
    """n(a) for each of the shares, of the rows that have words and a vector, and of which all labels were judged."""
    truth, (vectors, words) = half.label_numbers(labels), together.split(rows, half.vector)
    counts = np.minimum(np.diff(vectors.indptr), np.diff(words.indptr)) > 0
    if truth.partial.complete.size:
        counts &= truth.partial.complete
    n_labels, each = len(half._labels), np.arange(rows.n_rows)
    if n_labels == 0:  # the other half may have them all
        return np.zeros(len(SHARES), dtype=np.int64)
    is_right = np.zeros((rows.n_rows, n_labels), dtype=bool)
    known = truth.ids < n_labels
    is_right[np.repeat(each, np.diff(truth.indptr))[known], truth.ids[known]] = True
    by_words, by_vector = half._scores(words), half._scores(vectors)
    best = [((1.0 - a) * by_words + a * by_vector).argmax(axis=1) for a in SHARES]
    return np.array([(is_right[each, first] & counts).sum() for first in best])
