"""Examples that are gone through again are scored by what others have counted."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shortlist import TunedIndex
from shortlist.categories.index.others import add_votes_of_others
from shortlist.categories.scratch import make_scratch

WIDTH, LABELS = 6, 4
rows = st.dictionaries(st.integers(0, WIDTH - 1), st.sampled_from([0.25, 0.5, 1.0]), min_size=1, max_size=4)
streams = st.lists(st.tuples(rows, st.integers(0, LABELS - 1)), min_size=2, max_size=20)


def matrix(stream):
    X = scipy.sparse.lil_array((len(stream), WIDTH))
    for i, (row, _) in enumerate(stream):
        for f, v in row.items():
            X[i, f] = v
    return X.tocsr()


def counted(stream, **settings):
    """An index that has only counted these, and knows all labels."""
    learner = TunedIndex(step=0.0, values="raw", min_weight=0.0, rare=3, **settings)
    learner.partial_fit(scipy.sparse.csr_array((1, WIDTH)), [[]], classes=list(range(LABELS)))
    return learner.partial_fit(matrix(stream), [label for _, label in stream])


def votes_of_others(learner, row, label):
    scratch, own = make_scratch(LABELS), learner._check(matrix([(row, label)]))
    n = add_votes_of_others(own, 0, learner._index, 50, learner.rare, label, scratch.scores, scratch.touched)
    assert sorted(scratch.touched[:n]) == np.flatnonzero(scratch.scores).tolist()
    return scratch.scores


@given(streams)
@settings(max_examples=200, deadline=None)
def test_they_are_the_votes_of_an_index_that_has_not_counted_it(stream):
    *before, (row, label) = stream
    without, learner = counted(before), counted(stream)
    own, there = (index._index.features["total"].sum() for index in (learner, without))
    assume(own - there == sum(row.values()))  # it taught something, and so was counted
    expected = without.decision_function(matrix([(row, label)]))[0]
    assert votes_of_others(learner, row, label) == pytest.approx(expected, abs=1e-6)  # of weights with 24 digits


@given(streams, rows, st.integers(0, LABELS - 1))
@settings(max_examples=100, deadline=None)
def test_no_label_has_more_than_all_votes_where_the_example_was_not_counted(stream, row, label):
    scores = votes_of_others(counted(stream), row, label)
    assert (scores >= 0).all()
    assert (scores <= sum(row.values()) + 1e-12).all()


def test_corrections_vote_as_they_do():
    X, Y = np.eye(3), [0, 1, 2]
    learner = TunedIndex(values="raw").fit(X, Y)
    rows, scratch = learner._check(X), make_scratch(3)
    add_votes_of_others(rows, 1, learner._index, 50, 10, 1, scratch.scores, scratch.touched)
    feature, edges = learner._index.all_edges()
    own = edges["tuned"][(feature == 1) & (edges["label"] == 1)]
    assert scratch.scores[1] == own[0] > 0


def test_only_what_fit_goes_through_ten_times_is_small():
    X, Y = np.ones((4000, 1)), [str(i % 2) for i in range(4000)]
    assert TunedIndex().fit(X[1:], Y[1:])._small
    assert not TunedIndex().fit(X, Y)._small
    assert not TunedIndex(passes=10).fit(X[1:], Y[1:])._small
    assert not TunedIndex().fit(X[:20], [["a", "b"]] * 20)._small
    assert not TunedIndex().fit(X[1:], Y[1:]).partial_fit(X[:2], Y[:2])._small
