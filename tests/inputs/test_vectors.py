"""Vectors beside texts: in a column of lists, in columns of numbers, or in a file of their own."""

import io
import json

import numpy as np
import polars
import pytest

from shortlist import InputError, read
from shortlist.data.texts import WithVectors

VECTORS = [[0.5, -1.0, 2.0], [0.0, 1e-3, -3.0]]
RECORDS = [
    {"text": "wheat rose", "labels": ["grain"], "v": VECTORS[0]},
    {"text": "oil fell", "labels": ["oil"], "v": VECTORS[1]},
]


def lines(records):
    return io.BytesIO("".join(json.dumps(record) + "\n" for record in records).encode())


def found(stream):
    batches = list(stream)
    assert all(isinstance(batch.texts, WithVectors) for batch in batches)
    return np.concatenate([batch.texts.vectors for batch in batches]), [
        text for batch in batches for text in batch.texts
    ]


def is_what_was_written(stream):
    vectors, texts = found(stream)
    assert vectors.dtype == np.float32
    assert (vectors == np.array(VECTORS, dtype=np.float32)).all()
    assert texts == ["wheat rose", "oil fell"]


def test_a_column_of_lists(tmp_path):
    is_what_was_written(read(lines(RECORDS), vector="v"))
    is_what_was_written(read(io.BytesIO(json.dumps(RECORDS).encode()), "json", vector="v"))
    polars.DataFrame(RECORDS).write_parquet(tmp_path / "v.parquet")
    is_what_was_written(read(tmp_path / "v.parquet", vector="v"))
    is_what_was_written(read(polars.DataFrame(RECORDS), vector="v"))


def test_columns_of_numbers():
    rows = [f"{r['text']},{r['labels'][0]},{','.join(map(str, r['v']))}" for r in RECORDS]
    table = "text,labels,v_0,v_1,v_2\n" + "\n".join(rows) + "\n"
    is_what_was_written(read(io.BytesIO(table.encode()), "csv", vector="v_*"))
    is_what_was_written(
        read(io.BytesIO(table.replace(",", ";").replace(".", ",").encode()), "csv", vector="v_*")
    )
    is_what_was_written(read(io.BytesIO(table.replace(",", "\t").encode()), "tsv", vector="v_*"))
    flat = [{"text": r["text"]} | {f"v_{n}": x for n, x in enumerate(r["v"])} for r in RECORDS]
    is_what_was_written(read(lines(flat), vector="v_*"))


def test_fields_with_a_vector():
    records = [{"title": "a", "body": "b", "v": [1.0]}, {"title": "c", "body": "d", "v": [2.0]}]
    vectors, texts = found(read(lines(records), text=["title", "body"], vector="v"))
    assert vectors.tolist() == [[1.0], [2.0]]
    assert texts == [{"title": "a", "body": "b"}, {"title": "c", "body": "d"}]


def test_batches_can_be_taken_apart():
    (batch,) = read(lines(RECORDS), vector="v")
    taken = batch.take([1])
    assert list(taken.texts) == ["oil fell"]
    assert taken.texts.vectors.tolist() == np.array([VECTORS[1]], dtype=np.float32).tolist()


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ([0.5, None, 2.0], "expected finite numbers in 'v', found None"),
        ([0.5, "x", 2.0], "expected finite numbers in 'v', found 'x'"),
        ([0.5, True, 2.0], "expected finite numbers in 'v', found True"),
        ([0.5, 1e39, 2.0], "expected finite numbers in 'v', found 1e"),
        ([0.5, 2.0], "expected a vector of 3 numbers in 'v', found 2"),
        ([], "expected a vector of 3 numbers in 'v', found 0"),
        ("0.5 1 2", "expected finite numbers in 'v'"),
        (None, "expected finite numbers in 'v', found None"),
    ],
)
def test_a_bad_vector_is_named_with_its_line_or_left_out(bad, sentence):
    records = [RECORDS[0], {"text": "bad", "labels": ["x"], "v": bad}, RECORDS[1]]
    with pytest.raises(InputError, match=f"line 2.*{sentence}"):
        list(read(lines(records), vector="v"))
    stream = read(lines(records), vector="v", skip_bad=True)
    is_what_was_written(stream)
    assert stream.skipped.count == 1


def test_a_bad_cell_is_named_with_its_line_and_column():
    table = b"text,labels,v_0,v_1\nwheat,grain,1,2\noil,oil,1,nan\nship,ship,3,x\n"
    with pytest.raises(
        InputError, match="line 3, column 11: expected a finite number in 'v_1', found 'nan'"
    ):
        list(read(io.BytesIO(table), "csv", vector="v_*"))
    stream = read(io.BytesIO(table), "csv", vector="v_*", skip_bad=True)
    assert found(stream)[0].tolist() == [[1.0, 2.0]]
    assert stream.skipped.count == 2


def test_a_column_that_is_not_there():
    with pytest.raises(InputError, match="expected a field 'w', found 'text', 'labels', 'v'"):
        list(read(lines(RECORDS), vector="w"))
    with pytest.raises(InputError, match=r"name the right one with vector= \(--vector-column\)"):
        list(read(io.BytesIO(b"text,labels\na,b\n"), "csv", vector="v_*"))


def test_a_file_of_vectors(tmp_path):
    np.save(tmp_path / "v.npy", np.array(VECTORS))
    is_what_was_written(read(lines(RECORDS)).with_vectors(tmp_path / "v.npy"))
    is_what_was_written(read(lines(RECORDS), batch=1).with_vectors(tmp_path / "v.npy"))


@pytest.mark.parametrize(
    ("saved", "sentence"),
    [
        (np.zeros((3, 2)), "has 3 rows, and there are 2 texts"),
        (np.zeros((1, 2)), "has 1 row, and there are more texts"),
        (np.zeros(2), r"expected a matrix of numbers, found float64 of the shape \(2,\)"),
        (np.array([["a"], ["b"]]), "expected a matrix of numbers, found <U1"),
        (np.array([[1.0], [np.inf]]), "not finite"),
        (np.zeros((2, 0)), "a row of numbers for each"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, saved, sentence):
    np.save(tmp_path / "v.npy", saved)
    with pytest.raises(InputError, match=sentence):
        list(read(lines(RECORDS)).with_vectors(tmp_path / "v.npy"))


def test_nothing_but_numbers_is_opened(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    (tmp_path / "text.npy").write_text("0.5 1 2")
    (tmp_path / "empty.npy").write_bytes(b"")
    np.savez(tmp_path / "several.npz", a=np.zeros((2, 2)))
    whole = io.BytesIO()
    np.save(whole, np.zeros((2, 3)))
    (tmp_path / "cut.npy").write_bytes(whole.getvalue()[:-8])
    (tmp_path / "huge.npy").write_bytes(whole.getvalue().replace(b"(2, 3)", b"(2,9999999)")[:200])
    for name in ("objects.npy", "text.npy", "empty.npy", "several.npz", "cut.npy", "huge.npy"):
        with pytest.raises(InputError, match=r"expected numbers that numpy\.save has written"):
            list(read(lines(RECORDS)).with_vectors(tmp_path / name))
    with pytest.raises(InputError, match="there is no file"):
        list(read(lines(RECORDS)).with_vectors(tmp_path / "absent.npy"))


def test_vectors_stand_beside_texts_of_which_none_is_left_out(tmp_path):
    np.save(tmp_path / "v.npy", np.zeros((1, 2)))
    with pytest.raises(InputError, match="would shift the vectors"):
        read(lines(RECORDS), skip_bad=True).with_vectors(tmp_path / "v.npy")
    with pytest.raises(InputError, match="stand beside texts, and the data hold rows of features"):
        list(read(io.BytesIO(b"1 1:0.5\n"), "svmlight").with_vectors(tmp_path / "v.npy"))
