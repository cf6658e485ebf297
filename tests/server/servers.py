"""Servers to ask: in a thread of the test, or as a process that can be killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

from shortlist.server.settings import ServerSettings

EXAMPLES = [
    ("wheat exports rose", ["grain", "trade"]),
    ("wheat and corn prices", ["grain"]),
    ("corn harvest", ["grain"]),
    ("the bank raised its rates", ["money"]),
    ("rates of the central bank", ["money"]),
    ("bank rates fell", ["money"]),
]


def state_bytes(model):
    """Everything that a model is, as bytes."""
    state = model.to_state()
    arrays = state.all_arrays()
    parts = [
        [name, str(array.dtype), array.shape, array.tobytes().hex()]
        for name, array in sorted(arrays.items())
    ]
    return json.dumps([state.header(), parts], sort_keys=True)


class Client(httpx.Client):
    """Asks a server; ``ask`` gives the answer, or fails with what the server said.

    What took too long is asked again, as the server says: the machine may be busy. Learning then
    needs a key.
    """

    def __init__(self, **settings):
        # no certificates are read, which takes as long as many requests
        super().__init__(verify=False, **settings)

    def ask(self, path, **body):
        answer = self.post(f"/v1/{path}", json=body) if body else self.get(f"/v1/{path}")
        if answer.status_code == 503 and "this took longer than" in answer.text:
            return self.ask(path, **body)
        assert answer.status_code == 200, f"{answer.status_code}: {answer.text}"
        return answer.json()

    def learn(self, text, labels, key=None):
        return self.ask("learn", examples=[{"text": text, "labels": labels, "key": key}])[
            "learned"
        ][0]

    def best(self, text, k=10):
        return [one["label"] for one in self.ask("rank", text=text, k=k)["rankings"][0]]


def keep_types():
    """Let all servers of this process share what FastAPI makes of each type, which is most of
    what a start costs.
    """
    from fastapi._compat import v2

    made, kept = v2.TypeAdapter, {}

    def adapter(kind, *, config=None):
        what = (kind.__origin__, repr(kind.__metadata__), repr(config))
        if what not in kept:
            # the type, too: another one cannot have its address
            kept[what] = made(kind, config=config), kind
        return kept[what][0]

    v2.TypeAdapter = adapter


with contextlib.suppress(ImportError, AttributeError):  # another FastAPI: each server makes its own
    keep_types()


@contextlib.contextmanager
def in_thread(folder, token=None, **settings):
    """A server in a thread of this process, and a client that has its token."""
    from shortlist.server.app import make_server
    from shortlist.server.replica import Replica
    from shortlist.server.settings import listen

    # so that texts come in the order that a test expects; test_spot_checks.py has them
    settings.setdefault("spot_checks", 0.0)
    chosen = ServerSettings(folder, port=0, token=token, **settings)
    replica = Replica(folder, chosen.read_only)
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    with listen(chosen.host, chosen.port) as listening:
        host, port = listening.getsockname()
        server = make_server(replica, chosen)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            with Client(base_url=f"http://{host}:{port}", headers=headers, timeout=60) as client:
                client.replica, client.connections = replica, server.server_state.connections
                yield client
        finally:
            server.should_exit = True
            thread.join()


class Process:
    """``shortlist serve`` as a process."""

    def __init__(self, *arguments, wait=True, folder=Path(__file__).parents[2], **environment):
        command = [
            sys.executable,
            "-m",
            "shortlist.cli",
            "serve",
            "--port",
            "0",
            "--spot-checks",
            "0",
            *map(str, arguments),
        ]
        self.process = subprocess.Popen(
            command,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=folder,
            env={**os.environ, **environment},
        )
        self.lines = []
        self.url = None
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if wait:
            self._ready.wait(120)
            assert self.url, "".join(self.lines)
            self.client = Client(base_url=self.url, timeout=60)

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            if line.startswith('{"time"') and json.loads(line)["event"] == "serving":
                self.url = json.loads(line)["url"]
                self._ready.set()
        self._ready.set()

    def kill(self):
        """All at once, with no chance to tidy up."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._end()

    def stop(self):
        """As a user or a service manager does."""
        self.process.terminate()
        self._end()
        return self.process.returncode

    def _end(self):
        self.process.wait(60)
        self._reader.join(60)
        self.process.stderr.close()
        if hasattr(self, "client"):
            self.client.close()
