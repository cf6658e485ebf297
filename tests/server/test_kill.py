"""A server whose disk is full, or whose newest snapshot is damaged. Killing it:
tests/hostile/kills.py.
"""

import resource
import subprocess

import pytest

from shortlist.server import snapshots
from shortlist.server.background import write_snapshot
from shortlist.server.replica import Replica
from tests.hostile.kills import WORDS, Asked, Forked, expected_model, rows_of
from tests.server.servers import Client, state_bytes

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
PROBES = ["wheat and corn", "gold at the bank", "ship on the river", " ".join(WORDS)]


def check(folder, model_file):
    """A server started anew ranks as the journal says."""
    assert not Asked(folder).faults(model_file).total()
    expected = expected_model(folder, model_file)
    server = Forked(folder)
    with Client(base_url=server.url, timeout=60) as client:
        for probe in PROBES:
            told = [
                (one["label"], one["score"])
                for one in client.ask("rank", text=probe)["rankings"][0]
            ]
            assert told == list(expected.rank(probe, 10))
    server.process.terminate()
    server.process.join()
    assert server.process.exitcode == 0


def fill(server, client):
    """Learn until the disk is full."""
    for n in range(2000):
        body = {"examples": [{"text": f"word{n} " * 400, "labels": ["x"]}]}
        answer = client.post("/v1/learn", json=body)
        if answer.status_code != 200:
            return n, answer
    raise AssertionError("the disk never filled up")


def check_full(folder, model_file, make_room):
    server = Forked(folder)
    with Client(base_url=server.url, timeout=60) as client:
        n, answer = make_room(server, client)
        assert answer.status_code == 507, answer.text
        assert "make room and try again" in answer.json()["error"]
        assert client.best("wheat"), "ranking goes on"
        assert client.ask("model")["journal"] == n
        yield client, n
        assert client.learn("there is room again", ["room"])["number"] == n + 1
        assert client.best("room") == ["room"]
    server.kill(everything=True)
    expected = expected_model(folder, model_file)
    assert len(rows_of(folder)[0]) == n + 1
    replica = Replica(folder)
    assert state_bytes(replica.model) == state_bytes(expected)
    replica.close()


def test_a_file_that_may_not_grow(folder, model_file):
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limited = []

    def limit(server, client):
        client.learn("a first example", ["x"])
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (300_000, hard))
        limited.append(server.process.pid)
        n, answer = fill(server, client)
        return n + 1, answer

    for _ in check_full(folder, model_file, limit):
        resource.prlimit(limited[0], resource.RLIMIT_FSIZE, (hard, hard))


def test_a_full_disk(tmp_path, model_file):
    """A real file system with no room left, where this user may make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a small file system")
    try:
        snapshots.take_base(disk, model_file)
        filler = disk / "filler"
        filler.write_bytes(bytes(500_000))
        for _ in check_full(disk, model_file, fill):
            filler.unlink()
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_damaged_snapshot_is_passed_over(folder, model_file):
    server = Forked(folder)
    with Client(base_url=server.url) as client:
        client.ask(
            "learn",
            examples=[{"text": f"text {n}", "labels": ["x"], "key": str(n)} for n in range(30)],
        )
    server.kill(everything=True)
    newest = write_snapshot(folder)
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 0xFF
    newest.write_bytes(content)
    check(folder, model_file)
    assert "passed over a snapshot" in (folder / "log").read_text()
