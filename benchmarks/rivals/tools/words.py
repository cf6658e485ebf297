"""Rows of a matrix as words, and label lists as matrices, for the tools that take nothing else."""

import re

import numpy as np
import scipy.sparse


def of_row(matrix):
    """For each row its features as (name, value) pairs."""
    for i in range(matrix.shape[0]):
        first, last = matrix.indptr[i], matrix.indptr[i + 1]
        names = [f"f{column}" for column in matrix.indices[first:last].tolist()]
        yield list(zip(names, matrix.data[first:last].tolist(), strict=True))


def split(text):
    """Words of two letters or more, lower case: what scikit-learn's vectorisers take."""
    return re.findall(r"\w\w+", text.lower())


class Labels:
    """Label names and numbers, in order of first appearance."""

    def __init__(self, lists):
        self.names = list(dict.fromkeys(label for labels in lists for label in labels))
        self.number = {name: i for i, name in enumerate(self.names)}

    def matrix(self, lists):
        """An indicator matrix."""
        indices = np.array(
            [self.number[label] for labels in lists for label in labels], dtype=np.int32
        )
        indptr = np.cumsum([0] + [len(labels) for labels in lists])
        shape = len(lists), len(self.names)
        matrix = scipy.sparse.csr_matrix(
            (np.ones(len(indices), np.float32), indices, indptr), shape
        )
        matrix.sort_indices()
        return matrix

    def best(self, scores, k):
        """The k best labels of each row of a dense matrix of scores."""
        if scores.shape[1] > k:
            some = np.argpartition(-scores, k - 1, axis=1)[:, :k]
            rows = np.arange(len(scores))[:, None]
            some = some[rows, np.argsort(-scores[rows, some], axis=1, kind="stable")]
        else:
            some = np.argsort(-scores, axis=1, kind="stable")
        return [[self.names[i] for i in row] for row in some.tolist()]
