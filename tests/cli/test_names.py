"""Names of labels on the terminal."""

import csv
import io
import json

import pytest

import shortlist as sl
from tests.cli.test_bad_input import refused


@pytest.fixture
def model(run, tmp_path):
    lines = (
        '{"text": "wheat exports rose", "labels": ["c1"]}\n{"text": "bank rates", "labels": ["c2"]}\n'
        * 6
    )
    (tmp_path / "data.jsonl").write_text(lines)
    (tmp_path / "names.tsv").write_text("c1\tgrain\nc2\tmoney\n")
    result = run("train", "data.jsonl", "--vocabulary", "names.tsv", "--policy", "known")
    assert result.code == 0, result.err
    return tmp_path / "data.shortlist"


def test_names_are_shown_in_every_form(run, model):
    assert run("rank", model, "data.jsonl", "-k", "1").out.splitlines()[0].split("\t")[:2] == [
        "c1",
        "grain",
    ]
    assert json.loads(run("rank", model, "data.jsonl", "-k", "1", "--json").out.splitlines()[1])[
        "names"
    ] == ["money"]
    rows = list(
        csv.DictReader(io.StringIO(run("rank", model, "data.jsonl", "-k", "1", "--csv").out))
    )
    assert (rows[0]["label 1"], rows[0]["name 1"]) == ("c1", "grain")
    assert "grain" in run("rank", model, "--text", "wheat").out
    assert run("rank", model, "--text", "wheat", "--json").json["names"][0] == "grain"
    assert "grain (c1)" in run("explain", model, "--text", "wheat").out
    assert run("explain", model, "--text", "wheat", "--json").json["name"] == "grain"
    assert "grain" in run("evaluate", model, "data.jsonl", "--per-label").out


def test_the_policy_is_obeyed(run, model):
    refused(
        run("learn", model, stdin='{"text": "a", "labels": ["c9"]}\n'),
        "the label 'c9' is not one of the 2",
    )
    refused(run("train", "data.jsonl", "--policy", "known"), "name its file with --vocabulary")
    refused(
        run("train", "data.jsonl", "--vocabulary", "names.tsv", "--policy", "x"),
        "--policy must be grow or known",
    )
    grown = run(
        "learn", model, "--vocabulary", "names.tsv", stdin='{"text": "a", "labels": ["c9"]}\n'
    )
    assert grown.code == 0, grown.err
    assert "c9" in sl.load(model).classes_.tolist()
