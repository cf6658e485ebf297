"""Slots of the pool: lists that grow and are cut move from block to block of them; none is lost or has two owners."""

import itertools

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from shortlist import TunedIndex
from shortlist.arrays.kernels import kernel
from shortlist.arrays.rows import Rows
from shortlist.categories.index.blocks import make_block
from shortlist.categories.index.changes import mark_last
from shortlist.categories.index.lists import END, empty_index
from shortlist.categories.index.slots import move_to_less_room, move_to_more_room, slots_of

FEATURES = 6


def blocks_of(index):
    """First and last + 1 slot of each block that a list has, and of each that is free."""
    found = [(int(f["start"]), int(f["start"] + f["capacity"])) for f in index.features if f["capacity"]]
    for size, first in enumerate(index.free.tolist()):
        while first >= 0:
            found.append((first, first + int(slots_of(size))))
            first = int(index.edges[first]["label"]) - 1
    return sorted(found)


@given(st.lists(st.tuples(st.integers(0, FEATURES - 1), st.integers(-40, 12)), max_size=60))
def test_each_slot_belongs_to_one_list_or_is_free(changes):
    index = empty_index().for_features(FEATURES).for_slots(10_000)
    expected, labels = [[] for _ in range(FEATURES)], itertools.count(1)
    for f, change in changes:
        feature, own = index.features[f], expected[f]
        if change > 0:
            own += list(itertools.islice(labels, change))
            for n in range(len(own) - change, len(own)):
                if n == feature["capacity"]:
                    move_to_more_room(f, len(own), index)
                index.edges["label"][feature["start"] + n], feature["length"] = own[n], n + 1
        else:
            del own[max(0, len(own) + change) :]
            feature["length"], end, capacity = len(own), int(index.used[END]), int(feature["capacity"])
            move_to_less_room(f, index)
            assert index.used[END] == end
            assert len(own) <= feature["capacity"] <= capacity
        found = blocks_of(index)
        assert all(one[1] == other[0] for one, other in itertools.pairwise([(0, 0), *found]))
        assert found[-1:] == [] or found[-1][1] == index.used[END]
    for f, own in enumerate(expected):
        start, length = index.features[f]["start"], index.features[f]["length"]
        assert index.edges["label"][start : start + length].tolist() == own


def test_a_list_from_a_file_leaves_a_block_of_a_size_that_there_is():
    index = empty_index().for_features(2).for_slots(100)
    index.features[0]["start"], index.features[0]["length"], index.features[0]["capacity"] = 0, 2, 7
    index.used[END] = 10
    index.free[2], index.edges[7]["label"] = 7, 0  # three slots from 7 on
    index.edges["label"][:2] = [5, 6]
    index.features[0]["length"] = 3
    index.edges["label"][2] = 9
    move_to_less_room(0, index)
    assert index.features[0]["start"] == 7
    assert index.features[0]["capacity"] == 3
    assert index.edges["label"][7:10].tolist() == [5, 6, 9]
    assert index.free[2] == -1
    assert index.free[4] == 0  # six of the seven slots
    assert blocks_of(index) == [(0, 6), (7, 10)]


def test_lists_that_are_cut_give_their_slots_to_those_that_grow():
    """In a block lists grow beyond what they may keep; what that takes is not kept for each of them."""
    rng = np.random.default_rng(3)
    columns = np.minimum(rng.zipf(1.3, (6000, 12)) - 1, 3000).ravel()
    X = scipy.sparse.csr_array((np.ones(columns.size), (np.repeat(np.arange(6000), 12), columns)), shape=(6000, 3001))
    learner = TunedIndex(block=512, passes=1).fit(X, rng.integers(300, size=6000))
    assert learner._index.used[END] < 1.4 * learner.n_edges_  # 1.25 times; 1.59 if they stay where they are


@kernel
def marked(rows, block, own):
    mark_last(rows, block, own, own.size)


@given(st.lists(st.lists(st.integers(0, 30), max_size=9, unique=True), max_size=9), st.data())
def test_the_last_entry_of_each_feature_is_marked(examples, data):
    indptr = np.cumsum([0, *map(len, examples)])
    indices = np.array([f for own in examples for f in own], dtype=np.int32)
    rows, n = Rows(indptr, indices, np.ones(indices.size), 31), int(indptr[-1])
    block = make_block(len(examples), n, 0, 0, 31)
    block.example[:] = np.repeat(np.arange(len(examples)), np.diff(indptr))
    own = sorted(data.draw(st.sets(st.sampled_from(range(n)))) if n else [])
    entries = np.array(own, dtype=np.int32)
    for _ in range(2):  # nothing is left behind
        entries[:] = own
        marked(rows, block, entries)
        last = {indices[e]: e for e in own}
        assert entries.tolist() == [-1 - e if last[indices[e]] == e else e for e in own]
    assert not block.met.any()
