"""python -m papers: the list, a run with its pages, missing data, failures."""

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import typer

from papers import __main__ as command
from papers import catalogue, running
from papers.catalogue import CATALOGUE
from papers.datasets import DATASETS
from tests.papers import made_up


@pytest.fixture
def papers(run):
    """papers("made-up", "--quick") -> Result."""
    return partial(run, command=lambda: typer.run(command.papers))


@pytest.fixture
def made(monkeypatch, tmp_path):
    """One made-up experiment, beside one that fails."""
    (tmp_path / "data").mkdir()
    failing = made_up.experiment(made_up.run_but_fail, "failing")
    monkeypatch.setattr(
        catalogue, "CATALOGUE", {"made-up": made_up.experiment(), "failing": failing}
    )


def test_every_experiment_can_be_sent_to_a_worker_and_is_described():
    import pickle

    for one in CATALOGUE.values():
        assert pickle.loads(pickle.dumps(one.run)) is one.run
        assert set(one.needs) <= set(DATASETS)
        quick, full = one.jobs(True), one.jobs(False)
        assert 0 < len(quick) <= len(full)
        assert json.loads(json.dumps(full)) == full
        assert len({json.dumps(job, sort_keys=True) for job in full}) == len(full)
        assert one.title
        assert re.search(r"\(paper 00[1-4]\)$", one.paper)


def test_the_list(papers):
    shown = papers("--list")
    assert shown.code == 0
    listed = papers("--list", "--json").json
    assert [one["name"] for one in listed] == list(CATALOGUE)
    for name in CATALOGUE:
        assert name in shown.out


def test_a_run_writes_its_pages_and_goes_on(papers, made, tmp_path):
    result = papers("made-up", "--quick", "--workers", 1)
    assert result.code == 0, result.err
    assert "0.864 ± 0.005" in result.out
    assert "0.865  −0.001" in result.out
    assert "Ours ± spread; below it published and difference. A note & more." in result.out
    assert "Not the paper's data. The <real> one is lost." in result.out
    for name in ("results.html", "results.md", "results.json"):
        assert "0.864" in (tmp_path / "results" / name).read_text(encoding="utf-8")
    assert papers("made-up", "--workers", 1, "--json").json["sections"][0]["jobs"] == 4
    assert len((tmp_path / "data" / "trace").read_text().splitlines()) == 4
    assert papers("made-up", "--workers", 1, "--fresh").code == 0
    assert len((tmp_path / "data" / "trace").read_text().splitlines()) == 8


def test_what_is_kept_is_reported_as_what_it_is(papers, made, tmp_path):
    assert papers("made-up", "--kept").code == 0
    assert "## made-up" not in (tmp_path / "results" / "results.md").read_text(encoding="utf-8")
    assert papers("made-up", "--quick", "--workers", 1).code == 0
    assert papers("made-up", "--kept").code == 0
    assert len((tmp_path / "data" / "trace").read_text().splitlines()) == 2
    written = (tmp_path / "results" / "results.md").read_text(encoding="utf-8")
    assert "Made by `python -m papers made-up --kept`" in written
    assert "; 2 of 4 jobs, " in written
    assert "; 2 of 4 jobs, " in (tmp_path / "results" / "results.html").read_text(encoding="utf-8")
    assert "jobs: `made-up` 2 of 4." in (tmp_path / "results" / "coverage.md").read_text(
        encoding="utf-8"
    )


def test_what_is_too_little_to_be_shown_is_left_out_and_said(papers, made, tmp_path, monkeypatch):
    assert papers("made-up", "--quick", "--workers", 1).code == 0
    greedy = replace(made_up.experiment(), show=lambda done: [done[3]])
    monkeypatch.setattr(catalogue, "CATALOGUE", {"made-up": greedy})
    result = papers("made-up", "--kept")
    assert result.code == 0
    assert "left out made-up: 2 of 4 jobs are kept, which is too few for its tables" in result.err
    assert "## made-up" not in (tmp_path / "results" / "results.md").read_text(encoding="utf-8")


def test_a_failing_experiment_does_not_take_the_others_along(papers, made, tmp_path):
    result = papers("all", "--workers", 1)
    assert result.code == 2
    assert (
        "2 of 4 jobs of failing failed: trial 1 cannot be done on a Sunday (traces are in "
        "results/kept" in result.err
    )
    assert result.err.count("\n") == 2  # where the page is, and this
    assert "made-up: Made up" in result.out
    assert "failing" not in (tmp_path / "results" / "results.html").read_text(encoding="utf-8")


def test_all_leaves_out_what_has_no_data_and_says_so(papers, monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    needy = made_up.experiment(name="needy", needs=("movielens",))
    monkeypatch.setattr(catalogue, "CATALOGUE", {"made-up": made_up.experiment(), "needy": needy})
    result = papers("all", "--quick", "--workers", 1)
    assert result.code == 2
    assert "left out needy: the data set movielens is not in data: MovieLens 100k" in result.err
    assert "0.864" in (tmp_path / "results" / "results.md").read_text(encoding="utf-8")


def test_the_documentation_names_every_experiment_and_data_set():
    page = (Path(__file__).parents[2] / "docs" / "papers" / "README.md").read_text(encoding="utf-8")
    for name in CATALOGUE:
        assert f"`{name}`" in page
    for one in DATASETS.values():
        fetched = "yes" if one.remotes else "no"
        row = next(line for line in page.splitlines() if line.startswith(f"| {one.name} |"))
        assert row.endswith(f"| {fetched} |")
        assert all(f"`{name}`" in row for name in (one.folder, *one.folders, *one.archives))


@pytest.mark.long
@pytest.mark.parametrize("reaches", ["all", "the command alone"])
def test_a_run_that_is_stopped_says_so_and_goes_on(tmp_path, reaches):
    """Ctrl-C at a terminal reaches the command and its workers alike, also those that are still
    starting.
    """
    import os
    import signal
    import subprocess
    import sys
    import time

    code = (
        "from papers.__main__ import main, papers; from papers import catalogue; import typer;"
        "from tests.papers import made_up;"
        "catalogue.CATALOGUE = {'slow': made_up.experiment(made_up.run_when_told, 'slow')};"
        "main(lambda: typer.run(papers))"
    )
    command = [sys.executable, "-c", code, "slow", "--workers", "2"]
    kept = tmp_path / "results" / "kept" / "slow"
    (tmp_path / "data").mkdir()
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    stopped = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while stopped.poll() is None and not any(kept.glob("*.json")):
        time.sleep(0.02)
    (os.killpg if reaches == "all" else os.kill)(stopped.pid, signal.SIGINT)
    out, err = stopped.communicate(timeout=300)
    assert stopped.returncode == 130
    assert out == ""
    assert re.sub("shortlist: compiling .*…\n", "", err) == (
        "shortlist: stopped; what was done so far is kept in results/kept, and the same command, "
        "run again, goes on "
        "from there\n"
    )
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.json")}
    assert len(before) == 1
    (tmp_path / "data" / "go on").touch()
    slow = made_up.experiment(made_up.run_when_told, "slow")
    tallies = []
    running.run(
        [slow],
        tmp_path / "data",
        tmp_path / "results",
        progress=lambda *tally: tallies.append(tally),
    )
    assert tallies[-1][2] == 3
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["prank-movielens"], "the data set movielens is not in data: MovieLens 100k"),
        (["nonsense"], "there is no experiment 'nonsense'; there are"),
        ([], "name experiments to run, or all"),
        (["--fetch", "nonsense"], "there is no data set 'nonsense'"),
        (["--fetch", "finna"], "finna has no direct download"),
        (["prank-synthetic", "--quick", "--workers", "0"], "workers"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(papers, arguments, says):
    result = papers(*arguments)
    assert result.code == 2
    assert says in result.err
    assert result.err.count("\n") == 1
