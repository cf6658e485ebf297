"""Jobs are kept and not done twice, any number of workers gives the same numbers, and a failure
is one sentence.
"""

import json

import pytest

from papers import running
from papers.experiment import Cell, Curve
from shortlist import InputError
from tests.papers import made_up
from tests.papers.made_up import experiment, run_and_die, run_and_tell_threads, run_but_fail


def values(outcomes):
    return [result["value"] for outcome in outcomes for _, result in outcome.results]


def traces(folder):
    return len((folder / "trace").read_text().splitlines())


def test_a_spread_is_that_of_a_sample_and_one_trial_has_none():
    assert Cell.of([1.0, None, 3.0], 5.0) == Cell(2.0, pytest.approx(2**0.5), 5.0)
    assert Cell.of([0.5]) == Cell(0.5, None)  # not ± 0.000
    assert Cell.of([None], 0.5) == Cell(None, None, 0.5)
    curve = Curve.of([[1.0, 2.0], [3.0, 2.0]])
    assert (curve.x, curve.y) == ([1.0, 2.0], [2.0, 2.0])
    assert curve.low == pytest.approx([2 - 2**0.5, 2.0])
    assert Curve.of([[1.0, 2.0]], [5.0, 6.0]) == Curve([5.0, 6.0], [1.0, 2.0])


def test_a_stopped_run_goes_on(tmp_path):
    """The quick run stands for one that was stopped: its jobs are the first of the full run."""
    out = tmp_path / "out"
    quick = running.run([experiment()], tmp_path, out, quick=True)
    assert traces(tmp_path) == 2
    tallies = []
    full = running.run([experiment()], tmp_path, out, progress=lambda *tally: tallies.append(tally))
    assert traces(tmp_path) == 4  # only the two that were missing
    assert [tally[1:] for tally in tallies] == [(1, 2), (2, 2)]
    assert [job["trial"] for job, _ in full[0].results] == [0, 1, 2, 3]
    assert values(full)[:2] == values(quick)
    again = running.run([experiment()], tmp_path, out)
    assert traces(tmp_path) == 4
    assert values(again) == values(full)
    assert again[0].seconds == full[0].seconds > 0


def test_what_is_kept_can_be_had_without_running_anything(tmp_path):
    out = tmp_path / "out"
    assert running.run([experiment()], tmp_path, out, compute=False)[0].results == []
    quick = running.run([experiment()], tmp_path, out, quick=True)
    (kept,) = running.run([experiment()], tmp_path, out, compute=False)
    assert traces(tmp_path) == 2
    assert values([kept]) == values(quick)
    assert (len(kept.results), kept.jobs) == (2, 4)
    assert kept.seconds == quick[0].seconds


def test_fresh_forgets_and_what_is_broken_is_done_again(tmp_path):
    out = tmp_path / "out"
    running.run([experiment()], tmp_path, out)
    running.run([experiment()], tmp_path, out, fresh=True)
    assert traces(tmp_path) == 8
    for n, file in enumerate(sorted((out / "kept" / "made-up").glob("*.json"))):
        file.write_text(["", "{", "[]", json.dumps({"result": {}})][n])
    running.run([experiment()], tmp_path, out)
    assert traces(tmp_path) == 12


def test_other_data_and_another_version_are_other_results(tmp_path, monkeypatch):
    out, one = tmp_path / "out", experiment(needs=("movielens",))
    for digest in ("a", "b", "a"):
        running.run([one], tmp_path, out, digests={"movielens": digest})
    assert traces(tmp_path) == 8
    monkeypatch.setattr(running, "__version__", "another")
    running.run([one], tmp_path, out, digests={"movielens": "a"})
    assert traces(tmp_path) == 12


@pytest.fixture(scope="module", params=[1, 2], ids=["one worker", "two workers"])
def several(request, tmp_path_factory):
    """Several experiments run together, since workers take long to start: the folder, and
    outcomes by name.
    """
    folder = tmp_path_factory.mktemp("several")
    names = {
        "well": made_up.run,
        "other": made_up.run,
        "threads": run_and_tell_threads,
        "failing": run_but_fail,
    }
    together = [experiment(run, name) for name, run in names.items()]
    found = running.run(together, folder, folder / "out", workers=request.param)
    return folder, dict(zip(names, found, strict=True))


def test_any_number_of_workers_gives_the_numbers_of_one(several, tmp_path):
    _, found = several
    one = running.run([experiment()], tmp_path, tmp_path / "one", workers=1)
    assert values([found["well"], found["other"]]) == 2 * values(one)


def test_a_job_has_one_thread(several):
    """How BLAS shares sums among threads shows in their last digits."""
    _, found = several
    assert values([found["threads"]]) == [1] * 4


def test_a_failing_job_is_one_sentence_and_loses_nothing(several):
    folder, found = several
    failed, well = found["failing"], found["well"]
    assert failed.failures == ["trial 1 cannot be done on a Sunday", "KeyError: 'what'"]
    assert [job["trial"] for job, _ in failed.results] == [0, 3]
    assert not well.failures
    assert len(well.results) == 4
    kept = folder / "out" / "kept" / "failing"
    reasons = sorted(kept.glob("*.error.txt"))
    assert len(reasons) == 2
    assert any("Traceback" in reason.read_text() for reason in reasons)
    before = traces(folder)
    repaired = running.run([experiment(name="failing")], folder, folder / "out")[0]
    assert traces(folder) == before + 2
    assert len(repaired.results) == 4
    assert not list(kept.glob("*.error.txt"))


@pytest.mark.long
def test_a_worker_that_dies_is_told(tmp_path):
    with pytest.raises(InputError, match="a worker process ended without an answer"):
        running.run([experiment(run_and_die)], tmp_path, tmp_path / "out", workers=2)


def test_bad_numbers_of_workers_are_refused(tmp_path):
    with pytest.raises(InputError, match="workers"):
        running.run([experiment()], tmp_path, tmp_path / "out", workers=0)


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match="cannot keep results"):
        running.run([experiment()], tmp_path, tmp_path / "out")
