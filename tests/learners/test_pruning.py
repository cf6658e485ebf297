"""Making room in an index: the right edges go, everything else stays, and nothing is left
between the lists.
"""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import FeatureFocus, InputError
from shortlist.learners.index import edges as lists
from shortlist.learners.index import edges as pruning
from shortlist.learners.index.edges import EDGES, END, drop_weakest, empty_index, pack
from tests.compiled import compiled
from tests.contract import as_bytes, example_data
from tests.learners.test_feature_focus import edges_of


def learned(**options):
    X, Y = example_data()
    return FeatureFocus(**options).fit(X, Y), X, Y


@given(st.integers(0, 400), st.sampled_from([0, 1, 40]), st.booleans())
def test_the_weakest_edges_go_among_equals_the_oldest(keep, rare, leakage):
    learner, _, _ = learned(values="boolean", rare=rare)
    index, features = copy.deepcopy(learner.index_), learner.index_.features
    edges = [
        (f, place, c, w) for f, own in edges_of(learner).items() for place, (c, w) in enumerate(own)
    ]

    def strength(edge):
        rating = min(1.0, features["seen"][edge[0]] / rare) if rare else 1.0
        return edge[3] / features["total"][edge[0]] * rating

    dropped = sorted(edges, key=strength)[: max(0, len(edges) - keep)]
    drop_weakest(index, keep, rare, leakage)
    learner.index_ = index
    left = [(f, c, w) for f, own in edges_of(learner).items() for c, w in own]
    assert left == [(f, c, w) for f, place, c, w in edges if (f, place, c, w) not in dropped]
    assert index.used[EDGES] == len(left)
    lost = (
        np.zeros(features.size)
        if leakage
        else np.bincount(
            [f for f, _, _, _ in dropped], [w for _, _, _, w in dropped], minlength=features.size
        )
    )
    assert np.allclose(index.features["total"], features["total"] - lost)


def test_packing_changes_nothing_that_counts():
    learner, X, Y = learned()
    before = as_bytes(learner)
    assert learner.index_.used[END] > learner.index_.used[EDGES]
    pack(learner.index_)
    assert learner.index_.used[END] == learner.index_.used[EDGES]
    assert as_bytes(learner) == before
    one, other = learned()[0].partial_fit(X, Y), learner.partial_fit(X, Y)
    assert as_bytes(one) == as_bytes(other)


@pytest.mark.parametrize("cap", [50, 200])
def test_the_pool_of_a_capped_index_stays_small(cap):
    random = np.random.default_rng(0)
    learner = FeatureFocus(max_total_edges=cap, margin=9.0, min_weight=0.0)
    for _ in range(20):
        X = np.zeros((200, 500))
        X[np.arange(200), random.integers(0, 500, 200)] = 1.0
        learner.partial_fit(X, random.integers(0, 1000, 200))
        assert learner.n_edges_ <= cap
        # and the slots that one example may want
        assert learner.index_.edges.size <= 2 * cap + 8 * cap


def test_forgotten_columns_leave_the_others_as_they_were():
    learner, X, Y = learned()
    kept = np.arange(60) % 3 != 0
    expected = learner.decision_function(X.multiply(kept).tocsr())
    n = int(learner.index_.features["length"][:60][kept].sum())
    learner.forget_columns(kept)
    assert (learner.n_features_in_, learner.n_edges_) == (40, n)
    assert np.allclose(learner.decision_function(X[:, kept]), expected)
    learner.partial_fit(X[:, kept], Y)


def test_a_small_index_that_is_full_makes_room_too():
    """An eighth of three edges is less than one: one goes, or nothing new could ever be learned."""
    learner = FeatureFocus(max_total_edges=3, random_state=None).fit(
        np.eye(6), [f"label {i}" for i in range(6)]
    )
    assert learner.n_edges_ == 3
    assert [label for label, _ in learner.rank(np.eye(6)[5:])[0]] == ["label 5"]


def test_a_pool_has_as_many_slots_as_can_be_numbered(monkeypatch):
    """A free block holds the place of the next one in 32 bits."""
    with pytest.raises(InputError, match="no more than 4,294,967,294 edges; set max_total_edges"):
        empty_index().for_slots(2**32 - 1)
    monkeypatch.setattr(pruning, "MOST_SLOTS", 100)
    monkeypatch.setattr(lists, "MOST_SLOTS", 100)
    first = pruning.with_slots(empty_index(), 60, 10**6)
    assert first.edges.size == 60
    assert pruning.with_slots(first, 90, 10**6).edges.size == 100  # twice as many would be too many


def test_what_was_seen_more_often_than_can_be_counted_stays_so():
    """A feature has 32 bits for how often it was seen; files have more."""
    seen = np.array([0, 2**32 - 2, 2**32 - 1, 2**40])
    floats, ints = np.zeros(4), np.zeros(4, dtype=np.int32)
    index = lists.make_index(ints, lists.make_edges(ints[:0], floats[:0]), floats, seen)
    see = compiled(lists.see)
    for f in range(4):
        see(index.features[f])
    assert index.features["seen"].tolist() == [1] + 3 * [2**32 - 1]
    kept = np.asarray(index.to_arrays(4)["seen"])
    assert (kept.dtype, kept.tolist()) == (np.int64, index.features["seen"].tolist())
