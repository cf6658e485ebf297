"""A vocabulary's hierarchy on the terminal: measures that know it."""

import json

import pytest

NAMES = {
    "c1": "crops",
    "c2": {"name": "wheat", "broader": ["c1"]},
    "c3": {"name": "corn", "broader": ["c1"]},
    "c4": "money",
}


@pytest.fixture
def data(tmp_path):
    rows = [
        ("wheat exports rose", "c2"),
        ("corn fell again", "c3"),
        ("the bank raised rates", "c4"),
    ] * 8
    lines = (json.dumps({"text": text, "labels": [label]}) + "\n" for text, label in rows)
    (tmp_path / "data.jsonl").write_text("".join(lines))
    (tmp_path / "names.json").write_text(json.dumps(NAMES))
    return tmp_path / "data.jsonl"


def test_evaluate_knows_what_is_near(run, data, tmp_path):
    assert run("train", data, "--vocabulary", "names.json").code == 0
    (tmp_path / "near.jsonl").write_text('{"text": "wheat exports rose", "labels": ["c3"]}\n' * 2)
    found = run("evaluate", "data.shortlist", "near.jsonl", "--json").json["hierarchy"]
    # wheat for corn: crops is right
    assert found["the best"] == pytest.approx({"hP": 0.5, "hR": 0.5, "hF": 0.5})
    assert (
        "By the hierarchy of the vocabulary" in run("evaluate", "data.shortlist", "near.jsonl").out
    )


def test_a_vocabulary_without_a_hierarchy_says_nothing_of_it(run, data, tmp_path):
    (tmp_path / "flat.tsv").write_text("c2\twheat\nc3\tcorn\nc4\tmoney\n")
    assert run("train", data, "--vocabulary", "flat.tsv").code == 0
    assert "hierarchy" not in run("evaluate", "data.shortlist", "data.jsonl", "--json").json
