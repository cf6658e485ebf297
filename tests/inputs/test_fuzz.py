"""Whatever the bytes, no parser raises anything but the project's own errors, and none drops a line
silently.

SHORTLIST_FUZZ says how many inputs each test tries; before a release, try some thousands.
"""

import bz2
import gzip
import io
import lzma
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import ShortlistError
from shortlist.inputs import FORMATS, read
from shortlist.inputs.source import _zstd
from tests.inputs.samples import SAMPLES

MANY = settings(max_examples=int(os.environ.get("SHORTLIST_FUZZ", "40")))
OPTIONS = [{}, {"id": "n"}, {"rating": "n"}, {"label_separator": ";"}]


def test_every_format_has_a_sample():
    assert SAMPLES.keys() == FORMATS.keys() - {"frame", "folders"}


PIECES = st.one_of(
    st.binary(max_size=4),
    st.sampled_from(
        [
            b"\n",
            b"\r\n",
            b"\t",
            b" ",
            b":",
            b",",
            b'"',
            b"{",
            b"}",
            b"#",
            b"0",
            b"-",
            b"9" * 30,
            b"1e9",
        ]
    ),
    st.sampled_from([b"qid:", b"__label__", b"@data\n", b".I ", b"\xef\xbb\xbf"]),
    st.sampled_from([b"</REUTERS>", b"<REUTERS ", b"<DOC>", b"</top>"]),
)


@st.composite
def damaged(draw, sample):
    """A sample with some pieces cut out, put in, or doubled."""
    data = sample
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(
            st.integers(start, min(len(data), start + draw(st.sampled_from([0, 1, 3, 20, 1000]))))
        )
        middle = draw(st.one_of(PIECES, st.just(data[start:end] * 2), st.just(b"")))
        data = data[:start] + middle + data[end:]
    return data


def consume(data, format, **options):
    """Read all, and give the number of examples and the stream, or None if the whole input was
    refused.
    """
    count, said = 0, ""
    try:
        stream = read(io.BytesIO(data), format, **options)
        for batch in stream:
            lengths = {
                values.n_rows if name == "rows" else len(values) for name, values in batch.columns()
            }
            assert len(lengths) == 1  # every field has one entry for each example
            for text in batch.texts or ():
                text.encode()  # there are no halves of characters
            count += len(batch)
    except ShortlistError as problem:
        said = str(problem)
    assert len(said) < 1000
    assert "\n" not in said
    return None if said else (count, stream)


DECODED = ("parquet", "spreadsheet")  # each in a process of its own


@pytest.mark.long
@pytest.mark.parametrize("format", [name for name in SAMPLES if name not in DECODED])
@MANY
@given(data=st.data())
def test_damaged_files(format, data):
    damage = data.draw(damaged(SAMPLES[format]))
    chosen = data.draw(st.sampled_from(OPTIONS)) if format in ("json-lines", "csv", "tsv") else {}
    chosen = {"target": data.draw(st.sampled_from("cb"))} if format == "numbers" else chosen
    batch = data.draw(st.sampled_from([1, 7, 1 << 18]))
    longest = data.draw(st.sampled_from([10, 1 << 20]))
    kept = consume(damage, format, skip_bad=True, batch=batch, max_record=longest, **chosen)
    whole = consume(damage, format, batch=batch, max_record=longest, **chosen)
    if whole is not None:  # nothing was bad: skipping bad records changes nothing
        assert kept is not None
        assert kept[0] == whole[0]
        assert not kept[1].skipped
    if kept is not None and kept[1].skipped:
        assert whole is None


RECORDS = {"reuters", "cranfield", "trec-documents", "trec-topics", "rcv1-tokens"}
OTHERS = {"csv", "json", "arff", "books", *DECODED, "label-studio", *RECORDS}
LINE_BY_LINE = sorted(SAMPLES.keys() - OTHERS)


def is_blank(line):
    return not line.decode("utf-8", "replace").strip()


IS_BLANK = {
    "json-lines": lambda line: not line.strip(),
    "tsv": lambda line: not line,
    "numbers": lambda line: not line,
    "lines": lambda line: False,
    "svmlight": lambda line: not line.split(b"#")[0].strip(b" \t"),
    "letor": lambda line: not line.split(b"#")[0].strip(b" \t"),
}


@pytest.mark.parametrize("format", LINE_BY_LINE)
@MANY
@given(data=st.data())
def test_every_line_is_read_or_counted(format, data):
    damage = data.draw(damaged(SAMPLES[format] * 2))
    batch = data.draw(st.sampled_from([1, 7, 1 << 18]))
    options = {"tsv": {"text": 0}, "numbers": {"target": "c", "quote": None}}.get(format, {})
    found = consume(damage, format, skip_bad=True, batch=batch, **options)
    if found is not None and not damage.startswith((b"\xff\xfe", b"\xfe\xff")):
        lines = damage.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
        if not lines[-1].removesuffix(b"\r"):
            lines.pop()
        full = [line for line in lines if not IS_BLANK.get(format, is_blank)(line)]
        header = found[1].columns is not None
        assert found[0] + found[1].skipped.count == len(full) - header


@MANY
@given(st.binary(max_size=200))
def test_any_bytes_in_any_format(data):
    for format in (None, *SAMPLES):
        if format not in DECODED or not data.startswith((b"PAR1", b"PK")):
            consume(data, format)


@MANY
@given(st.sampled_from(sorted(SAMPLES)), st.sampled_from(["gz", "xz", "bz2", "zst"]), st.data())
def test_damaged_archives(format, kind, data):
    zst = getattr(_zstd(), "compress", bytes)
    compress = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress, "zst": zst}[kind]
    consume(data.draw(damaged(compress(SAMPLES[format]))), None)


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))  # each takes a process
@pytest.mark.parametrize("format", DECODED)
def test_damaged_in_a_process(format, part):
    data = bytearray(SAMPLES[format])
    data[part * len(data) // 20] ^= 0x5A
    consume(bytes(data), format)
