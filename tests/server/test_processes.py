"""Signals and logs: who is told to stop stops, and nothing else does."""

import contextlib
import json
import os
import signal
import sys

import pytest
import uvicorn

from shortlist.server.app import serve
from shortlist.server.logs import log
from shortlist.server.settings import ServerSettings
from tests.hostile.kills import PATIENCE, Forked
from tests.server.servers import Client

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking


@pytest.fixture
def forked():
    """forked(folder) -> a server; what still runs at the end is killed."""
    started = []

    def begin(folder, kind=Forked, **settings):
        started.append(kind(folder, **settings))
        return started[-1]

    yield begin
    for server in started:
        with contextlib.suppress(ProcessLookupError):
            server.kill()


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


def test_a_log_may_name_a_folder_that_is_not_utf_8(capfd):
    log("serving", folder="/tmp/\udcff ü")
    line = capfd.readouterr().err
    assert json.loads(line)["folder"] == "/tmp/\udcff ü"
    assert line.startswith('{"time":')


class WithoutLog(Forked):
    """A server whose log goes to somebody who has gone."""

    @staticmethod
    def _run(folder, settings, there):
        os.setsid()
        sys.stderr = broken_pipe()
        serve(ServerSettings(folder, port=0, **settings), None, there.send)


def test_a_server_whose_log_nobody_reads_goes_on(folder, forked):
    server = forked(folder, WithoutLog)
    with Client(base_url=server.url, timeout=60) as client:
        assert client.learn("zebra", ["animals"])["number"] == 1
        assert client.post("/v1/learn", json={}).status_code == 422
        assert client.best("zebra") == ["animals"]


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
