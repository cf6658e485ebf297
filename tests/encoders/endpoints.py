"""Endpoints to ask: our own server, and one that answers whatever a test wants."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from shortlist.server.embeddings import address_of, make_encoder_server
from shortlist.server.settings import listen


@contextlib.contextmanager
def serving(encoder, token=None):
    """The address of our own server of an encoder."""
    with listen("127.0.0.1", 0) as listening:
        server = make_encoder_server(encoder, "127.0.0.1", token)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()


def honest(texts):
    """Vectors that depend on the texts alone."""
    return [[float(len(text)), float(text.count("e")), 1.0, float(ord(text[0]))] for text in texts]


def answer_of(vectors):
    """An answer as OpenAI writes it."""
    data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    return json.dumps({"object": "list", "data": data}).encode()


class Answering:
    """An endpoint whose answers ``answer`` makes of the texts: bytes, or a status and bytes."""

    def __init__(self):
        self.answer = lambda texts: answer_of(honest(texts))
        self.asked = []
        self.headers = []
        self.before_answer = lambda handler: None
        self.cut = None  # bytes of the answer that are sent
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.asked.append(question["input"])
                endpoint.headers.append(dict(self.headers))
                endpoint.before_answer(self)
                made = endpoint.answer(question["input"])
                status, *fields, content = made if isinstance(made, tuple) else (200, made)
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    for name, value in fields:
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content[: endpoint.cut])
                    if endpoint.cut is not None:
                        self.close_connection = True

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
