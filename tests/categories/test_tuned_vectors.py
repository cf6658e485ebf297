"""TunedVectors: exactly its twin; dense vectors of either sign, learned at once or one by one, alone and merged."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from shortlist import Categorizer, InputError, ModelFileError, TunedVectors, load
from shortlist.categories.relabelling import merged
from shortlist.files.store import build
from tests.reference.tuned_vectors import SlowTunedVectors

values = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0])
rows = st.lists(values, min_size=5, max_size=5)
one = st.integers(0, 5).map(lambda c: [c])
several = st.sets(st.integers(0, 5), min_size=0, max_size=3).map(sorted)
streams = st.one_of(
    st.lists(st.tuples(rows, one), min_size=1, max_size=40), st.lists(st.tuples(rows, several), min_size=1, max_size=40)
)


def clouds(n=600, n_labels=12, width=40, seed=0, spread=0.8):
    """Points around a centre for each label."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(n_labels, width))
    y = random.integers(n_labels, size=n)
    return centres[y] + spread * random.normal(size=(n, width)), y


@given(streams, st.sampled_from([0.0, 0.3, 1.0]), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_is_exactly_its_twin(stream, step, passes):
    X, Y = np.array([row for row, _ in stream]), [own for _, own in stream]
    learner = TunedVectors(step=step, passes=passes, values="raw", random_state=None)
    learner.partial_fit(X[:1], Y[:1], classes=range(6))  # so that labels have the numbers of the twin
    learner.fit(X, Y)
    names = learner.classes_.tolist()
    slow = SlowTunedVectors(5, len(names), step)
    further = max(1, passes - 1)
    for n in range(passes):
        for i, row in enumerate(X.tolist()):
            own = sorted(names.index(c) for c in Y[i])
            to_come = (further + 1 - n) * len(stream) - i
            slow.learn(row, own, n == 0, float(to_come), float(further * len(stream)))
    assert learner._weights[:, : len(names)].tolist() == slow.u
    assert learner._bias().tolist() == slow.bias
    expected = [[vote + bias for vote, bias in zip(slow.scores(row), slow.bias, strict=True)] for row in X.tolist()]
    assert learner.decision_function(X).tolist() == expected


def test_is_exactly_its_twin_where_there_are_many_labels(tmp_path):
    """Columns in eights and a rest, one label corrected and all of them; also after a break, as a model file."""
    X, y = clouds(150, n_labels=40, width=19, spread=0.3)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    learner, slow = TunedVectors(values="raw"), SlowTunedVectors(19, 40)
    learner.partial_fit(X[:100], y[:100], classes=range(40))
    learner.save(tmp_path / "model.shortlist")
    learner = load(tmp_path / "model.shortlist").partial_fit(X[100:], y[100:])
    for row, own in zip(X.tolist(), y.tolist(), strict=True):
        slow.learn(row, [own])
    assert learner._weights[:, :40].tolist() == slow.u
    assert learner._bias().tolist() == slow.bias


def test_a_matrix_and_its_sparse_form_teach_the_same():
    X, y = clouds()
    dense, sparse = TunedVectors().fit(X, y), TunedVectors().fit(scipy.sparse.csr_array(X), y)
    assert dense._weights.tobytes() == sparse._weights.tobytes()


@pytest.mark.parametrize("spread", [0.8, 1.5])
def test_is_about_as_good_as_logistic_regression(spread):
    X, y = clouds(3000, spread=spread)
    new, truth = clouds(1000, seed=1, spread=spread)
    assert TunedVectors().fit(X, y).score(new, truth) > LogisticRegression().fit(X, y).score(new, truth) - 0.02
    assert TunedVectors().partial_fit(X, y).score(new, truth) > LogisticRegression().fit(X, y).score(new, truth) - 0.04


def test_labels_and_columns_may_arrive():
    X, y = clouds()
    learner = TunedVectors()
    for first in range(0, 600, 50):  # sorted by label, so that some come late
        some = np.argsort(y, kind="stable")[first : first + 50]
        learner.partial_fit(X[some, :20] if first < 100 else X[some], y[some])
    assert sorted(learner.classes_.tolist()) == list(range(12))
    assert learner.n_features_in_ == 40
    assert learner.rank(X[:3, :5], k=12).ids.shape == (3, 12)
    assert np.isfinite(learner.rank(np.hstack([X, X])[:3]).scores).all()  # columns that it never met say nothing


def test_one_by_one_is_the_same_as_in_a_stream():
    X, y = clouds(60)
    at_once, singly = TunedVectors().partial_fit(X, y), TunedVectors()
    for i in range(60):
        singly.partial_fit(X[i : i + 1], y[i : i + 1])
    assert at_once._known()[:, :12].tobytes() == singly._known()[:, :12].tobytes()
    assert at_once._bias().tobytes() == singly._bias().tobytes()


def test_more_labels_than_a_tile():
    X, _ = clouds(700, n_labels=700, width=9)
    learner = TunedVectors().fit(X, np.arange(700))
    ranking = learner.rank(X[:40], k=700)
    scores = learner.decision_function(X[:40])
    assert (np.take_along_axis(scores, ranking.ids.astype(int), axis=1) == ranking.scores).all()
    assert (np.diff(ranking.scores, axis=1) <= 0).all()


def test_merged_it_is_nearly_as_good():
    X, y = clouds(3000, spread=1.5)
    new, truth = clouds(1000, seed=1, spread=1.5)
    whole = TunedVectors().fit(X, y).score(new, truth)
    merged = TunedVectors().fit(X[:1500], y[:1500]).merge(TunedVectors().fit(X[1500:], y[1500:]))
    assert merged.score(new, truth) > whole - 0.03
    assert merged.n_examples_ == 3000


def test_labels_that_become_one_keep_the_sum_of_their_weights_and_biases():
    X, y = clouds(200, n_labels=4)
    learner = TunedVectors().fit(X, y)
    named = learner.classes_.tolist()
    weights, biases = learner._known(), dict(zip(named, learner._bias().tolist(), strict=True))
    joined = merged(learner, [1, 2], 3)
    at = {label: named.index(label) for label in named}
    assert joined._bias()[at[3]] == pytest.approx(biases[1] + biases[2] + biases[3], abs=1e-12)
    assert joined._bias()[at[0]] == biases[0]
    assert joined._bias()[[at[1], at[2]]].tolist() == [0.0, 0.0]
    together = weights[:, at[1]] + weights[:, at[2]] + weights[:, at[3]]
    assert joined._known()[:, at[3]] == pytest.approx(together, abs=1e-6)


def test_words_by_the_million_are_refused_and_nothing_is_changed():
    learner = TunedVectors().partial_fit(np.eye(3), ["a", "b", "c"])
    wide = scipy.sparse.csr_array(([1.0], ([0], [(1 << 22) - 1])), shape=(1, 1 << 22))
    before = learner.to_state().arrays["weights"].copy()
    with pytest.raises(InputError, match="use TunedIndex for words"):
        learner.partial_fit(wide, ["x"], classes=range(1000))
    assert (learner.to_state().arrays["weights"][:, :3] == before).all()
    assert learner.partial_fit(np.eye(3), ["a", "b", "c"]).n_examples_ == 6


def test_texts_can_be_learned_with_it(tmp_path):
    texts = ["wheat corn", "bank rates", "wheat harvest", "bank loan"] * 5
    model = Categorizer(TunedVectors()).fit(texts, list("abab") * 5)
    model.save(tmp_path / "m.shortlist")
    again = load(tmp_path / "m.shortlist")
    assert again.predict(["wheat", "bank"]).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays | {"weights": arrays["weights"][:, 1:]},
        lambda arrays: arrays | {"weights": arrays["weights"][1:]},
        lambda arrays: arrays | {"weights": np.full_like(arrays["weights"], np.nan)},
        lambda arrays: arrays | {"bias": arrays["bias"][1:]},
        lambda arrays: arrays | {"stats": arrays["stats"][1:]},
        lambda arrays: arrays | {"pass": np.array([-1])},
        lambda arrays: arrays | {"pass": np.array([99])},
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(change):
    state = TunedVectors().fit(*clouds(50)).to_state()
    state.arrays = change(dict(state.arrays))
    with pytest.raises(ModelFileError):
        build(state)
