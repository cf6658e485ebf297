"""A small file of each format."""

import io

import polars
import xlsxwriter

ARFF = """% a comment
@relation 'music: -C 2'
@attribute happy {0,1}
@attribute 'very sad' {0, 1}
@attribute tempo numeric
@ATTRIBUTE key {c, 'd sharp', e}
@data
{0 1,2 0.5, 3 'd sharp'}

1,1,-2,c
{}
"""

SGML = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="11">
<TOPICS><D>grain</D><D>wheat</D></TOPICS>
<PLACES><D>usa</D></PLACES>
<TEXT>&#2;
<TITLE>WHEAT &lt;UP></TITLE>
<DATELINE>    PARIS, Feb 26 - </DATELINE><BODY>Caf\u00e9s & more
Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TEST" NEWID="12">
<TOPICS></TOPICS>
<TEXT TYPE="UNPROC">&#2;
raw text &amp; more&#3;</TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" NEWID="13">
<TOPICS><D>oil</D></TOPICS>
<TEXT TYPE="BRIEF"><TITLE>OIL</TITLE></TEXT>
</REUTERS>
""".encode("latin-1")

CRAN = (
    ".I 7\n.T\nwings and\nthings .\n.A\nx\n.W\nwings and\nthings .\n  a study .\n.I "
    "8\n.T\ntitle\n.A\n.W\nbody\n"
)

TREC_DOCUMENTS = """<DOC>
<DOCNO>WTX001-B01-1</DOCNO>
<DOCOLDNO>IA001-000000-B001-1</DOCOLDNO>
<DOCHDR>
http://beavers.example:80/ 10.0.0.1 19970101000000 text/html 99
HTTP/1.0 200 OK
</DOCHDR>
<html><head><title>Beavers &amp; dams</title><style>p {color: red}</style></head>
<!-- not <b>shown</b> -->
<body><p class="x">Beavers build
dams.</body></html>
</DOC>
<DOC>
<DOCNO> WTX001-B01-2 </DOCNO>
<TEXT>if 3 < 4 then caf\u00e9</TEXT>
</DOC>
""".encode("latin-1")

TREC_TOPICS = b"""<top>

<num> Number: 451
<title> beavers in salt water

<desc> Description:
Where do beavers
live?

<narr> Narrative:
Rivers are relevant.

</top>

<top>
<num>452
<title>dams
<desc>Who builds dams?
</top>
"""


def parquet(columns):
    file = io.BytesIO()
    polars.DataFrame(columns).write_parquet(file)
    return file.getvalue()


def spreadsheet(rows):
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    return file.getvalue()


SAMPLES = {
    "json-lines": b'{"text": "\xc3\xa9 \\u00e9", "labels": ["grain", 2]}\n\n{"labels": "x", "text": "b", "n": 1e5}\n',
    "doccano": b'{"id": 1, "text": "\xc3\xa9", "label": ["grain", "2"], "n": "anna"}\n{"text": "b", "label": []}\n',
    "label-studio": b'[{"id": 1, "data": {"text": "\xc3\xa9"}, "annotations": [{"result": [{"from_name": "topic", '
    b'"value": {"choices": ["grain"]}}]}]},\n{"data": {"text": "b"}, "annotations": []}]\n',
    "json": b'[ {"text": "\xc3\xa9 }", "labels": ["grain", 2]},\n{"labels": "x", "text": "b", "n": {"m": [1]}}]\n',
    "csv": b'text,labels,n\n"a ""b""\nc",x;y,1\nplain,z,2\n',
    "tsv": b"p1 p2\tA title\np3\tAnother\n",
    "numbers": b"a,b,c\n1,2.5,x\n-3e2,4,y\n",
    "fasttext": b"__label__a __label__b some text\nno label\n",
    "lines": b"one\r\ntwo\n\nthree",
    "svmlight": b"1,2 1:0.5 7:-2e-3 # c\n3 qid:4 2:12345678901234567890\n\n 1:1\n",
    "letor": b"2 qid:10 1:0.5 2:0 #docid = 1\n0 qid:11 2:1\n",
    "arff": ARFF.encode(),
    "reuters": SGML,
    "cranfield": CRAN.encode(),
    "cranqrel": b"1 184 2 \n1 29  -1\n",
    "trec-documents": TREC_DOCUMENTS,
    "trec-topics": TREC_TOPICS,
    "rcv1-tokens": b".I 2286\n.W\nrecov recov excit\nmexic\n\n.I 2287\n.W\nusa\n",
    "rcv1-qrels": b"E11 2286 1\nECAT 2286 1\n",
    "eachmovie": b"1\t7\t.8\t1\t10/22/96 0:00:00\n2\t7\t0\t.5\t10/22/96 0:00:00\n",
    "movielens": b"196\t242\t3\t881250949\n186\t302\t3\t891717742\n",
    "qrels": b"q1 0 d-1 2\nq2 0 d-2 -1\n",
    "run": b"q1 Q0 d-1 1 9.5 mine\n",
    "books": b"A book.\n",
    "spreadsheet": spreadsheet([["text", "labels"], ["a", "x"], [], ["b\nc", 17]]),
    "parquet": parquet({"text": ["a", "b"], "labels": [["x"], ["y", "z"]]}),
}
