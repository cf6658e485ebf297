"""One label each: labels contend, unless most of them cannot be foreseen; what that leaves in an index and its file."""

import numpy as np
import pytest
import scipy.sparse

from shortlist import TunedIndex
from shortlist.categories.index.course import MISSED, are_single
from shortlist.files.store import build
from tests.categories.test_tuned_index import noisy_stream


def confusable(n, seed=0, labels=12):
    """Neighbouring labels share words: which of them it is, a word or two decide among many that say little."""
    random = np.random.default_rng(seed)
    true = random.integers(0, labels, n)
    X = scipy.sparse.lil_array((n, 3 * labels + 40))
    for i, c in enumerate(true):
        shared = (c + random.integers(0, 2, 3)) % labels  # its own words and those of the next label
        X[i, shared] = 1.0
        X[i, labels + 2 * c + random.integers(0, 2)] = 0.5
        X[i, 3 * labels + random.integers(0, 40, 5)] = 1.0
    return X.tocsr(), true.tolist()


def test_a_wrong_label_that_stays_behind_is_left_alone_in_a_contest():
    X, Y = confusable(1500)
    for several in (False, True):
        learner = TunedIndex().fit(X, [[c, "any"] for c in Y] if several else Y)
        scores = learner.decision_function(X)
        numbers = [learner.classes_.tolist().index(c) for c in Y]
        true = scores[np.arange(len(Y)), numbers].copy()
        scores[np.arange(len(Y)), numbers] = -1.0
        if several:
            scores[:, learner.classes_.tolist().index("any")] = -1.0
        wrong = scores.max(axis=1)
        (i, *_) = np.flatnonzero((true > 1.0) & (wrong > 0.01) & (true > wrong + (0.5 if several else 1.5)))
        before = learner._index.all_edges()[1]["tuned"].copy()
        learner.partial_fit(X[[i]], [[Y[i], "any"]] if several else [Y[i]])
        assert are_single(learner._stats) != several
        assert np.array_equal(learner._index.all_edges()[1]["tuned"], before) != several


def light(learner):
    """The edges that were never counted."""
    _, edges = learner._index.all_edges()
    return edges[edges["weight"] < 1e-8]


def test_a_word_can_speak_against_a_label_it_was_never_seen_with():
    X, Y = confusable(800)
    learner = TunedIndex().fit(X, Y)
    against = light(learner)
    assert against.size
    assert (against["tuned"] < 0).any()
    opened = build(learner.to_state())
    np.testing.assert_array_equal(opened.decision_function(X), learner.decision_function(X))


def test_lists_in_a_contest_keep_to_their_bounds():
    X, Y = confusable(800)
    for learner in (TunedIndex(max_edges=4), TunedIndex(max_edges=4, shards=2), TunedIndex(max_total_edges=100)):
        learner.fit(X, Y)
        lengths = learner._index.features["length"]
        shares = np.concatenate([learner._index.all_edges()[1]["weight"]]) / np.repeat(
            learner._index.features["total"], lengths
        )
        first = np.concatenate([np.arange(n) for n in lengths])
        assert (shares[first >= learner.max_edges] >= learner.min_weight).all()
        assert learner.n_edges_ <= (learner.max_total_edges or learner.n_edges_)


def test_labels_that_cannot_be_foreseen_do_not_contend():
    X, Y, _ = noisy_stream(2000, right=0.3)
    learner = TunedIndex().fit(X, Y)
    assert learner._stats[MISSED] > 0.5
    assert light(learner).size == 0


def test_parts_of_a_contest_can_be_put_together():
    (X, Y), (new, truth) = confusable(1500), confusable(1000, seed=1)
    whole = TunedIndex().fit(X, Y).score(new, truth)
    merged = TunedIndex().fit(X[:750], Y[:750]).merge(TunedIndex().fit(X[750:], Y[750:]))
    assert 0 < merged._stats[MISSED] < 0.5
    assert merged.score(new, truth) > whole - 0.05
    assert TunedIndex(shards=3).fit(X, Y).score(new, truth) > whole - 0.05


def test_a_file_from_before_contests_opens_and_goes_on():
    X, Y = confusable(600)
    state = TunedIndex().fit(X, Y).to_state()
    state.arrays["course"] = state.arrays["course"][:MISSED]
    state.settings["passes"] = 2
    opened = build(state)
    assert opened._stats[MISSED] == 1.0
    assert opened.partial_fit(X, Y).score(X, Y) > 0.9
    assert opened._stats[MISSED] < 0.5


def test_an_example_that_stays_behind_teaches_nothing_more():
    X, Y = np.repeat(np.eye(2), 60, axis=0), ["a"] * 60 + ["b"] * 60
    learner = TunedIndex(passes=2).partial_fit(X, Y)
    rows, labels = learner._check(X), learner._labels.learn(Y[::-1], len(Y))  # the words of the other label
    learner._block, learner._rankings = 1, []
    for few in (False, True):
        learner._few, learner._pass, before = few, 0, learner.decision_function(X)
        assert abs(before[0, 0] - before[0, 1]) > 1
        learner._learn(rows, labels, np.array([0]), False)
        assert (learner.decision_function(X) == before).all() != few


@pytest.mark.parametrize(
    ("n_classes", "rows", "passes"),
    [
        (1, 4000, 6), (1, 5163, 6), (1, 5164, 5), (1, 7303, 2), (20, 10_000, 2), (64, 9960, 2), (64, 9600, 2),
        (64, 9599, 3), (77, 10_780, 3), (77, 10_003, 5), (64, 6242, 6), (150, 15_000, 6), (500, 24_999, 5),
        (500, 25_000, 4), (1000, 49_999, 3), (1000, 50_000, 2),
    ],
)  # fmt: skip
def test_rows_are_gone_through_more_often_where_they_are_few_for_each_label(n_classes, rows, passes):
    learner = TunedIndex().fit(np.ones((n_classes, 1)), np.arange(n_classes))
    assert learner.passes_through(rows, rows) == passes
    assert learner.passes_through(rows, 2 * rows) == 2  # with several labels
    assert learner.set_params(passes=1).passes_through(rows, rows) == 1


def test_fit_goes_through_8000_rows_of_80_labels_six_times():
    rows = TunedIndex()._check(scipy.sparse.csr_array(np.ones((8000, 1))))
    assert max(TunedIndex()._fit_passes(rows, [str(i % 80) for i in range(8000)])) == 6


@pytest.mark.parametrize(("rows", "passes"), [(1, 10), (640, 10), (3999, 10), (4000, 6), (8000, 2)])
def test_few_rows_are_gone_through_more_often(rows, passes):
    assert TunedIndex().passes_through(rows) == passes
    assert TunedIndex(passes=3).passes_through(rows) == 3
    assert TunedIndex().passes_through(rows, 2 * rows) == min(10, max(2, -(-8000 // rows)))  # with several labels
    X = scipy.sparse.csr_array(np.ones((rows, 1)))
    assert max(TunedIndex()._fit_passes(TunedIndex()._check(X), ["a"] * X.shape[0])) == passes
