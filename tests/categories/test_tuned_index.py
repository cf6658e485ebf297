"""TunedIndex: exactly its twin; better than its counts where labels are right and where they are not; mergeable."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import FeatureFocus, InputError, TunedIndex, load
from shortlist.categories.checks import as_bytes
from shortlist.categories.index import learner as index_learner
from shortlist.categories.index import teams
from shortlist.categories.index.course import PACE
from shortlist.categories.index.teams import block_size
from shortlist.labels import judged
from shortlist.models.confidence.honest import stretches
from tests.reference.tuned_index import SlowTunedIndex

values = st.sampled_from([0.25, 0.5, 1.0, 3.0])
rows = st.dictionaries(st.integers(0, 5), values, min_size=1, max_size=4).map(lambda row: sorted(row.items()))
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
    feature, edges = learner._index.all_edges()
    names = learner.classes_.tolist()
    pairs = zip(feature.tolist(), *(edges[name].tolist() for name in ("label", "weight", "tuned")), strict=True)
    features = enumerate(zip(*(learner._index.features[name].tolist() for name in ("total", "seen")), strict=True))
    return (
        {(f, names[c]): (w, u) for f, c, w, u in pairs},
        {f: known for f, known in features if known[1]},
        {c: b for c, b in zip(names, learner._bias().tolist(), strict=True) if b},
    )


def company_of(learner):
    """{(l, c): v_lc}, without what is 0."""
    names, votes = learner.classes_.tolist(), learner._company
    return {(names[a], names[b]): float(votes[a, b]) for a, b in zip(*votes.nonzero(), strict=True)}


def learned_by(slow):
    return (
        {(f, c): (w, slow.u.get((f, c), 0.0)) for f, edges in slow.edges.items() for c, w in edges},
        {f: (slow.total.get(f, 0.0), seen) for f, seen in slow.seen.items()},
        {c: b for c, b in slow.bias.items() if b},
    )


any_stream = st.one_of(examples, of_many_labels, of_one_label, foreseeable, foreseeable)


@given(
    any_stream, st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([1, 2, 25]), st.booleans(), st.integers(1, 3),
    st.sampled_from([1, 1, 2, 8, 64]), st.sampled_from([1, 2, 3]), st.booleans(),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_is_exactly_its_twin(stream, step, max_edges, leakage, passes, block, n_jobs, few):
    check_its_twin(stream, step, max_edges, leakage, passes, block, n_jobs, few, small=False)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("block", [1, 8])
@given(st.one_of(of_one_label, foreseeable), st.sampled_from([2, 25]), st.booleans())
@settings(max_examples=50, deadline=None)
def test_few_examples_that_are_gone_through_again_are_exactly_its_twin(block, few, stream, max_edges, leakage):
    check_its_twin(stream, 0.3, max_edges, leakage, 2, block, 1, few, small=True)


def check_its_twin(stream, step, max_edges, leakage, passes, block, n_jobs, few, small):
    own = {"min_weight": 0.05, "max_edges": max_edges, "rare": 3, "leakage": leakage}
    slow = SlowTunedIndex(step=step, few=few, small=small, **own)
    learner = TunedIndex(step=step, passes=passes, values="raw", n_jobs=n_jobs, **own)
    # Ties go by the number of a label: number all of them before learning begins.
    learner.partial_fit(matrix([([(0, 0.0)], [])]), [[]], classes=list(range(7)))
    slow.learn([], [])
    rows, Y = learner._check(matrix(stream)), [classes for _, classes in stream]
    labels = learner._labels.learn(Y, len(Y))
    with mock.patch.object(teams, "ENOUGH", 1), mock.patch.object(teams, "STRETCH", 1):
        learner._block, learner._few, learner._small, learner._rankings = block, few, small, []
        for n in range(passes):
            learner._learn(rows, labels, np.arange(len(Y)), n == 0)
            for t in range(0, len(stream), block):
                slow.learn_block(
                    stream[t : t + block], n == 0, (passes - n) * len(stream) - t, (passes - 1) * len(stream)
                )
            if n > 0:
                slow.company.go_through_again(n, passes - 1)
    assert learned(learner) == learned_by(slow)
    assert company_of(learner) == slow.company.votes()
    scores = slow.answer(stream[0][0])
    for label, score in learner.rank(matrix(stream[:1]), k=7)[0]:
        assert score == pytest.approx(scores[label], abs=1e-12)


def test_an_edge_made_in_a_block_grows_even_by_what_would_be_too_light_for_a_new_one():
    before = [([(1, 1.0)], [5, 6])] * 8
    stream = before + [([(0, 3.0)], [1, 2])] * 3 + [([(0, 0.25)], [1, 2]), ([(0, 0.25)], [3, 4])]
    own = {"min_weight": 0.05, "max_edges": 25, "rare": 3, "leakage": True}
    slow, learner = SlowTunedIndex(step=0.3, **own), TunedIndex(values="raw", passes=1, **own)
    learner.partial_fit(matrix([([(0, 0.0)], [])]), [[]], classes=list(range(7)))
    slow.learn([], [])
    labels = learner._labels.learn([classes for _, classes in stream], len(stream))
    learner._block = 8
    learner._learn(learner._check(matrix(stream)), labels, np.arange(len(stream)), True)
    slow.learn_block(stream[:8])
    slow.learn_block(stream[8:])
    assert {c: w for (f, c), (w, _) in learned_by(slow)[0].items() if f == 0} == {1: 9.25, 2: 9.25}
    assert learned(learner) == learned_by(slow)


@given(any_stream)
@settings(max_examples=50, deadline=None)
def test_lists_stay_sorted_and_bounded_under_a_cap(stream):
    learner = TunedIndex(min_weight=0.1, max_total_edges=12).fit(matrix(stream), [classes for _, classes in stream])
    feature, edges = learner._index.all_edges()
    assert learner.n_edges_ == edges.size <= 12
    same = feature[1:] == feature[:-1]
    assert (edges["weight"][1:][same] <= edges["weight"][:-1][same]).all()
    assert len(set(zip(feature.tolist(), edges["label"].tolist(), strict=True))) == edges.size


def test_few_examples_of_each_label_are_a_contest_from_the_first():
    """But not where somebody says how often to go through them, nor in a stream, which may go on for ever."""
    X, Y = np.eye(6)[np.arange(60) % 6], np.arange(60) % 6
    assert TunedIndex().fit(X, Y)._few
    assert not TunedIndex(passes=10).fit(X, Y)._few
    assert not TunedIndex().fit(np.tile(X, (4, 1)), np.tile(Y, 4))._few
    assert not TunedIndex().fit(X, [[c, (c + 1) % 6] for c in Y])._few
    assert not TunedIndex().fit(X, Y).partial_fit(X, Y)._few
    once, again = TunedIndex().fit(X[:30], Y[:30]), TunedIndex(passes=10).fit(X[:30], Y[:30])
    assert once.rank(X[:1], k=1).scores[0, 0] > again.rank(X[:1], k=1).scores[0, 0]  # the lead is wide


def noisy_stream(n, right, seed=0):
    """Examples with one label each, which is the right one with this probability and any one otherwise."""
    random = np.random.default_rng(seed)
    true = random.integers(0, 40, n)
    X = scipy.sparse.lil_array((n, 400))
    for i, c in enumerate(true):
        X[i, c * 5 + random.integers(0, 5, 3)] = 1.0
        X[i, random.integers(200, 400, 8)] = 1.0
    Y = np.where(random.random(n) < right, true, random.integers(0, 40, n))
    return X.tocsr(), [[int(c)] for c in Y], [[int(c)] for c in true]


@pytest.mark.parametrize("right", [1.0, 0.5])
def test_wrong_labels_cost_corrections_little(right):
    """Here each word speaks for itself, and counting is all one can do: the worst that can happen to corrections."""
    X, Y, _ = noisy_stream(4000, right)
    new, _, true = noisy_stream(1000, right, seed=1)
    counted, tuned = TunedIndex(step=0).fit(X, Y).score(new, true), TunedIndex().fit(X, Y).score(new, true)
    assert tuned > counted - 0.1


def test_corrections_weigh_words_against_each_other():
    """Word 0 goes with "often" most of the time, but never together with word 1 or word 2: counting misses that."""
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
    X = scipy.sparse.csr_array((np.ones(3 * n), words.ravel(), np.arange(0, 3 * n + 1, 3)), shape=(n, 30))
    return X, [[int(c) for c in (word[0] + np.arange(n_labels)) % 30] for word in words]


@pytest.mark.parametrize(("n_labels", "times", "passes"), [(1, 1, 2), (3, 1, 2), (4, 5, 3)])
def test_many_labels_make_lists_wide_and_add_a_pass(n_labels, times, passes, tmp_path):
    X, Y = labelled(n_labels)
    learner = TunedIndex(max_edges=2, min_weight=0.0).fit(X, Y)
    longest = np.minimum(learner._index.features["length"][:30], 2 * times)
    assert learner.edges_touched(np.eye(30)) == longest.mean()
    assert TunedIndex().passes_through(9000, 9000 * n_labels) == passes
    learner.save(tmp_path / "model")
    assert (load(tmp_path / "model").decision_function(X) == learner.decision_function(X)).all()


def test_the_pace_rises_where_corrections_are_too_short_and_falls_where_they_went_too_far():
    X, Y = labelled(2, n=2000)
    timid, bold = TunedIndex(step=0.02).partial_fit(X, Y), TunedIndex(step=1.5).partial_fit(X, Y)
    assert timid._stats[PACE] > 1.1
    assert bold._stats[PACE] < timid._stats[PACE]
    assert TunedIndex(step=0.02).partial_fit(X, [own[:1] for own in Y])._stats[PACE] == 1  # no contest has a pace
    before = timid._stats[PACE]
    timid.partial_fit(X, judged(Y, len(Y), complete=False))  # who judges a part says nothing of how far steps should go
    assert timid._stats[PACE] == before


def test_a_correct_score_teaches_nothing():
    X, Y = np.eye(2), [["a"], ["b"]]
    learner = TunedIndex(step=1.0, rare=0).fit(X, Y)
    assert (learner.decision_function(X).diagonal() >= 1).all()
    before = learned(learner)
    _, features, _ = learned(learner.partial_fit(X, Y))
    assert features == {f: (total, seen + 1) for f, (total, seen) in before[1].items()}
    assert learned(learner)[0] == before[0]


def test_a_change_of_meaning_is_learned_soon():
    """The labels of all words change; surprises are rare before, so each of them is taken seriously."""
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
    feature, edges = learner._index.all_edges()
    names = [learner.classes_[c] for c in edges["label"]]
    return {(f, name): u for f, name, u in zip(feature.tolist(), names, edges["tuned"].tolist(), strict=True)}


def test_what_one_of_two_has_met_alone_keeps_its_corrections():
    X = np.array([[1.0, 0, 2], [1, 0, 3], [0, 2, 1], [0, 1, 1]])
    Y = [["a"], ["b"], ["a"], ["c"]]
    one, other = (TunedIndex(passes=1, random_state=None).fit(X[part], Y[part]) for part in (slice(2), slice(2, None)))
    alone = {edge: u for edge, u in (corrections(one) | corrections(other)).items() if edge[0] < 2}
    assert any(alone.values())
    for together in (TunedIndex(shards=2, passes=1, random_state=None).fit(X, Y), one.merge(other)):
        assert {edge: u for edge, u in corrections(together).items() if edge[0] < 2} == alone


def test_shards_come_near_what_is_learned_in_one():
    X, Y, _ = noisy_stream(4000, right=0.8)
    new, _, true = noisy_stream(1000, right=0.8, seed=1)
    whole, mixed = TunedIndex().fit(X, Y), TunedIndex(shards=3).fit(X, Y)
    assert abs(whole.score(new, true) - mixed.score(new, true)) < 0.02
    again = TunedIndex(shards=3, n_jobs=2).fit(X, Y)
    assert learned(again) == learned(mixed)


def test_bad_settings_are_refused():
    X, Y, _ = noisy_stream(10, right=1.0)
    for bad in ({"step": -1.0}, {"rare": -1}, {"step": "far"}, {"shards": 0}):
        with pytest.raises(InputError):
            TunedIndex(**bad).fit(X, Y)


def test_what_has_diverged_says_so_and_replaces_no_file(tmp_path):
    random = np.random.default_rng(3)
    X = 100 * scipy.sparse.random_array((50, 40), density=0.3, rng=random, format="csr")
    Y, path = random.integers(0, 5, 50), tmp_path / "model.shortlist"
    TunedIndex().fit(X, Y).save(path)
    before = path.read_bytes()
    # Without compiling, NumPy warns of what the kernels pass over.
    with np.errstate(all="ignore"), pytest.raises(InputError, match="no longer finite"):
        TunedIndex(passes=20, step=1e300).fit(X, Y)
    diverged = TunedIndex().fit(X, Y)
    diverged._biases[0] = np.inf
    with pytest.raises(InputError, match=r"this TunedIndex is not saved: .* no longer finite"):
        diverged.save(path)
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


@pytest.mark.parametrize("kind", [FeatureFocus, TunedIndex])
@pytest.mark.parametrize("values", [[1e-200, 1e-170], [1e-323, 1e-310], [1e200, 1e300], [1e-320, 1e300]])
def test_tiny_and_huge_values_are_learned_and_saved(kind, values, tmp_path):
    small, large = values
    learner = kind().fit(np.array([[small, 0.0], [0.0, large], [small, large]]), ["a", "b", "b"])
    learner.save(tmp_path / "model.shortlist")
    opened = load(tmp_path / "model.shortlist")
    for x in ([1.0, 0.0], [small, 0.0], [0.0, large]):
        found = opened.rank(np.array([x]), k=2)
        assert np.isfinite(found.scores[found.ids >= 0]).all()
        assert found.ids[0, 0] == int(x[0] == 0.0)


def test_any_number_of_edges_may_vote():
    random = np.random.default_rng(0)
    X, Y = random.random((200, 5)), random.integers(0, 30, 200)
    few, all_there_are = (TunedIndex().partial_fit(X[:100], Y[:100]).set_params(max_edges=n) for n in (1000, 2**63 - 1))
    for learner in (few, all_there_are):
        learner.partial_fit(X[100:], Y[100:])
    assert learned(few) == learned(all_there_are)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"random_state": "abc"}, "random_state must be a whole number"),
        ({"random_state": 1.5}, "random_state must be a whole number"),
        ({"leakage": "maybe"}, "leakage must be one of True, False, not 'maybe'"),
        ({"max_edges": 2**63}, "max_edges must be at most 2147483647"),
        ({"rare": 2**70}, "rare must be at most"),
        ({"max_total_edges": 2**70}, "max_total_edges must be at most"),
        ({"step": np.inf}, "step must be a finite number"),
        ({"n_jobs": 0}, "n_jobs must be at least 1, or -1 for all processors, not 0"),
        ({"n_jobs": -2}, "n_jobs must be at least -1"),
        ({"block": 0}, "block must be at least 1"),
        ({"block": 2000}, "block must be at most 1024"),
    ],
)
def test_settings_beyond_their_bounds_are_named(options, sentence):
    with pytest.raises(InputError, match=sentence):
        TunedIndex(**options).fit(np.eye(2), ["a", "b"])


def test_shards_are_deprecated():
    with pytest.warns(FutureWarning, match="blocks of examples use n_jobs cores"):
        TunedIndex(shards=2).fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])


@pytest.mark.parametrize("own", [{}, {"max_total_edges": 900}, {"leakage": False, "passes": 3}, {"min_weight": 0.1}])
def test_any_number_of_threads_learns_the_same_bytes(own):
    rng = np.random.default_rng(3)
    X = scipy.sparse.random_array((3000, 500), density=0.02, format="csr", rng=rng)
    Y = [sorted(set(rng.integers(40, size=rng.integers(1, 4)).tolist())) for _ in range(3000)]
    with mock.patch.object(teams, "ENOUGH", 4), mock.patch.object(teams, "STRETCH", 16):
        fitted = [TunedIndex(n_jobs=n, block=16, **own).fit(X, Y) for n in (1, 2, 3, 8)]
        with mock.patch.object(index_learner, "reserved", lambda index, *_: index):  # it grows in the midst of blocks
            fitted += [TunedIndex(n_jobs=n, block=16, **own).fit(X, Y) for n in (1, 3)]
    models = [as_bytes(learner.set_params(n_jobs=None)) for learner in fitted]
    assert all(model == models[0] for model in models)


def test_nobody_waits_for_a_thread_that_could_not_be_started():
    started, submit = [], ThreadPoolExecutor.submit

    def only_one(pool, *arguments):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(submit(pool, *arguments))
        return started[0]

    X, y = scipy.sparse.random_array((3000, 50), density=0.1, format="csr", rng=np.random.default_rng(3)), [0, 1] * 1500
    few, none = mock.patch.object(teams, "ENOUGH", 4), mock.patch.object(ThreadPoolExecutor, "submit", only_one)
    with few, none, pytest.raises(RuntimeError, match="start new thread"):
        TunedIndex(n_jobs=3, block=16).fit(X, y)
    assert started[0].done()


def test_few_examples_are_learned_one_by_one_unless_blocks_are_asked_for():
    rng = np.random.default_rng(3)
    X = scipy.sparse.random_array((3000, 500), density=0.02, format="csr", rng=rng)
    Y = rng.integers(40, size=3000)
    settings = ({}, {"block": 1}, {"block": 16})
    one_by_one, of_one, blocks = (TunedIndex(random_state=None, passes=1, **own) for own in settings)
    expected = learned(TunedIndex(passes=1).partial_fit(X, Y))
    assert learned(one_by_one.fit(X, Y)) == learned(of_one.fit(X, Y)) == expected
    assert learned(blocks.fit(X, Y)) != expected
    assert [one_by_one.block_for(n) for n in (3000, 65_535, 65_536)] == [1, 1, 512]


def test_a_block_has_at_most_a_128th_of_the_examples():
    assert [block_size(n) for n in (0, 1, 65_535, 65_536, 131_071, 131_072, 10**6)] == [1, 1, 1, 512, 512, 1024, 1024]


def test_a_watched_fit_is_asked_between_blocks_only():
    for n, size in ((1, 1), (64, 1), (500, 2), (3001, 16), (70_001, 512)):
        parts = list(stretches(n, size))
        assert [parts[0].first, *(part.last for part in parts)][-1] == n
        assert all(part.first % size == 0 for part in parts)
        assert all(one.last == other.first for one, other in pairwise(parts))
        assert all(((part.ranked >= part.first) & (part.ranked < part.last)).all() for part in parts)
