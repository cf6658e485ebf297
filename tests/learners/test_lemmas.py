"""Paper 004's lemmas 1 and 3, and the index as the matrix that its figures 1, 2 and 6 draw."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import FeatureFocus
from shortlist.measures import evaluate

ALWAYS = 1e9  # a margin that no class ever leads by


def example(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (30, 6)) / 4
    return X, [f"c{n}" for n in random.integers(0, 4, 30)]


def matrix_of(learner, n_features):
    """W: what each feature counts for each class, times the rating of the feature."""
    W = np.zeros((n_features, len(learner.classes_)))
    for column, label in enumerate(learner.classes_.tolist()):
        for feature, weight in learner.strongest(label, n_features):
            W[feature, column] = weight
    return np.minimum(1, learner.times_seen() / learner.rare)[:, None] * W


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_the_product_with_the_matrix_of_the_index(seed):
    X, y = example(seed)
    learner = FeatureFocus(margin=ALWAYS, values="raw").fit(X, y)
    np.testing.assert_allclose(learner.decision_function(X), X @ matrix_of(learner, 6))


@pytest.mark.parametrize("factor", [0.25, 8.0])
def test_scaling_all_weights_changes_no_ranking(factor):
    """Lemma 1. Powers of two scale without rounding, so that ties stay ties."""
    X, y = example(3)
    learner = FeatureFocus(margin=ALWAYS, values="raw").fit(X, y)
    before = learner.rank(X, k=4)
    learner.index_.features["total"] /= factor
    after = learner.rank(X, k=4)
    np.testing.assert_array_equal(after.ids, before.ids)
    np.testing.assert_array_equal(after.scores, factor * before.scores)


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=12), st.integers(1, 3))
def test_a_feature_does_best_with_its_most_frequent_classes(stream, k):
    """Lemma 3: no k classes in any order have a higher R_k or a higher mean reciprocal rank."""
    learner = FeatureFocus(margin=ALWAYS, max_edges=k, min_weight=0.0).fit(
        np.ones((len(stream), 1)), stream
    )
    ranking = learner.rank(np.ones((len(stream), 1)), k=k)
    ours = evaluate(ranking, [[label] for label in stream], [f"R{k}", "MRR"], resamples=0)
    shares = {label: stream.count(label) / len(stream) for label in "abcd"}
    for order in permutations("abcd", k):
        assert sum(shares[label] for label in order) <= ours[f"R{k}"] + 1e-12
        assert (
            sum(shares[label] / (rank + 1) for rank, label in enumerate(order))
            <= ours["MRR"] + 1e-12
        )
