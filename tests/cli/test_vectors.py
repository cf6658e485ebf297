"""Vectors on the command line: a column of them, or a file beside the texts; train, learn, rank
and evaluate.
"""

import json

import numpy as np
import pytest

TOPICS = ("grain", "money", "oil")


def done(result):
    assert result.code == 0, result.err
    return result


def refused(result):
    assert result.code == 2, result
    return result.err


@pytest.fixture
def data(tmp_path):
    """Texts that say nothing of their labels, and vectors that say all; as JSON lines, and as a
    file of vectors.
    """
    random = np.random.default_rng(0)
    centres = np.random.default_rng(1).normal(size=(3, 8))
    topics = random.integers(3, size=90)
    vectors = centres[topics] + 0.2 * random.normal(size=(90, 8))
    records = [
        {"text": f"some news {n % 7}", "labels": [TOPICS[c]], "v": v.tolist()}
        for n, (c, v) in enumerate(zip(topics, vectors, strict=True))
    ]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    np.save(tmp_path / "news.npy", vectors.astype(np.float32))
    return tmp_path


def test_a_column_and_a_file_teach_the_same(data, run):
    for name, how in (
        ("column", ["--vector-column", "v"]),
        ("file", ["--vectors", data / "news.npy"]),
    ):
        trained = done(
            run("train", data / "news.jsonl", "--output", data / f"{name}.shortlist", *how)
        ).out
        assert "edges, vectors of 8 numbers.\n" in trained
        found = done(
            run("evaluate", data / f"{name}.shortlist", data / "news.jsonl", *how, "--json")
        ).json
        assert found["measures"]["R1"]["value"] == 1.0
    model = data / "column.shortlist"
    ranked = done(run("rank", model, data / "news.jsonl", "--vector-column", "v", "-k", 1)).out
    again = run(
        "rank",
        data / "file.shortlist",
        data / "news.jsonl",
        "--vectors",
        data / "news.npy",
        "-k",
        1,
    )
    assert ranked == again.out
    assert ranked.count("\n") == 90
    done(run("learn", model, data / "news.jsonl", "--vector-column", "v"))
    facts = done(run("inspect", model, "--json")).json
    assert (facts["examples"], facts["vector"]) == (180, 8)


def test_what_does_not_fit_is_said(data, run):
    model = data / "m.shortlist"
    done(run("train", data / "news.jsonl", "--output", model, "--vector-column", "v"))
    without = refused(run("rank", model, data / "news.jsonl"))
    assert (
        "was learned with vectors of 8 numbers: give vectors beside the texts (--vectors or "
        "--vector-" in without
    )
    assert "was learned with vectors of 8 numbers" in refused(
        run("rank", model, "--text", "some news")
    )
    np.save(data / "other.npy", np.ones((90, 5)))
    wrong = refused(run("rank", model, data / "news.jsonl", "--vectors", data / "other.npy"))
    assert "vectors of 8 numbers, and these have 5" in wrong
    both = refused(
        run(
            "rank",
            model,
            data / "news.jsonl",
            "--vectors",
            data / "news.npy",
            "--vector-column",
            "v",
        )
    )
    assert "both give vectors" in both
    there = ("--vectors", data / "news.npy", "--workers", 2)
    assert "--vectors is for one machine" in refused(
        run("rank", model, data / "news.jsonl", *there)
    )
    rated = refused(run("train", data / "news.jsonl", "--task", "ratings", "--vector-column", "v"))
    assert "are for labels of texts, not for ratings" in rated
    done(run("train", data / "news.jsonl", "--output", data / "words.shortlist"))
    words = refused(
        run("rank", data / "words.shortlist", data / "news.jsonl", "--vector-column", "v")
    )
    assert "learned without vectors" in words


def test_the_best_settings_are_searched_for_with_vectors_too(data, run):
    for name, how in (
        ("column", ["--vector-column", "v"]),
        ("file", ["--vectors", data / "news.npy"]),
    ):
        model = data / f"{name}.shortlist"
        found = done(
            run(
                "train",
                data / "news.jsonl",
                "--output",
                model,
                *how,
                "--best",
                "--minutes",
                0,
                "--json",
            )
        ).json
        assert (found["vector"], found["examples"], found["search"]["chosen"]) == (
            8,
            90,
            "the usual",
        )
        assert {
            one["name"].partition("(")[0]
            for one in found["search"]["tried"]
            if "text" not in one["name"]
        } == {
            "the usual",
            "TunedIndex",
        }
        scored = done(run("evaluate", model, data / "news.jsonl", *how, "--json")).json
        assert scored["measures"]["R1"]["value"] == 1.0
