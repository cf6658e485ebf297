"""The formats of public collections, Parquet and frames, on small inputs written for the tests."""

import gzip
import io
import subprocess
from pathlib import Path

import pandas
import polars
import pytest

from papers.corpora.markup import page_text
from shortlist import InputError
from shortlist.inputs import read, sniff
from tests.inputs.samples import ARFF, CRAN, SAMPLES, SGML, TREC_DOCUMENTS, TREC_TOPICS


def only(data, format, **options):
    """The one batch of some bytes, and the stream."""
    stream = read(io.BytesIO(data if isinstance(data, bytes) else data.encode()), format, **options)
    (batch,) = stream
    return batch, stream


def fails(data, format, match, **options):
    with pytest.raises(InputError, match=match):
        list(
            read(io.BytesIO(data if isinstance(data, bytes) else data.encode()), format, **options)
        )


def dense(rows):
    from scipy.sparse import csr_array

    return (
        csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_features))
        .toarray()
        .tolist()
    )


# ARFF


def test_arff():
    batch, stream = only(ARFF, None)
    assert stream.format == "arff"
    assert stream.columns == ["tempo", "key"]
    assert dense(batch.rows) == [[0.5, 1], [-2, 0], [0, 0]]
    assert batch.labels == [["happy"], ["happy", "very sad"], []]
    batch, _ = only(
        ARFF.replace("e}", "1}")
        .replace("{c", "{0")
        .replace("'d sharp', 1", "1")
        .replace("'d sharp'}", "1}")
        .replace(",c", ",0"),
        None,
        label_count=-1,
    )
    assert batch.labels == [["key"], [], []]
    assert batch.rows.n_features == 3
    batches = list(read(io.BytesIO(ARFF.encode()), batch=1))
    assert [len(batch) for batch in batches] == [1, 1, 1]


def test_arff_with_the_labels_in_an_xml_file(tmp_path):
    path = tmp_path / "music-train.arff.gz"
    path.write_bytes(gzip.compress(ARFF.replace(": -C 2", "").encode()))
    with pytest.raises(
        InputError, match=r"which attributes are labels\? Give xml, .* or label_count; 0 XML files"
    ):
        list(read(path))
    (tmp_path / "other.xml").write_text('<labels><label name="something else"/></labels>')
    (tmp_path / "music.xml").write_text(
        "<labels><label name='happy'><label name=\"very sad\"/></label></labels>"
    )
    (batch,) = read(path)
    assert batch.labels == [["happy"], ["happy", "very sad"], []]
    (batch,) = read(path, xml=tmp_path / "music.xml")
    assert batch.labels == [["happy"], ["happy", "very sad"], []]
    with pytest.raises(
        InputError, match=r"the label 'something else' is no attribute of .*arff.gz"
    ):
        list(read(path, xml=tmp_path / "other.xml"))


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ("{0 1,2 0.5", "line 12, column 11: expected a row that ends in }"),
        ("{0 1} 2", "line 12, column 6: expected a row that ends in }"),
        ("{9 1}", "line 12, column 2: expected an index below 4 and a value, found '9 1'"),
        ("{0 1,-1 1}", "line 12, column 6: expected an index below 4"),
        ("{2 1,0 1}", "line 12, column 6: expected indices in ascending order, each once, found 0"),
        ("{2 1,2 1}", "line 12, column 6: expected indices in ascending order, each once, found 2"),
        ("{2 inf}", "line 12, column 2: expected a number, found 'inf'"),
        ("{2}", "line 12, column 2: expected a number, found ''"),
        ("{0 2}", "line 12, column 2: expected one of 0, 1, found '2'"),
        ("1,0,3", "line 12, column 1: expected 4 values or a row in braces, found 3 values"),
        ("1,0,x,c", "line 12, column 5: expected a number, found 'x'"),
        ("1,0,?,c", "line 12, column 5: expected a number, found '[?]'"),
    ],
)
def test_bad_arff_rows(row, match):
    data = ARFF + row + "\n{1 1}\n"
    fails(data, "arff", match)
    batch, stream = only(data, "arff", skip_bad=True)
    assert batch.labels[3:] == [["very sad"]]
    assert stream.skipped.count == 1


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (
            "@relation x\n@attribute a numeric\n",
            "expected @data after the attributes, found the end of the file",
        ),
        (
            "@relation x\n@attribute a string\n@data\n",
            "line 2, column 14: expected @attribute, a name, and numeric or",
        ),
        (
            "@relation x\n @attribute a\n@data\n",
            "line 2, column 13: expected @attribute, a name, and numeric or",
        ),
        (
            "@relation x\n  hello\n@data\n",
            "line 2, column 3: expected @attribute or @data, found 'hello'",
        ),
        (
            "@relation x\n@data\n",
            "line 2, column 1: expected attributes before @data, each with a name",
        ),
        (
            "@relation x\n@attribute a real\n@attribute a real\n@data\n",
            "each with a name of its own",
        ),
        ("@relation '-C 9'\n@attribute a real\n@data\n", "label_count must be less than 1, not 9"),
        (
            "@relation '-C 1'\n@attribute a {1,0}\n@attribute b real\n@data\n",
            "the label 'a' must have the values {0",
        ),
    ],
)
def test_bad_arff_headers(data, match):
    fails(data, "arff", match, skip_bad=True)


def test_a_bad_attribute_is_not_skipped():
    data = ARFF.encode().replace(b"tempo", b"temp\xff")
    fails(
        data,
        "arff",
        "line 5, column 16: expected text in UTF-8, .* an attribute cannot be skipped",
        skip_bad=True,
    )


# Tables of numbers


def test_numbers():
    batch, stream = only("a,b,stars\n1,2.5,good\n0,-3,\n", "numbers", target="stars")
    assert dense(batch.rows) == [[1, 2.5], [0, -3]]
    assert batch.labels == [["good"], []]
    assert stream.columns == ["a", "b"]
    assert only("a;b\n1;2\n", "numbers", separator=";")[0].labels is None
    fails("1,2\n3,4", "numbers", "line 1: expected the names of the columns, found numbers")
    fails("a,a\n3,4", "numbers", "line 1 has more than one column 'a'; rename all but one")
    fails(
        "a,b\n3,4\n5,x", "numbers", "line 3, column 3: expected a finite number in 'b', found 'x'"
    )
    batch, stream = only("a,b\n3,4\ny,x\n5,6\n", "numbers", skip_bad=True)
    assert (dense(batch.rows), stream.skipped.count) == ([[3, 4], [5, 6]], 1)


# Reuters


def test_reuters(tmp_path):
    batch, stream = only(SGML, None)
    assert stream.format == "reuters"
    assert batch.texts == ["WHEAT <UP>\nCafés & more\nReuter", "raw text & more", "OIL"]
    assert batch.labels == [["grain", "wheat"], [], ["oil"]]
    assert batch.ids == ["11", "12", "13"]
    assert batch.split == ["train", "unused", "test"]
    assert only(SGML, None, split="test")[0].ids == ["13"]
    assert only(SGML, None, labels="places")[0].labels == [["usa"], [], []]
    for name in ("reut2-001.sgm", "reut2-000.sgm"):
        (tmp_path / name).write_bytes(SGML)
    assert sniff(tmp_path) == "reuters"
    assert sum(len(batch) for batch in read(tmp_path)) == 6
    fails(
        SGML,
        "reuters",
        "split must be one of None, 'train', 'test', 'unused', not 'dev'",
        split="dev",
    )
    fails(SGML, "reuters", "labels must be one of 'topics', 'places'", labels="colours")


@pytest.mark.parametrize(
    ("data", "match", "left"),
    [
        (
            SGML[:-11],
            "line 16, column 1: expected </REUTERS> at the end of the record that begins here",
            2,
        ),
        (
            SGML.replace(b"</REUTERS>", b"", 1),
            "line 2, column 1: expected </REUTERS> before the next <REUTERS>",
            2,
        ),
        (
            SGML.replace(b'TOPICS="NO"', b""),
            "line 11, column 1: expected the attribute TOPICS of <REUTERS>",
            2,
        ),
    ],
)
def test_bad_reuters(data, match, left):
    fails(data, "reuters", match)
    batch, stream = only(data, "reuters", skip_bad=True)
    assert (len(batch), stream.skipped.count) == (left, 1)
    fails(
        SGML, "reuters", "line 2, column 1: expected a record of at most 200 bytes", max_record=200
    )


# Cranfield, MovieLens, TREC, books


def test_cranfield(tmp_path):
    batch, stream = only(CRAN, None)
    assert stream.format == "cranfield"
    assert batch.texts == ["wings and things . a study .", "title\nbody"]
    assert batch.ids == ["7", "8"]
    batch, _ = only(".I 001\r\n.W\r\nwhat is\r\nit\r\n.I 004\r\n.W\r\nwhy\r\n", None)  # queries
    assert (batch.texts, batch.ids) == (["what is it", "why"], ["1", "2"])
    titles, _ = only(CRAN, "cranfield", part="title")
    bodies, _ = only(CRAN, "cranfield", part="body")
    assert (titles.texts, bodies.texts) == (["wings and things .", "title"], ["a study .", "body"])
    fails(CRAN, "cranfield", "part", part="abstract")
    (tmp_path / "cran.all.1400").write_text(CRAN)
    assert sniff(tmp_path) == "cranfield"
    (batch,) = read(tmp_path)
    assert batch.ids == ["7", "8"]
    (tmp_path / "cranqrel").write_text("1 184 2 \n1 29  -1\n2 5 1\n")
    (batch,) = read(tmp_path / "cranqrel")
    assert (batch.query, batch.ids, batch.relevance.tolist()) == (
        ["1", "1", "2"],
        ["184", "29", "5"],
        [3, 0, 4],
    )


def test_bad_cranfield():
    fails(
        "hello\n" + CRAN, "cranfield", "line 1, column 1: expected .I and a number, found 'hello'"
    )
    fails(".I x\n.W\na", "cranfield", "line 1, column 4: expected a number after .I, found 'x'")
    fails(
        ".I 1\nhello\n",
        "cranfield",
        "line 2, column 1: expected a section such as .W, found 'hello'",
    )
    fails(
        ".I 1\n.T\nhello\n",
        "cranfield",
        "line 1, column 1: expected a section .W in the record that begins here",
    )
    fails(
        CRAN, "cranfield", "line 1, column 1: expected a record of at most 20 bytes", max_record=20
    )
    batch, stream = only(
        f".I x\n.W\na\n.I 2\nhello\nagain\n.W\nb\n.I 3\n{CRAN}", "cranfield", skip_bad=True
    )
    assert (batch.ids, stream.skipped.count) == (["7", "8"], 3)
    fails(
        "1 2 9",
        "cranqrel",
        "line 1, column 5: expected a grade of 1 to 5 or -1, a number, found '9'",
    )


@pytest.mark.parametrize(
    "data",
    [
        "196\t242\t3\t881250949\n22\t377\t1.5\t878887116\n",
        "196::242::3::881250949\n22::377::1.5::878887116",
        "userId,movieId,rating,timestamp\r\n196,242,3,881250949\r\n22,377,1.5,878887116\r\n",
    ],
)
def test_movielens(data, tmp_path):
    batch, stream = only(data, None)
    assert stream.format == "movielens"
    assert (batch.query, batch.ids, batch.ratings.tolist()) == (
        ["196", "22"],
        ["242", "377"],
        [3, 1.5],
    )
    (tmp_path / "u.data").write_text(data)
    assert sniff(tmp_path) == "movielens"
    assert sum(len(batch) for batch in read(tmp_path)) == 2


def test_bad_movielens():
    good = "196\t242\t3\t881250949\n"
    fails(
        good + "1\t2\t3\n",
        "movielens",
        "line 2, column 6: expected user, film, rating, time, found 3 fields",
    )
    fails(
        good + "1\t2\t3\t4\t5\n",
        "movielens",
        "line 2, column 9: expected user, film, rating, time, found 5 fields",
    )
    fails(
        good + "1\t2\tgood\t4\n",
        "movielens",
        "line 2, column 5: expected a rating, a number, found 'good'",
    )
    batch, stream = only(good + "1\t2\tnan\t4\n\n1\n" + good, "movielens", skip_bad=True)
    assert (batch.ratings.tolist(), stream.skipped.count) == ([3, 3], 2)


def test_trec():
    batch, stream = only("q1 0 d-1 2\nq1\t0  d-2 -1\nq2 0 d-1 0\n", None)
    assert stream.format == "qrels"
    assert (batch.query, batch.ids) == (["q1", "q1", "q2"], ["d-1", "d-2", "d-1"])
    assert batch.relevance.tolist() == [2, -1, 0]
    batch, stream = only("q1 Q0 d-1 1 9.5 mine\nq1 Q0 d-2 2 -1e-3 mine\n", None)
    assert stream.format == "run"
    assert (batch.query, batch.ids, batch.scores.tolist()) == (
        ["q1", "q1"],
        ["d-1", "d-2"],
        [9.5, -0.001],
    )
    fails(
        "q1 0 d1",
        "qrels",
        "line 1, column 8: expected query, iteration, document, relevance, found 3 fields",
    )
    fails(
        "q1 Q0 d1 1 high mine", "run", "line 1, column 12: expected a score, a number, found 'high'"
    )
    fails(
        "q1 Q0 d1 1 1 my run",
        "run",
        "line 1, column 17: expected query, Q0, document, rank, score, tag, found 7",
    )


def test_trec_documents(tmp_path):
    batch, stream = only(TREC_DOCUMENTS, None)
    assert stream.format == "trec-documents"
    assert batch.texts == ["Beavers & dams Beavers build dams.", "if 3 < 4 then café"]
    assert batch.ids == ["WTX001-B01-1", "WTX001-B01-2"]
    for bundle in ("WTX002/B01.gz", "WTX001/B02.gz", "WTX001/B01.gz"):
        (tmp_path / bundle).parent.mkdir(exist_ok=True)
        (tmp_path / bundle).write_bytes(
            gzip.compress(TREC_DOCUMENTS.replace(b"WTX001-B01", bundle[:10].encode()))
        )
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "README").write_text("not a document")
    assert sniff(tmp_path) == "trec-documents"
    names = [name for batch in read(tmp_path) for name in batch.ids]
    assert names[::2] == ["WTX001/B01-1", "WTX001/B02-1", "WTX002/B01-1"]


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (
            TREC_DOCUMENTS[:-7],
            "line 13, column 1: expected </DOC> at the end of the record that begins here",
        ),
        (
            TREC_DOCUMENTS.replace(b"</DOC>", b"", 1),
            "line 1, column 1: expected </DOC> before the next <DOC>",
        ),
        (
            TREC_DOCUMENTS.replace(b"<DOCNO> WTX001-B01-2 </DOCNO>\n", b""),
            "line 13, column 1: expected a name in <DOC",
        ),
    ],
)
def test_bad_trec_documents(data, match):
    fails(data, "trec-documents", match)
    batch, stream = only(data, "trec-documents", skip_bad=True)
    assert (len(batch), stream.skipped.count) == (1, 1)


def test_what_is_no_text_of_a_page_and_never_ends():
    page = b"<DOC>\n<DOCNO>a</DOCNO>\nshown %s hidden\n</DOC>\n"
    for opening in (b"<!--", b"<script src=x>", b"<style>"):
        assert only(page % opening, "trec-documents")[0].texts == ["shown"]
    assert only(page % b"<img", "trec-documents")[0].texts == ["shown <img hidden"]


def test_trec_topics():
    batch, stream = only(TREC_TOPICS, None)
    assert stream.format == "trec-topics"
    assert (batch.ids, batch.texts) == (["451", "452"], ["beavers in salt water", "dams"])
    assert only(TREC_TOPICS, None, part="desc")[0].texts == [
        "Where do beavers live?",
        "Who builds dams?",
    ]
    fails(
        TREC_TOPICS,
        None,
        "line 15, column 1: expected <narr> in the topic that begins here",
        part="narr",
    )
    fails(
        TREC_TOPICS.replace(b"<num>452", b""),
        None,
        "line 15, column 1: expected <num> and a number in the topic",
    )
    fails(TREC_TOPICS, None, "part must be one of 'title', 'desc', 'narr', not 'all'", part="all")


def test_rcv1(tmp_path):
    for name, first in (("test_pt1", 900), ("train", 100), ("test_pt0", 500)):
        text = f".I {first}\n.W\nrecov recov excit\nmexic\n\n.I {first + 1}\n.W\nusa\n"
        (tmp_path / f"lyrl2004_tokens_{name}.dat.gz").write_bytes(gzip.compress(text.encode()))
    assert sniff(tmp_path) == sniff(tmp_path / "lyrl2004_tokens_train.dat.gz") == "rcv1-tokens"
    batches = list(read(tmp_path))
    assert [name for batch in batches for name in batch.ids] == [
        "100",
        "101",
        "500",
        "501",
        "900",
        "901",
    ]
    assert batches[0].texts == ["recov recov excit mexic", "usa"]
    fails(
        ".I x\n.W\nusa\n", "rcv1-tokens", "line 1, column 4: expected a number after .I, found 'x'"
    )
    fails(
        ".I 1\n.I 2\n.W\nusa\n",
        "rcv1-tokens",
        "line 1, column 1: expected a section .W in the record",
    )

    (tmp_path / "rcv1-v2.topics.qrels").write_bytes(SAMPLES["rcv1-qrels"])
    stream = read(tmp_path / "rcv1-v2.topics.qrels")
    (batch,) = stream
    assert stream.format == "rcv1-qrels"
    assert (batch.query, batch.ids, batch.relevance.tolist()) == (
        ["E11", "ECAT"],
        ["2286", "2286"],
        [1, 1],
    )
    fails(
        "E11 2286\n",
        "rcv1-qrels",
        "line 1, column 9: expected category, document, 1, found 2 fields",
    )
    fails("E11 2286 0\n", "rcv1-qrels", "line 1, column 10: expected a 1, a number, found '0'")
    (batch,) = read(io.BytesIO(b"2286  864:0.5 1523:0.25\n"), "svmlight")  # their vectors
    assert (batch.labels, batch.rows.indices.tolist()) == ([["2286"]], [863, 1522])


def test_eachmovie(tmp_path):
    batch, stream = only(SAMPLES["eachmovie"].replace(b"\n", b"\r\n"), None)
    assert stream.format == "eachmovie"
    assert (batch.query, batch.ids, batch.ratings.tolist()) == (["1", "2"], ["7", "7"], [0.8, 0])
    (tmp_path / "Person.txt").write_text("1\t35\tF\t12345\n")
    (tmp_path / "Vote.txt").write_bytes(SAMPLES["eachmovie"])
    assert sniff(tmp_path) == "eachmovie"
    assert sum(len(batch) for batch in read(tmp_path)) == 2


def test_bad_eachmovie():
    good = SAMPLES["eachmovie"].decode()
    for line, match in (
        (
            "1\t2\t0.2\t1\n",
            "line 3, column 10: expected person, film, score, weight, time, found 4 fields",
        ),
        (
            "1\t2\t0.3\t1\tx\n",
            "line 3, column 5: expected a score of 0, 0.2, … or 1, a number, found '0.3'",
        ),
        ("1\tx\t0.2\t1\tx\n", "line 3, column 3: expected a film's number, found 'x'"),
        (
            "1\t2\t0.2\t0\tx\n",
            "line 3, column 9: expected a weight above 0 and at most 1, found '0'",
        ),
        (
            "1\t2\t0.2\tw\tx\n",
            "line 3, column 9: expected a weight above 0 and at most 1, found 'w'",
        ),
    ):
        fails(good + line, "eachmovie", match)
        batch, stream = only(good + line + good, "eachmovie", skip_bad=True)
        assert (len(batch), stream.skipped.count) == (4, 1)


def test_folders_within_folders(tmp_path):
    """The layout of the Industry Sector pages: sectors, in them industries, in them pages as
    they were crawled.
    """
    pages = {
        "energy.sector/oil.industry/http:^^a": (
            "HTTP/1.0 200 OK\nDate: today\nServer: x\n\n<html>Oil\n\n<b>wells</b>"
        ),
        "energy.sector/coal.industry/http:^^b": "<html>\nCoal: black\n\nmines</html>",
        "energy.sector/http:^^c": "Content-type: text/html\n\nEnergy caf\u00e9",
    }
    for name, page in pages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(page, encoding="latin-1")
    (batch,) = read(tmp_path, encoding="latin-1", innermost=True)
    found = dict(
        zip(map(page_text, batch.texts), (label for (label,) in batch.labels), strict=True)
    )
    assert found == {
        "Oil wells": "oil.industry",
        "Coal: black mines": "coal.industry",
        "Energy café": "energy.sector",
    }
    (batch,) = read(tmp_path, encoding="latin-1")
    assert {label for (label,) in batch.labels} == {"energy.sector"}


def test_books(tmp_path):
    (tmp_path / "b.txt").write_text("Second\n\nbook")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"First\r\nbook"))
    (tmp_path / "notes.md").write_text("no book")
    assert sniff(tmp_path) == "books"
    (batch,) = read(tmp_path)
    assert (batch.texts, batch.ids) == (["First\nbook", "Second\n\nbook"], ["a.txt.gz", "b.txt"])
    (batch,) = read(tmp_path / "b.txt", "books")
    assert batch.texts == ["Second\n\nbook"]
    with pytest.raises(
        InputError, match=r"b.txt: expected a text of at most 5 bytes, found a longer one"
    ):
        list(read(tmp_path / "b.txt", "books", max_record=5))


# Parquet and frames

COLUMNS = {
    "text": ["a", "b", "c"],
    "labels": [["x", "y"], [], ["z"]],
    "n": [1, 2, 3],
    "stars": [1.5, 2.0, 3.0],
}


@pytest.fixture(params=["pandas", "polars", "parquet", "parquet.gz", "stream"])
def table(request, tmp_path):
    """A function that turns columns into something to read."""

    def make(columns):
        if request.param == "pandas":
            return pandas.DataFrame(columns)
        frame = polars.DataFrame(columns, strict=False)
        if request.param == "polars":
            return frame
        file = io.BytesIO()
        frame.write_parquet(file)
        if request.param == "stream":
            return io.BytesIO(file.getvalue())
        path = tmp_path / f"table.{request.param}"
        path.write_bytes(
            file.getvalue() if request.param == "parquet" else gzip.compress(file.getvalue())
        )
        return path

    return make


def test_tables(table):
    (batch,) = read(table(COLUMNS))
    assert (batch.texts, batch.labels) == (["a", "b", "c"], [["x", "y"], [], ["z"]])
    (batch,) = read(table(COLUMNS), labels="n", id="text", rating="stars")
    assert (batch.labels, batch.ids, batch.ratings.tolist()) == (
        [["1"], ["2"], ["3"]],
        ["a", "b", "c"],
        [1.5, 2, 3],
    )
    (batch,) = read(table({"text": ["a", "b"], "labels": ["x; y", None]}), label_separator=";")
    assert batch.labels == [["x", "y"], []]
    (batch,) = read(table({"text": ["only texts"]}))
    assert batch.labels is None
    assert [len(batch) for batch in read(table(COLUMNS), batch=1)] == [1, 1, 1]


def test_bad_tables(table):
    for options, match in (
        (
            {"text": "body"},
            "expected a column 'body' for text, found 'text', 'labels', 'n', 'stars'",
        ),
        ({"labels": "tags"}, "expected a column 'tags' for labels"),
        ({"text": "n"}, "row 0: expected text in 'n', found 1"),
        ({"rating": "text"}, "row 0: expected a number in 'text', found 'a'"),
        ({"id": "stars"}, "row 0: expected text or a whole number in 'stars', found 1.5"),
        ({"labels": "stars"}, "row 0: expected a label or a list of labels in 'stars', found 1.5"),
    ):
        with pytest.raises(InputError, match=match):
            list(read(table(COLUMNS), **options))
    stream = read(table({"text": ["a", None, "c"]}), skip_bad=True)
    assert [batch.texts for batch in stream] == [["a", "c"]]
    assert "row 1" in stream.skipped.sentences[0]


def test_parquet_that_ends_the_process_which_decodes_it():
    # one of its pages asks for 2**61 bytes
    path = Path(__file__).parents[1] / "fixtures" / "abort.parquet"
    with pytest.raises(InputError, match=r"cannot read .*abort\.parquet: "):
        list(read(path))


def test_a_reader_of_parquet_that_is_left_ends(tmp_path, monkeypatch):
    started, start = [], subprocess.Popen
    monkeypatch.setattr(
        subprocess,
        "Popen",
        lambda *args, **more: started.append(start(*args, **more)) or started[-1],
    )
    path = tmp_path / "long.parquet"
    polars.DataFrame({"text": ["a"] * 100_000}).write_parquet(path)
    batches = iter(read(path, batch=1))
    assert len(next(batches)) == 1
    assert [process.poll() for process in started] == [None]
    batches.close()
    del batches
    assert [process.poll() is None for process in started] == [False]


def test_parquet_that_is_none(tmp_path):
    fails(b"PAR1 and nothing more", "parquet", "cannot read <BytesIO>")
    fails(b"text", "parquet", "expected a Parquet file, which begins with PAR1, found 'text'")
    frame = pandas.DataFrame([["a", "b"]], columns=["text", "text"])
    with pytest.raises(InputError, match="the frame has more than one column 'text'"):
        list(read(frame))
    with pytest.raises(InputError, match="expected a path, '-', an open binary file or a frame"):
        read(polars.LazyFrame(COLUMNS))
