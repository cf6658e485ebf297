"""The best of many, against sorting them all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.learners.top_labels import keep_best
from tests.compiled import compiled

keep_best = compiled(keep_best)


@given(
    st.lists(st.integers(0, 4), max_size=12), st.integers(1, 14), st.randoms(use_true_random=False)
)
def test_the_best_come_first_and_of_equals_the_lower_number(scores, k, random):
    own = np.array(scores, dtype=np.float64)
    candidates = [c for c in range(own.size) if random.random() < 0.8]
    random.shuffle(candidates)
    ids, best = np.full(k, -1, dtype=np.int32), np.full(k, -7.0)
    keep_best(np.array(candidates, dtype=np.int32), own, ids, best)
    expected = sorted(candidates, key=lambda c: (-own[c], c))[:k]
    n = len(expected)
    assert ids.tolist() == expected + [-1] * (k - n)
    assert best.tolist() == [own[c] for c in expected] + [-7.0] * (k - n), (
        "what was not retrieved is left alone"
    )


@given(st.integers(99, 102), st.integers(0, 50), st.randoms(use_true_random=False))
def test_the_best_of_many(k, more, random):
    own = np.array([random.randrange(40) for _ in range(k + more)], dtype=np.float64)
    candidates = np.array(random.sample(range(own.size), own.size), dtype=np.int32)
    ids, best = np.full(k, -1, dtype=np.int32), np.zeros(k)
    keep_best(candidates, own, ids, best)
    assert ids.tolist() == sorted(range(own.size), key=lambda c: (-own[c], c))[:k]
    assert best.tolist() == own[ids].tolist()


def test_where_nothing_is_wanted_nothing_is_written():
    around = np.full(2, -7, dtype=np.int32), np.full(2, -7.0)
    nothing = around[0][1:1], around[1][1:1]  # a place of none, before one that is not its own
    keep_best(np.array([0, 1], dtype=np.int32), np.array([1.0, 2.0]), *nothing)
    assert (around[0] == -7).all()
    assert (around[1] == -7.0).all()
