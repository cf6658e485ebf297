"""Tables as people have them: several columns of labels, yes and no, semicolons, decimal
commas, JSON arrays.
"""

import codecs
import io
import json

import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import InputError
from shortlist.inputs import read, sniff
from shortlist.inputs.tables import recognised, with_point
from tests.inputs.test_text_formats import examples, fails

ROWS = [
    {"text": "wheat", "subject_1": "grain", "subject_2": "trade", "is_long": "1", "is_new": "nein"},
    {"text": "rates", "subject_1": "money", "subject_2": "", "is_long": "0", "is_new": "X"},
    {"text": "none", "subject_1": "", "subject_2": "", "is_long": "FALSCH", "is_new": ""},
]


def as_csv(separator=","):
    lines = [separator.join(ROWS[0]), *(separator.join(row.values()) for row in ROWS)]
    return "\n".join(lines) + "\n"


def as_parquet(frame):
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


TABLES = {
    "csv": as_csv(),
    "quoted": "\n".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) for line in as_csv().splitlines()
    ),
    "semicolons": as_csv(";"),
    "json-lines": "".join(json.dumps(row) + "\n" for row in ROWS),
    "json": json.dumps(ROWS, indent=2),
    "parquet": as_parquet(polars.DataFrame(ROWS)),
    "pandas": pandas.DataFrame(ROWS),
    "polars": polars.DataFrame(ROWS),
}


FRAME = polars.DataFrame({"title": ["a"], "topic": ["b"]})


def labels_of(table, **options):
    data = table.encode() if isinstance(table, str) else table
    source = io.BytesIO(data) if isinstance(data, bytes) else data
    return [list(own) for batch in read(source, **options) for own in batch.labels]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_several_columns_of_labels(table):
    assert labels_of(table, labels=["subject_1", "subject_2"]) == [
        ["grain", "trade"],
        ["money"],
        [],
    ]
    assert labels_of(table, labels="subject_*") == [["grain", "trade"], ["money"], []]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_one_hot_columns(table):
    assert labels_of(table, one_hot=["is_long", "is_new"]) == [["is_long"], ["is_new"], []]
    assert labels_of(table, one_hot="is_*") == [["long"], ["new"], []]
    both = labels_of(table, labels="subject_1", one_hot="is_*")
    assert both == [["grain", "long"], ["money", "new"], []]


def test_a_cell_that_says_neither_yes_nor_no():
    data = "text,new\na,yes\nb,maybe\nc,no\n"
    fails(
        data,
        "csv",
        "line 3, column 3: expected yes or no, 1 or 0, in 'new', found 'maybe'",
        one_hot="new",
    )
    texts, labels, stream = examples(data, "csv", one_hot="new", skip_bad=True)
    assert (texts, labels, stream.skipped.count) == (["a", "c"], [["new"], []], 1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {},
            "expected a column 'text' for text, found 'title', 'topic'; name the right one with "
            "text= (--text-column)",
        ),
        (
            {"text": "title", "labels": "tag"},
            "found 'title', 'topic'; name the right one with labels= (--label-column)",
        ),
        ({"text": "title", "labels": "tag_*"}, "expected columns 'tag_*' for labels"),
        (
            {"text": "title", "one_hot": "is_*"},
            "name the right one with one_hot= (--one-hot-column)",
        ),
        ({"text": "title", "id": "n"}, "name the right one with id= (--id-column)"),
    ],
)
@pytest.mark.parametrize("table", ["title,topic\na,b\n", "title;topic\na;b\n", FRAME])
def test_errors_list_the_columns_and_name_the_option(table, options, sentence):
    source = io.BytesIO(table.encode()) if isinstance(table, str) else table
    with pytest.raises(InputError) as problem:
        list(read(source, "csv" if isinstance(table, str) else None, **options))
    assert sentence in str(problem.value)


# Names with spaces around them

SPACED = {
    "csv": "n , text, labels, is_new\n1,wheat,grain,yes\n",
    "quoted": '"n "," text"," labels","is_new "\n1,wheat,grain,yes\n',
    "semicolons": "n; text ;\u00a0labels;is_new\n1;wheat;grain;yes\n",
    "tsv": "n\ttext \tlabels \tis_new\n1\twheat\tgrain\tyes\n",
    "pandas": pandas.DataFrame(
        {"n ": [1], " text": ["wheat"], " labels": ["grain"], "is_new ": ["yes"]}
    ),
    "polars": polars.DataFrame(
        {"n ": [1], " text": ["wheat"], " labels": ["grain"], "is_new ": ["yes"]}
    ),
}
SPACED["parquet"] = as_parquet(SPACED["polars"])


@pytest.mark.parametrize("table", SPACED.values(), ids=SPACED)
def test_spaces_around_names_do_not_count(table):
    def source():
        data = table.encode() if isinstance(table, str) else table
        return io.BytesIO(data) if isinstance(data, bytes) else data

    (batch,) = read(source())
    assert (list(batch.texts), [list(own) for own in batch.labels]) == (["wheat"], [["grain"]])
    (batch,) = read(source(), text="text", labels=" labels ", one_hot=" is_*", id="n")
    assert ([list(own) for own in batch.labels], batch.ids) == ([["grain", "new"]], ["1"])


@pytest.mark.parametrize(
    "first", ["text, labels", " text,labels", "labels , text ", '" text","labels"']
)
def test_a_first_line_with_spaces_is_recognised_without_an_ending(first, tmp_path):
    (tmp_path / "data").write_text(f"{first}\na,b\n")
    assert sniff(tmp_path / "data") == "csv"


@pytest.mark.parametrize("table", ["text,labels, text\na,b,c\n", "text\tlabels\ttext \na\tb\tc\n"])
def test_two_columns_that_differ_by_spaces_alone(table):
    said = r"line 1 has more than one column 'text' \(spaces around names do not count\); rename all but one"
    fails(table, "csv", said)
    frame = pandas.DataFrame([["a", "b", "c"]], columns=["text", "labels", " text"])
    with pytest.raises(InputError, match=r"the frame has more than one column 'text' \(spaces"):
        list(read(frame))
    fails("text,text\na,b\n", "csv", "line 1 has more than one column 'text'; rename all but one")
    # nobody asks for these
    assert examples("text,labels, other,other\na,b,c,d\n", "csv")[0] == ["a"]


def test_names_of_numbers_have_no_spaces_around_them():
    stream = read(io.BytesIO(b"a, b , y\n1,2,x\n"), "numbers", target=" y")
    (batch,) = stream
    assert (stream.columns, list(batch.labels)) == (["a", "b"], [["x"]])
    said = r"line 1 has more than one column 'a' \(spaces around names do not count\)"
    fails("a,a ,y\n1,2,x\n", "numbers", said, target="y")


# As Excel writes it


def test_semicolons_a_byte_order_mark_and_decimal_commas(tmp_path):
    data = 'id;text;labels;stars\r\n1;"wheat; corn";grain, trade;4,5\r\n2;rates, and more;money;1.200,25\r\n'
    path = tmp_path / "sheet.csv"
    path.write_bytes(codecs.BOM_UTF8 + data.encode())
    assert sniff(path) == "csv"
    (batch,) = read(path, id="id", rating="stars", label_separator=",")
    assert list(batch.texts) == ["wheat; corn", "rates, and more"]
    assert list(batch.labels) == [["grain", "trade"], ["money"]]
    assert (batch.ids, batch.ratings.tolist()) == (["1", "2"], [4.5, 1200.25])
    fails(
        "text;stars\na;1,2,3\n",
        "csv",
        "line 2, column 3: expected a number in 'stars'",
        rating="stars",
    )


def test_a_first_line_that_names_the_separator():
    assert examples("sep=;\ntext;labels\na,b;x\n", "csv")[:2] == (["a,b"], [["x"]])
    assert examples('sep=|\ntext|labels\n"a|b"|x\n', "csv")[:2] == (["a|b"], [["x"]])


def test_cells_between_bars():
    assert examples("text|labels\na, b|x, y\n", "csv", label_separator=",")[:2] == (
        ["a, b"],
        [["x", "y"]],
    )


def test_a_comma_stays_the_separator_where_it_was():
    assert examples("text,labels\na|b|c,x|y\n", "csv", label_separator="|")[:2] == (
        ["a|b|c"],
        [["x", "y"]],
    )
    assert examples("text,labels\na;b;c;d,x;y\n", "csv", label_separator=";")[:2] == (
        ["a;b;c;d"],
        [["x", "y"]],
    )
    assert examples("a;b;c,text\n", "csv", text=1, labels=0)[:2] == (["text"], [["a;b;c"]])
    assert examples("text,labels;more\na,b\n", "csv")[0] == ["a"]
    assert recognised("Preis, netto;Text;Thema\n", ["text"]) == ";"
    assert recognised("a\tb\tc,d\n", []) == "\t"
    assert recognised("alone", ["text"]) == ","


def test_numbers_with_decimal_commas():
    data = "length;price;stars\n1,5;2.000,5;3,5\n-,25;7;4\n"
    (batch,) = read(io.BytesIO(data.encode()), "numbers", target="stars")
    assert batch.rows.to_matrix().toarray().tolist() == [[1.5, 2000.5], [-0.25, 7]]
    assert list(batch.labels) == [["3.5"], ["4"]]
    fails('a,b\n"1,5",2\n', "numbers", "expected a finite number in 'a', found '1,5'")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_with_a_comma_for_its_point(number):
    assert float(with_point(repr(number).replace(".", ","))) == number


# JSON arrays


@given(
    st.lists(st.tuples(st.text(), st.lists(st.text()))),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
    st.integers(1, 50),
)
def test_whatever_json_writes_as_an_array_is_read_back(pairs, indent, ascii_only, batch):
    pairs = [(text.encode("utf-8", "replace").decode(), labels) for text, labels in pairs]
    pairs = [
        (text, [label.encode("utf-8", "replace").decode() for label in labels])
        for text, labels in pairs
    ]
    records = [{"text": text, "labels": labels, "more": [{"}": "]"}]} for text, labels in pairs]
    data = json.dumps(records, indent=indent, ensure_ascii=ascii_only)
    texts, labels, _ = examples(data, "json", batch=batch)
    named = [(text, [label for label in own if label.strip()]) for text, own in pairs]
    assert list(zip(texts, labels, strict=True)) == named


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ('[{"text": "a"},\n  {"text": 7}]', "line 2, column 4: expected text in 'text', found 7"),
        (
            '[{"text": "a"},\n\n  {"tex": 7}]',
            "line 3, column 3: expected a field 'text', found 'tex'",
        ),
        (
            '[{"text": "a"}\n {"text": "b"}]',
            "line 2, column 2: expected , or ] behind an object, found '{'",
        ),
        ('[{"text": "a"}, 7]', "line 1, column 17: expected an object, {…}, found '7'"),
        ('[{"text": "a"}] x', "line 1, column 17: expected nothing behind the array, found 'x'"),
        ('[{"text": "a"}', "expected ] at the end of the array, found the end of the file"),
        ('[{"text": "a', "expected ] at the end of the array, found the end of the file"),
    ],
)
def test_bad_arrays(data, match):
    fails(data, "json", match)


def test_an_object_of_an_array_that_is_too_long():
    data = '[{"text": "' + "a" * 1000 + '"}]'
    fails(data, "json", "expected an object of at most 100 bytes", max_record=100, batch=50)


def test_arrays_are_recognised(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(' \n[\n{"text": "a"}]')
    assert sniff(path) == "json"
    path.write_text('{"text": "a"}\n')
    assert sniff(path) == "json-lines"
