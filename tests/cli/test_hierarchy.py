"""A vocabulary's hierarchy on the terminal: a learner that goes down it, and measures that know it."""

import json

import pytest

import shortlist as sl
from tests.cli.test_bad_input import refused

NAMES = {
    "c1": "crops",
    "c2": {"name": "wheat", "broader": ["c1"]},
    "c3": {"name": "corn", "broader": ["c1"]},
    "c4": "money",
}


@pytest.fixture
def data(tmp_path):
    rows = [("wheat exports rose", "c2"), ("corn fell again", "c3"), ("the bank raised rates", "c4")] * 8
    lines = (json.dumps({"text": text, "labels": [label]}) + "\n" for text, label in rows)
    (tmp_path / "data.jsonl").write_text("".join(lines))
    (tmp_path / "names.json").write_text(json.dumps(NAMES))
    return tmp_path / "data.jsonl"


def test_top_down_follows_the_vocabulary(run, data, tmp_path):
    result = run("train", data, "--learner", "top-down", "--vocabulary", "names.json", "--set", "sigmoid=fixed")
    assert result.code == 0, result.err
    model = sl.load(tmp_path / "data.shortlist")
    assert dict(model.learner_.tree) == {"c2": "c1", "c3": "c1"}
    assert run("rank", "data.shortlist", "--text", "corn", "--json").json["labels"][0] == "c3"


def test_evaluate_knows_what_is_near(run, data, tmp_path):
    assert run("train", data, "--vocabulary", "names.json").code == 0
    (tmp_path / "near.jsonl").write_text('{"text": "wheat exports rose", "labels": ["c3"]}\n' * 2)
    found = run("evaluate", "data.shortlist", "near.jsonl", "--json").json["hierarchy"]
    assert found["the best"] == pytest.approx({"hP": 0.5, "hR": 0.5, "hF": 0.5})  # wheat for corn: crops is right
    assert "By the hierarchy of the vocabulary" in run("evaluate", "data.shortlist", "near.jsonl").out


def test_a_vocabulary_without_a_hierarchy_says_nothing_of_it(run, data, tmp_path):
    (tmp_path / "flat.tsv").write_text("c2\twheat\nc3\tcorn\nc4\tmoney\n")
    assert run("train", data, "--vocabulary", "flat.tsv").code == 0
    assert "hierarchy" not in run("evaluate", "data.shortlist", "data.jsonl", "--json").json


def test_a_circle_is_refused(run, data, tmp_path):
    (tmp_path / "circle.json").write_text(
        '{"c2": {"name": "a", "broader": ["c3"]}, "c3": {"name": "b", "broader": ["c2"]}}'
    )
    refused(run("train", data, "--learner", "top-down", "--vocabulary", "circle.json"), "the tree leads from")
