"""A server and what belongs to it: shortlist serve, queue, people, export, mcp, annif,
label-studio.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options import (
    EncoderModel,
    Json,
    Reading,
    ServerAddress,
    TokenFile,
    find_encoder,
    named_values,
    reads,
)
from shortlist.cli.terminal import print_json, print_table, progress, say, say_when_compiling
from shortlist.errors import InputError, counted, installing

if TYPE_CHECKING:
    from shortlist.server.client import Server


def serve(
    model_file: Annotated[
        Path | None,
        typer.Argument(help="A model file; a demo model if not given.", show_default=False),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="The folder that keeps what is learned; MODEL-FILE.state if not given."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="The address to listen on; any but this machine's own needs a token."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")
    ] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token to ask for; or set SHORTLIST_TOKEN.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Rank and explain only.")] = False,
    salvage: Annotated[
        bool,
        typer.Option(
            "--salvage",
            help="Go on with the sound part of a damaged journal; the rest is set aside.",
        ),
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(
            help=(
                "What makes vectors of texts, where the model file does not say: NAME, the address "
                "of an endpoint, or MODULE:FUNCTION."
            )
        ),
    ] = None,
    encoder_model: EncoderModel = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(help="A limit, NAME=VALUE, such as text=100000; can be repeated."),
    ] = None,
) -> None:
    """Serve a model over HTTP, with a page, that learns from corrections and loses none.

    What is learned is on disk before it is acknowledged, in the folder given by --state. Without a
    model file, the state goes on where it stopped; without both, a demo model is served, and what
    it learns is forgotten.
    """
    if os.name == "nt":
        raise InputError(
            "serving needs Linux or macOS, whose file locks and processes it uses; on Windows use "
            "WSL"
        )
    for needed in ("fastapi", "uvicorn", "prometheus_client"):
        if find_spec(needed) is None:
            raise InputError(f"serving needs {needed}; {installing('server')}")
    from shortlist.server.app import serve as run
    from shortlist.server.settings import Limits, Settings, read_token
    from shortlist.server.snapshots import is_new

    if state is None and model_file is not None and not read_only:
        state = Path(f"{model_file}.state")
    with tempfile.TemporaryDirectory(prefix="shortlist-") as temporary:
        settings = Settings(
            folder=state or Path(temporary),
            host=host,
            port=port,
            token=read_token(token_file, os.environ.get("SHORTLIST_TOKEN")),
            read_only=read_only,
            salvage=salvage,
            limits=Limits.of(named_values("--limit", limit)),
            encoder=None if encoder is None else find_encoder(encoder, encoder_model),
        )
        settings.check()
        if model_file is not None and not model_file.is_file():
            raise InputError(f"there is no model file {model_file}")
        say_when_compiling()
        try:
            settings.folder.mkdir(exist_ok=True)
        except OSError as problem:
            raise InputError(
                f"cannot make the folder {settings.folder}: {problem.strerror}"
            ) from None
        if model_file is None and is_new(settings.folder):
            if state is None:
                say(
                    "what the demo model learns is forgotten when it stops; --state FOLDER keeps it"
                )
            model_file = demo_model(Path(temporary))
        run(settings, model_file, lambda url: say(f"open {url}  (Ctrl-C stops)"))


def demo_model(folder: Path) -> Path:
    """Write a model of the docstrings of Python's standard library."""
    from shortlist import Categorizer
    from shortlist.cli.demo import docstrings

    say("learning the docstrings of Python's standard library, for a demo…")
    path = folder / "demo.shortlist"
    Categorizer().fit(*docstrings()).save(path)
    return path


@reads
def queue(
    *,
    action: Annotated[str, typer.Argument(help="add the texts of a file, or show how many wait.")],
    data: Annotated[
        str, typer.Argument(help="A file or folder of texts; - for standard input.")
    ] = "-",
    state: Annotated[
        Path | None,
        typer.Option(
            help="The state folder of a server, which may be running.", show_default=False
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            help="The address of a server instead, http://HOST:PORT/.", show_default=False
        ),
    ] = None,
    token_file: TokenFile = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Add texts to the queue of a server, for people to judge on its page, or show how far they
    have come.

    Files of all formats are read; labels that they have are left alone. Columns of texts are those
    that the model was trained from, unless they are named. A text that is in the queue already is
    not added again, so the same command can be run twice.
    """
    if action not in ("add", "show"):
        raise InputError(
            f"there is no action {action!r}; the actions are add, show, as in: queue add FILE"
        )
    if (state is None) == (server is None):
        raise InputError("say where the queue is: --state FOLDER, or --server http://HOST:PORT/")
    from shortlist.server.client import Server

    if action == "add":
        from shortlist.server.review_queue import preferring, texts_in

        known = None
        if reading.text_column is None:
            known = (
                known_in(state)
                if state
                else Server(server, token_file).ask("v1/model").get("text_columns")
            )
        stream = reading.open(
            data, prefer=preferring(known if reading.finds_examples(data, known) else None)
        )
        texts = texts_in(data, progress(stream, "reading"))
        found = add_to(state, texts) if state else send_to(Server(server, token_file), texts)
        was = "was" if found["known"] == 1 else "were"
        words = f"Added {counted(found['added'], 'texts')}; {found['known']:,} {was} there already."
    else:
        found = counts_in(state) if state else Server(server, token_file).ask("v1/queue")
        words = ", ".join(f"{n:,} {name}" for name, n in found.items()) + "."
    print_json(found) if as_json else print(words)


def known_in(state: Path) -> list[str] | None:
    """Return the text columns that the model in a state folder was trained from."""
    from shortlist.models.training_settings import open_model
    from shortlist.server.review_queue import columns_of
    from shortlist.server.snapshots import BASE, check_state

    check_state(state)
    return columns_of(open_model(state / BASE))


def add_to(state: Path, texts: Iterable[Any]) -> dict[str, int]:
    """Add texts to the queue in a state folder; return how many were added and how many it had
    already.
    """
    from shortlist.server.review_queue import Queue
    from shortlist.server.snapshots import check_state

    check_state(state)
    with closing(Queue(state)) as queue:
        return queue.add(texts)


def counts_in(state: Path) -> dict[str, int]:
    """Return the counts of the queue in a state folder."""
    from shortlist.server.journal import Journal
    from shortlist.server.review_queue import Queue, follow

    with closing(Journal(state)) as journal, closing(Queue(state)) as queue:
        follow(queue, journal)
        return queue.counts()


def send_to(server: Server, texts: Iterable[Any]) -> dict[str, int]:
    """Send texts to the queue of a server in several requests; return the counts as ``add_to``
    does.
    """
    from shortlist.server.client import parts

    total = {"added": 0, "known": 0}
    for some in parts(texts, str):
        answer = server.ask("v1/queue", {"texts": some})
        total = {name: n + answer[name] for name, n in total.items()}
    return total


ACTIONS = ("list", "add", "remove", "role")


def people(
    action: Annotated[
        str, typer.Argument(help=f"{', '.join(ACTIONS)}.", show_default="list")
    ] = "list",
    name: Annotated[str, typer.Argument(help="The name of a person.", show_default=False)] = "",
    *,
    state: Annotated[
        Path, typer.Option(help="The folder that the server keeps what is learned in.")
    ],
    role: Annotated[
        str,
        typer.Option(help="read: rank and look; judge: also teach; manage: also change labels."),
    ] = "judge",
    as_json: Json = False,
) -> None:
    """List and change who may use a server. Each person has a token.

    add NAME prints the token, this once: the server keeps a hash of it. The folder is made if it is
    not there yet. From the first person on, the server asks everybody for a token. remove NAME and
    role NAME hold from the next request on; nothing need be started again.
    """
    from shortlist.server.people import FILE, People, Role, changing

    if action not in ACTIONS:
        raise InputError(f"people can be asked to {', '.join(ACTIONS)}, not to {action!r}")
    if (action == "list") == bool(name):
        raise InputError("list takes no name" if name else f"{action} needs the name of a person")
    if action == "list":
        everyone = People(state / FILE).everyone.values()
        if as_json:
            shown = [
                {"name": one.name, "role": str(one.role), "since": one.since} for one in everyone
            ]
            print_json({"people": shown})
            return
        rows = [
            [one.name, str(one.role), time.strftime("%Y-%m-%d", time.localtime(one.since))]
            for one in everyone
        ]
        print_table("", ["name", "role", "since"], rows)
        return
    token, given = None, Role.of(role)
    is_new = action == "add" and not state.exists()
    with changing(state, new=is_new) as known:
        if action == "add":
            token = known.add(name, given)
        elif action == "remove":
            known.remove(name)
        else:
            known.give_role(name, given)
    if as_json:
        done = {"name": name, "role": None if action == "remove" else str(given), "token": token}
        print_json({what: value for what, value in done.items() if value is not None})
    elif token is not None:
        if is_new:
            say(
                f"{state} is new; shortlist serve MODEL-FILE --state {state} serves a model to its "
                "people"
            )
        say(
            f"{name} may {given}. The token is shown this once; give it to {name} in a way that "
            "others cannot read:"
        )
        print(token)
    else:
        print(f"{name} is removed." if action == "remove" else f"{name} may {given}.")


def export(
    state: Annotated[
        Path, typer.Argument(help="The folder that a server keeps what is learned in.")
    ],
    format: Annotated[str, typer.Option(help="jsonl, csv, fasttext or label-studio.")] = "jsonl",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; standard output if not given."),
    ] = None,
) -> None:
    """Write the examples that a server has learned, with who judged them, when, and their keys.

    Examples that were taken back are left out. All layouts can be read back by shortlist train; in
    CSV with --label-separator '|'. The server may go on meanwhile.
    """
    from shortlist.files.drafts import whole_file
    from shortlist.server.exporting import exported
    from shortlist.server.journal import Journal
    from shortlist.server.snapshots import check_state

    check_state(state)
    with closing(Journal(state, read_only=True)) as journal:
        pieces = exported(journal, format)
        if output is None:
            sys.stdout.writelines(pieces)
            return
        try:
            with whole_file(output) as file:
                file.writelines(piece.encode() for piece in pieces)
        except OSError as problem:
            raise InputError(f"cannot write {output}: {problem.strerror}") from None
        say(f"wrote {output}")


def mcp(server: ServerAddress = "http://127.0.0.1:8000/", token_file: TokenFile = None) -> None:
    """Offer a running server to assistants, over the Model Context Protocol on standard input and
    output.

    The tools are rank, explain, labels, learn and undo. What they teach goes into the server's
    journal.
    """
    from shortlist.integrations.mcp_tools import serve
    from shortlist.server.client import Server

    serve(Server(server, token_file))


# Annif reads its options and --help itself
ANNIF = {"ignore_unknown_options": True, "help_option_names": []}


def annif(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="What Annif's own command takes: train my-project …", show_default=False
        ),
    ] = None,
) -> None:
    """Run Annif's command line with one more project type: backend=shortlist, which goes on
    learning.

    A project keeps its model in Annif's data folder, or asks a running server whose address stands
    as server= in projects.cfg; what it learns then goes into the server's journal.
    """
    if find_spec("annif") is None:
        raise InputError(f"this needs the package annif; {installing('annif')}")
    from shortlist.integrations.annif_backend import run

    run(arguments or ["--help"])


def label_studio(
    server: ServerAddress = "http://127.0.0.1:8000/",
    token_file: TokenFile = None,
    host: Annotated[
        str,
        typer.Option(help="The address to listen on; any but this machine's own needs a password."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")
    ] = 9090,
    password_file: Annotated[
        Path | None,
        typer.Option(help="A file with the password that Label Studio gives.", show_default=False),
    ] = None,
) -> None:
    """Offer a running server to Label Studio as a machine learning backend.

    It suggests labels for tasks with Choices or a Taxonomy, and learns from each annotation that is
    made, changed or deleted, into the server's journal.
    """
    for needed in ("fastapi", "uvicorn"):
        if find_spec(needed) is None:
            raise InputError(f"this needs {needed}; {installing('label-studio')}")
    from shortlist.integrations.label_studio import Backend, serve
    from shortlist.server.client import Server
    from shortlist.server.settings import read_token

    backend, password = Backend(Server(server, token_file)), read_token(password_file, None)
    serve(
        backend,
        host,
        port,
        password,
        lambda url: say(f"add {url} as a model in Label Studio  (Ctrl-C stops)"),
    )
