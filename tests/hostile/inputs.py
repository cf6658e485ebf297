"""Samples of every format, damaged: ``python -m tests.hostile.inputs --count 10000``, or ``--long``
for a million.

Each is read as Python reads it or as the command line does, with options and limits of all kinds.
What comes out is looked at: every field has one entry for each example, rows hold what kernels
trust, texts are whole characters.
"""

import bz2
import gzip
import io
import lzma
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from shortlist.cli.options import Reading
from shortlist.inputs import FORMATS, read
from shortlist.inputs.labelled import with_labels
from tests.hostile import batches
from tests.inputs.samples import SAMPLES

MORE = {
    "json-lines": b'{"text":"a b","labels":["x","y"]}\n' * 4
    + b'{"labels":["a\\"b"],"text":"q\\u00e9\\n"}\n',
    "csv": b'id,text,labels,rating\n1,a b,x;y,3\n2,"c\nd",z,4.5\n3,e,,1\n',
    "tsv": b"text\tlabels\na b\tx\nc\ty z\n",
    "svmlight": b"".join(
        b"%d %d:%d.5 %d:1e%d\n" % (i % 3, i % 5 + 1, i, i % 5 + 9, i - 20) for i in range(20)
    ),
    "arff": b"@relation x\n@attribute a numeric\n@attribute b {0,1}\n@data\n1,0\n{1 1}\n",
}
PARQUET = 2000  # one trial in so many is of Parquet, each of which takes a process
BASE = [
    (name, data) for source in (SAMPLES, MORE) for name, data in source.items() if name != "parquet"
]
BASE.append(("svmlight", b"3 10 5\n0,1 0:1 9:2\n\n4 3:1\n"))
PIECES = [
    *(
        b'\n \r\n \r \t : , " "" \' { } [ ] # \\ \\u \\ud800 \\udc00\\ud800 \\u0000 - + . e5 % & < >'.split(
            b" "
        )
    ),
    *(
        b"nan inf 1e999 1e-400 -0 0x10 1_000 null true 0:1 -1:1 1: :1 qid: 2147483647:1 2147483648:1".split()
    ),
    *(
        b"</REUTERS> <REUTERS <DOC> </DOC> <DOCNO> <top> </top> <num> <D> </D> <TEXT> &#2; &#99999999999; PAR1".split()
    ),
    *(
        b'__label__ __label__a @data @relation @attribute .I .W .T __label__ [[[[[[ {"text": "labels":['.split()
    ),
    *(
        b"\0 \xff \xc3 \xed\xa0\x80 \xf4\x90\x80\x80 \xef\xbb\xbf \xff\xfe \xe2\x80\xa8 \xc2\x85".split(
            b" "
        )
    ),
    *(
        b"\x1f\x8b\x08 \xfd7zXZ BZh9 \x28\xb5\x2f\xfd \x0b \x0c \x1a \xe3\x80\x80 \xc2\xa0 \xd9\xa1".split(
            b" "
        )
    ),
    b" ",
    b"@relation -C 9999999\n",
    b"@relation -C -1\n",
    b"@attribute x {",
    b"@attribute 'a\\' numeric\n",
    b"9" * 30,
    b"9" * 400,
    b"9" * 5000,
    b"&#" + b"9" * 5000 + b";",
    b".I " + b"1" * 5000 + b"\n",
    b"[" * 3000,
    b"a" * 5000,
    b"\xe0\xa5\xa7",
]
OPTIONS = {
    "json-lines": [
        {"id": "n"},
        {"rating": "n"},
        {"label_separator": ";"},
        {"text": "labels", "labels": "text"},
    ],
    "csv": [
        {"label_separator": ";"},
        {"text": 0},
        {"text": 0, "labels": 1},
        {"id": "n"},
        {"rating": "n"},
        {"separator": ";"},
        {"separator": ""},
        {"quote": None},
        {"quote": "'"},
        {"quote": ","},
        {"text": 10**9},
        {"text": -1},
        {"quote": 5},
    ],
    "tsv": [{"text": 0}, {"quote": '"'}, {"label_separator": " "}, {"text": 1, "labels": 0}],
    "numbers": [{"target": "c"}, {"target": "b"}],
    "svmlight": [
        {"zero_based": True},
        {"n_features": 5},
        {"rating": True},
        {"n_features": 2**40},
        {"hashed": 3},
        {"hashed": 0},
        {"hashed": 3, "n_features": 3},
        {"n_features": "many"},
    ],
    "letor": [{"zero_based": True}, {"hashed": 2}],
    "arff": [
        {"label_count": 1},
        {"label_count": -1},
        {"label_count": 10**6},
        {"label_count": "x"},
        {"xml": "none"},
    ],
    "reuters": [{"labels": "places"}, {"split": "train"}, {"split": 3}],
    "fasttext": [
        {"label_prefix": "_"},
        {"label_prefix": ""},
        {"label_prefix": "("},
        {"label_prefix": 3},
    ],
    "trec-topics": [{"part": "desc"}, {"part": "x"}],
}
ENCODINGS = [
    "latin-1",
    "utf-16",
    "utf-8-sig",
    "cp1252",
    "ascii",
    "utf-7",
    "shift_jis",
    "utf-32",
    "gb18030",
    "hz",
]
ENCODINGS += [
    "idna",
    "punycode",
    "unicode_escape",
    "rot13",
    "base64",
    "no such",
    "utf-8\0",
    "undefined",
    "iso2022_jp",
]


def mutated(rng, data):
    """The bytes with a few pieces cut out, put in, doubled, flipped or moved."""
    data = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((0, 1, 2, 5, 20, 200)))
        kind = rng.randrange(8)
        if kind < 3:
            data[start:end] = rng.choice(PIECES)
        elif kind == 3:
            del data[start:end]
        elif kind == 4:
            data[start:start] = data[start:end] * rng.choice((1, 2, 50))
        elif kind == 5 and data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif kind == 6:
            lines = bytes(data).split(b"\n")
            rng.shuffle(lines)
            data = bytearray(b"\n".join(lines))
        else:
            data[start:start] = b"\n" + rng.choice(rng.choice(BASE)[1].split(b"\n")) + b"\n"
        del data[100_000:]
    return bytes(data)


def packed(rng, data):
    """The bytes compressed, perhaps twice over or damaged after that."""
    compress = rng.choice((gzip.compress, bz2.compress, lzma.compress))
    data = compress(data)
    if rng.random() < 0.3:
        data += compress(b"more\n")
    if rng.random() < 0.6:
        data = mutated(rng, data)
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.2 else data


def trial(rng):
    """Read one damaged sample."""
    format, data = rng.choice(BASE)
    if rng.randrange(PARQUET) == 0:
        format, data = "parquet", SAMPLES["parquet"]
    data = mutated(rng, data)
    if rng.random() < 0.1 and format != "parquet":
        data = packed(rng, data)
    options = dict(rng.choice([{}, {}, *OPTIONS.get(format, [])]))
    chosen = rng.choice(
        (format,) * 8 + (None, rng.choice([name for name in FORMATS if name != "parquet"]))
    )
    if chosen != format:
        options = {}
    if rng.random() < 0.15:
        options["encoding"] = rng.choice(ENCODINGS)
    if rng.random() < 0.05:
        through_the_command_line(rng, data, chosen, options)
        return
    limits = {
        "batch": rng.choice((1, 7, 64, 1 << 18)),
        "max_record": rng.choice((10, 1 << 20, 1 << 26)),
    }
    for batch in read(io.BytesIO(data), chosen, skip_bad=rng.random() < 0.6, **limits, **options):
        check(batch)


def through_the_command_line(rng, data, format, options):
    """Read a file as ``shortlist train FILE --format … --option NAME=VALUE`` does."""
    encoding = options.pop("encoding", None)
    known = {
        name: options.pop(name) for name in ("text", "labels", "label_separator") if name in options
    }
    reading = Reading(
        format,
        str(known.get("text", "text")),
        str(known.get("labels", "labels")),
        known.get("label_separator"),
        encoding=encoding,
        option=[f"{name}={value}" for name, value in options.items()],
        skip_bad=rng.random() < 0.6,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(
            folder,
            rng.choice(("data", "data.csv", "data.svm", "data.jsonl.gz", "data.txt", "data.qrels")),
        )
        path.write_bytes(data)
        stream = reading.open(str(path))
        for batch in with_labels(str(path), stream, stream):
            check(batch)


def check(batch):
    """That a batch is what the rest of the library trusts it to be."""
    sizes = {values.n_rows if name == "rows" else len(values) for name, values in batch.columns()}
    assert len(sizes) == 1, sizes
    for text in batch.texts or ():
        text.encode()
    for own in batch.labels if batch.labels is not None else ():
        for label in own:
            label.encode()
    for numbers in (batch.ratings, batch.relevance, batch.scores):
        assert numbers is None or np.isfinite(numbers).all()
    if batch.rows is not None:
        indptr, indices, data, n_features = batch.rows
        assert indptr[0] == 0
        assert np.all(indptr[1:] >= indptr[:-1])
        assert indptr[-1] == indices.size == data.size
        assert np.isfinite(data).all()
        assert data.all()
        assert not indices.size or 0 <= indices.min() <= indices.max() < n_features
        for first, last in pairwise(indptr):
            assert np.all(np.diff(indices[first:last]) > 0)


if __name__ == "__main__":
    batches.main("tests.hostile.inputs", trial, "input mutants", long=1_000_000)
