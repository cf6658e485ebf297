"""Labels that can be among the best are found roughly: the answer is, to the last bit, the one that all scores give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import TunedBoth, TunedVectors
from shortlist.arrays.rows import Rows
from shortlist.arrays.validation import as_rows
from shortlist.categories.index import contenders, together
from shortlist.categories.index.lists import empty_index
from shortlist.categories.index.vectors import Beside, no_rows

MANY = contenders.MANY + 37


def in_order(X, weights, bias):
    """All scores, feature after feature."""
    found = np.zeros((X.shape[0], bias.size))
    for i, x in enumerate(X):
        for f in np.flatnonzero(x[: weights.shape[0]]):
            found[i] += x[f] * weights[f, : bias.size].astype(np.float64)
    return found + bias


def best_of(scores, k, may=None):
    """The k best of each row, ties to the lower number."""
    found = []
    for row in scores:
        ranked = np.argsort(-row, kind="stable")
        found.append([c for c in ranked.tolist() if may is None or may[c]][:k])
    return found


def ranked(X, weights, bias, k, allowed=together.ALL):
    rows = as_rows(X)
    ids, best = np.full((len(X), k), -1, dtype=np.int32), np.zeros((len(X), k))
    own = bias[np.newaxis]
    together.rank(no_rows(len(X)), Beside(rows, weights), empty_index(), own, own, 1, 0, allowed, ids, best)
    return ids.tolist(), best


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 19), st.integers(1, 18), st.integers(1, 60), st.sampled_from([0.0, 0.5]),
    st.sampled_from([1e-25, 1e-3, 1.0, 1e18, 1e25]), st.sampled_from([1e-160, 1e-44, 1e-20, 1.0, 1e25, 1e39]),
    st.sampled_from([0.0, 1.0, 1e14]),
)  # fmt: skip
def test_the_best_are_those_of_all_scores(seed, width, n_rows, k, empty, of_weights, of_values, of_biases):
    random = np.random.default_rng(seed)
    weights = (of_weights * random.normal(size=(width, MANY))).astype(np.float32)
    weights[:, random.integers(MANY, size=500)] = weights[:, :1]  # many are level
    X = of_values * random.normal(size=(n_rows, width + 2)) * (random.random((n_rows, width + 2)) >= empty)
    X[:, -1] = 1.0  # nobody is without a vector, and nobody knows the last columns
    bias = of_biases * random.normal(size=MANY) + 1.0
    ids, best = ranked(X, weights, bias, k)
    scores = in_order(X, weights, bias)
    assert ids == best_of(scores, k)
    assert np.array_equal(best, np.take_along_axis(scores, np.array(ids), axis=1))
    may = random.random(MANY) < 0.3
    assert ranked(X, weights, bias, k, may)[0] == best_of(scores, k, may)


def test_scores_that_differ_by_less_than_is_lost_roughly_are_told_apart():
    random = np.random.default_rng(0)
    weights = (random.normal(size=(64, 1)) * (1.0 + 1e-7 * random.normal(size=(64, MANY)))).astype(np.float32)
    X, bias = random.normal(size=(3, 64)), np.ones(MANY)
    assert ranked(X, weights, bias, 20)[0] == best_of(in_order(X, weights, bias), 20)


@pytest.mark.parametrize("n_rows", [1, 40])
def test_only_few_are_scored_exactly(n_rows):
    random = np.random.default_rng(1)
    weights = random.normal(size=(48, MANY)).astype(np.float32)
    X = random.normal(size=(n_rows, 48))
    votes, squares = np.zeros((n_rows, MANY), dtype=np.float32), np.zeros(MANY, dtype=np.float32)
    contenders.add_rough_votes(Beside(as_rows(X), weights), votes, squares)
    assert np.allclose(squares, (weights.astype(np.float64) ** 2).sum(axis=0), rtol=1e-5)
    assert np.allclose(votes, X @ weights, atol=1e-3)
    longest = contenders.longest(squares, 48)
    for x, own in zip(X, votes, strict=True):
        touched, zeros = np.arange(MANY, dtype=np.int32), np.zeros(MANY)
        ids, best = np.zeros(5, dtype=np.int32), np.zeros(5)
        n = contenders.keep_contenders(x, own, longest, zeros, zeros, touched, np.empty(MANY), ids, best)
        assert 5 <= n < 10


def test_learners_of_many_labels_answer_as_their_scores_do():
    random = np.random.default_rng(2)
    V, words = random.normal(size=(MANY, 8)), random.random((MANY, 30)) * (random.random((MANY, 30)) < 0.1)
    labels = np.arange(MANY)
    alone = TunedVectors(passes=1).fit(V, labels)
    assert alone.rank(V[:20], k=3).labels.tolist() == best_labels(alone, V[:20], 3)
    both = TunedBoth(vector=8, passes=1).fit(np.hstack([V, words]), labels)
    new = np.hstack([random.normal(size=(20, 8)), words[:20]])
    assert both.rank(new, k=3).labels.tolist() == best_labels(both, new, 3)
    new[3:6, :8] = 0.0  # these have no vector, and are ranked as if they were alone
    assert both.rank(new, k=3).labels[3:6].tolist() == both.rank(new[3:6], k=3).labels.tolist()


def best_labels(learner, X, k):
    scores = learner._scores(learner._prepare(Rows(*as_rows(X))))
    return [[learner.classes_[c] for c in own] for own in best_of(scores, k)]
