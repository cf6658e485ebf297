"""What is printed where the output cannot take every letter: on Windows, in old locales, or
half a character.
"""

import io
import json
import sys

import pytest

from shortlist import Categorizer
from shortlist.cli import main

LABELS = ["caf\u00e9", "\U0001f600", "half \ud800 a character"]


@pytest.fixture
def printed(monkeypatch, tmp_path):
    Categorizer().fit(["one two", "two three", "three one"], LABELS).save(
        tmp_path / "odd.shortlist"
    )
    (tmp_path / "some.jsonl").write_text(json.dumps({"text": "one two", "labels": [LABELS[0]]}))
    monkeypatch.chdir(tmp_path)

    def call(encoding, *arguments):
        output = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setattr(sys, "argv", ["shortlist", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        return output.buffer.getvalue().decode(encoding)

    return call


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_every_label_can_be_printed(printed, encoding):
    answer = json.loads(
        printed(encoding, "rank", "odd.shortlist", "--text", "one two three", "-k", "3", "--json")
    )
    assert sorted(answer["labels"]) == sorted(LABELS)
    assert "half \\ud800 a character" in printed(
        encoding, "rank", "odd.shortlist", "--text", "one two three", "-k", "3"
    )
    assert "R1" in printed(encoding, "evaluate", "odd.shortlist", "some.jsonl")
    assert "half" in printed(encoding, "inspect", "odd.shortlist")
