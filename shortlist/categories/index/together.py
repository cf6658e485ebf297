"""Rows of words and a vector: taken apart, and ranked by the votes of both.

The words of a row go to the index (retrieval.py), its vector to weights for each label (vectors.py). A row of words
alone is ranked as the index ranks it, one of a vector alone as the weights do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel
from shortlist.arrays.rows import Rows
from shortlist.categories.best import keep_best
from shortlist.categories.index import contenders
from shortlist.categories.index.lists import Index
from shortlist.categories.index.retrieval import retrieve
from shortlist.categories.index.vectors import Beside, add_all_votes, has_vector, list_met

Flags = NDArray[np.bool_]
ALL = np.ones(0, dtype=np.bool_)  # every label may be ranked
TOGETHER = 16  # rows that are scored before the next tile of weights is read
OF_WORDS, OF_VECTOR, OF_BOTH = 0, 1, 2  # rows of biases: for an example of words, of a vector, and of both


def split(rows: Rows, n_vector: int) -> tuple[Rows, Rows]:
    """The entries of the first n_vector columns, which stand first in each row or nowhere, and all the others."""
    found = _split(rows, n_vector)  # plain arrays: to make a named tuple of them here takes less time than there
    return Rows(*found[:3], n_vector), Rows(*found[3:], rows.n_features)


@kernel
def _split(rows: Rows, n_vector: int) -> tuple[Longs, Ints, Floats, Longs, Ints, Floats]:
    """The offsets, columns and values of both."""
    n_rows = rows.indptr.size - 1
    ends, words_ends = np.zeros(n_rows + 1, dtype=np.int64), np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        n = 0
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            n += rows.indices[j] < n_vector
        ends[i + 1] = ends[i] + n
        words_ends[i + 1] = words_ends[i] + rows.indptr[i + 1] - rows.indptr[i] - n
    indices, data = np.empty(ends[n_rows], dtype=np.int32), np.empty(ends[n_rows])
    words_indices, words_data = np.empty(words_ends[n_rows], dtype=np.int32), np.empty(words_ends[n_rows])
    for i in range(n_rows):
        at, words_at = ends[i], words_ends[i]
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            if rows.indices[j] < n_vector:
                indices[at], data[at] = rows.indices[j], rows.data[j]
                at += 1
            else:
                words_indices[words_at], words_data[words_at] = rows.indices[j], rows.data[j]
                words_at += 1
    return ends, indices, data, words_ends, words_indices, words_data


@kernel
def all_biases(words: Floats, vector: Floats, alpha: float) -> Floats:
    """The biases for examples of words, of a vector, and of both, where the vector has the share α."""
    biases = np.empty((3, words.size))
    for c in range(words.size):
        biases[OF_WORDS, c], biases[OF_VECTOR, c] = words[c], vector[c]
        biases[OF_BOTH, c] = (1.0 - alpha) * words[c] + alpha * vector[c]
    return biases


@kernel
def which_bias(words: Rows, beside: Beside, i: int) -> int:
    """Which biases row i has: OF_WORDS, OF_VECTOR or OF_BOTH."""
    if not has_vector(beside, i):
        return OF_WORDS
    return OF_BOTH if words.indptr[i] < words.indptr[i + 1] else OF_VECTOR


@kernel
def score(
    words: Rows, beside: Beside, index: Index, bias: Floats, added: Floats, max_edges: int, rare: int, scores: Floats,
    touched: Ints, n: Longs,
) -> None:  # fmt: skip
    """The scores of all rows (float64[rows, labels], zero before), and touched[i, :n[i]], those that are retrieved.

    bias: float64[3, labels], for rows of words, a vector, and both, or float64[1, labels] where all are the same;
    added: what is added, the biases as a rule.
    """
    meet(words, beside, index, bias, max_edges, rare, scores, touched, n)
    add_all_votes(beside, scores)
    for i in range(scores.shape[0]):
        own = row_of(added, words, beside, i)
        for c in range(own.size):
            scores[i, c] += own[c]


@kernel
def row_of(biases: Floats, words: Rows, beside: Beside, i: int) -> Floats:
    """The biases of row i: of three rows of them, or of one where all are the same."""
    return biases[min(biases.shape[0] - 1, which_bias(words, beside, i))]


@kernel
def meet(
    words: Rows, beside: Beside, index: Index, bias: Floats, max_edges: int, rare: int, scores: Floats, touched: Ints,
    n: Longs,
) -> None:  # fmt: skip
    """The scores by words of all rows, and touched[i, :n[i]], those that are retrieved by words or a vector."""
    for i in range(scores.shape[0]):
        n[i] = retrieve(words, i, index, max_edges, rare, scores[i], touched[i])
        if has_vector(beside, i):
            n[i] = list_met(row_of(bias, words, beside, i), scores[i], touched[i])


@kernel
def score_contenders(
    words: Rows, beside: Beside, index: Index, bias: Floats, added: Floats, max_edges: int, rare: int, allowed: Flags,
    scores: Floats, touched: Ints, n: Longs, ids: Ints, best: Floats,
) -> None:  # fmt: skip
    """As score, but only of labels that can be among the best, as many as ids and best have room for."""
    n_rows, n_labels = scores.shape
    meet(words, beside, index, bias, max_edges, rare, scores, touched, n)
    votes, squares = np.zeros((n_rows, n_labels), dtype=np.float32), np.zeros(n_labels, dtype=np.float32)
    contenders.add_rough_votes(beside, votes, squares)
    longest, near = contenders.longest(squares, beside.weights.shape[0]), np.empty(n_labels)
    for i in range(n_rows):
        own, one = row_of(added, words, beside, i), slice(beside.rows.indptr[i], beside.rows.indptr[i + 1])
        columns, values = beside.rows.indices[one], beside.rows.data[one]
        if allowed.size > 0:
            n[i] = keep_allowed(touched[i], n[i], allowed)
        n[i] = contenders.keep_contenders(
            values, votes[i], longest, scores[i], own, touched[i, : n[i]], near, ids[i], best[i]
        )
        contenders.add_votes_of(columns, values, beside.weights, touched[i, : n[i]], scores[i], own)


@kernel
def rank(
    words: Rows, beside: Beside, index: Index, bias: Floats, added: Floats, max_edges: int, rare: int, allowed: Flags,
    ids: Ints, best: Floats,
) -> None:  # fmt: skip
    """The k best labels of each row (ids int32[n, k], best float64[n, k]); ties to the lower number.

    allowed: bool[labels], or empty for all.
    """
    n_rows, n_labels = words.indptr.size - 1, bias.shape[1]
    some = min(TOGETHER, n_rows)
    scores, touched = np.empty((some, n_labels)), np.empty((some, n_labels + 1), dtype=np.int32)
    n = np.zeros(some, dtype=np.int64)
    few_of_many = n_labels >= contenders.MANY and ids.shape[1] * contenders.FEW <= n_labels
    for first in range(0, n_rows, TOGETHER):
        last = min(first + TOGETHER, n_rows)
        part = Rows(words.indptr[first : last + 1], words.indices, words.data, words.n_features)
        vectors = beside.rows
        own = Rows(vectors.indptr[first : last + 1], vectors.indices, vectors.data, vectors.n_features)
        own_beside = Beside(own, beside.weights)
        scores[:] = 0.0
        if few_of_many and own.indptr[0] < own.indptr[last - first]:
            score_contenders(
                part, own_beside, index, bias, added, max_edges, rare, allowed, scores[: last - first], touched, n,
                ids[first:last], best[first:last],
            )  # fmt: skip
        else:
            score(part, own_beside, index, bias, added, max_edges, rare, scores[: last - first], touched, n)
        for i in range(last - first):
            kept = n[i] if allowed.size == 0 else keep_allowed(touched[i], n[i], allowed)
            keep_best(touched[i, :kept], scores[i], ids[first + i], best[first + i])


@kernel
def keep_allowed(touched: Ints, n: int, allowed: Flags) -> int:
    """Only the allowed ones of touched[:n]; gives how many."""
    kept = 0
    for a in range(n):
        touched[kept] = touched[a]
        kept += allowed[touched[a]]
    return kept


@kernel
def all_scores(
    words: Rows, beside: Beside, index: Index, bias: Floats, max_edges: int, rare: int, found: Floats
) -> None:
    """The scores of all labels, into found (float64[n, labels], all 0): what retrieval.all_scores gives."""
    n_rows, n_labels = found.shape
    touched, n = np.empty((n_rows, n_labels + 1), dtype=np.int32), np.zeros(n_rows, dtype=np.int64)
    score(words, beside, index, bias, bias, max_edges, rare, found, touched, n)
    is_there = np.zeros(n_labels, dtype=np.bool_)
    for i in range(n_rows):
        lowest = 0.0
        is_there[:] = False
        for a in range(n[i]):
            is_there[touched[i, a]] = True
            lowest = min(lowest, found[i, touched[i, a]])
        for c in range(n_labels):
            if not is_there[c]:
                found[i, c] = lowest
