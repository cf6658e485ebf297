"""Few vectors, learned once more: what a vector has to say where words speak too.

Words and vector learn apart, each until it is right alone. Where examples are few, all of them are soon right twice
over, and nobody learns what the vector must add where words fail. So ``fit``, where it has fewer than 4,000 examples
with one label each, goes through the vectors again, with weights that begin at 0, beside the words of others: s′ is
what words say that have learned the other parts of the examples (held_back.py), as they would of a new text. With

    s_c = (1 − α)·s′_c + α·(b_c + Σ_f u_fc·v[f]),    q_c = 1 / (1 + max s − s_c)⁴,    p_c = q_c / Σ q,

    u_fc += α·η·e_c·v[f],    b_c += κ·α·η·e_c,    e_c = 1 − p_c for the true label, −p_c for all others,

in ten passes: η is 1 in the first, and falls from ½ to nothing in the others. p is nearly softmax of 4·s for labels
that come near, and is made of sums, products and quotients, which all processors round alike. In the end the weights of
the vector are the mean of these and of those that it has learned alone; words stay as they are.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints, kernel
from shortlist.arrays.partial import is_complete
from shortlist.arrays.rows import Rows, RowStore
from shortlist.categories.index import together
from shortlist.categories.index.means import BLOCK, chosen
from shortlist.categories.index.tuning import FURTHER, KAPPA
from shortlist.categories.index.vectors import Short, Weights, add_votes, correct
from shortlist.categories.scratch import make_scratch
from shortlist.labels import LabelSets

PASSES = 10
MOST_SCORES = 1 << 20  # of words, for all examples and labels: 4 MB


def learn_beside_words(
    rows: Rows | RowStore, n_vector: int, labels: LabelSets, by_words: Short, alpha: float, weights: Weights,
    bias: Floats,
) -> None:  # fmt: skip
    """Change the weights and biases of a vector, the first n_vector columns of the rows, in place.

    by_words: s′, float32[examples, labels]. Only labels of which a vector was learned, which have a bias, take part.
    """
    own_weights, own_bias, met = np.zeros_like(weights), np.zeros_like(bias), np.flatnonzero(bias).astype(np.int32)
    random, to_come = np.random.default_rng(0), np.full(2, (PASSES - 1.0) * rows.n_rows)
    for n in range(PASSES if met.size else 0):
        order = random.permutation(rows.n_rows)
        for first in range(0, order.size, BLOCK):
            which = order[first : first + BLOCK]
            vectors, words = together.split(chosen(rows, which), n_vector)
            learn_some(
                vectors.of_unit_length(), words, labels.chosen(which), by_words[which], alpha, met, n == 0, to_come,
                own_weights, own_bias,
            )  # fmt: skip
    weights += own_weights
    weights *= np.float32(0.5)
    bias += own_bias
    bias *= 0.5


@kernel
def learn_some(
    vectors: Rows, words: Rows, labels: LabelSets, by_words: Short, alpha: float, met: Ints, first_pass: bool,
    to_come: Floats, weights: Weights, bias: Floats,
) -> None:  # fmt: skip
    """Learn these examples, those that have words, a vector and one label, of which nothing was left unjudged.

    to_come: how many examples further passes have still to go through, and how many they had when they began.
    """
    width = weights.shape[1]
    scratch = make_scratch(width)
    votes, errors = np.zeros(width, dtype=np.float32), np.zeros(width, dtype=np.float32)
    for i in range(vectors.indptr.size - 1):
        eta = alpha
        if not first_pass:
            eta *= FURTHER * to_come[0] / to_come[1]
            to_come[0] -= 1.0
        first, last = vectors.indptr[i], vectors.indptr[i + 1]
        has_both = first < last and words.indptr[i] < words.indptr[i + 1]
        if not has_both or labels.indptr[i + 1] - labels.indptr[i] != 1 or not is_complete(labels.partial, i):
            continue
        columns, values = vectors.indices[first:last], vectors.data[first:last]
        votes[:] = np.float32(0.0)
        add_votes(columns, values.astype(np.float32), weights, votes, 0)
        for c in met:
            scratch.scores[c] = (1.0 - alpha) * by_words[i, c] + alpha * (bias[c] + votes[c])
        find_errors(scratch.scores, met, labels.ids[labels.indptr[i]], scratch.change)
        correct(columns, values, weights, bias, scratch, errors, eta, KAPPA * eta)


@kernel
def find_errors(scores: Floats, met: Ints, right: int, change: Floats) -> None:
    """e_c of the labels that were met, into change."""
    best, total = scores[met[0]], 0.0
    for c in met:
        best = max(best, scores[c])
    for c in met:
        square = (1.0 + (best - scores[c])) * (1.0 + (best - scores[c]))
        change[c] = 1.0 / (square * square)
        total += change[c]
    for c in met:
        change[c] = (1.0 if c == right else 0.0) - change[c] / total
