"""Portions of the features: whoever takes them, each entry of a block is in one, in the order of the examples."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.arrays.rows import Rows
from shortlist.categories.index.parts import PARTS, find_own, part_of, share_out, sort_by_portion

loads = st.lists(st.sampled_from([0, 0, 1, 5, 1000]), min_size=PARTS, max_size=PARTS)


def shared_out(own, n_threads, alone=False):
    load, portion = np.zeros((n_threads, PARTS), dtype=np.int64), np.full(PARTS, -1)
    for part, amount in enumerate(own):
        load[part % n_threads, part] = amount
    return share_out(load, alone, portion), portion


@given(loads, st.integers(2, 9))
def test_portions_are_runs_of_parts_that_become_smaller(own, n_threads):
    n_portions, portion = shared_out(own, n_threads)
    assert portion[0] == 0
    assert set(np.diff(portion).tolist()) <= {0, 1}
    assert portion[-1] == n_portions - 1
    left = sum(own)
    for p in range(n_portions - 1):
        of_portion = [own[part] for part in np.flatnonzero(portion == p)]
        assert sum(of_portion) * (n_threads + 1) >= left > 0
        assert sum(of_portion[:-1]) * (n_threads + 1) < left
        left -= sum(of_portion)


@given(loads)
def test_one_thread_has_one_portion_and_so_has_an_index_with_one_pool(own):
    for n_threads, alone in ((1, False), (1, True), (3, True)):
        n_portions, portion = shared_out(own, n_threads, alone)
        assert n_portions == 1
        assert not portion.any()


@given(loads, st.integers(1, 4), st.lists(st.lists(st.integers(0, 5000), max_size=9), min_size=1, max_size=9))
def test_each_entry_is_in_the_portion_of_its_feature_and_behind_those_of_earlier_examples(own, n_threads, examples):
    n_portions, portion = shared_out(own, n_threads)
    lengths = [len(features) for features in examples]
    indptr = np.append(3, 3 + np.cumsum(lengths))  # rows that begin somewhere else than the block does
    indices = np.array([-1] * 3 + list(itertools.chain(*examples)), dtype=np.int32)
    rows, n = Rows(indptr, indices, np.ones(indices.size), 5001), indices.size - 3
    example = np.repeat(np.arange(len(examples), dtype=np.int32), lengths)
    shift = np.full(len(examples), 3)
    starts, entries = np.full((2, PARTS + 2), -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    middle = n // 2
    sort_by_portion(rows, shift, example, 0, middle, portion, starts[0], entries)
    sort_by_portion(rows, shift, example, middle, n, portion, starts[1], entries)
    for p in range(n_portions):
        found = np.full(n, -1, dtype=np.int32)
        size = find_own(starts, entries, 2, p, found)
        expected = [e for e in range(n) if portion[part_of(int(indices[3 + e]))] == p]
        assert found[:size].tolist() == expected
