"""TunedBoth: exactly its twin; words alone are TunedIndex's, a vector alone is TunedVectors', both are better."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import InputError, ModelFileError, TunedBoth, TunedIndex, TunedVectors
from shortlist.categories.checks import as_bytes
from shortlist.categories.index.sharing import share_length
from shortlist.categories.index.tuned_both import OF_WORDS
from shortlist.files.store import build
from tests.reference.tuned_both import SlowTunedBoth

WIDE, WORDS, LABELS = 4, 5, 6
vectors = st.one_of(
    st.just([0.0] * WIDE), st.lists(st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0]), min_size=WIDE, max_size=WIDE)
)
words = st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.0]), min_size=WORDS, max_size=WORDS)
one = st.integers(0, LABELS - 1).map(lambda c: [c])
several = st.sets(st.integers(0, LABELS - 1), min_size=1, max_size=3).map(sorted)
foreseeable = st.tuples(vectors, words).map(lambda row: (*row, [int(abs(row[0][0]) + row[1][0]) % LABELS]))
streams = st.one_of(
    st.lists(st.tuples(vectors, words, one), min_size=1, max_size=40),
    st.lists(st.tuples(vectors, words, several), min_size=1, max_size=40),
    st.lists(foreseeable, min_size=1, max_size=60),
)


def entries(values, first=0):
    return [(first + f, v) for f, v in enumerate(values) if v != 0.0]


@given(streams, st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([1, 2, 25]), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_is_exactly_its_twin(stream, step, max_edges, passes):
    own = {"min_weight": 0.05, "max_edges": max_edges, "rare": 3}
    learner = TunedBoth(WIDE, step=step, passes=passes, values="raw", random_state=None, **own)
    learner.partial_fit(np.zeros((1, WIDE + WORDS)), [[]], classes=range(LABELS))  # so that labels have these numbers
    slow = SlowTunedBoth(LABELS, step=step, **own)
    slow.learn_both([], [], [])
    X, Y = np.array([[*v, *x] for v, x, _ in stream]), [own for _, _, own in stream]
    rows, labels = learner._check(X), learner._labels.learn(Y, len(Y))
    learner._planned = passes
    for n in range(passes):
        learner._learn(rows, labels, np.arange(len(Y)), n == 0)
        for i, (v, x, classes) in enumerate(stream):
            to_come, further = (max(1, passes - 1) + 1 - n) * len(Y) - i, max(1, passes - 1) * len(Y)
            slow.learn_both(entries(x, WIDE), entries(v), classes, n == 0, to_come, further)
    weights = learner._known()[:, :LABELS].tolist()
    assert weights == [[slow.weights.get((g, c), 0.0) for c in range(LABELS)] for g in range(WIDE)]
    assert learner._bias().tolist() == [slow.bias.get(c, 0.0) for c in range(LABELS)]
    feature, edges = learner._index.all_edges()
    tuned = dict(zip(zip(feature.tolist(), edges["label"].tolist(), strict=True), edges["tuned"].tolist(), strict=True))
    assert tuned == {(f, c): slow.u.get((f, c), 0.0) for f, own in slow.edges.items() for c, _ in own}
    found = learner.rank(X, k=LABELS)
    for i, (v, x, _) in enumerate(stream):
        expected = slow.scores(entries(x, WIDE), entries(v))
        ranked = sorted(expected, key=lambda c: -expected[c])
        shown = {int(c): s for c, s in zip(found.ids[i], found.scores[i], strict=True) if c >= 0}
        assert shown == pytest.approx(expected, abs=1e-12)
        assert sorted(shown) == sorted(ranked)


def meanings(n=900, n_labels=8, seed=0):
    """A vector and words of each example, which tell something of its label, each something else."""
    random, y = np.random.default_rng(seed), np.random.default_rng(seed + 1).integers(n_labels, size=n)
    centres = np.random.default_rng(99).normal(size=(n_labels, 16))
    V = centres[y // 2 * 2] + 1.5 * random.normal(size=(n, 16))  # of two labels that go together
    W = (random.random((n, 60)) < 0.1) * 1.0
    W[np.arange(n), y % 2] += random.random(n) < 0.9  # and which of the two
    return V, W, y


@given(st.lists(st.tuples(words, st.one_of(one, several)), min_size=1, max_size=40))
@settings(max_examples=50, deadline=None)
def test_without_vectors_it_is_tuned_index_to_the_last_bit(stream):
    X, Y = np.array([x for x, _ in stream]), [own for _, own in stream]
    padded = np.hstack([np.zeros((len(X), WIDE)), X])
    alone, both = TunedIndex().fit(X, Y), TunedBoth(WIDE).fit(padded, Y)
    assert both._bias().tobytes() == alone._bias().tobytes()
    assert both._index.lists().tobytes() == alone._index.lists().tobytes()
    assert both.decision_function(padded).tobytes() == alone.decision_function(X).tobytes()
    assert both.rank(padded).scores.tobytes() == alone.rank(X).scores.tobytes()


@given(st.lists(st.tuples(vectors.filter(any), st.one_of(one, several)), min_size=1, max_size=40))
@settings(max_examples=50, deadline=None)
def test_without_words_it_is_tuned_vectors_to_the_last_bit(stream):
    X, Y = np.array([v for v, _ in stream]), [own for _, own in stream]
    own = {"passes": 3, "step": 0.3}
    alone, both = TunedVectors(**own).fit(X, Y), TunedBoth(WIDE, **own).fit(X, Y)
    n = len(alone.classes_)
    assert both._known()[:, :n].tobytes() == alone._known()[:, :n].tobytes()
    assert both._bias().tobytes() == alone._bias().tobytes()
    assert both.rank(X).scores.tobytes() == alone.rank(X).scores.tobytes()


def test_both_are_better_than_either():
    (V, W, y), (new_V, new_W, truth) = meanings(), meanings(seed=5)
    both = TunedBoth(16).fit(np.hstack([V, W]), y).score(np.hstack([new_V, new_W]), truth)
    assert both > TunedVectors().fit(V, y).score(new_V, truth) + 0.1
    assert both > TunedIndex().fit(W, y).score(new_W, truth) + 0.1


def test_the_same_bytes_by_any_number_of_threads_and_from_any_form():
    V, W, y = meanings()
    X = np.hstack([V, W])
    models = [TunedBoth(16, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    models.append(TunedBoth(16).fit(scipy.sparse.csr_array(X), y))
    assert len({as_bytes(model.set_params(n_jobs=None)) for model in models}) == 1
    for n, model in enumerate(models):
        model.n_jobs = n % 3 + 1
    assert len({model.rank(X, k=8).scores.tobytes() for model in models}) == 1


def test_one_by_one_is_the_same_as_in_a_stream():
    V, W, y = meanings(60)
    X = np.hstack([V, W])
    at_once, singly = TunedBoth(16).partial_fit(X, y), TunedBoth(16)
    for i in range(60):
        singly.partial_fit(X[i : i + 1], y[i : i + 1])
    assert as_bytes(at_once) == as_bytes(singly)


def test_votes_sum_to_the_score():
    V, W, y = meanings()
    X = np.hstack([V, W])
    learner = TunedBoth(16).fit(X, y)
    scores = learner.decision_function(X[:5])
    for i in range(5):
        for c, label in enumerate(learner.classes_.tolist()):
            found = learner.explain(X[i], label)
            assert found.score == scores[i, c]
            assert sum(vote for _, vote in found.votes) == pytest.approx(found.score, abs=1e-12)


def test_an_example_of_both_has_unit_length_and_words_weigh_more_once_they_were_seen_often():
    both = [3.0, -4.0, 2.0, 0.0, 1.0]
    learner, of_words = TunedBoth(2), []
    for _ in range(12):
        learner.partial_fit([both], ["a"])
        words, beside = learner._apart(learner._check([both]))
        share_length(words, beside, 0, learner._index, learner.rare)
        assert (words.data**2).sum() + (beside.rows.data**2).sum() == pytest.approx(1.0)
        of_words.append((words.data**2).sum())
    assert of_words == pytest.approx([OF_WORDS * min(1.0, (n + 1) / 10) for n in range(1, 13)])


def test_what_was_learned_apart_can_be_put_together():
    (V, W, y), (new_V, new_W, truth) = meanings(), meanings(seed=5)
    X, new = np.hstack([V, W]), np.hstack([new_V, new_W])
    whole = TunedBoth(16).fit(X, y).score(new, truth)
    merged = TunedBoth(16).fit(X[:450], y[:450]).merge(TunedBoth(16).fit(X[450:], y[450:]))
    assert merged.score(new, truth) > whole - 0.05
    with pytest.raises(InputError, match="vectors of 3 columns cannot be merged into those of 16"):
        merged.merge(TunedBoth(3).fit(X[:, 13:], y))


def test_words_have_no_sign_and_the_error_says_where_the_vector_ends():
    with pytest.raises(InputError, match="behind the 2 columns of the vector there is -1"):
        TunedBoth(2).fit([[-1.0, 1.0, -1.0]], ["a"])
    with pytest.raises(InputError, match="vector must be at least 0"):
        TunedBoth(-1).fit([[1.0]], ["a"])
    with pytest.raises(InputError, match="has a weight for each column of a vector and each label"):
        TunedBoth(1 << 24).fit([[1.0]] * 100, list(range(100)))


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: {name: array for name, array in arrays.items() if name != "vector_weights"},
        lambda arrays: arrays | {"vector_weights": arrays["vector_weights"][:, 1:]},
        lambda arrays: arrays | {"vector_weights": arrays["vector_weights"][1:]},
        lambda arrays: arrays | {"vector_weights": arrays["vector_weights"].astype(np.float64)},
        lambda arrays: arrays | {"vector_weights": np.full_like(arrays["vector_weights"], np.inf)},
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(change):
    V, W, y = meanings(50)
    state = TunedBoth(16).fit(np.hstack([V, W]), y).to_state()
    state.arrays = change(dict(state.arrays))
    with pytest.raises(ModelFileError):
        build(state)
