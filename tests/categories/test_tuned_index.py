"""TunedIndex: exactly its twin, nothing but Feature-Focus without a step, and a choice that the stream makes."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import FeatureFocus, InputError, TunedIndex
from tests.reference.tuned_index import SlowTunedIndex

values = st.sampled_from([0.25, 0.5, 1.0, 3.0])
rows = st.dictionaries(st.integers(0, 5), values, min_size=1, max_size=4).map(lambda row: sorted(row.items()))
labels = st.sets(st.integers(0, 6), min_size=1, max_size=3).map(sorted)
examples = st.lists(st.tuples(rows, labels), min_size=1, max_size=40)


def matrix(stream):
    X = scipy.sparse.lil_array((len(stream), 6))
    for i, (row, _) in enumerate(stream):
        for f, v in row:
            X[i, f] = v
    return X.tocsr()


def corrections(learner):
    feature, edges = learner._index.all_edges()
    numbers = [learner.classes_[c] for c in edges["label"]]
    return {(f, c): u for f, c, u in zip(feature.tolist(), numbers, edges["tuned"].tolist(), strict=True) if u != 0}


@given(examples, st.sampled_from([0.1, 1.0]), st.sampled_from([0.5, 2.0]), st.sampled_from([2, 25]), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_is_exactly_its_twin(stream, step, lead, max_edges, passes):
    own = {"min_weight": 0.05, "max_edges": max_edges, "margin": 0.4, "rare": 3}
    slow = SlowTunedIndex(step=step, lead=lead, **own)
    learner = TunedIndex(step=step, lead=lead, passes=passes, values="raw", random_state=None, **own)
    # Ties go by the number of a label: number all of them before learning begins.
    learner.partial_fit(matrix([([(0, 0.0)], [])]), [[]], classes=list(range(7)))
    learner.partial_fit(matrix(stream), [classes for _, classes in stream])
    for _ in range(1, passes):
        learner._learn(
            learner._check(matrix(stream)),
            learner._labels.learn([classes for _, classes in stream], len(stream)),
            np.arange(len(stream)),
            False,
        )
    for n in range(passes):
        for x, classes in stream:
            if n == 0:
                slow.learn(x, classes)
            slow.tune(x, classes, 0.5**n)
    expected = {pair: float(u) for pair, u in slow.u.items() if u != 0}
    assert corrections(learner) == pytest.approx(expected, abs=1e-6)


@given(examples)
@settings(max_examples=30, deadline=None)
def test_without_a_step_it_is_feature_focus(stream):
    X, Y = matrix(stream), [classes for _, classes in stream]
    own = {"min_weight": 0.02, "max_edges": 10, "margin": 0.3, "rare": 5}
    tuned, plain = TunedIndex(step=0, **own).fit(X, Y), FeatureFocus(**own).fit(X, Y)
    assert np.array_equal(tuned.decision_function(X), plain.decision_function(X))


def noisy_stream(n, right, seed=0):
    """Examples with one label each, which is the right one with this probability and any one otherwise."""
    random = np.random.default_rng(seed)
    true = random.integers(0, 40, n)
    X = scipy.sparse.lil_array((n, 400))
    for i, c in enumerate(true):
        X[i, c * 5 + random.integers(0, 5, 3)] = 1.0
        X[i, random.integers(200, 400, 8)] = 1.0
    Y = np.where(random.random(n) < right, true, random.integers(0, 40, n))
    return X.tocsr(), [[int(c)] for c in Y]


def test_corrections_stay_where_they_help_and_go_where_they_harm():
    X, Y = noisy_stream(6000, right=1.0)
    assert TunedIndex().fit(X, Y).tuning_
    X, Y = noisy_stream(6000, right=0.3)
    learner = TunedIndex().fit(X, Y)
    assert not learner.tuning_
    assert not corrections(learner)
    assert TunedIndex(step=1.0).fit(X, Y).tuning_, "a step that was given is kept"


def test_merging_adds_corrections_and_gives_up_with_either():
    X, Y = noisy_stream(600, right=1.0)
    parts = [TunedIndex().fit(X[:300], Y[:300]), TunedIndex().fit(X[300:], Y[300:])]
    expected = corrections(parts[0])
    for pair, u in corrections(parts[1]).items():
        expected[pair] = expected.get(pair, 0.0) + u
    kept = corrections(parts[0].merge(parts[1]))
    assert kept
    assert all(u == pytest.approx(expected[pair], abs=1e-5) for pair, u in kept.items())
    without = TunedIndex(step=0).fit(X[:300], Y[:300])
    assert not corrections(TunedIndex().fit(X, Y).merge(without))


def test_bad_settings_are_refused():
    X, Y = noisy_stream(10, right=1.0)
    for bad in ({"step": -1.0}, {"lead": -0.5}, {"rare": -1}, {"step": "far"}):
        with pytest.raises(InputError):
            TunedIndex(**bad).fit(X, Y)
