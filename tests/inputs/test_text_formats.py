"""JSON lines, CSV and TSV, fastText, class folders, plain lines."""

import csv
import io
import json
import os
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist import InputError
from shortlist.inputs import read, sniff


def examples(data, format=None, **options):
    """All texts and labels of some bytes, and the stream."""
    stream = read(io.BytesIO(data if isinstance(data, bytes) else data.encode()), format, **options)
    texts, labels = [], []
    for batch in stream:
        texts += batch.texts
        labels += batch.labels if batch.labels is not None else [None] * len(batch)
    return texts, labels, stream


def fails(data, format, match, **options):
    with pytest.raises(InputError, match=match):
        examples(data, format, **options)


# JSON lines


def test_json_lines():
    data = '{"text": "wheat rose", "labels": ["grain", "trade"], "other": {"a": [1]}}\n\n{"text":"é \\u00e9"}\n'
    assert examples(data)[:2] == (["wheat rose", "é é"], [["grain", "trade"], []])
    data = '{"body": "a", "tags": "x y; z", "n": 3, "r": 4.5}\n{"body": "b", "tags": [1, "two"], "n": "four", "r": 1}'
    texts, labels, _ = examples(data, text="body", labels="tags", label_separator=";")
    assert (texts, labels) == (["a", "b"], [["x y", "z"], ["1", "two"]])
    (batch,) = read(io.BytesIO(data.encode()), text="body", labels="tags", id="n", rating="r")
    assert batch.ids == ["3", "four"]
    assert batch.ratings.tolist() == [4.5, 1.0]
    assert batch.labels == [["x y; z"], ["1", "two"]]
    assert examples('{"text": "only a text"}')[:2] == (["only a text"], [None])


@pytest.mark.parametrize(
    ("line", "match"),
    [
        (
            '{"text": "a" "labels": []}',
            "line 2, column 14: expected a JSON object, found a mistake in it",
        ),
        ('{"text": "a"', "line 2, column 13: expected a JSON object"),
        ('{"text": "a"} {"text": "b"}', "line 2, column 15: expected a JSON object"),
        (
            '{"txt": "a"}',
            "line 2, column 1: expected a field 'text', found 'txt'; fields of other .* "
            "--text-column",
        ),
        ('{"text": "a", "x": -Infinity}', "line 2, column 20: expected JSON, found -Infinity"),
        ('{"text": 3}', "line 2, column 2: expected text in 'text', found 3"),
        ('["a"]', "line 2, column 1: expected 'object', found 'array'"),
        (
            '{"text": "a", "labels": [1.5]}',
            "line 2, column 15: expected labels that are text or whole",
        ),
        (
            '{"text": "a", "labels": true}',
            "line 2, column 15: expected a label or a list of labels",
        ),
        (
            '{"text": "a", "labels": {"b": 1}}',
            "line 2, column 15: expected a label or a list of labels",
        ),
        (
            '{"text": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "line 2, column 1: expected .* too deeply",
        ),
        (
            '{"text": "lone \\ud800 surrogate"}',
            r"line 2, column 16: .* half a character \(a lone surrogate\), \\ud800",
        ),
        (
            '{"text": "a", "labels": ["\\\\ud800 \\ud83d\\ude00 \\ude00"]}',
            "line 2, column 48: .* half a character",
        ),
        ('{"text": "a", "x": "\\ud800"}', "line 2, column 21: .* half a character"),
        (
            '{"text": "a", "x": NaN}',
            "line 2, column 20: expected JSON, found NaN, which it does not have; write null",
        ),
    ],
)
def test_bad_json_lines(line, match):
    data = f'{{"text": "good", "labels": ["x"]}}\n{line}\n{{"text": "last"}}\n'
    fails(data, "json-lines", match)
    texts, _, stream = examples(data, "json-lines", skip_bad=True)
    assert texts == ["good", "last"]
    assert stream.skipped.count == 1


def test_bad_json_options():
    fails("{}", "json-lines", "text must be the name of a field", text=1)
    fails("{}", "json-lines", "a field can be used for one thing only", id="text")
    fails("{}", "json-lines", "label_separator must be text", label_separator="")


@given(st.lists(st.tuples(st.text(), st.lists(st.text()))), st.booleans(), st.integers(1, 200))
def test_whatever_json_writes_is_read_back(pairs, ascii_only, batch):
    def whole(text):
        return text.encode("utf-8", "replace").decode()

    pairs = [(whole(text), [whole(label) for label in labels]) for text, labels in pairs]
    lines = [
        json.dumps({"text": text, "labels": labels}, ensure_ascii=ascii_only)
        for text, labels in pairs
    ]
    texts, labels, _ = examples("\n".join(lines), "json-lines", batch=batch)
    assert list(zip(texts, labels, strict=True)) == [
        (text, [own for own in some if own.strip()]) for text, some in pairs
    ]


@pytest.mark.parametrize("labels", [[""], [" "], ["\t", "\u3000"], ""])
def test_blank_labels_are_none_as_in_cells(labels):
    rows = [{"text": "a", "labels": ["x"]}, {"text": "b", "labels": labels}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    for batch in (10, 1000):
        assert examples(lines, "json-lines", batch=batch)[1] == [["x"], []]
    assert examples(json.dumps(rows), "json")[1] == [["x"], []]
    crossed = [row | {"wrong": labels} for row in rows]
    (found,) = read(io.BytesIO("".join(json.dumps(row) + "\n" for row in crossed).encode()))
    assert [list(own) for own in found.wrong] == [[], []]


def test_labels_that_differ_by_a_letter_of_code_0():
    names = ["a", "\0a", "\0\0a", "\0"]
    lines = "".join(json.dumps({"text": "t", "labels": [name]}) + "\n" for name in names)
    assert examples(lines, "json-lines")[1] == [[name] for name in names]
    for format, separator in (("csv", ","), ("tsv", "\t")):
        rows = "".join(f"t{separator}{name}\n" for name in ("labels", *names))
        assert examples("text" + rows[1:], format)[1] == [[name] for name in names]


# CSV and TSV


def test_csv():
    data = 'id,text,labels\r\n1,"wheat, ""corn""\r\nand rice",grain;trade\r\n\r\n2,plain,\r\n3,5" disk,new york'
    texts, labels, _ = examples(data, "csv", label_separator=";")
    assert texts == ['wheat, "corn"\r\nand rice', "plain", '5" disk']
    assert labels == [["grain", "trade"], [], ["new york"]]
    assert examples(data, "csv")[1] == [["grain;trade"], [], ["new york"]]
    assert examples("title,other\na,b", "csv", text="title")[:2] == (["a"], [None])
    (batch,) = read(io.BytesIO(b"id,text,stars\nx,good,4.5\n"), "csv", id="id", rating="stars")
    assert (batch.ids, batch.ratings.tolist()) == (["x"], [4.5])


@pytest.mark.parametrize("first", ['"text", "labels"', 'text, "labels"', 'labels,\t"text"'])
def test_spaces_before_quotes(first):
    fails(
        f'{first}\n"a, b", "x"\n',
        "csv",
        "line 1: expected nothing between ',' and '\"', found spaces, here and perhaps",
    )
    # in data a quote behind a space is a letter
    assert examples('text,labels\na, "x"\n', "csv")[1] == [['"x"']]


def test_tsv_without_names():
    data = 'p1 p2\tThe "ecology of Kalimantan\np3\tKnitting\n'
    texts, labels, stream = examples(data, "tsv")
    assert texts == ['The "ecology of Kalimantan', "Knitting"]
    assert labels == [["p1", "p2"], ["p3"]]
    assert "taken to be labels and text" in stream.notes[0]
    texts, labels, stream = examples(data, "tsv", text=1, labels=0)
    assert labels == [["p1 p2"], ["p3"]]
    assert not stream.notes
    assert examples(data, "tsv", text="1", labels="0")[:2] == (texts, labels)
    assert examples("1\t0\na\tb", "tsv", text="1", labels="0")[:2] == (["a"], [["b"]])
    assert examples(data, "tsv", text=0)[:2] == (["p1 p2", "p3"], [None, None])
    assert examples('text\tlabels\n"a\tb"\tc\n', "tsv", quote='"')[:2] == (["a\tb"], [["c"]])


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("a,b,c", "line 2, column 4: expected 2 columns, found 3"),
        ("a", "line 2, column 2: expected 2 columns, found 1"),
        ('"a"b,c', "line 2, column 4: expected ',' after the closing quote, found 'b'"),
        ('x,"a', "line 2, column 3: expected a closing quote for the one that opens here"),
        ('"a\nb"c,d', "line 3, column 3: expected ',' after the closing quote, found 'c'"),
    ],
)
def test_bad_csv(line, match):
    data = f"text,labels\n{line}\ngood,x\n"
    fails(data, "csv", match)
    for batch in (1, 5, 1000):
        texts, _, stream = examples(data, "csv", skip_bad=True, batch=batch)
        assert texts == ["good"]
        assert stream.skipped.count == 1


bare_cells = st.text('a"', max_size=3).map("a".__add__)
odd_cells = bare_cells | st.text('"\n,a').map(lambda cell: '"' + cell.replace('"', '""') + '"')


@given(st.lists(st.tuples(odd_cells, odd_cells)), st.sampled_from([1, 5, 1000]))
def test_a_quote_inside_a_field_is_a_letter_as_in_the_csv_module(rows, batch):
    data = "text,labels\n" + "".join(f"{text},{labels}\n" for text, labels in rows)
    texts, labels, _ = examples(data, "csv", batch=batch)
    expected = list(csv.reader(io.StringIO(data)))[1:]
    assert texts == [text for text, _ in expected]
    assert labels == [[label.strip()] if label.strip() else [] for _, label in expected]


def test_a_quote_inside_a_field_of_a_record_of_many_lines():
    for batch in (1, 1000):
        data = 'text,labels\n"x\ny",a"b\n"p\nq","r\n""s"\nfoo,c\n'
        assert examples(data, "csv", batch=batch)[:2] == (
            ["x\ny", "p\nq", "foo"],
            [['a"b'], ['r\n"s'], ["c"]],
        )
    fails(
        'text,labels\n"x\ny",a"b\n"p\nq","r\n', "csv", "line 5, column 4: expected a closing quote"
    )


def test_a_quote_that_stays_open_costs_no_more_than_the_longest_record():
    data = 'text,labels\n"open,x\n' + "good,y\n" * 5000
    for longest in (100, 1 << 20):
        texts, _, stream = examples(data, "csv", skip_bad=True, batch=50, max_record=longest)
        assert texts == ["good"] * 5000
        assert stream.skipped.sentences == [
            "<BytesIO>, line 2, column 1: expected a closing quote for the one that opens here, "
            "found none"
        ]


def test_a_bad_first_line_is_not_skipped():
    for data in (b"te\xffxt,labels\na,b\n", b'"text,labels\na,b\n', b'"text"x,labels\na,b\n'):
        fails(data, "csv", "line 1, column .* cannot be skipped", skip_bad=True)


def test_columns_that_are_not_there():
    fails("a,b,c\n1,2,3", "csv", "line 1: expected a column 'text' for text, found 'a', 'b', 'c'")
    fails(
        "text,b\n1,2",
        "csv",
        "line 1: expected a column 'tags' for labels, found 'text', 'b'",
        labels="tags",
    )
    fails("a,b\n1,2", "csv", "there is no column 2 for text; there are 2", text=2)
    fails(
        "text,stars\na,many",
        "csv",
        "line 2, column 3: expected a number in 'stars', found 'many'",
        rating="stars",
    )
    texts, _, stream = examples("text,stars\na,many\nb,3\n", "csv", rating="stars", skip_bad=True)
    assert (texts, stream.skipped.count) == (["b"], 1)
    fails(
        "text,stars\na,inf",
        "csv",
        "line 2, column 3: expected a finite number in 'stars'",
        rating="stars",
    )
    fails("text,b\n1,2", "csv", "expected a column 'labels' for text", text="labels", labels="b")
    fails("text,labels,labels\na,b,c", "csv", "line 1 has more than one column 'labels'")
    assert examples("text,b,b\na,c,d", "csv")[0] == ["a"]
    for column in ("text", "labels", "0", 0):
        fails(
            "text,labels\na,b",
            "csv",
            "text and labels must be two columns",
            text=column,
            labels=str(column),
        )
    fails("text\na", "csv", "must each be one ASCII character", separator=";;")
    fails("text\na", "csv", "must differ", separator='"')
    fails("text\na", "csv", "text must name a column", text=None)


cells = st.text(st.characters(codec="utf-8")) | st.text('"\r\n,a')


@given(
    st.lists(st.lists(cells, min_size=2, max_size=2)),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 100),
)
@example([["a\r\nb", "c\r\nd"], ["\r\n", "e"]], "\r\n", 100)
def test_whatever_the_csv_module_writes_is_read_back(rows, end, batch):
    file = io.StringIO()
    writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([["text", "labels"], *rows])
    texts, labels, _ = examples(file.getvalue(), "csv", batch=batch)
    assert texts == [text for text, _ in rows]
    assert labels == [[label.strip()] if label.strip() else [] for _, label in rows]


@given(
    st.lists(st.sampled_from(["a", "a\tb", "c\t", "a\tb\tc"])), st.sampled_from([1, 12, 24, 1000])
)
def test_rows_of_another_width_are_bad_wherever_they_stand(lines, batch):
    data = "text\tlabels\n" + "".join(line + "\n" for line in lines)
    texts, labels, stream = examples(data, "tsv", batch=batch, skip_bad=True)
    good = [fields for line in lines if len(fields := line.split("\t")) == 2]
    assert texts == [text for text, _ in good]
    assert labels == [[label] if label else [] for _, label in good]
    assert stream.skipped.count == len(lines) - len(good)


# fastText, plain lines, class folders


def test_fasttext():
    data = (
        "__label__grain __label__ny  wheat rose\n\nno labels here\nwords __label__late in\tthe "
        "line\n__label__x"
    )
    texts, labels, stream = examples(data)
    assert stream.format == "fasttext"
    assert texts == ["wheat rose", "no labels here", "words in the line", ""]
    assert labels == [["grain", "ny"], [], ["late"], ["x"]]
    assert examples("#a b", "fasttext", label_prefix="#")[:2] == (["b"], [["a"]])


def test_bad_fasttext():
    fails(
        "good\n__label__a __label__ text",
        "fasttext",
        "line 2, column 21: expected a label after __label__, found",
    )
    fails("text __label__", "fasttext", "line 1, column 15: expected a label after __label__")
    fails("text", "fasttext", "label_prefix must be text", label_prefix=" ")


def test_class_folders(tmp_path):
    files = {
        "a/1": "head: x\n\nbody\n\nmore",
        "b/inner/2": "no head",
        "a/.hidden": "x",
        "loose": "x",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert sniff(tmp_path) == "folders"
    with pytest.raises(InputError, match="the format folders is read from a folder, not a file"):
        list(read(tmp_path / "loose", "folders"))
    (batch,) = read(tmp_path)
    assert batch.texts == ["head: x\n\nbody\n\nmore", "no head"]
    assert batch.labels == [["a"], ["b"]]
    assert batch.ids == ["a/1", "b/inner/2"]
    (batch,) = read(tmp_path, headers=False)
    assert batch.texts == ["body\n\nmore", ""]
    (tmp_path / "a" / "3").write_bytes(b"caf\xe9")
    with pytest.raises(
        InputError, match="3, line 1, column 4: expected text in UTF-8, found the byte 0xe9"
    ):
        list(read(tmp_path))
    stream = read(tmp_path, skip_bad=True, batch=1)
    assert [batch.ids for batch in stream] == [["a/1"], ["b/inner/2"]]
    assert stream.skipped.count == 1


@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("x.jsonl", '{"text": "a"}', "json-lines"),
        ("x", '\n {"text": "a"}', "json-lines"),
        ("x.csv", "text\na", "csv"),
        ("x", "id,text\n1,a", "csv"),
        ("x", "text\tlabels\na\tb", "tsv"),
        ("x", "some words, text, and more", "lines"),
        ("x.TSV", "text\ta", "tsv"),
        ("x.txt", "__label__a b", "fasttext"),
        ("x.txt", "just some text", "lines"),
        ("x", "just some text", "lines"),
    ],
)
def test_formats_are_recognised(name, data, format, tmp_path):
    path = tmp_path / name
    path.write_text(data)
    assert sniff(path) == format


def test_a_class_folder_gives_no_files_from_elsewhere(tmp_path):
    (tmp_path / "secret.txt").write_text("elsewhere")
    folder = tmp_path / "classes" / "a"
    folder.mkdir(parents=True)
    (folder / "1.txt").write_text("inside")
    (folder / "inside.txt").symlink_to(folder / "1.txt")
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "classes" / "b").symlink_to(tmp_path)
    stream = read(tmp_path / "classes")
    assert [text for batch in stream for text in batch.texts] == ["inside", "inside"]
    assert "to files outside of it were left out" in stream.notes[0]


@pytest.mark.parametrize("name", ['my "text"', "back\\slash", "a\nb"])
def test_fields_of_any_name(name):
    record = json.dumps({name: "wheat", "labels": ["grain"]}) + "\n"
    (batch,) = read(io.BytesIO(record.encode()), "json-lines", text=name)
    assert (list(batch.texts), list(batch.labels)) == (["wheat"], [["grain"]])


def test_a_named_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    writing = threading.Thread(
        target=lambda: pipe.write_text('{"text": "wheat", "labels": ["grain"]}\n')
    )
    writing.start()
    (batch,) = read(pipe)
    writing.join()
    assert (list(batch.texts), list(batch.labels)) == (["wheat"], [["grain"]])


def test_annif_s_documents_are_texts_and_subjects():
    data = (
        "The <b>ecology</b> of Kalimantan\t<http://x.org/p1> "
        "<http://x.org/p2>\nKnitting\t<http://x.org/p3>\n"
    )
    texts, labels, stream = examples(data, "tsv")
    assert texts == ["The <b>ecology</b> of Kalimantan", "Knitting"]
    assert labels == [["http://x.org/p1", "http://x.org/p2"], ["http://x.org/p3"]]
    assert "text and labels, as Annif's" in stream.notes[0]
    other_way = "".join("\t".join(reversed(line.split("\t"))) + "\n" for line in data.splitlines())
    assert examples(other_way, "tsv")[:2] == (texts, labels)


def test_a_number_that_python_does_not_read_is_refused_in_an_array():
    data = '[{"text": "a", "labels": ["x"]}, {"text": "b", "labels": [' + "9" * 5000 + "]}]"
    fails(data, "json", "line 1, column 34: .* a number of more than 4,300 digits")
