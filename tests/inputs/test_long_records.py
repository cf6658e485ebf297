"""The time a parser takes grows with a record, not with its square.

Each record here is so long that a parser which looks at the rest of it again and again would take
hours; all of them together take seconds. They are read in a process that is ended after minutes, on
the slowest of machines.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

PROGRAM = """
import papers
import io, sys
from shortlist.inputs import read
from tests.inputs.test_long_records import LONG
for name, (format, options, data) in LONG.items():
    print(name, flush=True)
    stream = read(io.BytesIO(data), format, skip_bad=True, **options)
    try:
        assert sum(map(len, stream)) + stream.skipped.count > 0, name
    except ValueError as problem:
        assert type(problem).__name__ == "InputError", repr(problem)
"""
N = 500_000
REUTERS = b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1">\n<TEXT>%b</TEXT>\n</REUTERS>\n'
DOCUMENT = b"<DOC>\n<DOCNO>1</DOCNO>\n%b\n</DOC>\n"
LONG = {
    "labels": ("fasttext", {}, b"__label__a " * N + b"x\n"),
    "names that are not closed": (
        "trec-documents",
        {},
        b"<DOC>\n" + b"<DOCNO>" * N + b"\n</DOC>\n",
    ),
    "tags without an end": ("trec-documents", {}, b"<DOC>\n" + b"<DOCNO" * N + b"\n</DOC>\n"),
    "headers that are not closed": ("trec-documents", {}, DOCUMENT % (b"<DOCHDR>" * N)),
    "scripts that are not closed": ("trec-documents", {}, DOCUMENT % (b"<script>" * N)),
    "comments that are not closed": ("trec-documents", {}, DOCUMENT % (b"<!--" * N)),
    "entities that are not closed": ("trec-documents", {}, DOCUMENT % (b"&a" * N)),
    "spaces before a topic's number": (
        "trec-topics",
        {},
        b"<top>\n<num>" + b" " * N + b"<title>x\n</top>\n",
    ),
    "titles of topics": ("trec-topics", {}, b"<top>\n<num>1\n" + b"<title>" * N + b"\n</top>\n"),
    "titles that are not closed": ("reuters", {}, REUTERS % (b"<TITLE>" * N)),
    "an attribute without a value": ("reuters", {}, b"<REUTERS " + b"a" * N + b">\n</REUTERS>\n"),
    "attributes without an end": ("reuters", {}, b"<REUTERS " + b'a="' * N + b">\n</REUTERS>\n"),
    "braces": ("arff", {"label_count": 1}, b"@relation x\n@attribute a" + b"{" * N + b"\n"),
    "a quote that is not closed": ("csv", {"batch": 1000}, b'text\n"' + b"a\n" * N),
    "quotes": ("csv", {}, b'text\n"' + b'""' * N + b"\n" + b'""x\n' * N),
    "digits": ("svmlight", {}, b"1 1:0." + b"7" * N + b"\n"),
    "commas": ("svmlight", {}, b"," * N + b" 1:1\n"),
    "deep lists": ("json-lines", {}, b'{"text": "a", "labels": ' + b"[" * N + b"\n"),
    "escapes": ("json-lines", {}, b'{"text": "' + b"\\ud800" * N + b'"}\n'),
}


@pytest.mark.skipif(sys.platform == "win32", reason="a process is given the tests as a package")
def test_time_does_not_grow_with_the_square_of_a_record():
    root = Path(__file__).parents[2]
    run = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
    )
    try:
        said, _ = run.communicate(timeout=400)
    except subprocess.TimeoutExpired:
        run.kill()
        said, _ = run.communicate()
        pytest.fail(f"still busy with: {said.decode().splitlines()[-1]}")
    assert run.returncode == 0
    assert said.decode().splitlines() == list(LONG)
