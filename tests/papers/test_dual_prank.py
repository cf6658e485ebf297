"""PRank in the dual form is PRank on the kernel's features, and its vote is that of all its
rules.
"""

import doctest

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from papers.comparators import dual_prank
from papers.comparators.dual_prank import DualPRank
from papers.ratings import quadratic_features
from shortlist import PRank
from tests.learners.ratings.streams import integer_streams
from tests.reference.prank import PRankTwin


def linear(A, B):
    return A @ B.T


def quadratic(A, B):
    return (A @ B.T + 1) ** 2


def all_products(X):
    """Features of whole numbers whose inner product is the kernel (x·x' + 1)²: φ(x) for any
    number of columns.
    """
    ones = np.column_stack([np.ones(len(X)), X])
    return np.einsum("ni,nj->nij", ones, ones).reshape(len(X), -1)


@given(integer_streams(), st.integers(1, 3))
def test_a_kernel_is_prank_on_its_features(stream, passes):
    k, X, y = stream
    primal, dual = PRank(scale=list(range(1, k + 1)), hypothesis="last"), DualPRank(quadratic, k)
    for _ in range(passes):
        primal.partial_fit(all_products(X), y)
        dual.learn(X, y)
        assert dual.predict(X).tolist() == primal.predict(all_products(X)).tolist()
        np.testing.assert_array_equal(dual.thresholds[-1], primal.thresholds_)


@given(integer_streams(), st.integers(1, 3))
def test_the_vote_is_that_of_all_rules(stream, passes):
    k, X, y = stream
    replay, dual = PRankTwin(k, X.shape[1]), DualPRank(linear, k)
    for _ in range(passes):
        for x, rating in zip(X.tolist(), y.tolist(), strict=True):
            replay.learn(x, rating)
        dual.learn(X, y)
    assert sum(dual.lives) == passes * len(X)
    assert dual.vote(X).tolist() == [replay.vote(x) for x in X.tolist()]


def test_the_features_of_figure_3_have_its_kernel():
    X = np.random.default_rng(0).normal(size=(9, 2))
    features = quadratic_features(X)
    assert features.shape == (9, 6)
    np.testing.assert_allclose(features @ features.T, quadratic(X, X))


def test_its_example():
    assert doctest.testmod(dual_prank).failed == 0
