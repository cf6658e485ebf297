"""Run the command line inside the test process: fast, and with what it printed."""

import io
import json
import re
import sys
from typing import NamedTuple

import pytest


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """run("rank", "model", stdin=…) -> Result; in a folder of its own."""
    from shortlist.cli import app, main

    monkeypatch.chdir(tmp_path)

    def call(*arguments, stdin="", command=app):
        monkeypatch.setattr(sys, "argv", ["shortlist", *map(str, arguments)])
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        with pytest.raises(SystemExit) as ended:
            main(command)
        printed = capsys.readouterr()
        said = re.sub("shortlist: compiling .*…\n", "", printed.err)
        return Result(int(ended.value.code or 0), printed.out, said)

    return call


EXAMPLES = [
    ("wheat exports rose", ["grain", "trade"]),
    ("wheat and corn prices", ["grain"]),
    ("corn harvest", ["grain"]),
    ("the bank raised its rates", ["money"]),
    ("rates of the central bank", ["money"]),
    ("bank rates fell", ["money"]),
]


@pytest.fixture
def news(tmp_path):
    """A small file of labelled texts."""
    path = tmp_path / "news.jsonl"
    path.write_text(
        "".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in EXAMPLES)
    )
    return path


@pytest.fixture
def model(run, news):
    assert run("train", news).code == 0
    return news.with_name("news.shortlist")
