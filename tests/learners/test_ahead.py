"""Rankings made on the way are those that ``rank`` would have given just before each example
was learned.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import TunedIndex
from shortlist.data.batch import RowBatch
from shortlist.data.rows import Rows
from shortlist.data.validation import as_rows
from shortlist.learners.category_learner import CategoryLearner
from shortlist.learners.index.scoring import NO_RANKINGS
from shortlist.learners.port import Stretch

K = 3


def stream(n, seed, features=12, labels=5):
    """Rows of few features, of which some are new at any time, and one label or several for
    each.
    """
    draws = np.random.default_rng(seed)
    X = draws.random((n, features + n // 4)) * (draws.random((n, features + n // 4)) < 0.2)
    Y = [
        sorted(draws.choice(labels, size=draws.integers(1, 3), replace=False).tolist())
        for _ in range(n)
    ]
    return as_rows(X), Y


class RanksAhead:
    """Observes a learner, and has some rows ranked before they are learned."""

    depth = K
    counts_unknown = False

    def __init__(self, which):
        self.which = which

    def plan(self, learner, labels, order):
        yield Stretch(0, order.size, self.which)

    def note(self, ranked, labels):
        self.ranked = ranked

    def finish(self, learner, rows, labels, order):
        pass


def learned_at_once(learner, rows, Y, which):
    learner.expect_labels([[label] for label in range(5)])
    observer = RanksAhead(which)
    learner.learn_batch(RowBatch.of(rows, Y), observer)
    return getattr(observer, "ranked", None)


def ranked_one_by_one(learner, rows, Y, which):
    learner.expect_labels([[label] for label in range(5)])
    found = {}
    for i in range(rows.n_rows):
        one = rows.take(np.array([i]))
        if i in which:
            ranked = CategoryLearner.rank_ahead(learner, one, np.zeros(1, dtype=np.int64), K)
            found[i] = ranked.ids[0], ranked.scores[0], ranked.known[0]
        learner.learn_batch(RowBatch.of(one, Y[i : i + 1]))
    return [found[i] for i in which]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), values=st.sampled_from(["l2", "boolean", "raw"]))
def test_they_are_those_of_rank(seed, values):
    rows, Y = stream(40, seed)
    which = np.flatnonzero(np.random.default_rng(seed).random(40) < 0.3)
    settings = {"values": values, "random_state": None}
    ahead = learned_at_once(TunedIndex(**settings), rows, Y, which)
    for n, (ids, scores, known) in enumerate(
        ranked_one_by_one(TunedIndex(**settings), rows, Y, which)
    ):
        # values are rounded to 32 bits
        np.testing.assert_allclose(ahead.scores[n], scores, rtol=1e-6, atol=1e-6)
        assert ahead.known[n] == known
        if known == 1.0:
            assert ahead.scores[n].tobytes() == scores.tobytes(), "nothing is new: the same numbers"
        if np.diff(scores).max(initial=-1.0) < -1e-5:
            assert ahead.ids[n].tolist() == ids.tolist()


@pytest.mark.parametrize("which", [[], [0, 7, 39]])
def test_what_is_learned_is_the_same(which):
    rows, Y = stream(40, 1)
    plain, asked = TunedIndex(), TunedIndex()
    plain.expect_labels([[label] for label in range(5)])
    plain.learn_batch(RowBatch.of(rows, Y))
    learned_at_once(asked, rows, Y, np.array(which, dtype=np.int64))
    assert asked.rank(dense(rows)).scores.tobytes() == plain.rank(dense(rows)).scores.tobytes()
    assert asked.wanted_rankings_ is NO_RANKINGS


def test_learning_that_fails_asks_nobody_next_time(monkeypatch):
    rows, Y = stream(40, 1)
    learner = TunedIndex()
    monkeypatch.setattr(learner, "learn_until_full", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        learned_at_once(learner, rows, Y, np.array([3]))
    assert learner.wanted_rankings_ is NO_RANKINGS


def dense(rows: Rows):
    X = np.zeros((rows.n_rows, rows.n_features))
    X[np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices] = rows.data
    return X


@pytest.mark.parametrize("most", [None, 20], ids=["room", "full"])
def test_batches_make_no_difference(most):
    rows, Y = stream(60, 2)
    which = np.arange(0, 60, 5)
    at_once = TunedIndex(max_total_edges=most)
    ahead = learned_at_once(at_once, rows, Y, which)
    one_by_one = TunedIndex(max_total_edges=most)
    for i in range(60):
        own = learned_at_once(
            one_by_one, rows.take(np.array([i])), Y[i : i + 1], np.zeros(1, dtype=np.int64)
        )
        if i in which:
            assert own.scores.tobytes() == ahead.scores[i // 5].tobytes()
            assert own.ids.tobytes() == ahead.ids[i // 5].tobytes()
            assert own.known[0] == ahead.known[i // 5]
    assert (at_once.edges_dropped_ > 0) == (most is not None)
