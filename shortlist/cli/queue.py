"""shortlist queue"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options import Json, Reading, TokenFile, reads
from shortlist.cli.terminal import print_json, progress
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.server.client import Server

ACTIONS = ("add", "show")


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
    token_file: TokenFile = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Add texts to the queue of a server, for people to judge on its page, or show how far they have come.

    Files of all formats are read; labels that they have are left alone. Columns of texts are those that the model was
    trained from, unless they are named. A text that is in the queue already is not added again, so the same command can
    be run twice.
    """
    if action not in ACTIONS:
        raise InputError(f"there is no action {action!r}; the actions are {', '.join(ACTIONS)}, as in: queue add FILE")
    if (state is None) == (server is None):
        raise InputError("say where the queue is: --state FOLDER, or --server http://HOST:PORT/")
    from shortlist.server.client import Server

    if action == "add":
        from shortlist.server.queue import preferring, texts_in

        known = None
        if reading.text_column is None:
            model = {} if state is not None else Server(server, token_file).ask("v1/model")
            known = known_in(state) if state is not None else model.get("text_columns")
        stream = reading.open(data, prefer=preferring(known if reading.finds_examples(data, known) else None))
        texts = texts_in(data, progress(stream, "reading"))
        found = add_to(state, texts) if state is not None else send_to(Server(server, token_file), texts)
        was = "was" if found["known"] == 1 else "were"
        words = f"Added {counted(found['added'], 'texts')}; {found['known']:,} {was} there already."
    else:
        found = progress_in(state) if state is not None else Server(server, token_file).ask("v1/queue")
        words = ", ".join(f"{n:,} {name}" for name, n in found.items()) + "."
    if as_json:
        print_json(found)
    else:
        print(words)


def known_in(state: Path) -> list[str] | None:
    """The columns of texts that the model in a state folder knows."""
    from shortlist.models.making import open_model
    from shortlist.server.queue import columns_of
    from shortlist.server.snapshots import BASE, check_state

    check_state(state)
    return columns_of(open_model(state / BASE))


def add_to(state: Path, texts: Iterable[Any]) -> dict[str, int]:
    """Write to the queue in a state folder."""
    from shortlist.server.queue import Queue
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
    from shortlist.server.queue import Queue, follow

    journal = Journal(state)
    queue = Queue(state)
    try:
        follow(queue, journal)
        return queue.counts()
    finally:
        queue.close()
        journal.close()


def send_to(server: Server, texts: Iterable[Any]) -> dict[str, int]:
    """Send texts to a server, some at a time."""
    from shortlist.server.client import parts

    total = {"added": 0, "known": 0}
    for some in parts(texts, str):
        answer = server.ask("v1/queue", {"texts": some})
        total = {name: n + answer[name] for name, n in total.items()}
    return total
