"""Labels assigned, lists with a promise, and how well they fare, from the command line."""

import json
import random
from pathlib import Path

import numpy as np
import pytest


def write(path, n, seed):
    random = np.random.default_rng(seed)
    with open(path, "w") as file:
        for _ in range(n):
            own = int(random.integers(8))
            topics = [own if random.random() > 0.5 else int(random.integers(8)) for _ in range(5)]
            text = " ".join(f"w{topic}x{random.integers(4)}" for topic in topics)
            file.write(json.dumps({"text": text, "labels": [f"label {own}"]}) + "\n")


@pytest.fixture
def trained(run, tmp_path):
    write(tmp_path / "train.jsonl", 1500, 0)
    write(tmp_path / "test.jsonl", 2000, 1)
    assert run("train", "train.jsonl", "-o", "m").code == 0
    return "m"


def records(result):
    assert result.code == 0, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def test_rank_gives_probabilities(run, trained):
    for found in records(run("rank", trained, "test.jsonl", "--json")):
        assert len(found["probabilities"]) == len(found["labels"]) == len(found["scores"])
        assert all(0 <= p <= 1 for p in found["probabilities"])
    likely = records(run("rank", trained, "test.jsonl", "--json", "--min-probability", "0.2"))
    assert min(min(found["probabilities"]) for found in likely if found["labels"]) >= 0.2
    assert "probability" in run("rank", trained, "--text", "w1x1").out


def test_lists_grow_with_coverage(run, trained):
    sizes = []
    for coverage in ("0.9", "0.98"):
        lists = records(run("rank", trained, "test.jsonl", "--json", "--coverage", coverage))
        sizes.append(np.mean([len(found["labels"]) for found in lists]))
    assert 1 <= sizes[0] < sizes[1]


def test_labels_are_assigned_or_not_and_why(run, trained):
    truth = [json.loads(line)["labels"] for line in Path("test.jsonl").read_text().splitlines()]
    found = records(run("rank", trained, "test.jsonl", "--json", "--precision", "0.9"))
    decided = [
        (own["labels"], true) for own, true in zip(found, truth, strict=True) if own["labels"]
    ]
    assert 300 < len(decided) < 2000
    assert np.mean([labels == true for labels, true in decided]) > 0.85
    assert all(own["labels"] or own["reason"] for own in found)
    lines = run(
        "rank", trained, "--format", "lines", "--assign", stdin="w1x1 w1x2 w1x3\nnever seen\n"
    ).out.split("\n")
    assert lines[0].startswith("label 1\t0.")
    assert lines[1:] == ["", ""]
    assert "no known word" in run("rank", trained, "--text", "never seen", "--assign").out
    assert (
        run("rank", trained, "--text", "never seen", "--assign", "--json").json["reason"]
        == "no known word"
    )


def test_what_cannot_be_asked_for_says_so(run, trained, model):
    twice = run("rank", trained, "test.jsonl", "--precision", "0.9", "--coverage", "0.9")
    assert (twice.code, "give one of them" in twice.err) == (2, True)
    assert "precision" in run("rank", trained, "test.jsonl", "--precision", "95").err
    assert "--coverage" in run("rank", trained, "test.jsonl", "--coverage", "95").err
    few = run("rank", model, "--text", "wheat", "--assign")
    assert "not seen enough examples" in few.err


def test_rows_of_features_are_decided_as_texts_are(run):
    Path("rows.svm").write_text("a 1:1 2:1\nb 3:2\n" * 100)
    assert run("train", "rows.svm", "--format", "svmlight", "-o", "rows").code == 0
    Path("new.svm").write_text("a 1:1 2:1\nb 3:2\na 9:1\n")
    found = records(
        run("rank", "rows", "new.svm", "--format", "svmlight", "--precision", "0.9", "--json")
    )
    assert [own["labels"] for own in found] == [["a"], ["b"], []]
    assert found[2]["reason"] == "no known feature"
    lists = records(
        run("rank", "rows", "new.svm", "--format", "svmlight", "--coverage", "0.9", "--json")
    )
    assert [own["labels"] for own in lists] == [["a"], ["b"], []]
    assert "Deciding alone" in run("evaluate", "rows", "rows.svm", "--format", "svmlight").out


def test_evaluate_says_how_well_decisions_fare(run, trained):
    shown = run("evaluate", trained, "test.jsonl").out
    for words in (
        "calibration error",
        "Right as often as it says",
        "Shortlists of all true labels",
        "Deciding alone",
        "micro-F1",
    ):
        assert words in shown
    found = run("evaluate", trained, "test.jsonl", "--json", "--per-label").json
    assert found["labels"]
    sure = found["confidence"]
    assert 0 <= sure["calibration error"] < 0.1
    assert [abs(row["covered"] - row["coverage"]) < 0.04 for row in sure["shortlists"]] == [
        True,
        True,
    ]
    assert sum(one["n"] for one in sure["reliability"]) == 2000
    shares = [row["share"] for row in sure["automation"]]
    assert shares == sorted(shares, reverse=True)
    assert 0.5 < sure["assignments"]["micro-F1"] <= 1


@pytest.mark.long
def test_evaluate_draws_how_sure_it_is(run, trained, tmp_path):
    pytest.importorskip("matplotlib")
    found = run("evaluate", trained, "test.jsonl", "--plot", "pictures", "--json").json[
        "confidence"
    ]
    assert {path.name for path in (tmp_path / "pictures").iterdir()} >= {
        "reliability.png",
        "automation.png",
    }
    curve = found["automation by share"]
    assert [row["share"] for row in curve] == pytest.approx(np.arange(1, 21) / 20)
    assert [row["threshold"] for row in curve] == sorted(
        (row["threshold"] for row in curve), reverse=True
    )
    assert curve[0]["right"] > curve[-1]["right"]


def test_a_model_that_has_seen_little_is_evaluated_as_before(run, model, news):
    assert "confidence" not in run("evaluate", model, news, "--json").json


def test_a_promise_that_cannot_be_kept_is_told_in_a_sentence(run, tmp_path):
    chance = random.Random(0)
    lines = [
        {
            "text": f"word{chance.randrange(40)} word{chance.randrange(40)}",
            "labels": [f"l{chance.randrange(400)}"],
        }
        for _ in range(1500)
    ]
    (tmp_path / "blind.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("train", "blind.jsonl", "-o", "blind").code == 0
    found = run("rank", "blind", "--text", "word1 word2", "--coverage", "0.9")
    assert found.code == 0
    assert "coverage=0.9 cannot be promised: lists of at most 100 labels" in found.err
    assert "UserWarning" not in found.err
