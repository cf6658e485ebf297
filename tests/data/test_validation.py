"""What comes through the door, and what does not."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from shortlist.compiled.kernels import scale_to_unit_length
from shortlist.data.label_input import label_lists
from shortlist.data.labels import LabelIndex
from shortlist.data.rows import Rows, check_nonnegative
from shortlist.data.validation import as_real, as_rows, as_seed, as_size, as_whole
from shortlist.errors import InputError


def dense(rows):
    matrix = np.zeros((rows.n_rows, rows.n_features))
    for i in range(rows.n_rows):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        matrix[i, rows.indices[part]] = rows.data[part]
    return matrix


shapes = st.tuples(st.integers(0, 5), st.integers(1, 5))


@given(arrays.arrays(float, shapes, elements=st.sampled_from([0.0, 0.0, 1.0, -2.5])))
def test_rows_hold_what_the_matrix_holds(matrix):
    for form in (
        matrix,
        scipy.sparse.csr_array(matrix),
        scipy.sparse.coo_matrix(matrix),
        np.asfortranarray(matrix),
    ):
        rows = as_rows(form)
        assert np.array_equal(dense(rows), matrix)
        assert (rows.data != 0).all()
        assert (rows.indptr.dtype, rows.indices.dtype, rows.data.dtype) == (
            np.int64,
            np.int32,
            np.float64,
        )
        assert all(array.flags.writeable and array.flags.c_contiguous for array in rows[:3])


def test_what_may_not_be_written_is_copied_and_what_may_is_shared():
    matrix = np.full((2, 3), 2.5)
    assert np.shares_memory(as_rows(matrix).data, matrix)
    matrix.flags.writeable = False
    rows = as_rows(matrix)
    assert rows.data.flags.writeable
    assert not np.shares_memory(rows.data, matrix)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array", "lil_array", "dok_array"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
def test_sparse_matrices_of_any_kind(kind, dtype):
    matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]], dtype=dtype)
    form = getattr(scipy.sparse, kind)(matrix)
    assert np.array_equal(dense(as_rows(form)), matrix)
    assert form.dtype == dtype


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_sparse_matrix_of_other_than_finite_numbers_is_refused(value):
    with pytest.raises(InputError, match=r"NaN|infinity"):
        as_rows(scipy.sparse.csr_array(np.array([[0.0, value]])))


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kind", [np.ascontiguousarray, np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]]
)
def test_plain_arrays_of_any_layout(kind, dtype, zero):
    X = np.array([[1.5, -2.0, 3.0], [4.0, 5.0, -6.25]], dtype=dtype)
    X[1, 1] *= not zero
    assert [part.tolist() for part in as_rows(kind(X))[:3]] == [
        part.tolist() for part in as_rows(scipy.sparse.csr_array(X))[:3]
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_plain_array_of_other_than_finite_numbers_is_refused(value, dtype):
    with pytest.raises(InputError, match=r"NaN|infinity"):
        as_rows(np.array([[1.0, 2.0], [0.0, value]], dtype=dtype))


def test_repeated_columns_are_added_up():
    matrix = scipy.sparse.csr_array(([1.0, 2.0, 4.0], [3, 1, 3], [0, 3]), (1, 5))
    matrix.has_canonical_format = True  # a flag that lies
    assert dense(as_rows(matrix)).tolist() == [[0, 2, 0, 5, 0]]
    assert matrix.data.tolist() == [1.0, 2.0, 4.0]


FAR = 10**7  # so far outside that a loop which follows it leaves its memory


def damaged(kind):
    """A matrix of that kind with a place that is out of range; SciPy makes it, and looks no
    further.
    """
    matrix = getattr(scipy.sparse, f"{kind.partition(' ')[0]}_array")(np.eye(50))
    if kind in ("csr", "csc", "bsr"):
        matrix.indices[3] = FAR
    elif kind == "csr negative":
        matrix.indices[3] = -FAR
    elif kind in ("csr offsets", "csc offsets"):
        matrix.indptr[3] = FAR
    elif kind == "csr empty":
        matrix = scipy.sparse.csr_array((50, 50))
        matrix.indptr[3] = FAR
    elif kind == "csr short":
        matrix.data = matrix.data[:5]
    elif kind == "coo":
        matrix.coords = (np.full(50, FAR, dtype=np.int32), matrix.coords[1])
    elif kind == "coo negative":
        matrix.coords = (matrix.coords[0], np.full(50, -FAR, dtype=np.int32))
    elif kind == "lil":
        matrix.rows[3] = [FAR]
    elif kind == "lil short":
        matrix.data[3] = []
    elif kind == "dia":
        matrix.offsets = np.array([3, FAR])  # of which there is no second diagonal
    elif kind == "dok":
        matrix._dict[(FAR, 0)] = 1.0
    return matrix


DAMAGED = [
    "csr",
    "csr negative",
    "csr offsets",
    "csr empty",
    "csr short",
    "csc",
    "csc offsets",
    "bsr",
    "coo",
]
DAMAGED += ["coo negative", "lil", "lil short", "dia", "dok"]


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_place_out_of_range_is_refused_before_any_loop_follows_it(kind):
    with pytest.raises(InputError, match=f"X is not a usable {kind[:3].upper()} matrix"):
        as_rows(damaged(kind))
    with pytest.raises(InputError, match="Y is no"):
        label_lists(damaged(kind), 50)


@pytest.mark.parametrize("sign", [1, -1])
def test_repeated_columns_that_add_up_to_infinity_are_refused(sign):
    matrix = scipy.sparse.csr_array(
        (sign * np.array([1e308, 1e308, 1.0]), [1, 1, 2], [0, 0, 3]), (2, 4)
    )
    with pytest.raises(InputError, match="infinity or a sum that is too large, in row 1, column 1"):
        as_rows(matrix)


def test_the_matrix_that_is_checked_stays_as_it_is():
    matrix = scipy.sparse.csr_array(([1.0, 2.0, 0.0, 9.0], [3, 1, 2, 0], [0, 3]), (1, 5))
    as_rows(matrix)
    assert (matrix.data.tolist(), matrix.indices.tolist()) == ([1.0, 2.0, 0.0], [3, 1, 2])


def test_blocks_and_stacks():
    matrix = np.arange(12.0).reshape(4, 3)
    rows = as_rows(matrix)
    assert np.array_equal(dense(rows.block(1, 3)), matrix[1:3])
    assert np.array_equal(dense(Rows.stack([as_rows(matrix[:1]), as_rows(matrix[1:])])), matrix)
    assert Rows.stack([]).n_rows == 0


def of_unit_length(rows):
    """The rows, each divided by its Euclidean length."""
    data = rows.data.copy()
    scale_to_unit_length(rows.indptr, data)
    return rows._replace(data=data)


@given(arrays.arrays(float, shapes, elements=st.sampled_from([0.0, 0.1, -3.0, 1e-150, 1e150])))
def test_rows_of_unit_length_are_divided_by_their_length(matrix):
    rows = as_rows(matrix)
    for i, row in enumerate(dense(of_unit_length(rows))):
        square = 0.0
        for value in matrix[i]:
            square += value * value
        # to the last bit
        assert row.tolist() == (matrix[i] / (np.sqrt(square) if square else 1.0)).tolist()


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-200, 1e-160, 1e160, 1e300, 4e307])
def test_rows_of_tiny_and_of_huge_values_have_unit_length_too(unit):
    rows = as_rows(unit * np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    scaled = dense(of_unit_length(rows))
    assert scaled == pytest.approx(np.array([[0.6, -0.8, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (lambda: as_whole(2**31, "k"), "k must be at most 2147483647, not 2147483648"),
        (lambda: as_whole(2**70, "edges", most=2**62), "edges must be at most 4611686018427387904"),
        (lambda: as_whole(1.5, "k"), "k must be a whole number, not 1.5"),
        (lambda: as_seed(-1), "random_state must be at least 0, not -1"),
        (lambda: as_seed("abc"), "random_state must be a whole number, not 'abc'"),
        (lambda: as_real(np.inf, "step", least=0), "step must be a finite number, not inf"),
        (lambda: as_real(-np.inf, "margin"), "margin must be a finite number, not -inf"),
        (lambda: as_real(np.nan, "margin"), "margin must be a number, not nan"),
        (lambda: as_real(10**400, "margin"), "margin must be a number, not 1000"),
        (lambda: as_size("9" * 400 + "GB", "max_memory"), "max_memory must be at most"),
    ],
)
def test_numbers_beyond_their_bounds_are_named(check, sentence):
    with pytest.raises(InputError, match=sentence):
        check()
    assert (as_whole(2**31 - 1, "k"), as_seed(2**32 - 1), as_seed(None)) == (
        2**31 - 1,
        2**32 - 1,
        None,
    )
    assert (as_size("3GB", "max_memory"), as_size("0.1 TB", "max_memory")) == (3 * 10**9, 10**11)


def test_negative_values_are_named_with_their_row():
    with pytest.raises(InputError, match=r"row 1 holds -3"):
        check_nonnegative(as_rows(np.array([[1.0, 0.0], [0.0, -3.0]])))


@pytest.mark.parametrize(
    ("Y", "lists"),
    [
        (["a", "b"], [["a"], ["b"]]),
        ([["a", "b"], []], [["a", "b"], []]),
        (np.array([3, 1]), [[3], [1]]),
        (np.array([[1, 0, 1], [0, 0, 0]]), [[0, 2], []]),
        (scipy.sparse.csr_array([[0, 1], [1, 1]]), [[1], [0, 1]]),
        ([{"b", "a"}, ("c",)], [["a", "b"], ["c"]]),
        ([np.int64(3), np.str_("x")], [[3], ["x"]]),
        (np.array([["a"], ["b"]]), [["a"], ["b"]]),
    ],
    ids=["flat", "lists", "numbers", "indicator", "sparse", "sets", "scalars", "column"],
)
def test_labels_in_every_form(Y, lists):
    assert label_lists(Y, 2) == lists


def test_columns_of_frames_are_labels():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert label_lists(pandas.Series(["a", "b"]), 2) == [["a"], ["b"]]
    assert label_lists(polars.Series([["a", "b"], ["c"]]), 2) == [["a", "b"], ["c"]]


def test_an_explicit_zero_in_an_indicator_matrix_is_no_label():
    assert label_lists(scipy.sparse.csr_array(([1, 0], [0, 1], [0, 2]), (1, 2)), 1) == [[0]]


def test_unseen_labels_are_numbered_behind_the_seen_ones():
    labels = LabelIndex(["a", "b"])
    assert labels.look_up([["b", "x"], ["y", "x"]], 2).ids.tolist() == [1, 2, 3, 2]
    assert len(labels) == 2


@pytest.mark.parametrize("which", [[2, 0, 0], [], [1]])
def test_rows_are_taken_in_any_order_and_more_than_once(which):
    matrix = np.array(
        [[9.0, 9.0, 9.0], [1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [9.0, 9.0, 9.0]]
    )
    block = as_rows(matrix).block(1, 4)  # shares its arrays with the rows before and behind it
    taken = block.take(which)
    assert dense(taken).tolist() == matrix[1:4][which].tolist()
    assert taken.indices.size == taken.data.size == np.count_nonzero(matrix[1:4][which])
