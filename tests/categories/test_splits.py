"""Labels split off and merged: which examples labels share, and how many that makes of those that are merged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.categories.index.twins import NO_TWINS, counts_once, families, joined, renumbered, with_split
from shortlist.files.store import ModelFileError

LABELS, MOST = 3, 9
some_labels = st.sets(st.integers(0, MOST - 1), min_size=2, max_size=4)
changes = st.lists(
    st.tuples(st.just("learn"), st.integers(0, MOST - 1), st.integers(1, 3))
    | st.tuples(st.just("split"), st.integers(0, MOST - 1), st.just(0))
    | st.tuples(st.just("merge"), some_labels, st.just(0)),
    max_size=20,
)


def changed(steps, first=0):
    """The numbers of examples and the twins after some changes, and the very examples of each label."""
    counts, twins, examples = np.zeros(LABELS, dtype=np.int64), NO_TWINS, [set() for _ in range(LABELS)]
    for kind, which, n in steps:
        if kind == "merge":
            own = sorted({label % len(examples) for label in which})
            for family in families(twins, own):
                counts = counts_once(counts, twins, family)
            numbers = np.arange(len(examples), dtype=np.int32)
            numbers[own] = own[0]
            counts = np.bincount(numbers, counts, len(examples)).astype(np.int64)
            twins = renumbered(twins, numbers)
            for label in own[1:]:
                examples[own[0]] |= examples[label]
                examples[label] = set()
        elif which < len(examples) and kind == "learn":
            examples[which] |= set(range(first, first + n))
            counts[which] += n
            first += n
        elif which < len(examples) < MOST:
            twins = with_split(twins, counts, which, len(examples))
            counts = np.append(counts, counts[which])
            examples.append(set(examples[which]))
    return counts, twins, examples


@given(changes)
def test_what_labels_share_counts_once_whatever_came_before(steps):
    counts, twins, examples = changed(steps)
    assert counts.tolist() == [len(own) for own in examples]
    for label, portion, n in twins.tolist():
        assert 0 <= portion < len(twins)
        assert n <= len(examples[label])
        assert (twins[:, 1] == portion).sum() > 1


@given(changes, changes, some_labels)
def test_portions_of_two_learners_are_not_the_same(steps, others, merged):
    (counts, twins, examples), (more, their, strange) = changed(steps), changed(others, first=1000)
    counts, more = (np.append(own, np.zeros(MOST - own.size, dtype=np.int64)) for own in (counts, more))
    own = [*examples, *(set() for _ in range(MOST - len(examples)))]
    for label, some in enumerate(strange):
        own[label] |= some
    counts, twins, family = counts + more, joined(twins, their), sorted(merged)
    for some in families(twins, family):
        counts = counts_once(counts, twins, some)
    assert sum(counts[label] for label in family) == len(set().union(*(own[label] for label in family)))


def test_labels_split_off_from_labels_that_were_merged_later_share_nothing():
    """Though each of them shares something with the label that both others have become."""
    counts = np.array([10, 8], dtype=np.int64)
    twins = with_split(with_split(NO_TWINS, counts, 0, 2), counts, 1, 3)
    twins = renumbered(twins, np.array([0, 0, 2, 3], dtype=np.int32))
    assert families(twins, [2, 3]) == []
    assert families(twins, [2, 0, 3]) == [[2, 0, 3]]
    assert counts_once(np.array([18, 0, 10, 8]), twins, [2, 0, 3]).tolist() == [8, 0, 10, 0]


@pytest.mark.parametrize(
    "wrong", [[[2, 0, 1]], [[-1, 0, 1]], [[0, -1, 1]], [[0, 1, 1]], [[0, 0, -1]], [[0, 0]], np.zeros((1, 4))]
)
def test_a_damaged_file_is_refused(wrong):
    state = sl.FeatureFocus().fit(np.eye(2), ["a", "b"]).to_state()
    state.arrays["shared_portions"] = np.array(wrong, dtype=np.int64)
    with pytest.raises(ModelFileError, match="labels that were split off"):
        sl.FeatureFocus.from_state(state)
