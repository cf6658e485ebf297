"""Intervals of ratings that hold the true one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from shortlist.errors import InputError
from shortlist.files import store
from shortlist.ratings.learner import reached_before
from tests.ratings.streams import rated_rows


def grown(p):
    """The twin: one step after the other, from the formulas."""
    best = max(range(len(p)), key=lambda step: p[step])
    low, high, reached = best, best, [0.0] * len(p)
    while high - low + 1 < len(p):
        down = low > 0 and (high == len(p) - 1 or p[low - 1] > p[high + 1])
        step = low - 1 if down else high + 1
        reached[step] = sum(p[low : high + 1])
        low, high = min(low, step), max(high, step)
    return reached


@given(st.lists(st.sampled_from([0.0, 0.125, 0.25, 0.5]), min_size=1, max_size=7))
def test_intervals_grow_by_the_likelier_neighbour(p):
    assert reached_before(np.array([p])).tolist() == [grown(p)]


@pytest.mark.parametrize("learner", [sl.PRank(), sl.WidrowHoff(), MulticlassPerceptron()], ids=str)
def test_intervals_cover_what_they_promise(learner):
    X, y = rated_rows(6000)
    rater = sl.Rater(learner).fit(X[:2000], y[:2000]).calibrate(X[2000:4000], y[2000:4000])
    sizes = []
    for coverage in (0.5, 0.8, 0.9, 0.97):
        low, high = rater.interval(X[4000:], coverage).T
        covered = np.mean((low <= y[4000:]) & (y[4000:] <= high))
        assert coverage - 0.02 < covered
        sizes.append(np.mean(high - low))
    assert sizes == sorted(sizes)
    assert sizes[0] < 1
    assert rater.interval(X[:1], 1.0).tolist() == [[1, 5]]
    opened = store.build(rater.to_state())
    assert opened.interval(X[:50]).tolist() == rater.interval(X[:50]).tolist()
    with pytest.raises(InputError, match="coverage"):
        rater.interval(X, 95)


def test_without_held_out_rows_there_are_none():
    X, y = rated_rows(100)
    with pytest.raises(InputError, match="intervals need calibrate"):
        sl.Rater().fit(X, y).interval(X)
    learner = sl.PRank().fit(X, y)
    assert not hasattr(learner, "interval")
