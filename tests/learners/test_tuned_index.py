"""TunedIndex: exactly its twin; better than its counts where labels are right and where they
are not; mergeable.
"""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import normalize

from shortlist import FeatureFocus, InputError, ModelFileError, TunedIndex, load
from shortlist.data.batch import RowBatch
from shortlist.files.store import State
from shortlist.learners.index.scoring import NAMED, NO_WEIGHTS, unit
from shortlist.learners.top_labels import DONE
from tests.contract import as_bytes
from tests.reference.tuned_index import SlowTunedIndex, share_of_vector

values = st.sampled_from([0.25, 0.5, 1.0, 3.0])
rows = st.dictionaries(st.integers(0, 5), values, min_size=1, max_size=4).map(
    lambda row: sorted(row.items())
)
labels = st.sets(st.integers(0, 6), min_size=1, max_size=3).map(sorted)
one_label = st.integers(0, 6).map(lambda c: [c])
examples = st.lists(st.tuples(rows, labels), min_size=1, max_size=40)
many_labels = st.sets(st.integers(0, 6), min_size=3, max_size=7).map(sorted)
of_many_labels = st.lists(st.tuples(rows, many_labels), min_size=1, max_size=40)
of_one_label = st.lists(st.tuples(rows, one_label), min_size=1, max_size=60)
foreseeable = st.lists(  # so that labels contend: a feature goes with its label, but for a few
    st.tuples(rows, st.one_of(labels, *[one_label] * 4), st.integers(0, 3)), min_size=1, max_size=60
).map(lambda stream: [(row, own if odd == 0 else [row[0][0]]) for row, own, odd in stream])


def matrix(stream):
    X = scipy.sparse.lil_array((len(stream), 6))
    for i, (row, _) in enumerate(stream):
        for f, v in row:
            X[i, f] = v
    return X.tocsr()


def learned(learner):
    """{(f, c): (w', u)}, {f: (total, seen)}, {c: bias}, without what is 0."""
    feature, edges = learner.index_.all_edges()
    names = learner.classes_.tolist()
    pairs = zip(
        feature.tolist(),
        *(edges[name].tolist() for name in ("label", "weight", "tuned")),
        strict=True,
    )
    features = enumerate(
        zip(*(learner.index_.features[name].tolist() for name in ("total", "seen")), strict=True)
    )
    return (
        {(f, names[c]): (w, u) for f, c, w, u in pairs},
        {f: known for f, known in features if known[1]},
        {c: b for c, b in zip(names, learner.label_biases().tolist(), strict=True) if b},
    )


def learned_by(slow):
    return (
        {(f, c): (w, u) for f, edges in slow.edges.items() for c, w, u in edges},
        {f: (slow.total.get(f, 0.0), seen) for f, seen in slow.seen.items()},
        {c: b for c, b in slow.bias.items() if b},
    )


any_stream = st.one_of(examples, of_many_labels, of_one_label, foreseeable, foreseeable)
vectors = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 2.0]), min_size=2, max_size=2)


def weights_of(learner):
    """{(g, c): U_gc}, without what is 0."""
    names = learner.classes_.tolist()
    return {
        (g, names[c]): float(learner.vector_weights_[g, c])
        for g, c in zip(*learner.vector_weights_.nonzero(), strict=True)
    }


@given(any_stream, st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([1, 2, 25]), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_is_exactly_its_twin(stream, step, max_edges, passes):
    own = {"min_weight": 0.05, "max_edges": max_edges, "rare": 3, "step": step}
    slow, learner = (
        SlowTunedIndex(**own),
        TunedIndex(passes=passes, values="raw", random_state=None, **own),
    )
    # Ties go by the number of a label: number all of them before learning begins.
    learner.partial_fit(matrix([([(0, 0.0)], [])]), [[]], classes=list(range(7)))
    slow.learn([], [])
    batch = RowBatch.of(matrix(stream), [classes for _, classes in stream])
    for _ in learner.learn_passes(batch):
        pass
    slow.fit(stream, passes)
    assert learned(learner) == learned_by(slow)
    scores = slow.answer(stream[0][0])
    for label, score in learner.rank(matrix(stream[:1]), k=7)[0]:
        assert score == pytest.approx(scores[label], abs=1e-12)


@given(any_stream, st.data(), st.sampled_from([2, 25]), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_words_and_vectors_are_exactly_its_twin(stream, data, max_edges, passes):
    own = {"min_weight": 0.05, "max_edges": max_edges, "rare": 3, "step": 0.3}
    V = [data.draw(vectors) for _ in stream]
    slow = SlowTunedIndex(**own)
    learner = TunedIndex(passes=passes, values="raw", random_state=None, vector=2, **own)
    learner.partial_fit(scipy.sparse.csr_array((1, 8)), [[]], classes=list(range(7)))
    slow.learn([], [])
    X = scipy.sparse.hstack([scipy.sparse.csr_array(V), matrix(stream)]).tocsr()
    for _ in learner.learn_passes(RowBatch.of(X, [classes for _, classes in stream])):
        pass
    shifted = [
        ([(f + 2, x) for f, x in row], classes, v)
        for (row, classes), v in zip(stream, V, strict=True)
    ]
    slow.fit(shifted, passes)
    assert learned(learner) == learned_by(slow)
    assert weights_of(learner) == {pair: u for pair, u in slow.weights.items() if u}
    scores = slow.answer(shifted[0][0], V[0])
    found = learner.rank(X[[0]], k=7)[0]
    assert {label for label, _ in found} == set(scores)
    for label, score in found:
        assert score == pytest.approx(scores[label], abs=1e-9)
        assert learner.explain(X[[0]], label).score == pytest.approx(score, abs=1e-12)


@given(any_stream, any_stream, st.data())
@settings(max_examples=100, deadline=None)
def test_a_stream_after_fit_is_exactly_its_twin(fitted, stream, data):
    """Also its progress: how many examples each label has, and how many of the last are missed."""
    slow = SlowTunedIndex()
    learner = TunedIndex(values="raw", random_state=None, vector=2)
    learner.partial_fit(scipy.sparse.csr_array((1, 8)), [[]], classes=list(range(7)))
    slow.learn([], [])
    V = [data.draw(vectors) for _ in fitted + stream]
    X = scipy.sparse.hstack([scipy.sparse.csr_array(V), matrix(fitted + stream)]).tocsr()
    Y = [labels for _, labels in fitted + stream]
    shifted = [[(f + 2, x) for f, x in row] for row, _ in fitted + stream]
    examples = list(zip(shifted, Y, V, strict=True))
    n = len(fitted)
    for _ in learner.learn_passes(RowBatch.of(X[:n], Y[:n])):
        pass
    slow.fit(examples[:n], learner.planned_passes_)
    learner.partial_fit(X[n:], Y[n:])
    for row, labels, v in examples[n:]:
        slow.learn_next(row, labels, v)
    assert learned(learner) == learned_by(slow)
    assert weights_of(learner) == {pair: u for pair, u in slow.weights.items() if u}
    found = {c: tuple(pair) for c, pair in enumerate(learner.progress_.tolist()) if pair[0]}
    assert found == slow.progress


def test_labels_that_are_known_take_smaller_steps_until_they_are_missed():
    """The same example of a label moves its weights less after many others, and again as much
    after its label was missed.
    """
    X = np.array([[1.0, 1.0]])
    shifts = {}
    for n, missed in [(0, 0.0), (500, 0.0), (500, 1.0)]:
        learner = TunedIndex(rare=0).fit(np.eye(2)[[0, 1] * 200], ["a", "b"] * 200)
        learner.index_.features["seen"] = 10_000
        learner.progress_[:] = n, missed
        before = corrections(learner)
        after = corrections(learner.partial_fit(X, ["a"]))
        shifts[n, missed] = after[0, "a"] - before[0, "a"]
    assert 0 < shifts[500, 0.0] < shifts[500, 1.0] <= shifts[0, 0.0]


def test_progress_is_in_the_file_and_older_files_begin_with_the_counts():
    learner = TunedIndex().fit(np.eye(3)[[0, 0, 1, 2]], ["a", "a", "b", "c"])
    state = learner.to_state()
    assert np.array_equal(TunedIndex.from_state(state).progress_, learner.progress_[:3])
    arrays = {name: array for name, array in state.arrays.items() if name != "progress"}
    older = TunedIndex.from_state(State(state.kind, state.settings, arrays))
    assert older.progress_.tolist() == [[2.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    for bad in ([[1.0, 0.0]], [[1.0, 0.0]] * 2 + [[1.0, 1.5]], [[np.nan, 0.0]] * 3):
        with pytest.raises(ModelFileError):
            TunedIndex.from_state(
                State(state.kind, state.settings, arrays | {"progress": np.array(bad)})
            )


def test_progress_of_merged_learners_and_labels_adds_up():
    X, Y = np.eye(3)[[0, 0, 1, 2]], ["a", "a", "b", "c"]
    one, other = TunedIndex().fit(X, Y), TunedIndex().fit(X[::-1], Y[::-1])
    one.progress_[:3], other.progress_[:3] = [[2, 0.5]] * 3, [[6, 0.1]] * 3
    together = one.merge(other).with_labels_merged(["a"], "b")
    assert together.progress_[one.label_index_.find("b")] == pytest.approx([16, 0.2])


def test_a_merged_label_begins_lower_than_the_sum_unless_it_is_almost_one_of_them():
    X, Y = np.eye(3)[[0] * 10 + [1] * 10 + [2]], ["a"] * 10 + ["b"] * 10 + ["c"]
    learner = TunedIndex().fit(X, Y)
    biases = dict(zip(learner.classes_.tolist(), learner.label_biases().tolist(), strict=True))
    for label, lower in [("b", 0.2), ("c", 0.4 / 11)]:
        into = learner.with_labels_merged([label], "a")
        found = into.label_biases()[into.label_index_.find("a")]
        assert found == pytest.approx(biases["a"] + biases[label] - lower)


def by_number(labels):
    """A vector for the name of each label."""
    return np.array([[np.cos(label), np.sin(label)] for label in labels], dtype=np.float32)


@given(any_stream, st.data(), st.sampled_from([0.0, 0.3]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_labels_with_names_are_exactly_its_twin(stream, data, step, one_by_one):
    V = [data.draw(vectors) for _ in stream]
    slow = SlowTunedIndex(step=step, min_weight=0.05)
    learner = TunedIndex(step=step, min_weight=0.05, passes=1, values="raw", vector=2)
    learner.expect_labels([[label] for label in range(9)])
    learner.seed_labels(list(range(9)), by_number)  # 7 and 8 never have an example
    for label, vector in enumerate(unit(by_number(range(9)))):
        slow.name(label, np.float32(NAMED) * vector)
    X = scipy.sparse.hstack([scipy.sparse.csr_array(V), matrix(stream)]).tocsr()
    for first in range(len(stream)) if one_by_one else [slice(0, None)]:
        some = slice(first, first + 1) if one_by_one else first
        learner.partial_fit(X[some], [labels for _, labels in stream[some]])
    for (row, labels), v in zip(stream, V, strict=True):
        slow.learn([(f + 2, x) for f, x in row], labels, v)
    assert learned(learner) == learned_by(slow)
    assert weights_of(learner) == {pair: u for pair, u in slow.weights.items() if u}


@pytest.mark.parametrize(("labels_each", "times"), [(1, 0.8), (2, 0.15)])
def test_names_are_as_long_as_the_weights_beside_them(labels_each, times):
    V, words, y = few_with_vectors(5, 20, 0.5, seed=1)
    y = [[f"c{label}", f"c{(label + 1) % 5}"][:labels_each] for label in y]
    learner = TunedIndex(vector=6)
    learner.seed_labels(["late"], lambda labels: np.eye(6, dtype=np.float32)[[0] * len(labels)])
    learner.fit(np.hstack([V, words]), y)
    lengths = np.linalg.norm(learner.vector_weights_[:, :6], axis=0)
    assert lengths[learner.label_index_.find("late")] == pytest.approx(
        times * lengths[learner.label_counts_ > 0].mean()
    )


def test_the_loop_knows_of_each_label_whether_it_has_examples_or_of_none(monkeypatch, tmp_path):
    """Also in a learner from a file that learns a part of a pass, as on a cluster: Numba checks
    no bounds.
    """
    X, Y = np.eye(3) - 0.1, ["a", "b", "c"]
    TunedIndex().fit(X, Y).save(tmp_path / "m.shortlist")
    shard, sizes = load(tmp_path / "m.shortlist").shard(2), []

    def learn(rows, vectors, labels, order, position, first, learned, *others):
        sizes.append((learned.met.size, learned.bias.size))
        return order.size, DONE, 0

    monkeypatch.setattr("shortlist.learners.index.tuned_index.learn", learn)
    shard.update(
        shard.prepare(shard.checked_rows(X)), shard.label_index_.look_up(Y, 3), np.arange(3), False
    )
    TunedIndex().fit(X, Y)
    TunedIndex().fit(abs(X), Y)
    assert (sizes[0], sizes[1], sizes[-1]) == ((0, 3), (3, 3), (0, 3))


@given(any_stream)
@settings(max_examples=50, deadline=None)
def test_lists_stay_sorted_and_bounded_under_a_cap(stream):
    learner = TunedIndex(min_weight=0.1, max_total_edges=12).fit(
        matrix(stream), [classes for _, classes in stream]
    )
    feature, edges = learner.index_.all_edges()
    assert learner.n_edges_ == edges.size <= 12
    same = feature[1:] == feature[:-1]
    assert (edges["weight"][1:][same] <= edges["weight"][:-1][same]).all()
    assert len(set(zip(feature.tolist(), edges["label"].tolist(), strict=True))) == edges.size


def noisy_stream(n, right, seed=0):
    """Examples with one label each, which is the right one with this probability and any one
    otherwise.
    """
    random = np.random.default_rng(seed)
    true = random.integers(0, 40, n)
    X = scipy.sparse.lil_array((n, 400))
    for i, c in enumerate(true):
        X[i, c * 5 + random.integers(0, 5, 3)] = 1.0
        X[i, random.integers(200, 400, 8)] = 1.0
    Y = np.where(random.random(n) < right, true, random.integers(0, 40, n))
    return X.tocsr(), [[int(c)] for c in Y], [[int(c)] for c in true]


@pytest.mark.long
@pytest.mark.parametrize("right", [1.0, 0.5])
def test_wrong_labels_cost_corrections_little(right):
    """Here each word speaks for itself, and counting is all one can do: the worst that can
    happen to corrections.
    """
    X, Y, _ = noisy_stream(4000, right)
    new, _, true = noisy_stream(1000, right, seed=1)
    counted, tuned = (
        TunedIndex(step=0).fit(X, Y).score(new, true),
        TunedIndex().fit(X, Y).score(new, true),
    )
    assert tuned > counted - 0.1


def test_corrections_weigh_words_against_each_other():
    """Word 0 goes with "often" most of the time, but never together with word 1 or word 2:
    counting misses that.
    """
    X = np.array([[1, 0, 0]] * 90 + [[1, 1, 0]] * 5 + [[1, 0, 1]] * 5 + [[0, 1, 1]] * 30)
    Y = ["often"] * 90 + ["first"] * 5 + ["second"] * 5 + ["third"] * 30
    counted, tuned = TunedIndex(step=0, rare=0), TunedIndex(rare=0)
    for _ in range(20):
        order = np.random.default_rng(0).permutation(len(Y))
        for learner in (counted, tuned):
            learner.partial_fit(X[order], [Y[i] for i in order])
    assert tuned.score(X, Y) > counted.score(X, Y)


def labelled(n_labels, n=60, seed=0):
    """Examples of three words each, with so many labels each that these words foretell."""
    random = np.random.default_rng(seed)
    words = np.array([random.permutation(30)[:3] for _ in range(n)])
    X = scipy.sparse.csr_array(
        (np.ones(3 * n), words.ravel(), np.arange(0, 3 * n + 1, 3)), shape=(n, 30)
    )
    return X, [[int(c) for c in (word[0] + np.arange(n_labels)) % 30] for word in words]


@pytest.mark.parametrize("max_edges", [1, 2, 5])
def test_a_list_has_at_most_so_many_edges_and_the_newest_label_is_among_them(max_edges):
    X, Y = np.ones((40, 1)), [[i, i + 1] for i in range(40)]
    learner = TunedIndex(max_edges=max_edges, min_weight=0.0).partial_fit(X, Y)
    _, edges = learner.index_.all_edges()
    assert edges.size == max_edges
    assert learner.classes_.tolist().index(40) in edges["label"].tolist()


@pytest.mark.parametrize(
    ("n_rows", "passes"), [(1, 10), (2500, 10), (4000, 7), (9000, 3), (12_500, 2), (10**6, 2)]
)
def test_few_rows_are_gone_through_more_often(n_rows, passes):
    assert TunedIndex().passes_through(n_rows, n_rows) == passes
    # with several labels
    assert TunedIndex().passes_through(n_rows, 2 * n_rows) == (2 if n_rows >= 50_000 else 3)
    assert TunedIndex(passes=4).passes_through(n_rows, n_rows) == 4


def test_a_correct_score_teaches_nothing():
    X, Y = np.eye(2), [["a", "c"], ["b", "d"]]
    learner = TunedIndex(step=1.0, rare=0, passes=2).fit(X, Y)
    assert (learner.decision_function(X).max(axis=1) >= 1).all()
    before = learned(learner)
    for _ in range(40):
        learner.partial_fit(X, Y)
    settled = learned(learner)
    assert settled[1].keys() == before[1].keys()
    assert learned(learner.partial_fit(X, Y))[0] == settled[0]


@pytest.mark.long
def test_a_change_of_meaning_is_learned_soon():
    """The labels of all words change; surprises are rare before, so each of them is taken
    seriously.
    """
    X, Y, _ = noisy_stream(6000, right=1.0)
    changed = [[(own[0] + 1) % 40] for own in Y]
    learner = TunedIndex().partial_fit(X[:4000], Y[:4000])
    assert learner.score(X[4000:4500], Y[4000:4500]) > 0.99
    learner.partial_fit(X[4000:5500], changed[4000:5500])
    assert learner.score(X[5500:], changed[5500:]) > 0.95


def test_merging_adds_counts_and_averages_corrections_by_what_was_seen():
    X, Y, _ = noisy_stream(600, right=1.0)
    one, other = TunedIndex().fit(X[:200], Y[:200]), TunedIndex().fit(X[200:], Y[200:])
    (a, features_a, bias_a), (b, features_b, bias_b) = learned(one), learned(other)
    unchanged = learned(other)
    edges, _, bias = learned(one.merge(other))
    assert learned(other) == unchanged
    assert edges
    for (f, c), (w, u) in edges.items():
        (w_a, u_a), (w_b, u_b) = a.get((f, c), (0, 0)), b.get((f, c), (0, 0))
        seen_a, seen_b = features_a.get(f, (0, 0))[1], features_b.get(f, (0, 0))[1]
        mean = (seen_a * u_a + seen_b * u_b) / (seen_a + seen_b)
        assert (w, u) == pytest.approx((w_a + w_b, mean), abs=1e-6)
    for c, value in bias.items():
        assert value == pytest.approx(bias_a.get(c, 0.0) / 3 + 2 * bias_b.get(c, 0.0) / 3)


def corrections(learner):
    """By feature and label."""
    feature, edges = learner.index_.all_edges()
    names = [learner.classes_[c] for c in edges["label"]]
    return {
        (f, name): u
        for f, name, u in zip(feature.tolist(), names, edges["tuned"].tolist(), strict=True)
    }


def test_what_one_of_two_has_met_alone_keeps_its_corrections():
    X = np.array([[1.0, 0, 2], [1, 0, 3], [0, 2, 1], [0, 1, 1]])
    Y = [["a"], ["b"], ["a"], ["c"]]
    one, other = (
        TunedIndex(passes=1, random_state=None).fit(X[part], Y[part])
        for part in (slice(2), slice(2, None))
    )
    alone = {edge: u for edge, u in (corrections(one) | corrections(other)).items() if edge[0] < 2}
    assert any(alone.values())
    one.merge(other)
    assert {edge: u for edge, u in corrections(one).items() if edge[0] < 2} == alone


@pytest.mark.parametrize(
    "bad", [{"step": -1.0}, {"rare": -1}, {"step": "far"}, {"vector": -1}, {"vector": "all"}]
)
def test_bad_settings_are_refused(bad):
    X, Y, _ = noisy_stream(10, right=1.0)
    with pytest.raises(InputError):
        TunedIndex(**bad).fit(X, Y)


def test_what_has_diverged_says_so_and_replaces_no_file(tmp_path):
    random = np.random.default_rng(3)
    X = 100 * scipy.sparse.random_array((50, 40), density=0.3, rng=random, format="csr")
    Y, path = random.integers(0, 5, 50), tmp_path / "model.shortlist"
    TunedIndex().fit(X, Y).save(path)
    before = path.read_bytes()
    # Without compiling, NumPy warns of what the kernels pass over.
    X = 14 * normalize(X.toarray() + 0.1)
    with np.errstate(all="ignore"), pytest.raises(InputError, match="no longer finite"):
        TunedIndex(passes=200, values="raw").fit(X, [[c, c + 1] for c in Y])
    diverged = TunedIndex().fit(X, Y)
    diverged.biases_[0] = np.inf
    with pytest.raises(InputError, match=r"this TunedIndex is not saved: .* no longer finite"):
        diverged.save(path)
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


@pytest.mark.parametrize("kind", [FeatureFocus, TunedIndex])
@pytest.mark.parametrize(
    "values", [[1e-200, 1e-170], [1e-323, 1e-310], [1e200, 1e300], [1e-320, 1e300]]
)
def test_tiny_and_huge_values_are_learned_and_saved(kind, values, tmp_path):
    small, large = values
    learner = kind().fit(np.array([[small, 0.0], [0.0, large], [small, large]]), ["a", "b", "b"])
    learner.save(tmp_path / "model.shortlist")
    opened = load(tmp_path / "model.shortlist")
    for x in ([1.0, 0.0], [small, 0.0], [0.0, large]):
        found = opened.rank(np.array([x]), k=2)
        assert np.isfinite(found.scores[found.ids >= 0]).all()
        assert found.ids[0, 0] == int(x[0] == 0.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"random_state": "abc"}, "random_state must be a whole number"),
        ({"random_state": 1.5}, "random_state must be a whole number"),
        ({"max_edges": 2**63}, "max_edges must be at most 2147483647"),
        ({"rare": 2**70}, "rare must be at most"),
        ({"max_total_edges": 2**70}, "max_total_edges must be at most"),
        ({"step": np.inf}, "step must be a finite number"),
        ({"step": 11.0}, "step must lie between 0 and 10, not 11"),
        ({"n_jobs": 0}, "n_jobs must be at least 1, or -1 for all processors, not 0"),
        ({"n_jobs": -2}, "n_jobs must be at least -1"),
    ],
)
def test_settings_beyond_their_bounds_are_named(options, sentence):
    with pytest.raises(InputError, match=sentence):
        TunedIndex(**options).fit(np.eye(2), ["a", "b"])


@pytest.mark.parametrize("own", [{}, {"max_total_edges": 900}, {"passes": 3}, {"min_weight": 0.1}])
def test_any_number_of_threads_learns_the_same_bytes(own):
    rng = np.random.default_rng(3)
    X = scipy.sparse.random_array((3000, 500), density=0.02, format="csr", rng=rng)
    Y = [sorted(set(rng.integers(40, size=rng.integers(1, 4)).tolist())) for _ in range(3000)]
    models = [
        as_bytes(TunedIndex(n_jobs=n, **own).fit(X, Y).set_params(n_jobs=None))
        for n in (1, 2, 3, 8)
    ]
    assert all(model == models[0] for model in models)


# Contests.


def confusable(n, seed=0, labels=12):
    """Neighbouring labels share words: which of them it is, a word or two decide among many
    that say little.
    """
    random = np.random.default_rng(seed)
    true = random.integers(0, labels, n)
    X = scipy.sparse.lil_array((n, 3 * labels + 40))
    for i, c in enumerate(true):
        # its own words and those of the next label
        shared = (c + random.integers(0, 2, 3)) % labels
        X[i, shared] = 1.0
        X[i, labels + 2 * c + random.integers(0, 2)] = 0.5
        X[i, 3 * labels + random.integers(0, 40, 5)] = 1.0
    return X.tocsr(), true.tolist()


def test_a_word_can_vote_against_a_label_it_was_never_seen_with():
    X, Y = confusable(800)
    _, edges = TunedIndex().fit(X, Y).index_.all_edges()
    assert (edges["tuned"][edges["weight"] < 1e-8] < 0).any()


@pytest.mark.parametrize("own", [{"max_edges": 4}, {"max_total_edges": 100}])
def test_lists_in_a_contest_keep_to_their_bounds(own):
    learner = TunedIndex(**own).fit(*confusable(800))
    assert learner.index_.features["length"].max() <= learner.max_edges
    assert learner.n_edges_ <= (learner.max_total_edges or learner.n_edges_)


def test_parts_of_a_contest_can_be_put_together():
    (X, Y), (new, truth) = confusable(1500), confusable(1000, seed=1)
    whole = TunedIndex().fit(X, Y).score(new, truth)
    both = TunedIndex().fit(X[:750], Y[:750]).merge(TunedIndex().fit(X[750:], Y[750:]))
    assert both.score(new, truth) > whole - 0.05


def test_an_example_that_stays_behind_teaches_nothing_more():
    X, Y = np.repeat(np.eye(2), 60, axis=0), ["a"] * 60 + ["b"] * 60
    learner = TunedIndex(passes=2).partial_fit(X, Y)
    # the words of the other label
    rows, labels = learner.check_rows(X), learner.label_index_.learn(Y[::-1], len(Y))
    learner.pass_number_, before = 0, learner.decision_function(X)
    assert abs(before[0, 0] - before[0, 1]) > 1
    learner.update(rows, labels, np.array([0]), False)
    assert (learner.decision_function(X) == before).all()


# Vectors.


def clouds(n=600, n_labels=12, width=40, seed=0, spread=0.8):
    """Vectors around a point for each label."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(n_labels, width)) / np.sqrt(width)
    random = np.random.default_rng(seed)
    y = random.integers(n_labels, size=n)
    return centres[y] + spread * random.normal(size=(n, width)) / np.sqrt(width), y.tolist()


def meanings(n=900, n_labels=8, seed=0):
    """Words that tell half of a label, and vectors that tell the other half."""
    random = np.random.default_rng(seed)
    y = random.integers(n_labels, size=n)
    V = (
        np.eye(n_labels // 2)[y // 2] * 1.5
        - 0.7
        + random.normal(scale=0.5, size=(n, n_labels // 2))
    )
    X = np.eye(2)[y % 2] + (random.random((n, 2)) < 0.2)
    return V, X, y.tolist()


def test_vectors_too_small_for_float32_give_no_nan():
    learner = TunedIndex(vector=1).partial_fit(
        [[1e-40, 1.0], [-1e-40, 1.0], [1.0, 0.0]], ["a", "b", "a"]
    )
    assert np.isfinite(learner.rank([[1e-40, 1.0]], k=2).scores).all()


def test_signed_dense_rows_are_vectors():
    (X, Y), (new, truth) = clouds(), clouds(seed=1)
    learner = TunedIndex().fit(X, Y)
    assert (learner.n_vector_, learner.n_edges_) == (40, 0)
    assert learner.score(new, truth) > 0.9
    again = TunedIndex().fit(scipy.sparse.csr_array(X), Y)
    assert as_bytes(again) == as_bytes(learner)
    assert TunedIndex().fit(abs(X), Y).n_vector_ == 0


def test_words_and_vector_have_their_shares_of_a_row():
    V, X, Y = meanings(60)
    learner = TunedIndex(vector=4).partial_fit(np.hstack([V, X]), Y)
    for v, x, of_words, of_vector in [
        (V, X, 0.35, 0.65),
        (V, 0 * X, 0.0, 1.0),
        (0 * V, X, 1.0, 0.0),
    ]:
        words, vectors = learner.prepared_apart(learner.check_rows(3 * np.hstack([v, x])))
        np.testing.assert_allclose((vectors.astype(float) ** 2).sum(axis=1), of_vector, atol=1e-6)
        squares = (
            np.add.reduceat(np.append(words.data**2, 0.0), words.indptr[:-1])
            if of_words
            else np.zeros(1)
        )
        np.testing.assert_allclose(squares, of_words, atol=1e-6)


def few_with_vectors(n_labels, each, told, seed):
    """A word for each label that an example has with probability ``told``, two common words,
    and a vector.
    """
    random = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_labels), each)
    words = np.hstack(
        [
            np.eye(n_labels)[y] * (random.random((y.size, 1)) < told),
            random.random((y.size, 2)) < 0.5,
        ]
    )
    return random.normal(size=(n_labels, 6))[y] + 0.5 * random.normal(size=(y.size, 6)), words, y


@pytest.mark.parametrize(
    ("each", "told"), [(1, 0.5), (3, 0.2), (3, 0.6), (3, 0.9), (12, 0.4), (12, 1.0)]
)
def test_fit_gives_the_vector_a_larger_share_where_words_err_more(each, told):
    V, words, y = few_with_vectors(9, each, told, seed=each)
    expected = share_of_vector(words, V, y.tolist())
    learner = TunedIndex(vector=6).fit(np.hstack([V, words]), y)
    assert learner.vector_share_ == pytest.approx(expected)
    assert learner.vector_share_ > 0.65 or told > 0.8
    again = learner.partial_fit(np.hstack([V, words])[:5], y[:5])
    assert again.vector_share_ == pytest.approx(expected), "a stream goes on with the share of fit"


@pytest.mark.parametrize("seed", range(4))
def test_fit_gives_the_vector_a_smaller_share_where_it_would_do_harm(seed, monkeypatch):
    """Words that say all, and vectors that say little of the label and much of something else."""
    random = np.random.default_rng(seed)
    y = np.repeat(np.arange(9), 12)
    words = np.eye(9)[y] + (random.random((y.size, 9)) < 0.2)
    V = random.normal(size=(y.size, 60))
    rows = np.hstack([V, words])
    assert TunedIndex(vector=60).fit(rows, y).vector_share_ >= 0.65, "too few examples say nothing"
    monkeypatch.setattr("shortlist.learners.index.vector_share.LEAST_COMPARED", 50)
    learner = TunedIndex(vector=60).fit(rows, y)
    assert learner.vector_share_ == share_of_vector(words, V, y.tolist(), least=50)
    assert learner.vector_share_ < 0.65


def test_examples_without_a_label_say_nothing_of_the_share():
    rows = [[0.5, -0.5, 1.0], [-0.5, 0.5, 1.0]]
    assert TunedIndex(vector=2).fit(rows, [[], []]).vector_share_ == 0.65
    assert TunedIndex(vector=2).fit(rows, [[], ["a"]]).vector_share_ == pytest.approx(0.75)


def test_words_and_vectors_are_better_than_either():
    (V, X, Y), (new_V, new_X, truth) = meanings(), meanings(seed=1)
    both = TunedIndex(vector=4).fit(np.hstack([V, X]), Y).score(np.hstack([new_V, new_X]), truth)
    assert both > TunedIndex().fit(V, Y).score(new_V, truth) + 0.1
    assert both > TunedIndex().fit(X, Y).score(new_X, truth) + 0.1


def test_one_by_one_is_the_same_as_at_once():
    V, X, Y = meanings(120)
    both = np.hstack([V, X])
    once, one_by_one = TunedIndex(vector=4).partial_fit(both, Y), TunedIndex(vector=4)
    for i in range(len(Y)):
        one_by_one.partial_fit(both[i : i + 1], Y[i : i + 1])
    assert as_bytes(once) == as_bytes(one_by_one)


def test_vectors_are_saved_merged_and_relabelled(tmp_path):
    V, X, Y = meanings(300)
    both = np.hstack([V, X])
    learner = TunedIndex(vector=4).partial_fit(both, Y)
    learner.save(tmp_path / "model")
    opened = load(tmp_path / "model")
    assert as_bytes(opened) == as_bytes(learner)
    assert as_bytes(opened.partial_fit(both[:9], Y[:9])) == as_bytes(
        learner.partial_fit(both[:9], Y[:9])
    )
    halves = [
        TunedIndex(vector=4).fit(both[part], Y[part]) for part in (slice(150), slice(150, None))
    ]
    assert halves[0].merge(halves[1]).score(both, Y) > 0.8
    two = learner.with_labels_merged([0], 1)
    names = learner.classes_.tolist()
    expected = (
        learner.vector_weights_[:, names.index(0)] + learner.vector_weights_[:, names.index(1)]
    )
    np.testing.assert_allclose(two.vector_weights_[:, names.index(1)], expected, rtol=1e-6)
    copied = learner.with_label_split(0, "new")
    assert (copied.vector_weights_[:, -1] == copied.vector_weights_[:, names.index(0)]).all()
    with pytest.raises(InputError, match="vectors of 0 columns cannot be merged into those of 4"):
        learner.merge(TunedIndex().fit(X, Y))


def test_negative_words_are_refused_with_their_place():
    with pytest.raises(InputError, match=r"row 1 holds -1 in column 2, .* set vector"):
        TunedIndex(vector=2).fit([[0.5, -1.0, 1.0], [0.5, 1.0, -1.0]], ["a", "b"])
    learner = TunedIndex().fit(np.eye(3), ["a", "b", "c"])
    for use in (lambda X: learner.partial_fit(X, ["a"]), learner.rank):
        with pytest.raises(InputError, match="Negative values in data: row 0 holds -1 in column 1"):
            use([[0.0, -1.0, 0.0]])
    with pytest.raises(InputError, match="vector was 0 when the model learned and is 2 now"):
        learner.set_params(vector=2).rank(np.eye(3))


def test_words_by_the_million_are_refused_as_vectors_and_nothing_is_changed():
    learner = TunedIndex().fit([[1.0, -1.0]], ["a"])
    wide = scipy.sparse.csr_array(([-1.0], ([0], [2**30])), shape=(1, 2**30 + 1))
    with pytest.raises(InputError, match="1,073,741,825 columns with 1 labels"):
        TunedIndex().fit(wide, ["a"])
    assert learner.n_vector_ == 2


def changed(**arrays):
    state = TunedIndex().fit([[0.5, -0.5], [-0.5, 0.5]], ["up", "down"]).to_state()
    return State(state.kind, state.settings, dict(state.arrays) | arrays)


@pytest.mark.parametrize(
    "arrays",
    [
        {"vector_weights": np.zeros((2, 3), dtype=np.float32)},
        {"vector_weights": np.zeros(4, dtype=np.float32)},
        {"vector_weights": np.full((2, 2), np.nan, dtype=np.float32)},
        {"vector_weights": NO_WEIGHTS},
        {"vector_weights": np.zeros((2, 2))},
        {"vector_share": np.array([1.0])},
        {"vector_share": np.zeros(0)},
        {"bias": np.array([0.0, np.inf])},
        {"bias": np.zeros(3)},
        {"counts": np.array([1.0, -1.0])},
        {"counts": np.zeros(3)},
        {"pass": np.array([-1])},
    ],
)
def test_a_damaged_file_is_refused(arrays):
    with pytest.raises(ModelFileError):
        TunedIndex.from_state(changed(**arrays))
    assert TunedIndex.from_state(changed()).predict([[1.0, -1.0]]) == ["up"]
