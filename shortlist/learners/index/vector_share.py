"""How much a vector should count beside words, where it is not clearly better than they are.

Vectors that know less than the words, such as a projection of these very words, make a model worse
if they count much. So several shares are tried on a sample of the examples, each by kernel ridge
regression, whose predictions for examples that are left out have a closed form: with K the products
of rows, G = (K + λI)⁻¹ and Y the labels, the prediction of example i without itself is
Y_i − (G·Y)_i / G_ii.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shortlist.compiled.kernels import Floats, Longs

SMALLER_SHARES = (
    0.1,
    0.2,
    0.35,
    0.5,
)  # less than the usual share; not 0, as names of labels have vectors
RIDGE = 0.5  # λ
LEAST_COMPARED = 500  # examples; with fewer the errors say too little
MOST_COMPARED = 800
CHANCE = 1  # errors more than the fewest that do not count


def least_harmful_share(
    of_words: Any, of_vectors: NDArray[np.float64], labels: Longs, usual: float
) -> float:
    """The largest share, at most the usual one, that makes no more errors than the best.

    of_words: a sparse array; of_vectors: rows of unit length; labels: one for each row, from 0.
    """
    step = -(-labels.size // MOST_COMPARED)
    labels = labels[::step]
    of_words = of_words[::step]
    of_vectors = of_vectors[::step]
    can_be_right = np.bincount(labels)[labels] > 1
    if can_be_right.sum() < LEAST_COMPARED:
        return usual
    with threadpool_limits(1):  # the same sums whatever the number of threads
        by_words = (of_words @ of_words.T).toarray()
        by_vectors = of_vectors @ of_vectors.T
        truth = np.eye(int(labels.max()) + 1)[labels]
        shares = (*SMALLER_SHARES, usual)
        wrong = [
            left_out_errors((1 - share) * by_words + share * by_vectors, truth)[can_be_right].sum()
            for share in shares
        ]
    most = min(wrong) + CHANCE
    return max(share for share, n_wrong in zip(shares, wrong, strict=True) if n_wrong <= most)


def left_out_errors(products: Floats, truth: Floats) -> NDArray[np.bool_]:
    """Whether each example would get a wrong label by all others; truth: 1 for its own label."""
    inverse = np.linalg.inv(products + RIDGE * np.eye(len(products)))
    predicted = truth - (inverse @ truth) / np.diag(inverse)[:, np.newaxis]
    errors: NDArray[np.bool_] = predicted.argmax(axis=1) != truth.argmax(axis=1)
    return errors
