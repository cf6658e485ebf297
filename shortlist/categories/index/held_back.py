"""How much the vector shall count of a score where ``fit`` has few examples: what is best on examples held back.

What words and vector miss while examples are new (sharing.py) tells too little where there are fewer than 4,000: these
are gone through many times, after which both know more, and score higher, one more than the other. So they are cut into
parts, and each part is scored by words and a vector that have learned all the others. With the share a = 0, 0.1, …, 1
of the vector, the best of the right labels of example i then leads the best wrong one by

    m_i(a) = max_{c right} s_c − max_{c wrong} s_c,    s = (1 − a)·s_words + a·s_vector.

Whether it leads, for so few, is often chance; by how much says more, up to a point. With m̄(a), the mean of |m_i(a)|,

    n(a) = Σ_i ½·(1 + m_i(a) / (|m_i(a)| + ¼·m̄(a))),    α = Σ_a a·2^(n(a)/4) / Σ_a 2^(n(a)/4),

where n(a), about the number of examples that are right, is rounded: a share with which four less are right counts half
as much. There are two parts, and up to eight where these together learn no more than 1,600 examples.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from shortlist.arrays.kernels import Floats, kernel
from shortlist.arrays.rows import Rows, RowStore
from shortlist.categories.index import together
from shortlist.categories.index.means import chosen
from shortlist.labels import NumberedLabels

if TYPE_CHECKING:
    from shortlist.categories.index.tuned_both import TunedBoth

FEWEST = 8  # examples: parts of fewer tell nothing
MOST_PARTS, MOST_LEARNED = 8, 1600
SHARES = [tenths / 10.0 for tenths in range(11)]
NEAR = 0.25  # of a mean lead: where one counts half of what it can
QUARTERS = [1.0, math.sqrt(math.sqrt(2.0)), math.sqrt(2.0), math.sqrt(2.0) * math.sqrt(math.sqrt(2.0))]  # 2^(r/4)
MOST = 0.99  # of a score that either has
BLOCK, SCORES = 256, 1 << 18  # rows that are scored at a time; but no more scores, or a single row


def best_share(learner: TunedBoth, rows: Rows | RowStore, labels: NumberedLabels) -> float:
    """α of a learner with these settings, for examples like these."""
    order = np.random.default_rng(0).permutation(rows.n_rows)
    n_parts, leads = max(2, min(MOST_PARTS, MOST_LEARNED // rows.n_rows)), []
    for part in range(n_parts):
        is_held = np.arange(rows.n_rows) % n_parts == part
        own, held = order[~is_held], order[is_held]
        taught = clone(learner)
        taught._learns_a_part = True
        for _ in taught._fit_passes(chosen(rows, own), labels.take(own.tolist())):
            pass
        at_a_time = max(1, min(BLOCK, SCORES // max(1, len(taught._labels))))
        for first in range(0, held.size, at_a_time):
            some = held[first : first + at_a_time]
            leads.append(leads_by_share(taught, chosen(rows, some), labels.take(some.tolist())))
    right = np.floor(count_right(np.concatenate(leads, axis=1)) + 0.5).astype(np.int64)
    weights = [math.ldexp(QUARTERS[n % 4], n // 4) for n in (right - right.max()).tolist()]
    alpha: float = sum(weight * a for weight, a in zip(weights, SHARES, strict=True)) / sum(weights)
    return min(MOST, max(1.0 - MOST, alpha))


def leads_by_share(taught: TunedBoth, rows: Rows, labels: NumberedLabels) -> Floats:
    """m_i(a) for each share (float64[shares, some of the rows]).

    Of rows that have words and a vector, of which all labels were judged, and one of the known ones is right, not all.
    """
    truth, (vectors, words) = taught.label_numbers(labels), together.split(rows, taught.vector)
    n_labels = len(taught._labels)
    is_right, known = np.zeros((rows.n_rows, n_labels), dtype=bool), truth.ids < n_labels
    is_right[np.repeat(np.arange(rows.n_rows), np.diff(truth.indptr))[known], truth.ids[known]] = True
    counts = np.minimum(np.diff(vectors.indptr), np.diff(words.indptr)) > 0
    counts &= is_right.any(axis=1) & ~is_right.all(axis=1)
    if truth.partial.complete.size:
        counts &= truth.partial.complete
    leads = np.zeros((len(SHARES), int(counts.sum())))
    if leads.size:
        is_right, by_words, by_vector = is_right[counts], taught._scores(words)[counts], taught._scores(vectors)[counts]
        for a, share in enumerate(SHARES):
            scores = (1.0 - share) * by_words + share * by_vector
            best = np.where(is_right, scores, -np.inf).max(axis=1)
            leads[a] = best - np.where(is_right, -np.inf, scores).max(axis=1)
    return leads


@kernel
def count_right(leads: Floats) -> Floats:
    """n(a) of each share, from m_i(a), added up one after the other."""
    n_shares, n = leads.shape
    right = np.zeros(n_shares)
    for a in range(n_shares):
        total = 0.0
        for lead in leads[a]:
            total += abs(lead)
        near = NEAR * total / max(1, n)
        for lead in leads[a]:
            size = abs(lead) + near
            right[a] += 0.5 * (1.0 + lead / size) if size > 0.0 else 0.5
    return right
