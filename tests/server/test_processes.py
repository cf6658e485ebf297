"""Processes, signals and logs: whoever is told to stop stops, whoever is left alone ends, and nothing else does."""

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import uvicorn

from shortlist.server.logs import log
from shortlist.server.replica import Replica
from shortlist.server.serving import serve
from shortlist.server.settings import Settings
from tests.hostile.kills import PATIENCE, Forked
from tests.server.servers import Client

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def forked():
    """forked(folder, workers=2) -> a server whose workers are there; what still runs at the end is killed."""
    started = []

    def begin(folder, kind=Forked, **settings):
        server = kind(folder, **settings)
        started.append(server)
        if "workers" in settings:
            wait_until(lambda: len(server.victims()["worker"]) == settings["workers"])
        return server

    yield begin
    for server in started:
        with contextlib.suppress(ProcessLookupError):
            server.kill()


def wait_until(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_worker_that_still_starts_ends_with_its_parent(folder, forked, monkeypatch):
    load = Replica._load

    def slowly(self):
        if multiprocessing.current_process().name.startswith("worker"):
            time.sleep(2)
        load(self)

    monkeypatch.setattr(Replica, "_load", slowly)
    server = forked(folder, workers=2)
    first = server.victims()["worker"]
    os.kill(first[0], signal.SIGKILL)
    wait_until(lambda: set(server.victims()["worker"]) - set(first))
    workers = server.victims()["worker"]
    assert len(set(workers) | set(first)) == 3
    server.kill(everything=False)
    wait_until(lambda: not any(map(is_alive, [*first, *workers])))
    forked(folder)  # nobody holds it


def broken_pipe():
    read, write = os.pipe()
    os.close(read)
    return os.fdopen(write, "w")


def test_a_log_that_cannot_be_written_stops_nothing(monkeypatch):
    pipe = broken_pipe()
    monkeypatch.setattr(sys, "stderr", pipe)
    log("nobody reads this")
    with contextlib.suppress(BrokenPipeError):
        pipe.close()
    log("closed")


class WithoutLog(Forked):
    """A server whose log goes to somebody who has gone."""

    @staticmethod
    def _run(folder, settings, there):
        os.setsid()
        sys.stderr = broken_pipe()
        serve(Settings(folder, port=0, **settings), None, there.send)


def test_a_worker_is_replaced_though_that_cannot_be_logged(folder, forked):
    server = forked(folder, WithoutLog, workers=2)
    first = set(server.victims()["worker"])
    os.kill(min(first), signal.SIGKILL)
    wait_until(lambda: set(server.victims()["worker"]) - first)
    with Client(base_url=server.url, timeout=60) as client:
        assert client.learn("zebra", ["animals"])["number"] == 1


def exit_code(server):
    server.process.join(PATIENCE)
    return server.process.exitcode


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_just_before_the_server_runs(folder, forked, monkeypatch, number):
    run = uvicorn.Server.run

    def interrupted(self, sockets):
        signal.raise_signal(number)
        run(self, sockets)

    monkeypatch.setattr(uvicorn.Server, "run", interrupted)
    assert exit_code(forked(folder)) == 0


@pytest.mark.parametrize(("step", "code"), [("warm_up", 1), ("reopen", 0)])
def test_an_interrupt_that_python_loses_while_starting(folder, forked, monkeypatch, step, code):
    """As it does where it comes in a callback from C or in a destructor. Once the server is there, it ends as usual."""
    original = getattr(Replica, step)

    def interrupted(self):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        original(self)

    monkeypatch.setattr(Replica, step, interrupted)
    assert exit_code(forked(folder)) == code
