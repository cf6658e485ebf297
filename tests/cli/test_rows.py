"""Labels of rows of numbers on the terminal: train, learn, rank, evaluate on a table."""

import numpy as np
import pytest

import shortlist as sl
from tests.cli.test_bad_input import refused


@pytest.fixture
def animals(tmp_path):
    """A table whose kinds are told by its largest number."""
    random = np.random.default_rng(0)
    lines = ["wings,kind,paws"]
    lines += [
        f"{a:.3f},{'bird' if a > b else 'cat'},{b:.3f}" for a, b in random.random((300, 2)).tolist()
    ]
    (tmp_path / "animals.csv").write_text("\n".join(lines[:201]) + "\n")
    (tmp_path / "more.csv").write_text("\n".join([lines[0], *lines[201:]]) + "\n")
    (tmp_path / "new.csv").write_text("wings,paws\n0.9,0\n0,0.9\n")
    return tmp_path / "animals.csv"


@pytest.fixture
def model(run, animals):
    result = run("train", animals, "--target", "kind")
    assert result.code == 0, result.err
    return animals.with_name("animals.shortlist")


def test_labels_of_a_table_are_learned_and_ranked(run, model):
    assert type(sl.load(model)) is sl.RowCategorizer
    assert sl.load(model).learner_.feature_names_in_.tolist() == ["wings", "paws"]
    assert [line.split("\t")[0] for line in run("rank", model, "new.csv").out.splitlines()] == [
        "bird",
        "cat",
    ]
    assert (
        run("evaluate", model, "more.csv", "--target", "kind", "--json").json["measures"]["R1"][
            "value"
        ]
        > 0.9
    )
    assert "100 examples" in run("learn", model, "more.csv", "--target", "kind").out
    assert sl.load(model).learner_.n_examples_ == 300
    assert "wings" in run("inspect", model).out
    assert (
        run("train", "animals.csv", "--format", "numbers", "--target", "kind", "-o", "same").code
        == 0
    )
    assert sl.load("same").learner_.feature_names_in_.tolist() == ["wings", "paws"]


def test_other_columns_are_refused(run, model, tmp_path):
    (tmp_path / "turned.csv").write_text("paws,wings\n0.9,0\n")
    refused(
        run("rank", model, "turned.csv"),
        "the columns are paws, wings, and the model learned from wings, paws",
    )
    refused(run("evaluate", model, "more.csv"), "'kind', found 'cat'", "named with --target")


def test_a_model_that_is_trained_anew_may_have_other_columns(model, tmp_path):
    (tmp_path / "turned.csv").write_text("paws,wings,kind\n0.9,0,cat\n0,1,bird\n")
    batches = sl.read(tmp_path / "turned.csv", "numbers", target="kind")
    assert sl.load(model).fit_batches(batches).learner_.feature_names_in_.tolist() == [
        "paws",
        "wings",
    ]


def test_a_target_is_for_numbers(run, animals, news):
    refused(
        run("train", news, "--target", "labels"), "not for json-lines; name --label-column instead"
    )
    animals.write_text("text,kind\nit has wings,bird\nit has paws,cat\n")
    refused(
        run("train", animals, "--target", "kind"),
        "to learn from texts, name their column with --text-column",
    )
    assert run("train", animals, "--text-column", "text", "--target", "kind").code == 0
    refused(
        run("train", animals, "--target", "kind", "--workers", "1"),
        "on one machine; leave out --workers",
    )


@pytest.mark.parametrize("verb", ["compare", "inspect"])
def test_other_verbs_read_the_same_table(run, animals, verb):
    more = ("--splits", "1", "--learners", "rocchio") if verb == "compare" else ()
    assert run(verb, animals, "--target", "kind", *more).code == 0


def test_no_value_is_taken_for_nought_because_it_is_negative(run, model, tmp_path):
    (tmp_path / "negative.svm").write_text("+1 1:0.5 2:-3\n-1 1:0.5 2:3\n" * 3)
    for command in (
        ("rank", model),
        ("evaluate", model),
        ("learn", model),
        ("train", "--learner", "feature-focus"),
    ):
        refused(run(*command, "negative.svm"), "Negative values in data: ", " holds -3")
    assert run("train", "negative.svm").code == 0  # as vectors


def test_an_audit_of_rows_says_that_it_needs_texts(run, animals):
    refused(run("audit", animals, "--target", "kind"), "holds rows of numbers", "audit needs texts")
