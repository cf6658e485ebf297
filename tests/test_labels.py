"""Numbered label lists behave as the lists do, and teach no label that does not occur."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from shortlist.labels import LabelIndex, LabelSets, NumberedLabels, label_counts

names = st.sampled_from(["a", "b", "c", "d", 1, 2])
label_lists = st.lists(st.lists(names, max_size=30), max_size=6)


@given(label_lists, st.data())
def test_numbered_labels_are_lists(lists, data):
    labels = NumberedLabels.of(lists)
    assert (labels, list(labels), len(labels), repr(labels)) == (lists, lists, len(lists), repr(lists))
    assert label_counts(labels).tolist() == label_counts(lists).tolist() == [len(own) for own in lists]
    part = data.draw(st.slices(len(lists)))
    assert labels[part] == lists[part]
    assert labels[part].names == list(dict.fromkeys(name for own in lists[part] for name in own))
    if lists:
        which = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=4))
        assert labels.take(which) == [lists[n] for n in which]
        assert labels[-1] == lists[-1]


def obvious(lists, known):
    """Numbers in order of first appearance, and the labels of each example once."""
    for own in lists:
        known += [label for label in dict.fromkeys(own) if label not in known]
    return [[known.index(label) for label in dict.fromkeys(own)] for own in lists]


def as_lists(sets):
    return [sets.ids[a:b].tolist() for a, b in zip(sets.indptr, sets.indptr[1:], strict=False)]


@given(st.lists(st.tuples(label_lists, st.booleans()), max_size=4))
def test_batches_that_share_their_names_are_numbered_as_lists_are(batches):
    everything = NumberedLabels.of([own for lists, _ in batches for own in lists])
    shared, first = [], 0
    for lists, _ in batches:
        indptr, ids = everything.sets
        rows = indptr[first : first + len(lists) + 1]
        shared.append(NumberedLabels(everything.names, LabelSets(rows - rows[0], ids[rows[0] : rows[-1]])))
        first += len(lists)
    index, known = LabelIndex(), []
    for (lists, is_left_out), numbered in zip(batches, shared, strict=True):
        if is_left_out:
            seen = list(known)
            assert as_lists(index.look_up(numbered, len(lists))) == obvious(lists, seen)
        else:
            assert as_lists(index.learn(numbered, len(lists))) == obvious(lists, known)
        assert index.names == known
        assert index.n_bytes == sum(len(str(name)) for name in known)


@given(st.lists(label_lists, max_size=4))
def test_lists_are_numbered_in_order_of_first_appearance(batches):
    index, known = LabelIndex(), []
    for lists in batches:
        assert as_lists(index.learn(lists, len(lists))) == obvious(lists, known)
    assert index.names == known


@given(st.lists(label_lists, max_size=4), st.booleans())
def test_parts_are_stacked_in_their_order(parts, share_names):
    everything = [own for part in parts for own in part]
    if share_names:
        whole, first, given_parts = NumberedLabels.of(everything), 0, []
        for part in parts:
            given_parts.append(NumberedLabels(whole.names, whole.sets.chosen(np.arange(first, first + len(part)))))
            first += len(part)
    else:
        given_parts = parts
    stacked, index = NumberedLabels.stack(given_parts), LabelIndex(["c", 1])
    found = as_lists(index.look_up(stacked, len(everything)))
    assert found == obvious(everything, ["c", 1])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_that_no_model_file_can_hold_is_no_label(sign):
    learner, label = sl.FeatureFocus(), sign * 10**5000
    for labels in ([[label]], [label], [["a", label]]):
        with pytest.raises(sl.InputError, match="4,300 digits"):
            learner.partial_fit([[1.0]], labels)
    with pytest.raises(sl.InputError, match="4,300 digits"):
        learner.partial_fit([[1.0]], [["a"]], classes=[label])


def test_the_largest_number_that_is_a_label_is_saved(tmp_path):
    largest = 10**4300 - 1
    sl.FeatureFocus().fit([[1.0]], [[largest]]).save(tmp_path / "m.shortlist")
    assert sl.load(tmp_path / "m.shortlist").rank([[1.0]])[0][0][0] == largest
