"""--dask on the command line: the same lines and the same model files as without it."""

import subprocess

import pytest
from typer.testing import CliRunner

from shortlist.cli import app
from shortlist.errors import InputError

pytestmark = pytest.mark.long


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


@pytest.fixture
def there(client):
    return "--dask", client.scheduler_info()["address"], "--part-size", "0.007"


def test_labels_of_texts(there, json_file, tmp_path):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    run("train", json_file, "-o", here, "--learner", "independent")
    run("train", json_file, "-o", elsewhere, "--learner", "independent", *there)
    assert here.read_bytes() == elsewhere.read_bytes()
    for verb in (
        ["rank"],
        ["rank", "--json", "-k", "2"],
        ["evaluate"],
        ["evaluate", "--per-label", "--json"],
    ):
        expected = run(verb[0], here, json_file, *verb[1:])
        assert run(verb[0], here, json_file, *verb[1:], *there) == expected
    half = tmp_path / "half.jsonl"
    half.write_text("".join(json_file.read_text().splitlines(keepends=True)[:200]))
    twice = run("rank", here, half, half, *there, "--keep", tmp_path / "kept")
    assert twice == 2 * run("rank", here, half)
    assert len(list((tmp_path / "kept").glob("*.part"))) > 2


def test_how_sure_a_model_is_is_said_as_here(there, json_file, tmp_path):
    run("train", json_file, "-o", tmp_path / "m")
    for verb, shown in (
        (["evaluate"], "Deciding alone"),
        (["rank", "--json", "-k", "2"], "probabilities"),
    ):
        expected = run(verb[0], tmp_path / "m", json_file, *verb[1:])
        assert shown in expected
        assert run(verb[0], tmp_path / "m", json_file, *verb[1:], *there) == expected


def test_what_makes_no_sense_is_refused(there, json_file, tmp_path):
    model = tmp_path / "model"
    run("train", json_file, "-o", model, "--learner", "rocchio")
    for words, sentence in (
        (["train", json_file, json_file], "several files are read on a cluster"),
        (["train", json_file, "--keep", tmp_path], "--keep is for a cluster"),
        (["train", "-", *there], "standard input cannot be read in parts"),
        (["train", json_file, "--task", "ratings", *there], "ratings are learned on one machine"),
        (
            ["train", json_file, "--task", "documents", "--workers", 2],
            "documents are learned on one machine",
        ),
        (
            ["train", json_file, "--max-memory", "1GB", "--workers", 2],
            "--max-memory is for one machine",
        ),
        (
            ["evaluate", model, json_file, "--plot", tmp_path, *there],
            "--plot and --errors need the examples here",
        ),
    ):
        with pytest.raises(InputError, match=sentence):
            run(*words)


def test_files_without_examples_are_named(there, json_file, tmp_path):
    header, nothing = tmp_path / "header.csv", tmp_path / "nothing.csv"
    header.write_text("text,labels\n")
    nothing.write_text("")
    (tmp_path / "other.csv").write_text("text,labels\n")
    with pytest.raises(InputError, match=r"header\.csv has no examples; at least one is needed"):
        run("train", header, "-o", tmp_path / "model", *there)
    with pytest.raises(InputError, match=r"nothing\.csv has no examples"):
        run("train", nothing, "-o", tmp_path / "model", *there)
    with pytest.raises(InputError, match=r"header\.csv, .*other\.csv have no examples"):
        run("train", header, tmp_path / "other.csv", "-o", tmp_path / "model", *there)
    words = [
        "train",
        json_file,
        header,
        nothing,
        "--learner",
        "rocchio",
        "-o",
        tmp_path / "model",
        *there,
    ]
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 0
    for file in (header, nothing):
        assert f"{file} has no examples" in done.stderr


def test_workers_of_this_machine(json_file, tmp_path):
    """The whole way, in a process of its own: --workers starts and ends them."""
    import sys

    model = tmp_path / "model"
    words = [
        "train",
        str(json_file),
        "-o",
        str(model),
        "--learner",
        "rocchio",
        "--workers",
        "1",
        "--json",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "shortlist.cli", *words], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == "1 part on 1 worker"
    run("train", json_file, "-o", tmp_path / "here", "--learner", "rocchio")
    assert model.read_bytes() == (tmp_path / "here").read_bytes()
