"""The steps by which LabelRanker learns orders of labels; its file tells the rules.

weights is float64[2, labels, columns]: the prototypes, and Σ_t t·(step at t), which makes their mean over time.
clock is int64[1], t, how many examples were seen, each as often as it was.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, Longs, add, dot, kernel
from shortlist.arrays.rows import Rows
from shortlist.categories.orders import Orders


@kernel
def learn_by_mmp(rows: Rows, orders: Orders, order: Longs, weights: Floats, clock: Longs, loss: int) -> None:
    """Move the prototypes by the pairs (better, worse) that an example puts in the wrong order; a tie is wrong."""
    scores, steps = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    for i in order:
        first, last = rows.indptr[i], rows.indptr[i + 1]
        columns, values = rows.indices[first:last], rows.data[first:last]
        labels = orders.ids[orders.indptr[i] : orders.indptr[i + 1]]
        for label in labels:
            scores[label] = dot(columns, values, weights[0, label])
        n_pairs, n_wrong = 0, 0
        for a in range(0, labels.size, 2 if orders.paired else 1):
            for b in range(a + 1, a + 2 if orders.paired else labels.size):
                n_pairs += 1
                if scores[labels[a]] <= scores[labels[b]]:
                    n_wrong += 1
                    steps[labels[a]] += 1.0
                    steps[labels[b]] -= 1.0
        shared = n_wrong if loss == 1 else (1 if loss == 2 else n_pairs)
        for label in labels:
            if steps[label] != 0.0:
                move(columns, values, steps[label] / shared, label, weights, clock)
            steps[label] = 0.0
        clock[0] += 1


@kernel
def learn_by_prank(rows: Rows, orders: Orders, order: Longs, weights: Floats, b: Floats, clock: Longs) -> None:
    """Move prototypes and the thresholds that all labels share, for one label after the other, from the best."""
    k = b.size + 1
    for i in order:
        first, last = rows.indptr[i], rows.indptr[i + 1]
        columns, values = rows.indices[first:last], rows.data[first:last]
        labels = orders.ids[orders.indptr[i] : orders.indptr[i + 1]]
        for a in range(labels.size):
            place = np.rint(1 + a * (k - 1) / (labels.size - 1)) if labels.size > 1 else (k + 1) // 2
            own = dot(columns, values, weights[0, labels[a]])
            step = 0.0
            for r in range(1, k):
                y = 1.0 if r <= k - place else -1.0
                if (own - b[r - 1]) * y <= 0.0:
                    step += y
                    b[r - 1] -= y
            if step != 0.0:
                move(columns, values, step, labels[a], weights, clock)
        clock[0] += 1


@kernel
def move(columns: Ints, values: Floats, by: float, label: int, weights: Floats, clock: Longs) -> None:
    """Add so much of a row to a prototype."""
    add(columns, values, by, weights[0, label])
    add(columns, values, by * clock[0], weights[1, label])


@kernel
def score(rows: Rows, prototypes: Floats, found: Floats) -> None:
    """w_c·x of all rows and labels."""
    for i in range(rows.indptr.size - 1):
        first, last = rows.indptr[i], rows.indptr[i + 1]
        for label in range(prototypes.shape[0]):
            found[i, label] = dot(rows.indices[first:last], rows.data[first:last], prototypes[label])


@kernel
def count_named(orders: Orders, order: Longs, counts: Longs) -> None:
    """Count each label of these examples once for each of them, however many of its pairs name it."""
    last = np.full(counts.size, -1, dtype=np.int64)
    for i in order:
        for label in orders.ids[orders.indptr[i] : orders.indptr[i + 1]]:
            counts[label] += last[label] != i
            last[label] = i
