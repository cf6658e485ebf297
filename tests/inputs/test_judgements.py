"""Labels that were crossed out, in each of the tables, and whether all others are wrong."""

import io
import json

import pandas
import polars
import pytest

from shortlist.inputs import read
from tests.inputs.test_text_formats import fails

ROWS = [
    {"text": "wheat", "labels": "grain", "wrong": "money; trade", "complete": ""},
    {"text": "rates", "labels": "money", "wrong": "", "complete": "no"},
    {"text": "none", "labels": "", "wrong": "grain", "complete": "yes"},
    {"text": "plain", "labels": "a;b", "wrong": "", "complete": ""},
]
WRONG = [["money", "trade"], [], ["grain"], []]
COMPLETE = [None, False, True, None]


def as_csv(rows, separator=","):
    return (
        "\n".join([separator.join(rows[0]), *(separator.join(row.values()) for row in rows)]) + "\n"
    )


def as_parquet(rows):
    file = io.BytesIO()
    polars.DataFrame(rows).write_parquet(file)
    return file.getvalue()


TABLES = {
    "csv": as_csv,
    "tsv": lambda rows: as_csv(rows, "\t"),
    "json": json.dumps,
    "parquet": as_parquet,
    "json-lines": lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
}


def read_all(table, **options):
    data = table.encode() if isinstance(table, str) else table
    source = io.BytesIO(data) if isinstance(data, bytes) else data
    (batch,) = (batch for batch in read(source, label_separator=";", **options) if len(batch))
    return batch


def renamed(rows, **names):
    return [{names.get(name, name): value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("made", TABLES.values(), ids=TABLES)
def test_what_was_crossed_out(made):
    batch = read_all(made(ROWS))
    assert [list(own) for own in batch.labels] == [["grain"], ["money"], [], ["a", "b"]]
    assert [list(own) for own in batch.wrong] == WRONG
    assert batch.complete == COMPLETE
    assert list(batch.complete_only().texts) == ["plain"], (
        "all of it was judged, and something is right"
    )
    taken = batch.take([2, 0])
    assert [list(own) for own in taken.wrong] == [["grain"], ["money", "trade"]]
    assert taken.complete == [True, None]


@pytest.mark.parametrize("made", TABLES.values(), ids=TABLES)
def test_columns_of_other_names(made):
    rows = renamed(ROWS, wrong="no", complete="all")
    batch = read_all(made(rows), wrong="no", complete="all")
    assert [list(own) for own in batch.wrong] == WRONG
    assert batch.complete == COMPLETE
    assert read_all(made(rows)).wrong is None, "nobody has asked for them"


@pytest.mark.parametrize("made", TABLES.values(), ids=TABLES)
def test_columns_that_mean_something_else(made):
    """A column "complete" alone is nobody's judgement, and a column "wrong" may hold the labels."""
    rows = [
        {"text": "a", "labels": "x", "complete": "last week"},
        {"text": "b", "labels": "y", "complete": ""},
    ]
    batch = read_all(made(rows))
    assert batch.wrong is None
    assert not any(batch.complete or [])
    rows = [{"text": "a", "wrong": "x"}, {"text": "b", "wrong": "y"}]
    batch = read_all(made(rows), labels="wrong")
    assert [list(own) for own in batch.labels] == [["x"], ["y"]]
    assert batch.wrong is None


def test_lists_as_the_server_writes_them():
    lines = '{"text": "a", "labels": ["x"]}\n{"text": "b", "labels": [], "wrong": ["x"], "complete": false}\n'
    (batch,) = (batch for batch in read(io.BytesIO(lines.encode())) if len(batch))
    assert [list(own) for own in batch.labels] == [["x"], []]
    assert (batch.wrong, batch.complete) == ([[], ["x"]], [None, False])


def test_what_is_neither_yes_nor_no():
    line = '{"text": "a", "labels": [], "wrong": ["x"], "complete": "perhaps"}\n'
    fails(
        line,
        "json-lines",
        "line 1, column 45: expected yes or no, 1 or 0, in 'complete', found 'perhaps'",
    )
    table = "text,labels,wrong,complete\na,x,y,perhaps\n"
    fails(
        table, "csv", "line 2, column 7: expected yes or no, 1 or 0, in 'complete', found 'perhaps'"
    )


def test_a_field_that_no_record_has_is_said():
    lines = b'{"text": "a", "labels": ["x"]}\n{"text": "b", "labels": ["y"], "no": ["x"]}\n'
    for name, said in (("no", 0), ("nix", 1), ("wrong", 0)):
        stream = read(io.BytesIO(lines), "json-lines", wrong=name)
        list(stream)
        assert len(stream.notes) == said
    stream = read(io.BytesIO(lines), "json-lines", wrong="nix")
    list(stream)
    assert stream.notes == ["no record has the field 'nix': nothing was taken as crossed out"]
