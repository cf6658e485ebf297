"""Odd connections, a few of each kind; ``python tests/hostile/connections.py --long`` is the
long trial.
"""

import contextlib
import socket
import time

import pytest

from shortlist.server.settings import Limits
from tests.hostile.connections import ASK, GET, KINDS, trial
from tests.hostile.kills import make_model
from tests.server.conftest import folder, model_file  # noqa: F401
from tests.server.servers import in_thread


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forking
def test_others_are_answered(tmp_path):
    outcomes, answers, grown, tracebacks = trial(2 * len(KINDS), tmp_path, make_model(tmp_path))
    assert outcomes.total() == 2 * len(KINDS)
    assert {outcome for _, outcome in outcomes} == {"closed by the server"}
    assert set(answers) == {True}
    assert tracebacks == 0
    assert grown < 100


def opened(server):
    return socket.create_connection((server.base_url.host, server.base_url.port), 60)


def all_of(connection):
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(2**16):
            got += part
    return got


def test_headers_are_limited(folder):  # noqa: F811
    with in_thread(
        folder, token="a token that is long enough", limits=Limits(header=2000)
    ) as server:
        with opened(server) as connection:
            # and no end of it: nobody knows yet who asks for what
            connection.sendall(GET + b"X: " + b"a" * 3000)
            assert all_of(connection).startswith(b"HTTP/1.1 400 ")
        whole = server.get("/healthz", headers={"x": "a" * 3000})
        assert whole.status_code == 431
        assert "larger than the 2,000 bytes" in whole.json()["error"]
        assert server.get("/healthz", headers={"x": "a" * 1000}).status_code == 200
        assert server.post("/v1/rank", json={"text": "a" * 100_000}).status_code == 200, (
            "a body is not a header"
        )


def test_a_body_is_no_header(folder):  # noqa: F811
    """However it comes: in one piece or in several, each larger than a header may be."""
    body = b'{"text": "%s"}' % (b"wheat " * 2000)
    with in_thread(folder, limits=Limits(header=2000)) as server, opened(server) as connection:
        connection.sendall(ASK + b"Content-Length: %d\r\n\r\n" % len(body))
        for piece in range(0, len(body), 4000):
            time.sleep(0.2)  # so that the server reads it alone
            connection.sendall(body[piece : piece + 4000])
        assert connection.recv(2**16).startswith(b"HTTP/1.1 200")


def test_trailers_are_limited(folder):  # noqa: F811
    start = ASK + b"Transfer-Encoding: chunked\r\n\r\n"
    with in_thread(folder, limits=Limits(header=2000)) as server, opened(server) as connection:
        connection.sendall(start + b"1\r\n \r\n0\r\nX: ")
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for _ in range(100):
                connection.sendall(b"a" * 1000)
        assert b" 200 " not in all_of(connection), "closed, though the request was being answered"


@pytest.mark.parametrize("said", [b"", GET, GET + b"\r\n"])
def test_idle_connections_are_closed(folder, said):  # noqa: F811
    """Those that say nothing, half of something, or nothing more."""
    with in_thread(folder, limits=Limits(idle=1)) as server, opened(server) as connection:
        connection.sendall(said)
        got = all_of(connection)
        assert got.startswith(b"HTTP/1.1 200") == said.endswith(b"\r\n\r\n")


def test_new_connections_come_in_the_place_of_idle_ones(folder):  # noqa: F811
    limits = Limits(connections=5, idle=600)  # none is closed for being idle
    with in_thread(folder, limits=limits) as server, contextlib.ExitStack() as stack:
        oldest = stack.enter_context(opened(server))
        while not server.connections:
            time.sleep(0.01)
        time.sleep(0.1)  # or the others would be as old by the server's clock
        for _ in range(20):
            stack.enter_context(opened(server))
        assert server.best("wheat")
        assert all_of(oldest) == b"", "the one that was idle for longest"


def test_busy_connections_keep_their_places(folder):  # noqa: F811
    """There are as many of them at most as requests may be in flight; nobody is turned away for
    their sake.
    """
    body = b'{"text": "wheat"}'
    head = ASK + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    with in_thread(folder, limits=Limits(connections=3)) as server, contextlib.ExitStack() as stack:
        busy = [stack.enter_context(opened(server)) for _ in range(3)]
        for connection in busy:
            connection.sendall(head % len(body))
            assert connection.recv(2**16).startswith(b"HTTP/1.1 100"), "it waits for the body"
        for _ in range(3):
            assert server.best("wheat")
        for connection in busy:
            connection.sendall(body)
            assert connection.recv(2**16).startswith(b"HTTP/1.1 200")
