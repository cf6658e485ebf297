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
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

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
        Argument(
            help="A model file; a demo model if neither it nor --state is given.",
            show_default=False,
        ),
    ] = None,
    state: Annotated[
        Path | None,
        Option(help="The folder that keeps what is learned; MODEL-FILE.state if not given."),
    ] = None,
    host: Annotated[
        str,
        Option(help="The address to listen on; any but this machine's own needs a token."),
    ] = "127.0.0.1",
    port: Annotated[
        int, Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")
    ] = 8000,
    token_file: Annotated[
        Path | None, Option(help="A file with the token to ask for; or set SHORTLIST_TOKEN.")
    ] = None,
    read_only: Annotated[bool, Option("--read-only", help="Rank and explain only.")] = False,
    salvage: Annotated[
        bool,
        Option(
            "--salvage",
            help="Go on with the sound part of a damaged journal; the rest is set aside.",
        ),
    ] = False,
    encoder: Annotated[
        str | None,
        Option(
            help=(
                "What makes vectors of texts, where the model file does not say: NAME, the address "
                "of an endpoint, or MODULE:FUNCTION."
            )
        ),
    ] = None,
    encoder_model: EncoderModel = None,
    spot_checks: Annotated[
        float,
        Option(
            min=0.0,
            max=1.0,
            help=(
                "The usual share of waiting texts that people check without seeing the answer; 0 "
                "for none, and then nobody knows how many decisions are right."
            ),
        ),
    ] = 0.05,
    limit: Annotated[
        list[str] | None,
        Option(help="A limit, NAME=VALUE, such as text=100000; can be repeated."),
    ] = None,
) -> None:
    """Serve a model over HTTP, with a page, that learns from corrections and loses none.

    What is learned is on disk before it is acknowledged, in the folder given by --state. Without a
    model file, the state goes on where it stopped; without both, a demo model is served, and what
    it learns is forgotten. A read-only server begins nothing: its state folder is one that another
    server works on, or has worked on.
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
    from shortlist.server.settings import Limits, ServerSettings, read_token
    from shortlist.server.snapshots import check_state

    is_demo = state is None and model_file is None
    if state is not None and (model_file is None or read_only):
        check_state(state)
    if state is None and model_file is not None and not read_only:
        state = Path(f"{model_file}.state")
    with tempfile.TemporaryDirectory(prefix="shortlist-") as temporary:
        settings = ServerSettings(
            folder=state or Path(temporary),
            host=host,
            port=port,
            token=read_token(token_file, os.environ.get("SHORTLIST_TOKEN")),
            read_only=read_only,
            salvage=salvage,
            spot_checks=spot_checks,
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
        if is_demo:
            say(
                "what the demo model learns is forgotten when it stops; to keep what is learned, "
                "serve a model file"
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
    action: Annotated[str, Argument(help="add the texts of a file, or show how many wait.")],
    data: Annotated[str, Argument(help="A file or folder of texts; - for standard input.")] = "-",
    state: Annotated[
        Path | None,
        Option(help="The state folder of a server, which may be running.", show_default=False),
    ] = None,
    server: Annotated[
        str | None,
        Option(help="The address of a server instead, http://HOST:PORT/.", show_default=False),
    ] = None,
    token_file: TokenFile = None,
    keep_columns: Annotated[
        str,
        Option(
            help="Columns that go with each text to the page and into exports, as date,channel; "
            "--id-column does too.",
            show_default=False,
        ),
    ] = "",
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
        from shortlist.inputs.tables import column_names
        from shortlist.server.queue_files import preferring, texts_in

        columns = None
        if reading.text_column is None:
            if state:
                columns = text_columns_in(state)
            else:
                columns = Server(server, token_file).ask("v1/model").get("text_columns")
        if not reading.finds_examples(data, columns):
            columns = None
        keep = column_names(keep_columns)
        if reading.id_column is not None:
            keep = list(dict.fromkeys([reading.id_column, *keep]))
        reading = replace(reading, id_column=None)
        options: dict[str, Any] = {"keep": keep} if keep else {}
        stream = reading.open(data, prefer=preferring(columns), **options)
        texts = texts_in(data, progress(stream, "reading"))
        counts = add_to(state, texts) if state else send_to(Server(server, token_file), texts)
        was = "was" if counts["known"] == 1 else "were"
        words = (
            f"Added {counted(counts['added'], 'texts')}; {counts['known']:,} {was} there already."
        )
    else:
        counts = counts_in(state) if state else Server(server, token_file).ask("v1/queue")
        words = ", ".join(f"{n:,} {name}" for name, n in counts.items()) + "."
    if as_json:
        print_json(counts)
    else:
        print(words)


def text_columns_in(state: Path) -> list[str] | None:
    """Return the text columns that the model in a state folder was trained from."""
    from shortlist.models.training_settings import open_model
    from shortlist.server.queue_files import columns_of
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
        return queue.add_rows(texts)


def counts_in(state: Path) -> dict[str, int]:
    """Return the counts of the queue in a state folder."""
    from shortlist.server.journal import Journal
    from shortlist.server.queue_following import follow
    from shortlist.server.review_queue import Queue

    with closing(Journal(state, read_only=True)) as journal, closing(Queue(state)) as queue:
        follow(queue, journal)
        return queue.counts()


def send_to(server: Server, texts: Iterable[Any]) -> dict[str, int]:
    """Send texts to the queue of a server in several requests; return the counts as ``add_to``
    does.
    """
    from shortlist.server.client import parts

    total = {"added": 0, "known": 0}
    for part in parts(texts, str):
        documents, rows = zip(*part, strict=True)
        answer = server.ask("v1/queue", {"texts": documents, "rows": rows})
        total = {name: n + answer[name] for name, n in total.items()}
    return total


PEOPLE_ACTIONS = ("list", "add", "remove", "role")


def people(
    action: Annotated[
        str, Argument(help=f"{', '.join(PEOPLE_ACTIONS)}.", show_default="list")
    ] = "list",
    name: Annotated[str, Argument(help="The name of a person.", show_default=False)] = "",
    *,
    state: Annotated[Path, Option(help="The folder that the server keeps what is learned in.")],
    role: Annotated[
        str,
        Option(help="read: rank and look; judge: also teach; manage: also change labels."),
    ] = "judge",
    as_json: Json = False,
) -> None:
    """List and change who may use a server. Each person has a token.

    add NAME prints the token, this once: the server keeps a hash of it. The folder is made if it is
    not there yet. From the first person on, the server asks everybody for a token. remove NAME and
    role NAME hold from the next request on; nothing need be started again.
    """
    from shortlist.server.people import PEOPLE_FILE, People, Role, changing

    if action not in PEOPLE_ACTIONS:
        raise InputError(f"people can be asked to {', '.join(PEOPLE_ACTIONS)}, not to {action!r}")
    if action == "list" and name:
        raise InputError("list takes no name")
    if action != "list" and not name:
        raise InputError(f"{action} needs the name of a person")
    if action == "list":
        everyone = People(state / PEOPLE_FILE).everyone.values()
        if as_json:
            records = [
                {"name": person.name, "role": str(person.role), "since": person.since}
                for person in everyone
            ]
            print_json({"people": records})
            return
        rows = []
        for person in everyone:
            since = time.strftime("%Y-%m-%d", time.localtime(person.since))
            rows.append([person.name, str(person.role), since])
        print_table("", ["name", "role", "since"], rows)
        return
    token = None
    new_role = Role.of(role)
    is_new = action == "add" and not state.exists()
    with changing(state, new=is_new) as users:
        if action == "add":
            token = users.add(name, new_role)
        elif action == "remove":
            users.remove(name)
        else:
            users.give_role(name, new_role)
    if as_json:
        record = {"name": name}
        if action != "remove":
            record["role"] = str(new_role)
        if token is not None:
            record["token"] = token
        print_json(record)
    elif token is not None:
        if is_new:
            say(
                f"{state} is new; shortlist serve MODEL-FILE --state {state} serves a model to its "
                "people"
            )
        say(
            f"{name} may {new_role}. The token is shown this once; give it to {name} in a way that "
            "others cannot read:"
        )
        print(token)
    elif action == "remove":
        print(f"{name} is removed.")
    else:
        print(f"{name} may {new_role}.")


def export(
    state: Annotated[Path, Argument(help="The folder that a server keeps what is learned in.")],
    format: Annotated[
        str | None,
        Option(
            help="jsonl, csv, xlsx, fasttext or label-studio.",
            show_default="by the ending of --output, or jsonl",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="The file to write; standard output if not given."),
    ] = None,
    excel: Annotated[
        bool,
        Option(
            "--excel",
            help="CSV that Excel opens in much of Europe: semicolons, and a mark of UTF-8.",
        ),
    ] = False,
    by_people: Annotated[
        bool,
        Option(
            "--by-people",
            help="Only what people judged, not what the model decided: to train a model anew.",
        ),
    ] = False,
) -> None:
    """Write the examples that a server has learned, with who judged them, when, and their keys.

    Labels have their present names; with a vocabulary, names stand beside codes. Examples that were
    taken back are left out. All layouts can be read back by shortlist train; tables with
    --label-separator '|'. The server may go on meanwhile.
    """
    from shortlist.files.drafts import whole_file
    from shortlist.models.training_settings import open_model
    from shortlist.server.exporting import LAYOUTS, exported, with_present_labels
    from shortlist.server.journal import Journal
    from shortlist.server.snapshots import BASE, check_state

    check_state(state)
    if format is None:
        ending = "" if output is None else output.suffix[1:]
        format = ending if ending in LAYOUTS else "csv" if excel else "jsonl"
    if output is None and format == "xlsx":
        raise InputError("xlsx is not text; name a file for it with -o judged.xlsx")
    with closing(Journal(state, read_only=True)) as journal:
        vocabulary = getattr(open_model(state / BASE), "vocabulary_", None)
        vocabulary = with_present_labels(vocabulary, journal)
        pieces = exported(journal, format, vocabulary, excel, by_people)
        if output is None:
            sys.stdout.writelines(piece.decode() for piece in pieces)
            return
        try:
            with whole_file(output) as file:
                file.writelines(pieces)
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
ANNIF_CONTEXT = {"ignore_unknown_options": True, "help_option_names": []}


def annif(
    arguments: Annotated[
        list[str] | None,
        Argument(help="What Annif's own command takes: train my-project …", show_default=False),
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
        Option(help="The address to listen on; any but this machine's own needs a password."),
    ] = "127.0.0.1",
    port: Annotated[
        int, Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")
    ] = 9090,
    password_file: Annotated[
        Path | None,
        Option(help="A file with the password that Label Studio gives.", show_default=False),
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

    serve(
        Backend(Server(server, token_file)),
        host,
        port,
        read_token(password_file, None),
        lambda url: say(f"add {url} as a model in Label Studio  (Ctrl-C stops)"),
    )
