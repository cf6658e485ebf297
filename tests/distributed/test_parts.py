"""Files cut into parts: whatever the size of the parts, together they hold what the whole file
does.
"""

import gzip
import json
import zipfile
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import InputError
from shortlist.distributed.parts import cut
from shortlist.inputs import read

FILES = {
    "a.jsonl": "".join(
        json.dumps({"text": f"ö {i}\u2028" * (i % 4), "labels": [f"l{i}"]}) + "\n"
        for i in range(40)
    ),
    "a.ft": "".join(f"__label__a{i % 4} some words {i}\n" for i in range(40)),
    "a.tsv": "id\ttext\tlabels\n" + "".join(f"{i}\ttext {i}\tl{i % 3}\n" for i in range(40)),
    "unnamed.tsv": "l0\tstart\n"
    + "".join(f"l{i % 3} m\t{'text' if i % 2 else 'labels'}\n" for i in range(40)),
    "marked.tsv": "\ufeffl1 m\ttitle\n" + "".join(f"l{i % 3}\ttitle {i}\n" for i in range(9)),
    "a.csv": "text,labels\n" + "".join(f'"a, ""{i}""\nb",l{i}\n' for i in range(20)),
    "a.svm": "".join(f"{i % 3},{i % 5} {i + 1}:0.5 {i + 7}:2\n" for i in range(40)),
    "a.xmc": "30 50 9\n" + "".join(f"{i % 9} {i}:1.5 {i + 9}:2\n" for i in range(29)) + "\n",
    "a.txt": "".join(f"line {i}\r\n" for i in range(20)) + "the last",
    "a.letor": "".join(f"{i % 2} qid:{i // 7} 1:{i} 3:1 # docid = d{i}\n" for i in range(60)),
}


def contents(streams):
    """All columns of all batches, one after another; rows as lists of pairs."""
    found = {}
    for stream in streams:
        for batch in stream:
            for name, values in batch.columns():
                if name == "rows":
                    ends = values.indptr.tolist()
                    pairs = list(zip(values.indices.tolist(), values.data.tolist(), strict=True))
                    values = [pairs[a:b] for a, b in pairwise(ends)]
                found.setdefault(name, []).extend(values)
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode())
    return folder


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=12)
@given(size=st.integers(1, 1500))
def test_parts_hold_what_the_file_does(written, name, size):
    parts = cut(str(written / name), part_size=size)
    assert contents(part.open() for part in parts) == contents([read(written / name)])
    if name not in ("a.csv",) and size < 100:
        assert len(parts) > 1
    for part, following in pairwise(parts):
        assert part.stop == following.start


def test_bad_lines_are_where_the_error_says(tmp_path):
    lines = [f"l{i}\ttitle {i}\n" for i in range(10)]
    lines[4] = "l4\tone\ttoo many\n"
    path = tmp_path / "bad.tsv"
    path.write_text("".join(lines))
    parts = cut(str(path), part_size=1)
    bad = next(part for part in parts if part.start <= len("".join(lines[:4])) < part.stop)
    where = f"bad.tsv after byte {bad.start}, line {lines.index(lines[4]) - 3}, column 7"
    with pytest.raises(InputError, match=f"{where}: expected 2 columns, found 3"):
        list(bad.open())
    skipping = cut(str(path), part_size=1, skip_bad=True)
    streams = [part.open() for part in skipping]
    assert len(contents(streams)["texts"]) == 9
    assert sum(stream.skipped.count for stream in streams) == 1


def test_line_numbers_of_the_first_part_are_those_of_the_file(tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text("text\tlabels\na\tb\nc\n")
    with pytest.raises(InputError, match=r"bad.tsv, line 3, column 2: expected 2 columns, found 1"):
        contents(part.open() for part in cut(str(path)))
    path.write_text("a\tb\nc\n")
    with pytest.raises(InputError, match=r"bad.tsv, line 2, column 2: expected 2 columns, found 1"):
        contents(part.open() for part in cut(str(path)))


def test_compressed_files_are_one_part(written, tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(FILES["a.jsonl"].encode()))
    (part,) = cut(str(path), part_size=10)
    assert contents([part.open()]) == contents([read(written / "a.jsonl")])


def test_two_bytes_a_letter_are_one_part(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_text("first\nsecond\n", encoding="utf-16")
    (part,) = cut(str(path), part_size=3)
    assert contents([part.open()]) == {"texts": ["first", "second"]}


def test_addresses_and_patterns(written, tmp_path):
    (tmp_path / "b").mkdir()
    for n in (2, 0, 1):
        (tmp_path / "b" / f"part-{n}.txt").write_text(f"number {n}\n")
    (tmp_path / "b" / "part-3.txt").write_text("")
    parts = cut(f"{tmp_path}/b/part-*.txt")
    assert contents(part.open() for part in parts) == {
        "texts": ["number 0", "number 1", "number 2"]
    }
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a.jsonl", FILES["a.jsonl"])
    parts = cut(f"zip://a.jsonl::file://{tmp_path}/all.zip", part_size=300)
    assert len(parts) > 3
    assert contents(part.open() for part in parts) == contents([read(written / "a.jsonl")])


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nowhere.jsonl", "there is no file nowhere.jsonl"),
        ("nowhere-*.jsonl", "there is no file nowhere-"),
        (".", "is a folder"),
        ("nonsense://x", "cannot find nonsense://x"),
    ],
)
def test_what_is_not_there_is_refused(address, sentence):
    with pytest.raises(InputError, match=sentence):
        cut(address)


def test_values_are_the_same_to_the_last_bit(written):
    whole = np.concatenate([batch.rows.data for batch in read(written / "a.svm")])
    pieces = [
        batch.rows.data
        for part in cut(str(written / "a.svm"), part_size=50)
        for batch in part.open()
    ]
    assert np.concatenate(pieces).tobytes() == whole.tobytes()
