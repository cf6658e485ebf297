"""Ratings on the terminal: train, learn, rank, evaluate on a table of numbers."""

import numpy as np
import pytest

import shortlist as sl
from tests.cli.test_bad_input import refused


@pytest.fixture
def stars(tmp_path):
    """A table whose stars follow from its columns, which have very different scales."""
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 3)) * [1, 1000, 0.01] + [0, 5000, 1]
    score = X[:, 0] + (X[:, 1] - 5000) / 1000
    ratings = np.digitize(score, [-1.5, -0.5, 0.5, 1.5]) + 1
    lines = ["length,price,stars,weight"]
    lines += [f"{a},{b},{y},{c}" for (a, b, c), y in zip(X.tolist(), ratings.tolist(), strict=True)]
    (tmp_path / "stars.csv").write_text("\n".join([lines[0], *lines[1:401]]) + "\n")
    (tmp_path / "more.csv").write_text("\n".join([lines[0], *lines[401:]]) + "\n")
    return tmp_path / "stars.csv"


@pytest.fixture
def rater(run, stars):
    result = run("train", stars, "--task", "ratings", "--target", "stars")
    assert result.code == 0, result.err
    return stars.with_name("stars.shortlist")


def test_train_and_evaluate(run, rater):
    model = sl.load(rater)
    assert model.columns_ == ["length", "price", "weight"]
    assert model.classes_.tolist() == [1, 2, 3, 4, 5]
    found = run("evaluate", rater, "more.csv", "--target", "stars", "--json").json
    assert found["measures"]["MAE"]["value"] < 0.25
    assert found["measures"]["within@1"]["value"] > 0.98
    assert np.sum(found["confusion"]) == 200
    shown = run("evaluate", rater, "more.csv", "--target", "stars").out
    assert "Rows are true ratings" in shown


def test_rank_gives_ratings_and_distances(run, rater, tmp_path):
    (tmp_path / "new.csv").write_text("length,price,weight\n3,7000,1\n-3,3000,1\n")
    lines = run("rank", rater, "new.csv").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["5", "1"]
    assert run("rank", rater, "new.csv", "--json").out.splitlines()[0].startswith('{"rating": 5')


def test_inspect(run, rater):
    assert run("inspect", rater, "--json").json["parameters"]["hypothesis"] == "averaged"
    assert "PRank" in (shown := run("inspect", rater).out)
    assert "learned from 400 examples: 5 ratings, 3 features" in shown


def test_learn_goes_on(run, rater):
    result = run("learn", rater, "more.csv", "--target", "stars")
    assert "200 examples" in result.out, result.err
    assert sl.load(rater).n_examples_ == 600


def test_letters_with_a_given_order(run, tmp_path):
    rows = [f"{x},{'DCBA'[x]}" for x in (0, 1, 2, 3) for _ in range(20)]
    (tmp_path / "grades.csv").write_text("points,grade\n" + "\n".join(rows) + "\n")
    train = ("train", "grades.csv", "--task", "ratings", "--target", "grade")
    assert run(*train, "--set", 'scale=["D","C","B","A"]', "--set", "passes=50").code == 0
    assert (
        run("rank", "grades.shortlist", "grades.csv", "--target", "grade")
        .out.split("\n")[0]
        .startswith("D\t")
    )


def test_bad_tables(run, rater, tmp_path):
    (tmp_path / "bad.csv").write_text("length,price,stars,weight\n1,2,3,4\n1,x,3,4\n")
    refused(
        run("train", "bad.csv", "--task", "ratings", "--target", "stars"),
        "bad.csv, line 3",
        "'price'",
        "'x'",
    )
    refused(run("train", "stars.csv", "--task", "ratings"), "--target")
    refused(
        run("train", "bad.csv", "--task", "ratings", "--target", "star"),
        "'star' for the target",
        "'stars'",
    )
    (tmp_path / "other.csv").write_text("height,price,weight\n1,2,3\n")
    refused(run("rank", rater, "other.csv"), "height", "length")
    (tmp_path / "one.csv").write_text("a,stars\n1,3\n2,3\n")
    assert run("train", "one.csv", "--task", "ratings", "--target", "stars").code in (0, 2)
    refused(run("train", "bad.csv", "--task", "poetry"), "--task", "ratings")
    (tmp_path / "outside.csv").write_text("length,price,stars,weight\n1,2,9,4\n")
    assert "Traceback" not in run("evaluate", rater, "outside.csv", "--target", "stars").err


def test_a_table_of_texts_is_told_how_to_be_read(run, tmp_path):
    (tmp_path / "films.csv").write_text("text,stars\na dull film,1\na joy of a film,3\n")
    refused(
        run("train", "films.csv", "--task", "ratings", "--target", "stars"),
        "line 2",
        "--text-column",
    )
    assert (
        run(
            "train", "films.csv", "--task", "ratings", "--target", "stars", "--text-column", "text"
        ).code
        == 0
    )
    (tmp_path / "gaps.csv").write_text("size,stars\nn/a,1\n")
    result = run("train", "gaps.csv", "--task", "ratings", "--target", "stars")
    refused(result, "found 'n/a'")
    assert "--text-column" not in result.err


def test_a_text_where_a_file_belongs(run, rater, tmp_path):
    refused(run("rank", rater, "a joy of a film"), "there is no file or folder a joy of a film")
    assert "--text" not in run("rank", rater, "a joy").err, "this one rates rows"
