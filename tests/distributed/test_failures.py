"""Workers that die, tasks that run twice, and whole clusters that vanish: no result changes,
and nothing is lost.
"""

import os
import signal

import dask
import pytest

import shortlist as sl
from shortlist.distributed import Cluster, ClusterLost, categories, connect, cut
from shortlist.distributed.parts import Part
from tests.distributed.conftest import cluster_of_processes
from tests.distributed.test_training import saved

pytestmark = pytest.mark.long


class Deadly(Part):
    """A part that kills the worker that opens it, so many times as its address has files beside
    it that say so.
    """

    def open(self):
        for n in range(2):
            marker = f"{self.address}.kill{n}"
            if os.path.exists(marker):
                os.unlink(marker)
                os.kill(os.getpid(), signal.SIGKILL)
        return super().open()


WORDS = sl.TextVectorizer(tf="log", idf="smooth")
PATIENCE = 300  # seconds: where the machine is busy, a worker takes its time to start again


class Counted(Part):
    """A part that notes each time it is opened."""

    def open(self):
        with open(f"{self.address}.opened", "a") as log:
            log.write(f"{self.start}\n")
        return super().open()


class Twice(Cluster):
    """Every task runs twice, and the second result is taken."""

    def submit(self, function, *arguments):
        first = super().submit(function, *arguments)
        second = super().submit(function, *arguments)
        self.others = [*getattr(self, "others", []), first]
        return second


class Killing(Cluster):
    """Kills a worker, with all that it holds, before the n-th step."""

    n = 3

    def each(self, *arguments, **named):
        self.n -= 1
        if self.n == 0:
            os.kill(next(iter(self.client.run(os.getpid).values())), signal.SIGKILL)
        return super().each(*arguments, **named)


@pytest.fixture(scope="module")
def expected(json_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("expected") / "model"
    batches = sl.read(json_file)
    return saved(
        sl.Categorizer(sl.Rocchio(), WORDS).fit_batches((one.texts, one.labels) for one in batches),
        path,
    )


def test_workers_killed_while_they_survey_and_while_they_learn(
    client, json_file, tmp_path, expected
):
    path = tmp_path / "texts.jsonl"
    path.write_bytes(json_file.read_bytes())
    parts = cut(str(path), part_size=7000)
    parts[1] = Deadly(*parts[1])
    for n in range(2):
        (tmp_path / f"texts.jsonl.kill{n}").touch()
    model = categories.train(
        Cluster(client, patience=PATIENCE), parts, sl.Categorizer(sl.Rocchio(), WORDS)
    )
    assert not list(tmp_path.glob("*.kill*"))
    assert saved(model, tmp_path / "model") == expected


def test_a_worker_killed_between_passes(client, json_file, tmp_path):
    parts, model = cut(str(json_file), part_size=12_000), sl.Categorizer(sl.MMP(passes=2))
    killed = categories.train(Killing(client, patience=PATIENCE), parts, model)
    assert saved(killed, tmp_path / "killed") == saved(
        categories.train(Cluster(client), parts, model), tmp_path / "there"
    )


def test_tasks_that_run_twice(client, json_file, tmp_path, expected):
    parts = cut(str(json_file), part_size=7000)
    model = categories.train(
        Twice(client, tmp_path / "kept"), parts, sl.Categorizer(sl.Rocchio(), WORDS)
    )
    assert saved(model, tmp_path / "model") == expected


def test_a_part_that_kills_every_worker_is_named(client, json_file, monkeypatch):
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 1)

    class Always(Part):
        def open(self):
            os.kill(os.getpid(), signal.SIGKILL)

    part = Always(*cut(str(json_file))[0])
    with pytest.raises(
        ClusterLost, match=r"workers died over the same task \(survey, part 1 of 1\)"
    ):
        categories.train(Cluster(client), [part], sl.Categorizer(sl.Rocchio(), WORDS))


def test_a_lost_cluster_is_named_and_the_next_one_goes_on(client, json_file, tmp_path, expected):
    path = tmp_path / "texts.jsonl"
    path.write_bytes(json_file.read_bytes())
    parts = [Counted(*part) for part in cut(str(path), part_size=7000)]
    kept, opened = tmp_path / "kept", tmp_path / "texts.jsonl.opened"
    soon = dask.config.set({"distributed.comm.timeouts.connect": "2s"})
    with soon, cluster_of_processes(tmp_path) as (address, processes), connect(address) as doomed:

        class Vanishing(Cluster):
            def each(self, function, *arguments):
                if function is categories.learn:
                    for process in processes:
                        process.kill()
                return super().each(function, *arguments)

        with pytest.raises(
            ClusterLost, match=r"are kept in .*: run the same again to continue from there"
        ) as lost:
            categories.train(Vanishing(doomed, kept), parts, sl.Categorizer(sl.Rocchio(), WORDS))
    assert f"{len(parts)} finished results" in str(lost.value)
    assert len(opened.read_text().split()) == len(parts)  # all surveyed, none learned
    model = categories.train(Cluster(client, kept), parts, sl.Categorizer(sl.Rocchio(), WORDS))
    assert len(opened.read_text().split()) == 2 * len(parts)  # not surveyed again
    assert saved(model, tmp_path / "model") == expected
    again = categories.train(Cluster(client, kept), parts, sl.Categorizer(sl.Rocchio(), WORDS))
    assert len(opened.read_text().split()) == 2 * len(parts)  # nothing left to do
    assert saved(again, tmp_path / "model") == expected


def test_what_was_finished_is_found_again_when_all_workers_are_gone_for_good():
    """A worker that dies while it starts, or is slow to start again, is given up by Dask:
    another takes its place.
    """
    soon = dask.config.set({"distributed.deploy.lost-worker-timeout": "100ms"})
    with soon, connect(workers=1) as client:
        cluster = Cluster(client, patience=PATIENCE)
        future = cluster.submit(os.getpid)
        before = cluster._result(future, "")
        client.cluster.sync(next(iter(client.cluster.workers.values())).close)
        assert cluster._result(future, "") != before


def test_no_workers_and_no_scheduler(json_file, monkeypatch):
    from distributed import Client, LocalCluster

    nobody = {"n_workers": 0, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**nobody) as empty, Client(empty) as client:
        cluster = Cluster(client, patience=1)
        with pytest.raises(ClusterLost, match=r"no workers\. Nothing was kept; with a folder"):
            categories.train(cluster, cut(str(json_file)), sl.Categorizer(sl.Rocchio(), WORDS))
    monkeypatch.setattr("shortlist.distributed.cluster.SECONDS_TO_ANSWER", 1.0)
    with (
        pytest.raises(ClusterLost, match="no Dask scheduler answers at tcp://127"),
        connect("tcp://127.0.0.1:9"),
    ):
        pass
    with pytest.raises(sl.InputError, match="either the address"), connect():
        pass
