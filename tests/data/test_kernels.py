"""The steps that several algorithms share, against NumPy on whole vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.comparators.one_versus_rest import add
from shortlist.compiled.kernels import dot, fetch, kernel, scale_to_unit_length
from tests.compiled import compiled

dot = compiled(dot)

COLUMNS, VALUES = np.array([0, 3, 4], dtype=np.int32), np.array([2.0, -1.0, 0.5])
ROW = np.array([2.0, 0, 0, -1, 0.5])


def test_inner_product_and_sum():
    dense = np.array([1.0, 10, 100, 1000, 10000])
    assert dot(COLUMNS, VALUES, dense) == ROW @ dense == 4002
    add(COLUMNS, VALUES, 3.0, dense)
    assert dense.tolist() == [7, 10, 100, 997, 10001.5]
    nothing = np.zeros(0, dtype=np.int32)
    assert dot(nothing, np.zeros(0), dense) == 0


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, -3.0, 0.25]), max_size=4), max_size=4),
    st.sampled_from([1.0, 1e-300, 1e-160, 1e160, 1e300]),
)
def test_rows_of_unit_length(rows, size):
    """Also of values so small that their squares vanish, or so large that these are infinite."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(
        np.int64
    )
    plain = [value for row in rows for value in row]
    data = size * np.array(plain, dtype=np.float64)
    with np.errstate(over="ignore"):  # of which NumPy would warn where kernels run uncompiled
        scale_to_unit_length(indptr, data)
    for i, row in enumerate(rows):
        length = np.sqrt(sum(value * value for value in row)) or 1.0
        assert data[indptr[i] : indptr[i + 1]].tolist() == pytest.approx(
            [value / length for value in row], rel=1e-14
        )


@kernel
def asked_for(array, i):
    fetch(array, i)
    return array[i]


def test_asking_for_memory_changes_nothing():
    assert asked_for(np.arange(5.0), 3) == 3
