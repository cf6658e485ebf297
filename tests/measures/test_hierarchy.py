"""Hierarchical precision, recall and F1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.measures import hierarchical_f1

TREE = {"oats": ["grain"], "rye": ["grain"], "grain": ["crops"], "gold": ["metals"]}


def test_by_hand():
    found = hierarchical_f1([["rye"], ["gold"]], [["oats"], ["oats", "grain"]], TREE)
    # grain and crops, of rye, grain, crops, gold, metals
    assert found.precision == pytest.approx(2 / 5)
    assert found.recall == pytest.approx(2 / 6)  # of oats, grain, crops, twice
    assert found.f1 == pytest.approx(2 * 2 / 11)


def test_nothing_assigned_and_nothing_true():
    assert hierarchical_f1([[]], [["oats"]], TREE) == (0, 0, 0)
    assert hierarchical_f1([["oats"]], [[]], TREE) == (0, 0, 0)


def test_several_above_and_a_circle():
    found = hierarchical_f1([["a"]], [["b"]], {"a": ["b", "c"], "b": ["a"]})
    assert found == (1, 1, 1)  # a and b are above each other, and c above both


labels = st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), min_size=1, max_size=5)


@given(labels, st.data())
def test_without_a_hierarchy_it_is_micro_f1(truth, data):
    assigned = [data.draw(st.lists(st.sampled_from("abcdef"), max_size=4)) for _ in truth]
    shared = sum(len({*one} & {*other}) for one, other in zip(assigned, truth, strict=True))
    both = sum(len({*one}) + len({*other}) for one, other in zip(assigned, truth, strict=True))
    assert hierarchical_f1(assigned, truth, {}).f1 == (2 * shared / both if both else 0)


@given(
    labels,
    st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3)),
)
def test_the_truth_itself_is_all_right(truth, broader):
    found = hierarchical_f1(truth, truth, broader)
    assert found == ((1, 1, 1) if any(truth) else (0, 0, 0))
