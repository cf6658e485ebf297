"""Spot checks on the terminal: taught, shown, and a pause that is an exit code."""

import json

import shortlist as sl

WORDS = {"fruit": ["apple", "pear", "plum"], "metal": ["iron", "zinc", "lead"]}


def lines(n, swapped=False):
    names = list(WORDS)
    for i in range(n):
        name = names[i % 2]
        label = names[(i + swapped) % 2]
        words = [WORDS[name][i % 3], WORDS[name][i // 3 % 3], f"any{i % 5}"]
        yield json.dumps({"text": " ".join(words), "labels": [label]})


def test_checks_are_taught_shown_and_pause(run, tmp_path):
    model, checks = tmp_path / "m.shortlist", tmp_path / "checks.jsonl"
    first = [json.loads(line) for line in lines(400)]
    sl.Categorizer().fit([one["text"] for one in first], [one["labels"] for one in first]).save(
        model
    )
    checks.write_text("\n".join(lines(64)))
    assert run("learn", model, checks, "--checked").code == 0
    assert "Spot checks at 0.95: 100.0% right, at least" in run("inspect", model).out
    facts = json.loads(run("inspect", model, "--json").out)
    assert facts["spot_checks"]["0.95"].endswith("64 checked")
    done = run("rank", model, "--text", "apple pear any1", "--precision", "0.9")
    assert (done.code, "fruit" in done.out) == (0, True)
    checks.write_text("\n".join(lines(32, swapped=True)))
    assert run("learn", model, checks, "--checked").code == 0
    done = run("rank", model, "--text", "apple pear any1", "--precision", "0.9")
    assert done.code == 3
    assert "nothing is assigned at 0.9, since spot checks showed" in done.err
    texts = tmp_path / "texts.txt"
    texts.write_text("apple pear any1\niron zinc any2\n")
    done = run("rank", model, texts, "--precision", "0.9", "--json")
    assert done.code == 3
    assert [json.loads(line)["reason"] for line in done.out.splitlines()] == [
        "paused by spot checks"
    ] * 2


def test_only_models_of_labels_are_checked(run, tmp_path):
    ratings = tmp_path / "ratings.jsonl"
    ratings.write_text("".join(f'{{"text": "good {n}", "rating": {n % 3}}}\n' for n in range(30)))
    model = tmp_path / "r.shortlist"
    assert run("train", ratings, "--task", "ratings", "--target", "rating", "-o", model).code == 0
    done = run("learn", model, ratings, "--target", "rating", "--checked")
    assert (done.code, "for models of labels" in done.err) == (2, True)
