"""Adding up votes, of few labels and of many: the sums of a twin with dicts, and who has a vote
is retrieved.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.data.rows import Rows
from shortlist.learners.index.edges import make_edges, make_index
from shortlist.learners.index.scoring import LEAST, add_votes
from shortlist.learners.top_labels import room_for_touched
from tests.compiled import compiled

add_votes = compiled(add_votes)

SIZES = [3, 64, 200]  # numbers of labels
# sums of these are exact, and some of them cancel
EIGHTHS = st.integers(-8, 8).map(lambda n: n / 8)


@st.composite
def an_index(draw):
    """So many labels, the lists of some features (label, weight, correction), and a row
    (feature, value).
    """
    n_labels = draw(st.sampled_from(SIZES))
    edge = st.tuples(st.integers(0, n_labels - 1), st.integers(1, 8).map(lambda n: n / 8), EIGHTHS)
    wide = draw(st.booleans())  # more votes than labels
    n = n_labels if wide else 4
    one_list = st.lists(edge, min_size=n // 2 if wide else 0, max_size=n, unique_by=lambda e: e[0])
    lists = draw(st.lists(one_list, min_size=1, max_size=5))
    lists = [sorted(own, key=lambda e: -e[1]) for own in lists]
    # the last is unknown
    features = draw(st.lists(st.integers(0, len(lists)), min_size=1, max_size=6, unique=True))
    return n_labels, lists, [(f, draw(st.sampled_from([0.5, 1.0, 2.0]))) for f in sorted(features)]


def added_up(lists, row, max_edges):
    """The twin: the sum of each label that has a vote, in the order of the row."""
    sums = {}
    for f, x in row:
        for c, weight, tuned in (lists[f] if f < len(lists) else [])[:max_edges]:
            sums[c] = sums.get(c, 0.0) + (x / 4.0 * weight + x * tuned)
    return {c: total if total != 0.0 else LEAST for c, total in sums.items()}


def as_kernels_take_them(n_labels, lists, row):
    edges = [edge for own in lists for edge in own]
    made = make_edges(
        np.array([c for c, _, _ in edges], dtype=np.int32), np.array([w for _, w, _ in edges])
    )
    made["tuned"] = [u for _, _, u in edges]
    length = np.array([len(own) for own in lists], dtype=np.int32)
    index = make_index(
        length, made, np.full(len(lists), 4.0), np.full(len(lists), 10, dtype=np.int64)
    )
    columns, values = np.array([f for f, _ in row], dtype=np.int32), np.array([x for _, x in row])
    rows = Rows(np.array([0, len(row)], dtype=np.int64), columns, values, len(lists) + 1)
    return index, rows, np.zeros(n_labels), room_for_touched(n_labels)


@given(an_index(), st.sampled_from([1, 50, 1000]))
@settings(max_examples=100, deadline=None)
def test_votes_add_up_as_in_the_twin(case, max_edges):
    _, lists, row = case
    index, rows, scores, touched = as_kernels_take_them(*case)
    expected = added_up(lists, row, max_edges)
    n = add_votes(rows, 0, index, max_edges, 10, scores, touched)
    assert sorted(touched[:n].tolist()) == sorted(expected)
    assert {c: scores[c] for c in touched[:n].tolist()} == expected
    others = np.delete(scores, touched[:n])
    assert (others == 0.0).all()
    assert not np.signbit(others).any()


@pytest.mark.parametrize("n_labels", SIZES)
def test_a_label_whose_votes_cancel_is_retrieved_with_the_least_score(n_labels):
    lists = [
        [(c, 1.0, -0.25 if c == 1 else 0.5) for c in range(2)],
        [(c, 0.5, 0.0) for c in range(2, n_labels)],
    ]
    index, rows, scores, touched = as_kernels_take_them(n_labels, lists, [(0, 1.0), (1, 1.0)])
    assert add_votes(rows, 0, index, 1000, 10, scores, touched) == n_labels
    assert scores[1] == LEAST
    assert scores[0] == 0.75
