"""The second kind of features: a dense vector of either sign, such as an embedding, beside the words of an example.

Counting tells nothing about signed values, and no list could be sparse. So each column g of a vector has a weight U_gc
for every label, and adds v[g]·U_gc to the score of each label that was learned. The errors are those of words and
vector together (tuning.py), and teach both: U_gc += η·v[g]·e_c.

Where an example has both, the squares of its words sum to 1 − SHARE and those of its vector to SHARE, so that one row
has unit length as others have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel, part
from shortlist.arrays.rows import Rows
from shortlist.categories.best import LEAST, Scratch
from shortlist.errors import InputError

Vectors = NDArray[np.float32]  # rows × columns; a row of zeros where an example has none
Weights = NDArray[np.float32]  # columns × labels, with room for more labels

SHARE = 0.65
NAMED = np.float32(5.0)  # the length of the weights with which a label begins that has a name and no example
MOST_WEIGHTS = 1 << 30  # 4 GiB
NO_WEIGHTS: Weights = np.zeros((0, 0), dtype=np.float32)


def no_vectors(n_rows: int) -> Vectors:
    return np.zeros((n_rows, 0), dtype=np.float32)


def unit(own: Vectors) -> Vectors:
    """Vectors of unit length; those of nothing stay as they are."""
    length = np.linalg.norm(own, axis=1, keepdims=True)
    return (own / np.where(length > 0.0, length, 1.0)).astype(np.float32)


def split(rows: Rows, n_vector: int) -> tuple[Rows, Vectors]:
    """Words alone, and the vectors that stand in the first n_vector columns."""
    if n_vector == 0:
        return rows, no_vectors(rows.n_rows)
    vectors = np.zeros((rows.n_rows, n_vector), dtype=np.float32)
    indptr, indices, data = _split(rows, vectors)
    return Rows(indptr, indices, data, rows.n_features), vectors


@kernel
def _split(rows: Rows, vectors: Vectors) -> tuple[Longs, Ints, Floats]:
    """Write the vectors; gives the offsets, columns and values of the words."""
    n_rows, n_vector = vectors.shape
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        n = 0
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            n += rows.indices[j] >= n_vector
        indptr[i + 1] = indptr[i] + n
    indices, data = np.empty(indptr[n_rows], dtype=np.int32), np.empty(indptr[n_rows])
    for i in range(n_rows):
        at = indptr[i]
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            if rows.indices[j] < n_vector:
                vectors[i, rows.indices[j]] = rows.data[j]
            else:
                indices[at], data[at] = rows.indices[j], rows.data[j]
                at += 1
    return indptr, indices, data


@kernel
def balance(indptr: Longs, data: Floats, vectors: Vectors) -> None:
    """Give vectors unit length, and where a row has words of unit length, too, both their share; in place."""
    for i in range(vectors.shape[0]):
        square = 0.0
        for value in vectors[i]:
            square += np.float64(value) * np.float64(value)
        if square > 0.0:
            has_words = indptr[i] < indptr[i + 1]
            vectors[i] *= np.float32(np.sqrt((SHARE if has_words else 1.0) / square))
            for j in range(indptr[i], indptr[i + 1]):
                data[j] = np.float32(data[j] * np.sqrt(1.0 - SHARE))  # values have the digits that weights have


def widened(weights: Weights, n_labels: int) -> Weights:
    """The weights with room for that many labels, and some to spare where more have come."""
    n_vector, room = weights.shape
    if room >= n_labels or n_vector == 0:
        return weights
    if n_vector * n_labels > MOST_WEIGHTS:
        raise InputError(
            f"rows with negative values are learned as vectors, with a weight for each column and label: {n_vector:,} "
            f"columns with {n_labels:,} labels would take {4 * n_vector * n_labels / 1e9:,.0f} GB; use shorter "
            "vectors, or values of at least 0"
        )
    wider = np.zeros((n_vector, n_labels + (n_labels // 4 if room else 0)), dtype=np.float32)
    wider[:, :room] = weights
    return wider


@part
def has_vector(vector: Vectors) -> bool:
    """Whether an example has a vector (float32[columns]) that is not all 0."""
    g = 0
    while g < vector.size and vector[g] == 0.0:
        g += 1
    return g < vector.size


@part
def add_vector_votes(vector: Vectors, weights: Weights, bias: Floats, scores: Floats, touched: Ints) -> int:
    """Add v[g]·U_gc to the scores of all labels that were learned, and list these; gives how many there are.

    A label that was learned has a bias or a score. One whose votes cancel has the least score, not 0.
    """
    for g in range(vector.size):
        v, own = np.float64(vector[g]), weights[g]
        for c in range(scores.size):
            scores[c] += v * own[c]
    n = 0
    for c in range(scores.size):
        if bias[c] != 0.0 or scores[c] != 0.0:
            touched[n] = c
            n += 1
            scores[c] = scores[c] if scores[c] != 0.0 else LEAST
    return n


@part
def correct_vector(vector: Vectors, weights: Weights, scratch: Scratch, n: int, eta: float) -> None:
    """U_gc += η·v[g]·e_c of those of the first n touched labels that have an error, in place of a score."""
    wrong, n_wrong = scratch.rising, 0
    for c in scratch.touched[:n]:
        wrong[n_wrong] = c
        n_wrong += scratch.scores[c] != 0.0
    for g in range(vector.size):
        shift = eta * vector[g]
        for c in wrong[:n_wrong]:
            weights[g, c] += shift * scratch.scores[c]
