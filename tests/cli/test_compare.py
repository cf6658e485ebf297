"""Learners side by side."""

import json

import pytest

from shortlist.models.learners import learners
from tests.cli.test_bad_input import refused


@pytest.fixture
def many(tmp_path):
    """Sixty texts whose label follows from one word among others."""
    path = tmp_path / "many.jsonl"
    words = {"grain": "wheat", "money": "bank", "space": "orbit"}
    lines = []
    for n in range(60):
        label = list(words)[n % 3]
        lines.append(json.dumps({"text": f"the {words[label]} of day {n % 7}", "labels": [label]}))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_learner_on_the_same_splits(run, many):
    result = run("compare", many, "--learners", "all", "--splits", 2, "--json")
    assert result.code == 0, result.err
    found = {one["name"]: one for one in result.json["learners"]}
    assert list(found) == list(learners("categories"))
    assert found["feature-focus"]["quality"]["R1"] == [1.0, 1.0]
    assert found["ovr-svm"]["quality"]["R1"] == [1.0, 1.0]
    assert max(found["frequency"]["quality"]["R1"]) < 0.7
    pairs = {(one["first"], one["second"]): one for one in result.json["differences"]}
    assert pairs["feature-focus", "frequency"]["wilcoxon"] < 0.05
    assert pairs["feature-focus", "frequency"]["difference"] > 0.3


def test_the_table_names_what_is_more_than_chance(run, many):
    shown = run("compare", many, "--learners", "feature-focus,frequency", "--splits", 3).out
    assert "feature-focus > frequency" in shown
    assert "yes" in shown


def test_bad_comparisons(run, many, tmp_path):
    refused(run("compare", many, "--learners", "oracle"), "oracle", "rocchio")
    refused(run("compare", many, "--held-out", 2), "--held-out")
    refused(run("compare", many, "--learners", " , "), "--learners", "rocchio")
    result = run("compare", many, "--seed", -1)
    assert (result.code, "'--seed'" in result.err) == (2, True)
    (tmp_path / "one.jsonl").write_text('{"text": "a b", "labels": ["x"]}\n')
    refused(run("compare", "one.jsonl"), "two examples")


def test_any_of_them_can_be_trained(run, many):
    assert run("train", many, "--learner", "mmp1", "--set", "passes=2").code == 0
    assert run("rank", "many.shortlist", "--text", "wheat", "--json").json["labels"][0] == "grain"
