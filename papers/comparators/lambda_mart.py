"""LambdaMART (Wu, Burges, Svore and Gao 2010): boosted regression trees that follow the gradient of
average precision. A modern baseline beside paper 003; the paper does not have it.

For a relevant document i and another one j of a query, with |ΔAP| the average precision that their
exchange would change, ρ = 1/(1 + e^{s_i − s_j}) and λ = ρ·|ΔAP|: λ is added to the gradient of i
and taken from that of j, ρ(1 − ρ)·|ΔAP| is added to the curvature of both. A tree is fitted to the
gradients, each leaf counts sum of gradients / sum of curvatures, times the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from shortlist.compiled.kernels import Floats, Longs

SMALLEST_CURVATURE = 1e-12


class LambdaMART:
    """Rank documents by boosted trees over their features.

    Parameters
    ----------
    trees : int, default 100
    learning_rate : float, default 0.1
    leaves : int, default 8
        The most leaves of a tree.
    least : int, default 20
        The fewest documents of a leaf.
    """

    def __init__(
        self, trees: int = 100, learning_rate: float = 0.1, leaves: int = 8, least: int = 20
    ) -> None:
        self.trees = trees
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.least = least

    def fit(self, X: Floats, relevance: Floats, query: Longs) -> Self:
        """Learn; the documents of a query stand together."""
        parts = np.split(np.arange(query.size), np.flatnonzero(np.diff(query)) + 1)
        scores = np.zeros(query.size)
        self.fitted_: list[tuple[DecisionTreeRegressor, Floats]] = []
        for number in range(self.trees):
            gradient, curvature = np.zeros(query.size), np.zeros(query.size)
            for part in parts:
                gradient[part], curvature[part] = lambdas(scores[part], relevance[part] > 0)
            tree = DecisionTreeRegressor(
                max_leaf_nodes=self.leaves, min_samples_leaf=self.least, random_state=number
            ).fit(X, gradient)
            leaf = tree.apply(X)
            steps = np.bincount(leaf, gradient) / np.maximum(
                np.bincount(leaf, curvature), SMALLEST_CURVATURE
            )
            scores += self.learning_rate * steps[leaf]
            self.fitted_.append((tree, self.learning_rate * steps))
        return self

    def staged_scores(self, X: Floats) -> Iterator[Floats]:
        """The scores of documents by one tree, two trees and so on."""
        scores = np.zeros(len(X))
        for tree, steps in self.fitted_:
            scores = scores + steps[tree.apply(X)]
            yield scores


def lambdas(scores: Floats, relevant: np.ndarray) -> tuple[Floats, Floats]:
    """The gradient and the curvature of each document of a query."""
    n = scores.size
    order = np.argsort(-scores, kind="stable")
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    gradient, curvature = np.zeros(n), np.zeros(n)
    good, bad = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    if not good.size or not bad.size:
        return gradient, curvature
    change = changes_of_ap(place[good], place[bad], relevant[order])
    ahead = 1 / (1 + np.exp(np.clip(scores[good][:, None] - scores[bad], -50, 50)))
    force = ahead * change
    gradient[good] = force.sum(axis=1)
    gradient[bad] = -force.sum(axis=0)
    weight = force * (1 - ahead)
    curvature[good] = weight.sum(axis=1)
    curvature[bad] = weight.sum(axis=0)
    return gradient, curvature


def changes_of_ap(good: Longs, bad: Longs, ranked: np.ndarray) -> Floats:
    """|ΔAP| where a relevant document at each place of ``good`` and another one at each place of
    ``bad`` change places; ``ranked`` tells which places hold relevant documents.
    """
    hits = np.cumsum(ranked)
    ranks = np.arange(1, ranked.size + 1)
    # the sum of 1/rank over relevant documents at the first places
    inverse = np.concatenate([[0.0], np.cumsum(ranked / ranks)])
    high = np.minimum(good[:, None], bad)
    low = np.maximum(good[:, None], bad)
    between = inverse[low] - inverse[high + 1]
    rises = bad < good[:, None]
    # a relevant document that rises comes after one fewer where it lands, and before those between
    rise = (hits[high] + 1) / (high + 1) - hits[low] / (low + 1) + between
    fall = hits[high] / (high + 1) - hits[low] / (low + 1) + between
    return np.abs(np.where(rises, rise, fall)) / ranked.sum()
