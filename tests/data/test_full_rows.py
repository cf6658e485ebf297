"""Rows without a gap: the sum of their products in eight parts, the same for a dense matrix and
its sparse form.
"""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from papers.comparators.multiclass_perceptron import MulticlassPerceptron
from shortlist import MapSVM, PRank, WidrowHoff
from shortlist.data.rows import inner, is_full
from tests.compiled import compiled
from tests.contract import as_bytes

inner = compiled(inner)
is_full = compiled(is_full)

numbers = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=40)


def slow_inner(data, dense):
    """Eight parts, by column modulo 8, of as many columns as eight go into; then the others,
    one after the other.
    """
    whole = len(data) - len(data) % 8
    parts = [0.0] * 8
    for j in range(whole):
        parts[j % 8] += data[j] * dense[j]
    a, b, c, d, e, f, g, h = parts
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for j in range(whole, len(data)):
        total += data[j] * dense[j]
    return total


@given(numbers)
def test_is_exactly_its_twin(pairs):
    data, dense = np.array([x for x, _ in pairs]), np.array([w for _, w in pairs])
    columns = np.arange(len(pairs), dtype=np.int32)
    assert inner(columns, data, dense) == slow_inner(data.tolist(), dense.tolist())


@pytest.mark.parametrize(
    ("columns", "full"),
    [([], False), ([0], True), ([0, 1, 2], True), ([1, 2], False), ([0, 2], False)],
)
def test_a_row_is_full_if_no_column_before_its_last_is_missing(columns, full):
    assert is_full(np.array(columns, dtype=np.int32)) == full
    dense, data = np.array([2.0, 3.0, 5.0]), np.ones(len(columns))
    assert inner(np.array(columns, dtype=np.int32), data, dense) == dense[columns].sum()


def vectors(n=240, width=21):
    random = np.random.default_rng(4)
    X = random.normal(size=(n, width))
    X[::7, 3] = 0.0  # some rows have a gap
    return X, np.digitize(X @ random.normal(size=width), [-2.0, 0.0, 2.0])


@pytest.mark.parametrize(
    "learner", [PRank(passes=3), WidrowHoff(passes=3), MulticlassPerceptron(passes=3)]
)
def test_ratings_of_vectors_of_either_sign_are_learned_from_any_form(learner):
    X, y = vectors()
    dense = as_bytes(learner.fit(X, y))
    assert as_bytes(learner.fit(scipy.sparse.csr_array(X), y)) == dense
    padded = learner.fit(np.hstack([np.zeros((len(X), 1)), X]), y)  # no row is full now
    ahead = padded.predict(np.hstack([np.zeros((len(X), 1)), X]))
    assert (ahead == learner.fit(X, y).predict(X)).mean() > 0.95


def test_documents_with_vectors_of_either_sign_are_learned_from_any_form():
    X, y = vectors()
    query = np.repeat(np.arange(12), 20)
    dense = MapSVM(C=1.0).fit(X, y == 3, query=query)
    sparse = MapSVM(C=1.0).fit(scipy.sparse.csr_array(X), y == 3, query=query)
    assert dense.coef_.tobytes() == sparse.coef_.tobytes()
    assert (
        dense.decision_function(X).tobytes()
        == sparse.decision_function(scipy.sparse.csr_array(X)).tobytes()
    )
    padded = MapSVM(C=1.0).fit(np.hstack([np.zeros((len(X), 1)), X]), y == 3, query=query)
    assert padded.coef_[1:] == pytest.approx(dense.coef_, abs=1e-3)
