"""The best of many, against sorting them all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.categories.best import keep_best


@given(st.lists(st.integers(0, 4), max_size=12), st.integers(1, 14), st.randoms(use_true_random=False))
def test_the_best_come_first_and_of_equals_the_lower_number(scores, k, random):
    own = np.array(scores, dtype=np.float64)
    candidates = [c for c in range(own.size) if random.random() < 0.8]
    random.shuffle(candidates)
    ids, best = np.full(k, -1, dtype=np.int32), np.full(k, -7.0)
    keep_best(np.array(candidates, dtype=np.int32), own, ids, best)
    expected = sorted(candidates, key=lambda c: (-own[c], c))[:k]
    n = len(expected)
    assert ids.tolist() == expected + [-1] * (k - n)
    assert best.tolist() == [own[c] for c in expected] + [-7.0] * (k - n), "what was not retrieved is left alone"
