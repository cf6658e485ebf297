"""The means of few vectors, which are added to what their errors have taught."""

import numpy as np
import pytest

from shortlist import TunedBoth, TunedVectors
from shortlist.categories.index import means


def examples(seed=0, n=60, width=9):
    random = np.random.default_rng(seed)
    X, Y = (
        random.normal(size=(n, width)),
        [random.choice(5, size=random.integers(1, 3), replace=False) for _ in range(n)],
    )
    X[7] = 0.0  # says nothing
    return X, [own.tolist() for own in Y]


def slow_means(X, Y, labels):
    """What is added to weights and biases, from the formulas."""
    known = [i for i in range(len(X)) if X[i].any()]
    X = np.array([x / np.linalg.norm(x) if x.any() else x for x in X])
    m = X[known].mean(axis=0)
    own = np.array([X[[i for i in known if label in Y[i]]].mean(axis=0) for label in labels])
    return 2.0 * (own - m).T, m @ m - (own * own).sum(axis=1)


@pytest.mark.parametrize("kind", ["vectors", "both"])
def test_means_are_added_to_what_few_examples_teach(kind, monkeypatch):
    def fit():
        if kind == "vectors":
            learner = TunedVectors().fit(X, Y)
            return learner._known(), learner._bias(), learner.classes_
        learner = TunedBoth(vector=X.shape[1]).fit(np.hstack([X, np.ones((len(X), 1))]), Y)
        return learner._known(), learner._vector_biases, learner.classes_

    X, Y = examples()
    weights, bias, labels = fit()
    monkeypatch.setattr(means, "are_few", lambda n_rows, passes: False)
    without, bias_without, _ = fit()
    added, added_to_bias = slow_means(X, Y, labels.tolist())
    assert np.allclose((weights - without)[:, : len(labels)], added, atol=1e-6)
    assert np.allclose(bias - bias_without, added_to_bias, atol=1e-12)


def test_of_two_labels_that_are_told_apart_alike_the_nearer_one_wins():
    random = np.random.default_rng(3)
    centres = random.normal(size=(6, 32))
    y = np.repeat(np.arange(6), 5)
    new = np.repeat(np.arange(6), 50)
    X, new_X = (centres[own] + 1.6 * random.normal(size=(own.size, 32)) for own in (y, new))
    assert TunedVectors().fit(X, y).score(new_X, new) >= TunedVectors(passes=2).fit(X, y).score(new_X, new)


@pytest.mark.parametrize("settings", [{"values": "raw"}, {"passes": 2}])
def test_values_as_they_are_and_few_passes_have_no_means(settings, monkeypatch):
    X, Y = examples()
    found = TunedVectors(**settings).fit(X, Y)._known()
    monkeypatch.setattr(means, "FEW", 0)
    assert np.array_equal(TunedVectors(**settings).fit(X, Y)._known(), found)
    assert not np.array_equal(TunedVectors().fit(X, Y)._known(), found)


def test_a_stream_and_many_examples_have_no_means(monkeypatch):
    X, Y = examples()
    monkeypatch.setattr(means, "add_means", None)
    monkeypatch.setattr(means, "FEW", len(X))
    TunedVectors().fit(X, Y).partial_fit(X, Y)
    TunedVectors().partial_fit(X, Y)
