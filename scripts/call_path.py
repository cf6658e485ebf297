"""Through how many functions, files and levels of the package one call goes, with compiling turned
off.

    python scripts/call_path.py

Prints a line for ``Categorizer.learn``, one for ``Categorizer.rank``, of a model that has learned
before, and one for ``POST /v1/learn``, from the request to the answer, in all threads.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"
PACKAGE = str(Path(__file__).parents[1] / "shortlist")


class CallPath:
    """Takes note of each call of a function of the package."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, int]] = set()
        self.depth = self.deepest = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        if event == "call":
            self.functions.add((code.co_filename, code.co_firstlineno))
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        elif event == "return":
            self.depth -= 1

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.functions}


def followed(call: Any, *arguments: Any) -> CallPath:
    """The path of a call."""
    path = CallPath()
    sys.setprofile(path)
    try:
        call(*arguments)
    finally:
        sys.setprofile(None)
    return path


class Requests:
    """Sends requests to an application, without a network."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._messages: asyncio.Queue[Any] = asyncio.Queue()
        self._began = asyncio.Event()

    async def start(self) -> None:
        """Start the application; it runs until the event loop ends."""
        await self._messages.put({"type": "lifespan.startup"})
        scope = {"type": "lifespan"}
        self._lifespan = asyncio.create_task(self._app(scope, self._messages.get, self._begin))
        await self._began.wait()

    async def _begin(self, message: Any) -> None:
        self._began.set()

    async def post(self, path: str, question: object) -> int:
        """Return the status of the answer."""
        body = json.dumps(question).encode()
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        scope |= {"query_string": b"", "root_path": "", "http_version": "1.1", "scheme": "http"}
        statuses = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            statuses.append(message.get("status"))

        await self._app(scope, receive, send)
        return int(statuses[0])


async def followed_request(model: Any) -> CallPath:
    """The path of one judgement that is sent to a server."""
    from shortlist.server.app import make_app
    from shortlist.server.replica import Replica
    from shortlist.server.settings import ServerSettings
    from shortlist.server.snapshots import take_base

    path = CallPath()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model.save(folder / "model.shortlist")
        (folder / "state").mkdir()
        take_base(folder / "state", folder / "model.shortlist")
        settings = ServerSettings(folder / "state", snapshot_seconds=1e9, refresh=1e9)
        requests = Requests(make_app(Replica(settings.folder), settings))
        await requests.start()
        threading.setprofile(path)  # of the thread that writes, which begins with a request
        for n in range(2):  # the first one compiles
            path.functions.clear()
            sys.setprofile(path)
            example = {"text": f"corn shipments fell {n}", "labels": ["grain"], "key": f"key-{n}"}
            status = await requests.post("/v1/learn", {"examples": [example]})
            sys.setprofile(None)
            assert status == 200, status
        threading.setprofile(None)  # type: ignore[arg-type]
    return path


def main() -> None:
    from shortlist import Categorizer

    model = Categorizer()
    for n in range(30):
        model.learn(f"wheat and corn exports rose {n}", ["grain", "trade"])
        model.learn(f"the bank raised its rates {n}", "money")
    calls = {
        "Categorizer.learn": (model.learn, "corn shipments fell", "grain"),
        "Categorizer.rank": (model.rank, "corn shipments fell"),
    }
    paths = {name: followed(call, *arguments) for name, (call, *arguments) in calls.items()}
    paths["POST /v1/learn"] = asyncio.run(followed_request(model))
    for name, path in paths.items():
        print(
            f"{name}: {len(path.functions)} functions, {len(path.files)} files, depth "
            f"{path.deepest}"
        )
        if "--files" in sys.argv:
            print("\n".join(sorted(file.removeprefix(PACKAGE + os.sep) for file in path.files)))


if __name__ == "__main__":
    main()
