"""The examples of vectors.py, one after the other: scored, their errors found as tuning.py finds them, learned."""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Longs, kernel
from shortlist.categories.index.course import note_labels, note_missed
from shortlist.categories.index.misses import is_missed, only_judged
from shortlist.categories.index.sharing import Missed
from shortlist.categories.index.tuning import KAPPA, find_errors, of_further_pass
from shortlist.categories.index.vectors import Beside, add_votes, correct, has_vector, list_met
from shortlist.categories.scratch import make_scratch
from shortlist.labels import LabelSets


@kernel
def learn_vectors(
    beside: Beside, labels: LabelSets, order: Longs, first_pass: bool, bias: Floats, stats: Floats, to_come: Floats,
    step: float, missed: Missed,
) -> None:  # fmt: skip
    """Learn the examples of ``order``; to_come and missed as tuning.learn has them.

    All that is kept for labels is as wide as the weights: so inner loops end where processors that add several do.
    Votes are added in float32 here, which is as exact as the weights are and several times as fast; ranking does not.
    """
    rows, weights, width = beside.rows, beside.weights, beside.weights.shape[1]
    scratch = make_scratch(width)
    votes, errors = np.zeros(width, dtype=np.float32), np.zeros(width, dtype=np.float32)
    for t in range(order.size):
        i, n = order[t], 0
        if first_pass:
            note_labels(stats, labels, i)
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        columns, values = rows.indices[own], rows.data[own]
        with_vector = has_vector(beside, i)
        if with_vector:
            n = list_met(bias, scratch.scores, scratch.touched)
            votes[:] = np.float32(0.0)
            add_votes(columns, values.astype(np.float32), weights, votes, 0)
            scratch.scores[:] = votes
            n = only_judged(labels, i, scratch, n)
        if missed.size > 0:
            missed[t] = is_missed(labels, i, bias, scratch, n)
        _, _, eta, is_behind, _, _ = find_errors(labels, i, first_pass, bias, stats, scratch, n, 1, step, False)
        if not first_pass:
            if with_vector and is_behind >= 0.0:
                note_missed(stats, is_behind)  # few vectors that are gone through again can be foreseen, and contend
            eta *= of_further_pass(stats, to_come)
        if with_vector:
            correct(columns, values, weights, bias, scratch, errors, eta, KAPPA * eta)
            scratch.scores[:] = 0.0
        for c in labels.ids[labels.indptr[i] : labels.indptr[i + 1]]:
            scratch.change[c] = 0.0
