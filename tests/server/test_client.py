"""Asking a server: what goes wrong is one sentence, and a token goes to no other server."""

import contextlib
import http.server
import threading

import pytest

from shortlist.errors import InputError
from shortlist.server.client import Server


@contextlib.contextmanager
def answering(answer):
    """A server of something else; ``answer`` is given each request."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer(self)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:abc/", "http://a b/", "http://[::1/", "http://127.0.0.1:1/"]
)
def test_addresses_where_nobody_answers(address):
    with pytest.raises(InputError, match="cannot reach http://"):
        Server(address).ask("v1/model")


def test_an_address_without_a_password():
    with pytest.raises(InputError, match="--token-file") as refused:
        Server("http://anna:secret@127.0.0.1:8000/")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda request: request.wfile.write(b"220 mail.example ready\r\n"), "cannot reach"),
        (
            lambda request: request.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\n{"),
            "cannot reach",
        ),
        (
            lambda request: request.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n[1]"),
            "does not answer as a shortlist server does",
        ),
    ],
)
def test_servers_of_something_else(answer, said):
    with answering(answer) as address, pytest.raises(InputError, match=said):
        Server(address).ask("v1/model")


def test_a_token_is_not_sent_elsewhere(tmp_path):
    (tmp_path / "token").write_text("abcdefghijklmnop")
    met = []

    def note(request):
        met.append(request.headers["Authorization"])
        request.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n{}")

    with answering(note) as other:

        def elsewhere(request):
            request.send_response(302)
            request.send_header("Location", other)
            request.end_headers()

        with answering(elsewhere) as address, pytest.raises(InputError, match="it answers 302"):
            Server(address, tmp_path / "token").ask("v1/model")
    assert met == []
