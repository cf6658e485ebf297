"""shortlist queue"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli.options import Json, Reading, reads
from shortlist.cli.terminal import print_json, progress
from shortlist.errors import InputError

ACTIONS = ("add", "show")
AT_ONCE, LETTERS = 500, 400_000  # texts, and characters, in one request
PATIENCE = 60.0  # seconds for an answer


@reads
def queue(
    *,
    action: Annotated[str, typer.Argument(help="add the texts of a file, or show how many wait.")],
    data: Annotated[str, typer.Argument(help="A file or folder of texts; - for standard input.")] = "-",
    state: Annotated[
        Path | None, typer.Option(help="The state folder of a server, which may be running.", show_default=False)
    ] = None,
    server: Annotated[
        str | None, typer.Option(help="The address of a server instead, http://HOST:PORT/.", show_default=False)
    ] = None,
    token_file: Annotated[Path | None, typer.Option(help="A file with its token; or set SHORTLIST_TOKEN.")] = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Add texts to the queue of a server, for people to judge on its page, or show how far they have come.

    Files of all formats are read; labels that they have are left alone. A text that is in the queue already is not
    added again, so the same command can be run twice.
    """
    if action not in ACTIONS:
        raise InputError(f"there is no action {action!r}; the actions are {', '.join(ACTIONS)}")
    if (state is None) == (server is None):
        raise InputError("say where the queue is: --state FOLDER, or --server http://HOST:PORT/")
    if action == "add":
        from shortlist.server.queue.importing import texts_in

        stream = reading.open(data)
        texts = texts_in(data, progress(stream, "reading"))
        found = add_to(state, texts) if state is not None else send_to(Server(server, token_file), texts)
        words = f"Added {found['added']:,} texts; {found['known']:,} were there already."
    else:
        found = progress_in(state) if state is not None else Server(server, token_file).ask("v1/queue")
        words = ", ".join(f"{n:,} {name}" for name, n in found.items()) + "."
    if as_json:
        print_json(found)
    else:
        print(words)


def add_to(state: Path, texts: Iterable[str]) -> dict[str, int]:
    """Write to the queue in a state folder."""
    from shortlist.server.queue.store import Queue
    from shortlist.server.snapshots import check_state

    check_state(state)
    queue = Queue(state)
    try:
        return queue.add(texts)._asdict()
    finally:
        queue.close()


def progress_in(state: Path) -> dict[str, int]:
    """How far the queue in a state folder has come."""
    from shortlist.server.journal import Journal
    from shortlist.server.queue.following import follow
    from shortlist.server.queue.store import Queue

    journal = Journal(state)
    queue = Queue(state)
    try:
        follow(queue, journal)
        return queue.counts()
    finally:
        queue.close()
        journal.close()


def send_to(server: Server, texts: Iterable[str]) -> dict[str, int]:
    """Send texts to a server, some at a time."""
    total = {"added": 0, "known": 0}
    for some in _parts(texts):
        answer = server.ask("v1/queue", {"texts": some})
        total = {name: n + answer[name] for name, n in total.items()}
    return total


def _parts(texts: Iterable[str]) -> Iterator[list[str]]:
    """Lists of so many texts, or characters, as one request may hold."""
    texts = iter(texts)
    while some := list(islice(texts, AT_ONCE)):
        part: list[str] = []
        for text in some:
            if part and sum(map(len, part)) + len(text) > LETTERS:
                yield part
                part = []
            part.append(text)
        yield part


class Server:
    """A server that is asked over HTTP."""

    def __init__(self, address: str | None, token_file: Path | None) -> None:
        from shortlist.server.settings import read_token

        self._address = (address or "").rstrip("/") + "/"
        if not self._address.startswith(("http://", "https://")):
            raise InputError(f"--server takes an address such as http://127.0.0.1:8000/, not {address!r}")
        self._token = read_token(token_file, os.environ.get("SHORTLIST_TOKEN"))

    def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """What it answers; its own sentence where it refuses."""
        headers = {"Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, content, headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as problem:
            try:
                said = json.load(problem)["error"]
            except (ValueError, KeyError, TypeError):
                said = f"it answers {problem.code}"
            raise InputError(f"{self._address} refuses: {said}") from None
        except (OSError, ValueError) as problem:
            raise InputError(f"cannot reach {self._address}: {getattr(problem, 'reason', problem)}") from None
