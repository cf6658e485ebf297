"""svmlight, LETOR and the Extreme Classification Repository's format."""

import io
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from shortlist import InputError
from shortlist.data.validation import as_rows
from shortlist.inputs import read, sniff


def whole(data, format="svmlight", **options):
    """The batches of some bytes as one: rows as a dense matrix, and the stream."""
    stream = read(io.BytesIO(data if isinstance(data, bytes) else data.encode()), format, **options)
    batches = list(stream)
    matrix = stacked(batches).toarray() if batches else np.zeros((0, 0))
    return matrix, batches, stream


def stacked(batches):
    n_features = max(batch.rows.n_features for batch in batches)
    return scipy.sparse.vstack(
        [
            scipy.sparse.csr_array(
                (b.rows.data, b.rows.indices, b.rows.indptr), shape=(b.rows.n_rows, n_features)
            )
            for b in batches
        ]
    )


def test_svmlight():
    data = "# first a comment\n1,3 1:0.5 4:-2e1\n\n 2:1 # no label\n-1\nx.y qid:7 3:0 5:.5\n"
    matrix, (batch,), _ = whole(data)
    assert matrix.tolist() == [[0.5, 0, 0, -20, 0], [0, 1, 0, 0, 0], [0] * 5, [0, 0, 0, 0, 0.5]]
    assert batch.labels == [["1", "3"], [], ["-1"], ["x.y"]]
    assert batch.query == ["", "", "", "7"]
    assert batch.rows.data.all()  # no stored zeros
    assert whole("1 0:5", zero_based=True)[0].tolist() == [[5]]
    assert whole("1 1:5", n_features=3)[0].tolist() == [[5, 0, 0]]
    (batch,) = whole("4.5 1:5\n3 2:1\n", rating=True)[1]
    assert batch.ratings.tolist() == [4.5, 3]
    assert batch.labels is None
    assert whole("é,ö 1:1")[1][0].labels == [["é", "ö"]]


@pytest.mark.parametrize(
    ("line", "column", "match"),
    [
        ("new york 1:2", 5, "expected index:value, found 'york'"),
        ("1 2", 3, "expected index:value, found '2'"),
        ("1 -2:1", 3, "expected index:value, found '-2:1'"),
        (
            "1 0:1",
            3,
            "expected an index of at least 1, found '0:1'; if the first feature .* zero_based=True",
        ),
        ("1 9:1", 3, "expected an index of at most 8, found '9:1'"),
        ("1 99999999999999999999:1", 3, "expected an index of at most 8"),
        ("1 2:1 1:1", 7, "expected indices in ascending order, found '1:1'"),
        ("1 2:1 2:1", 7, "expected each index once, found '2:1'"),
        ("1 2:", 5, "expected a number after the colon, found nothing"),
        ("1 2: 5", 5, "expected a number after the colon, found nothing"),
        ("1 2:x", 5, "expected a number after the colon, found 'x'"),
        ("1 2:1x", 5, "expected a number after the colon, found '1x'"),
        ("1 2:1e", 5, "expected a number after the colon, found '1e'"),
        ("1 2:1e+ 3:1", 5, "expected a number after the colon, found '1e[+]'"),
        ("1 2:--1", 5, "expected a number after the colon, found '--1'"),
        ("1 2:.", 5, "expected a number after the colon, found '.'"),
        ("1 2:1.2.3", 5, "expected a number after the colon"),
        ("1 2:inf", 5, "expected a number after the colon, found 'inf'"),
        ("1 2:nan", 5, "expected a number after the colon, found 'nan'"),
        ("1 2:1e999", 5, "expected a number between -1e270 and 1e270, found '1e999'"),
        ("1 2:" + "9" * 400, 5, "expected a number between -1e270 and 1e270"),
        ("1,,2 2:1", 3, "expected a label before and after each comma"),
        ("1, 2 2:1", 3, "expected a label before and after each comma, found nothing"),
        (",1 2:1", 1, "expected a label before and after each comma"),
        ("1 qid: 2:1", 7, "expected a query after qid:, found nothing"),
        ("é 2:x", 5, "expected a number after the colon, found 'x'"),
    ],
)
def test_bad_svmlight(line, column, match):
    data = f"1 1:1\n{line}\n2 8:1\n{line} # again\n3 2:.5\n"
    with pytest.raises(InputError, match=f"line 2, column {column}: {match}"):
        whole(data, n_features=8)
    for batch in (1, 1000):
        matrix, batches, stream = whole(data, n_features=8, skip_bad=True, batch=batch)
        assert [label for b in batches for label in b.labels] == [["1"], ["2"], ["3"]]
        assert matrix.sum(axis=1).tolist() == [1, 1, 0.5]
        assert stream.skipped.count == 2
        assert "line 4" in stream.skipped.sentences[1]


def test_values_may_be_negative():
    assert whole("1 1:-3")[0].tolist() == [[-3]]


def test_bad_ratings_and_options():
    with pytest.raises(
        InputError, match="line 2, column 1: expected a rating, a number, found 'good'"
    ):
        whole("1 1:1\ngood 1:1", rating=True)
    matrix, (batch,), _ = whole("1 1:1\ngood 2:1\n3 3:1\n", rating=True, skip_bad=True)
    assert matrix.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert batch.ratings.tolist() == [1, 3]
    with pytest.raises(InputError, match="n_features must be at least 1"):
        whole("1 1:1", n_features=0)
    with pytest.raises(
        InputError, match="line 2, column 1: expected text in UTF-8, found the byte 0xff"
    ):
        whole(b"1 1:1\n\xff 1:1\n")
    assert whole(b"1 1:1\n\xff 1:1\n2 2:2\n", skip_bad=True)[0].tolist() == [[1, 0], [0, 2]]


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e269, max_value=1e269).map(repr),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda x: f"{x:.9g}"),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.from_regex(r"[+-]?\.[0-9]{1,25}([eE]-[0-9]{1,3})?", fullmatch=True),
)


@given(st.lists(numbers, max_size=20))
def test_numbers_are_what_python_makes_of_them(texts):
    line = "1 " + " ".join(f"{i}:{text}" for i, text in enumerate(texts, 1))
    matrix, _, _ = whole(line + "\n", n_features=20)
    assert matrix[0, : len(texts)].tolist() == [float(text) for text in texts]


def test_hard_numbers_are_what_python_makes_of_them():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    doubles = bits[np.isfinite(bits) & (np.abs(bits) < 1e270)]
    # in the middle between two floats
    halfway = [f"{int(m) * 2 + 1}" for m in rng.integers(2**52, 2**53, 2000)]
    texts = [repr(float(x)) for x in doubles] + halfway + [f"{x:.16e}" for x in rng.random(5000)]
    texts += [f"{x}" for x in rng.random(20_000)]
    matrix, _, _ = whole("\n".join(f"1 1:{text}" for text in texts))
    assert matrix[:, 0].tolist() == [float(text) for text in texts]


def hardest_numbers():
    """Decimal numbers of up to 18 digits that are as close to the middle between two floats as any
    are.

    For each power of ten, 2 * 10**e / 2**k is expanded into a continued fraction: where one of its
    convergents p/q has an odd p of 54 bits, q * 10**e lies next to p/2 * 2**k, the middle between
    two floats of 53 bits.
    """
    for e in range(-250, 250):
        if e:
            for bits in range(50, 60):
                k = (bits + math.floor(math.log2(10) * e)) - 53
                rest, (p, p_before), (q, q_before) = (
                    2 * Fraction(10) ** e / Fraction(2) ** k,
                    (1, 0),
                    (0, 1),
                )
                while q < 10**18:
                    if p % 2 and 2**53 < p < 2**54 and q > 10**9:
                        yield f"{q}e{e}"
                    whole = math.floor(rest)
                    p, p_before, q, q_before = whole * p + p_before, p, whole * q + q_before, q
                    if rest == whole:
                        break
                    rest = 1 / (rest - whole)


def test_the_hardest_numbers_are_what_python_makes_of_them():
    texts = list(hardest_numbers())
    assert len(texts) > 1000
    matrix, _, _ = whole("\n".join(f"1 1:{text}" for text in texts))
    assert matrix[:, 0].tolist() == [float(text) for text in texts]


rows_of_six = st.lists(
    st.lists(st.sampled_from([0, 0, 1, -2.5, 1e-7, 123456.789]), min_size=6, max_size=6), min_size=1
)


@given(rows_of_six, st.integers(1, 60))
def test_svmlight_reads_what_scikit_learn_writes(rows, batch):
    file = io.BytesIO()
    dump_svmlight_file(np.array(rows), np.arange(len(rows)), file, zero_based=False)
    matrix, batches, _ = whole(file.getvalue(), batch=batch, n_features=6)
    assert matrix.tolist() == rows
    assert [label for b in batches for label in b.labels] == [[str(i)] for i in range(len(rows))]
    for b in batches:  # the door finds nothing to mend
        assert np.array_equal(as_rows(stacked([b])).indices, b.rows.indices)


def test_letor():
    data = (
        "2 qid:10 1:0.5 2:0 #docid = GX1 inc = 1\n0 qid:10 2:1 # other\n1.5 qid:q2 1:1 # docid=7\n"
    )
    matrix, (batch,), stream = whole(data, None)
    assert stream.format == "letor"
    assert matrix.tolist() == [[0.5, 0], [0, 1], [1, 0]]
    assert batch.relevance.tolist() == [2, 0, 1.5]
    assert batch.query == ["10", "10", "q2"]
    assert batch.ids == ["GX1", "other", "7"]
    assert whole("0 qid:1 1:1", "letor")[1][0].ids is None


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("1 1:1", "line 3, column 3: expected qid: after the relevance, found none"),
        (
            "1 qid:1 1:1",
            "line 3, column 3: expected the lines of a query to stand together, found query 1 "
            "again",
        ),
        ("good qid:2 1:1", "line 3, column 1: expected the relevance, a number, found 'good'"),
        ("qid:2 1:1", "line 3, column 1: expected the relevance, a number, found nothing"),
        ("inf qid:2 1:1", "line 3, column 1: expected the relevance, a number, found 'inf'"),
    ],
)
def test_bad_letor(line, match):
    data = f"1 qid:1 1:1\n0 qid:2 2:1\n{line}\n1 qid:3 1:1\n"
    with pytest.raises(InputError, match=match):
        whole(data, "letor")
    matrix, batches, stream = whole(data, "letor", skip_bad=True)
    assert matrix.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert batches[0].query == ["1", "2", "3"]
    assert stream.skipped.count == 1


def test_a_first_line_of_sizes():
    data = "4 3 10\n1,9 0:1.5\n 1:1\n\n3\n"
    for batch in (1, 1000):
        matrix, batches, stream = whole(data, None, batch=batch)
        assert stream.format == "svmlight"
        assert matrix.tolist() == [[1.5, 0, 0], [0, 1, 0], [0, 0, 0]]
        assert [label for b in batches for label in b.labels] == [["1", "9"], [], ["3"]]
        assert [number for b in batches for number in b.places.numbers] == [2, 3, 5]
    with pytest.raises(
        InputError, match="line 2, column 3: expected an index of at most 2, found '3:1'"
    ):
        whole("1 3 4\n1 3:1\n", "svmlight")
    with pytest.raises(InputError, match="line 1, column 3: expected index:value, found '10'"):
        whole("3 10\n1 0:1", "svmlight")
    with pytest.raises(InputError, match="line 1, column 3: expected index:value, found '00'"):
        whole("1 00 4\n1 3:1\n", "svmlight")  # no columns at all


MANY = 2**31 - 2


@pytest.mark.parametrize("format", ["svmlight", "letor"])
def test_one_large_index_makes_no_large_model(format):
    line = f"1 qid:1 1:1 {MANY}:2\n"
    with pytest.raises(
        InputError,
        match=f"at most 4194304, found '{MANY}:2'; a model takes memory .* n_features, or",
    ):
        whole(line, format)
    assert [
        batch.rows.n_features for batch in read(io.BytesIO(line.encode()), format, n_features=MANY)
    ] == [MANY]
    assert [
        batch.rows.n_features for batch in read(io.BytesIO(b"1 qid:1 4194304:2\n"), format)
    ] == [4194304]


def test_a_first_line_of_sizes_makes_no_large_model_either():
    data = f"1 {MANY} 1\n0 0:1 {MANY - 1}:3\n"
    with pytest.raises(
        InputError, match=f"an index of at most 4194303, found '{MANY - 1}:3'; a model takes memory"
    ):
        whole(data)
    assert whole(data, hashed=8)[0].tolist() == [[1, 0, 0, 0, 0, 3, 0, 0]]
    (batch,) = read(io.BytesIO(data.encode()), "svmlight", n_features=MANY)
    assert batch.rows.n_features == MANY


def test_columns_are_folded_into_fewer():
    matrix, (batch,), _ = whole(f"1 1:1 3:4 6:2 {2**31 - 5}:0.5\n2 2:1 7:-1\n", hashed=5)
    # 1 and 6, 3 and 2**31 - 5, 2 and 7
    assert matrix.tolist() == [[3, 0, 4.5, 0, 0], [0, 0, 0, 0, 0]]
    assert batch.rows.indices.tolist() == [0, 2]
    with pytest.raises(
        InputError, match="n_features and hashed both say how many columns there are"
    ):
        whole("1 1:1", n_features=5, hashed=5)
    with pytest.raises(InputError, match="hashed must be at least 1"):
        whole("1 1:1", hashed=0)


@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("x", "1,2 3:4 5:6\n", "svmlight"),
        ("x.txt", "+1 1:0.5\n", "svmlight"),
        ("x.svm", "1\n", "svmlight"),
        ("x.txt", "1 qid:3 1:0.5 # c\n", "letor"),
        ("x.txt", "2 5 3\n0 1:1\n1 2:1\n", "svmlight"),
        ("x.txt", "at 10:30 we met\n", "lines"),
        ("x.txt", "It was 10:30 12:40\n", "lines"),
    ],
)
def test_formats_are_recognised(name, data, format, tmp_path):
    path = tmp_path / name
    path.write_text(data)
    assert sniff(path) == format
