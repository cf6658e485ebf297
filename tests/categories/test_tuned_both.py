"""TunedBoth: exactly its twin; words alone are TunedIndex's, a vector alone is TunedVectors', both are better."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from shortlist import InputError, ModelFileError, TunedBoth, TunedIndex, TunedVectors
from shortlist.arrays.validation import as_rows
from shortlist.categories.checks import as_bytes
from shortlist.categories.index.held_back import leads_by_share
from shortlist.categories.relabelling import merged, split_off
from shortlist.files.store import build
from shortlist.labels import numbered
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
    slow = SlowTunedBoth(WIDE, LABELS, step=step, **own)
    slow.learn([], [0.0] * WIDE, [])
    X, Y = np.array([[*v, *x] for v, x, _ in stream]), [own for _, _, own in stream]
    rows, labels = learner._check(X), learner._labels.learn(Y, len(Y))
    learner._planned = passes
    for n in range(passes):
        learner._learn(rows, labels, np.arange(len(Y)), n == 0)
        for i, (v, x, classes) in enumerate(stream):
            to_come, further = (max(1, passes - 1) + 1 - n) * len(Y) - i, max(1, passes - 1) * len(Y)
            slow.learn(entries(x, WIDE), v, classes, n == 0, to_come, further)
    assert learner._known()[:, :LABELS].tolist() == slow.vectors.u
    assert learner._vector_biases[:LABELS].tolist() == slow.vectors.bias
    assert learner._bias().tolist() == [slow.words.bias.get(c, 0.0) for c in range(LABELS)]
    assert learner._misses.tolist() == [slow.n, slow.missed_by_words, slow.missed_by_vectors, 1.0]
    assert learner.share_of_vector_ == slow.share_of_vector()
    feature, edges = learner._index.all_edges()
    tuned = dict(zip(zip(feature.tolist(), edges["label"].tolist(), strict=True), edges["tuned"].tolist(), strict=True))
    assert tuned == {(f, c): slow.words.u.get((f, c), 0.0) for f, own in slow.words.edges.items() for c, _ in own}
    found = learner.rank(X, k=LABELS)
    for i, (v, x, _) in enumerate(stream):
        expected = slow.scores(entries(x, WIDE), v)
        shown = {int(c): s for c, s in zip(found.ids[i], found.scores[i], strict=True) if c >= 0}
        assert shown == pytest.approx(expected, abs=1e-12)


def meanings(n=900, n_labels=8, seed=0):
    """A vector and words of each example, which tell something of its label, each something else."""
    random, y = np.random.default_rng(seed), np.random.default_rng(seed + 1).integers(n_labels, size=n)
    centres = np.random.default_rng(99).normal(size=(n_labels, 16))
    V = centres[y // 2 * 2] + 1.5 * random.normal(size=(n, 16))  # of two labels that go together
    W = (random.random((n, 60)) < 0.1) * 1.0
    W[np.arange(n), y % 2] += random.random(n) < 0.9  # and which of the two
    return V, W, y


def test_parts_of_which_some_have_no_label_are_weighed_too():
    V, W, _ = meanings(20)
    learner = TunedBoth(16).fit(np.hstack([V, W]), [["a"]] + [[]] * 19)
    assert 0 < learner.share_of_vector_ < 1
    assert list(learner.classes_) == ["a"]


@pytest.mark.parametrize(("n", "n_parts"), [(120, 8), (300, 5), (900, 2)])
def test_few_examples_are_weighed_as_is_best_on_those_held_back(n, n_parts):
    V, W, y = meanings(n)
    own = {"random_state": 3}
    both = TunedBoth(16, **own).fit(np.hstack([V, W]), y)
    order = np.random.default_rng(0).permutation(n)
    leads = {tenths: [] for tenths in range(11)}
    for part in range(n_parts):
        mine, others = order[[i for i in range(n) if i % n_parts != part]], order[part::n_parts]
        words, vector = TunedIndex(**own).fit(W[mine], y[mine]), TunedVectors(**own).fit(V[mine], y[mine])
        assert words.classes_.tolist() == vector.classes_.tolist()
        by_words, by_vector = words.decision_function(W[others]), vector.decision_function(V[others])
        for i in np.flatnonzero(W[others].any(axis=1)):
            for tenths in leads:
                scores = (1.0 - tenths / 10.0) * by_words[i] + tenths / 10.0 * by_vector[i]
                is_right = words.classes_ == y[others[i]]
                leads[tenths].append(scores[is_right].max() - scores[~is_right].max())
    right = {}
    for tenths, own_leads in leads.items():
        near = 0.25 * np.mean(np.abs(own_leads))
        right[tenths] = int(sum(0.5 + 0.5 * lead / (abs(lead) + near) for lead in own_leads) + 0.5)
    weights = {tenths: 2.0 ** ((n - max(right.values())) / 4) for tenths, n in right.items()}
    expected = sum(tenths / 10.0 * weight for tenths, weight in weights.items()) / sum(weights.values())
    assert both.share_of_vector_ == pytest.approx(min(0.99, max(0.01, expected)), abs=1e-12)
    assert len(set(right.values())) > 3
    beta = both._misses[3]
    assert beta != 1.0
    both.partial_fit(np.hstack([V, W]), y)
    assert both._misses[3] == beta, "more examples change what is missed, and go on from there"


def test_who_has_all_labels_right_or_none_that_is_known_or_no_words_leads_nobody():
    V, W, _ = meanings(6)
    W[:] = 1.0
    W[5] = 0.0
    labels = [["a"], ["b"], ["a", "b"], ["new"], [], ["a"]]
    learner = TunedBoth(16).fit(np.hstack([V, W])[:3], labels[:3])
    leads = leads_by_share(learner, as_rows(np.hstack([V, W])), numbered(labels, 6))
    assert leads.shape == (11, 2)
    for tenths, own in enumerate(leads):
        by_words, by_vector = (learner.decision_function(X) for X in (np.hstack([0 * V, W]), np.hstack([V, 0 * W])))
        scores = ((1.0 - tenths / 10.0) * by_words + tenths / 10.0 * by_vector)[:2]
        np.testing.assert_allclose(own, [scores[0, 0] - scores[0, 1], scores[1, 1] - scores[1, 0]], atol=1e-12)


def test_what_is_weighed_on_examples_held_back_and_what_is_not():
    V, W, y = meanings(60)
    X = np.hstack([V, W])
    assert TunedBoth(16).partial_fit(X, y)._misses[3] == 1.0
    assert TunedBoth(16).fit(X[:7], y[:7])._misses[3] == 1.0
    assert TunedBoth(0).fit(W, y)._misses[3] == 1.0
    assert TunedBoth(16).fit(np.hstack([V, 0 * W]), y).share_of_vector_ == pytest.approx(0.5), "no row has both"
    noise = np.random.default_rng(5).normal(size=V.shape)
    known, unknown = (TunedBoth(16).fit(np.hstack([own, W]), y).share_of_vector_ for own in (V, noise))
    assert unknown < known
    judged = TunedBoth(16).fit(X, [[own] for own in y]).share_of_vector_
    assert judged == TunedBoth(16).fit(X, y).share_of_vector_


def test_a_model_from_before_any_were_held_back_is_as_it_was(tmp_path):
    V, W, y = meanings(60)
    learner = TunedBoth(16).partial_fit(np.hstack([V, W]), y)
    state = learner.to_state()
    state.arrays["misses"] = state.arrays["misses"][:3]
    assert as_bytes(build(state)) == as_bytes(learner)
    for bad in ([2.0, 0.5, 0.5, 0.0], [2.0, 0.5, 0.5, np.inf], [2.0, 0.5, 1.5, 1.0], [2.0, 0.5], [2.0] + [0.5] * 4):
        state.arrays["misses"] = np.array(bad)
        with pytest.raises(ModelFileError, match="shares that words and vectors miss"):
            build(state)


@given(streams)
@settings(max_examples=50, deadline=None)
def test_words_and_vectors_learn_what_they_learn_alone_to_the_last_bit(stream):
    V, X, Y = np.array([v for v, _, _ in stream]), np.array([x for _, x, _ in stream]), [own for _, _, own in stream]
    own = {"passes": 3, "random_state": 5}
    both = TunedBoth(WIDE, **own).fit(np.hstack([V, X]), Y)
    words, vectors = TunedIndex(**own).fit(X, Y), TunedVectors(**own).fit(V, Y)
    n = len(both.classes_)
    assert both._bias().tobytes() == words._bias().tobytes()
    assert both._index.lists().tobytes() == words._index.lists().tobytes()
    assert both._known()[:, :n].tobytes() == vectors._known()[:, :n].tobytes()
    assert both._vector_biases[:n].tobytes() == vectors._bias().tobytes()


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


@pytest.mark.parametrize(("speaks", "share"), [("words", (0.0, 0.1)), ("vector", (0.9, 1.0)), ("both", (0.2, 0.8))])
def test_who_misses_less_counts_more(speaks, share):
    random = np.random.default_rng(3)
    y = random.integers(4, size=600)
    V, W = random.normal(size=(600, 8)), (random.random((600, 30)) < 0.2) * 1.0
    if speaks != "words":
        V[np.arange(600), y] += 8.0
    if speaks != "vector":
        W[np.arange(600), y] = 5.0
    learner = TunedBoth(8).partial_fit(np.hstack([V, W]), y)
    assert share[0] <= learner.share_of_vector_ <= share[1]


def test_only_examples_of_words_and_a_vector_with_known_labels_say_who_misses():
    learner = TunedBoth(2).partial_fit([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], ["a", "b"])
    learner.partial_fit([[1.0, 0.0, 1.0]], [[]])
    assert learner._misses.tolist() == [1.0, 1.0, 1.0, 1.0]
    assert learner.share_of_vector_ == 0.5
    learner.partial_fit([[1.0, 0.0, 1.0]], ["a"])  # the vector knows it, the word speaks for b
    assert learner._misses.tolist() == [2.0, 1.0, 0.5, 1.0]
    assert learner.share_of_vector_ == pytest.approx(0.8)


def test_what_was_learned_apart_can_be_put_together():
    (V, W, y), (new_V, new_W, truth) = meanings(), meanings(seed=5)
    X, new = np.hstack([V, W]), np.hstack([new_V, new_W])
    whole = TunedBoth(16).fit(X, y).score(new, truth)
    merged = TunedBoth(16).fit(X[:450], y[:450]).merge(TunedBoth(16).fit(X[450:], y[450:]))
    assert merged.score(new, truth) > whole - 0.06  # weighed by what was best for parts of the halves
    with pytest.raises(InputError, match="vectors of 3 columns cannot be merged into those of 16"):
        merged.merge(TunedBoth(3).fit(X[:, 13:], y))


def test_labels_can_become_one_or_two():
    V, W, y = meanings(200)
    learner = TunedBoth(16).fit(np.hstack([V, W]), y)
    at = {label: n for n, label in enumerate(learner.classes_.tolist())}
    one = merged(learner, [1, 2], 3)
    kept = learner._all_biases()
    assert one._all_biases()[:, at[3]] == pytest.approx(kept[:, [at[1], at[2], at[3]]].sum(axis=1))
    assert one._misses.tolist() == learner._misses.tolist()
    two = split_off(learner, 3, "like 3")
    found = two.decision_function(np.hstack([V, W])[:9])
    assert (found[:, -1] == found[:, at[3]]).all()
    again = merged(two, ["like 3"], 3)  # what both share counts once
    rows = np.hstack([V, W])[:9]
    assert again.decision_function(rows)[:, :-1] == pytest.approx(learner.decision_function(rows))


def test_words_have_no_sign_and_the_error_says_where_the_vector_ends():
    with pytest.raises(InputError, match="behind the 2 columns of the vector there is -1"):
        TunedBoth(2).fit([[-1.0, 1.0, -1.0]], ["a"])
    with pytest.raises(InputError, match="vector must be at least 0"):
        TunedBoth(-1).fit([[1.0]], ["a"])
    with pytest.raises(InputError, match="has a weight for each column of a vector and each label"):
        TunedBoth(1 << 24).fit([[1.0]] * 100, list(range(100)))
    with pytest.raises(InputError, match="vector must be a whole number"):
        TunedBoth("a").fit([[1.0]], ["a"])
    with pytest.raises(NotFittedError):
        TunedBoth(2).share_of_vector_  # noqa: B018


@pytest.mark.parametrize("use", ["predict", "partial_fit", "to_state"])
def test_a_vector_of_another_length_than_was_learned_is_refused(use):
    X, Y = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), ["a", "b"]
    learner = TunedBoth(2).fit(X, Y).set_params(vector=1)
    with pytest.raises(InputError, match="vector was 2 when it learned, and is 1 now"):
        getattr(learner, use)(*{"predict": (X,), "partial_fit": (X, Y), "to_state": ()}[use])
    assert learner.fit(X, Y).predict(X).tolist() == Y


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: {name: array for name, array in arrays.items() if name != "vector_weights"},
        lambda arrays: arrays | {"vector_weights": arrays["vector_weights"][:, 1:]},
        lambda arrays: arrays | {"vector_weights": arrays["vector_weights"][1:]},
        lambda arrays: arrays | {"vector_weights": arrays["vector_weights"].astype(np.float64)},
        lambda arrays: arrays | {"vector_weights": np.full_like(arrays["vector_weights"], np.inf)},
        lambda arrays: {name: array for name, array in arrays.items() if name != "vector_bias"},
        lambda arrays: {name: array for name, array in arrays.items() if name != "misses"},
        lambda arrays: arrays | {"vector_bias": arrays["vector_bias"][1:]},
        lambda arrays: arrays | {"vector_bias": np.full_like(arrays["vector_bias"], np.nan)},
        lambda arrays: arrays | {"vector_course": arrays["vector_course"][1:]},
        lambda arrays: arrays | {"vector_course": -1.0 - arrays["vector_course"]},
        lambda arrays: arrays | {"misses": np.array([0.0, 0.5, 0.5])},
        lambda arrays: arrays | {"misses": np.array([9.0, 1.5, 0.5])},
        lambda arrays: arrays | {"misses": np.array([9.0, np.nan, 0.5])},
        lambda arrays: arrays | {"misses": np.array([9.0, 0.5])},
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(change):
    V, W, y = meanings(50)
    state = TunedBoth(16).fit(np.hstack([V, W]), y).to_state()
    state.arrays = change(dict(state.arrays))
    with pytest.raises(ModelFileError):
        build(state)
