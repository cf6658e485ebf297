"""A server that only reads needs no more than to read."""

import multiprocessing.popen_fork  # noqa: F401  which would be imported late
import os
import shutil
import sys
import time

import pytest

from shortlist.server.app import serve
from shortlist.server.journal import check_journal
from shortlist.server.journal_errors import JournalError
from shortlist.server.journal_file import JOURNAL_FILE
from shortlist.server.replica import Replica
from shortlist.server.settings import ServerSettings
from tests.hostile.kills import Forked
from tests.server.servers import Client, in_thread
from tests.server.test_damage import commit_and_crash, settle


@pytest.fixture
def nothing_may_be_written(folder):
    """A function that makes the folder read-only, for this user too."""
    was = os.geteuid()
    elsewhere = shutil.copytree(folder, folder.with_name("elsewhere"))
    # so that whatever is imported late has been
    with in_thread(elsewhere, read_only=True) as server:
        server.best("wheat")
        server.get("/v1/export")
        server.replica.warm_up()

    def lock():
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        if was == 0:
            for parent in folder.parents[:4]:
                parent.chmod(parent.stat().st_mode | 0o055)
            os.seteuid(65534)

    yield lock
    os.seteuid(was)
    folder.chmod(0o755)


def test_after_a_clean_stop(folder, nothing_may_be_written):
    commit_and_crash(folder, 20)
    settle(folder)
    before = sorted(folder.iterdir())
    nothing_may_be_written()
    check_journal(folder)
    with in_thread(folder, read_only=True) as server:
        assert server.ask("model")["journal"] == 20
        assert server.best("text 7") == ["x"]
        assert len(server.get("/v1/export").text.splitlines()) == 20
    assert sorted(folder.iterdir()) == before


class WithoutLog(Forked):
    """A server that writes no log into its folder."""

    @staticmethod
    def _run(folder, settings, there):
        os.setsid()
        with open(os.devnull, "w") as sys.stderr:
            serve(ServerSettings(folder, port=0, **settings), None, there.send)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
def test_from_start_to_stop(folder, nothing_may_be_written):
    commit_and_crash(folder, 20)
    settle(folder)
    nothing_may_be_written()
    server = WithoutLog(folder, read_only=True)
    try:
        with Client(base_url=server.url, timeout=60) as client:
            assert client.ask("model")["journal"] == 20
            assert client.best("text 7") == ["x"]
    finally:
        server.kill()


def test_after_a_crash(folder, nothing_may_be_written):
    commit_and_crash(folder, 20)
    nothing_may_be_written()
    check_journal(folder)
    with in_thread(folder, read_only=True) as server:
        assert server.ask("model")["journal"] == 20


def test_a_log_that_cannot_be_read_here(folder, nothing_may_be_written):
    commit_and_crash(folder, 20)
    (folder / f"{JOURNAL_FILE}-shm").unlink()
    nothing_may_be_written()
    with pytest.raises(JournalError, match="copy the folder to such a place"):
        Replica(folder, read_only=True)


def soon(there):
    """Wait for something to become true; a busy machine may take its time."""
    end = time.monotonic() + 60
    while not there():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_beside_a_server_that_learns(start, tmp_path, model_file):
    """As processes: it follows what is learned, taken back and promoted, and servers that stop,
    die and start again.
    """
    folder, probes = tmp_path / "state", ["zebra", "wheat and stripes", "rates"]
    writing = start(model_file, "--state", folder)
    reading = start("--read-only", "--state", folder)

    def same():
        here, there = (
            [one.client.ask("rank", text=probe) for probe in probes] for one in (writing, reading)
        )
        return here == there

    def learner():
        return reading.client.ask("model")["learner"]

    number = writing.client.learn("zebra", ["animals"])["number"]
    soon(lambda: reading.client.best("zebra") == ["animals"])
    writing.client.ask("undo", number=number)
    soon(lambda: reading.client.best("zebra") == [])
    examples = [
        {"text": f"zebra stripes {n}", "labels": [["animals"], ["stripes"]][n % 2]}
        for n in range(40)
    ]
    writing.client.ask("learn", examples=examples)
    writing.client.post(
        "/v1/rehearse?learner=frequency", headers={"content-type": "application/octet-stream"}
    )
    soon(lambda: reading.client.ask("rehearsal")["candidate"] is not None)
    before = learner()
    assert reading.client.post("/v1/promote", json={"force": True}).status_code == 403
    writing.client.ask("promote", force=True)
    soon(lambda: learner() == "FrequencyBaseline" and same())
    writing.client.ask("undo", number=20)
    soon(lambda: reading.client.ask("model")["undone"] == 2 and same())
    assert writing.client.post("/v1/go-back", json={}).status_code == 200
    soon(lambda: learner() == before and same())

    assert writing.stop() == 0
    assert reading.client.best("zebra"), "it answers while nobody learns"
    writing = start("--state", folder)
    writing.client.learn("gnu", ["animals"])
    soon(lambda: reading.client.best("gnu") == ["animals"])
    writing.kill()
    writing = start("--state", folder)
    writing.client.learn("emu", ["birds"])
    soon(lambda: reading.client.best("emu") == ["birds"] and same())
    assert reading.stop() == 0
    assert not any('"level":"error"' in line for line in reading.lines)
