"""shortlist mcp, annif, label-studio: a server beside other tools"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.options import ServerAddress, TokenFile
from shortlist.cli.terminal import say
from shortlist.errors import InputError, installing


def mcp(server: ServerAddress = "http://127.0.0.1:8000/", token_file: TokenFile = None) -> None:
    """Offer a running server to assistants, over the Model Context Protocol on standard input and output.

    The tools are rank, explain, labels, learn and undo. What they teach goes into the server's journal.
    """
    from shortlist.integrations.mcp_tools import serve
    from shortlist.server.client import Server

    serve(Server(server, token_file))


CONTEXT = {"ignore_unknown_options": True, "help_option_names": []}  # options, and --help, are Annif's own


def annif(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="What Annif's own command takes: train my-project …", show_default=False)
    ] = None,
) -> None:
    """Run Annif's command line with one more project type: backend=shortlist, which goes on learning.

    A project keeps its model in Annif's data folder, or asks a running server whose address stands as server= in
    projects.cfg; what it learns then goes into the server's journal.
    """
    if find_spec("annif") is None:
        raise InputError(f"this needs the package annif; {installing('annif')}")
    from shortlist.integrations.annif_backend import run

    run(arguments or ["--help"])


def label_studio(
    server: ServerAddress = "http://127.0.0.1:8000/",
    token_file: TokenFile = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; any but this machine's own needs a password.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")] = 9090,
    password_file: Annotated[
        Path | None, typer.Option(help="A file with the password that Label Studio gives.", show_default=False)
    ] = None,
) -> None:
    """Offer a running server to Label Studio as a machine learning backend.

    It suggests labels for tasks with Choices or a Taxonomy, and learns from each annotation that is made, changed or
    deleted, into the server's journal.
    """
    for needed in ("fastapi", "uvicorn"):
        if find_spec(needed) is None:
            raise InputError(f"this needs {needed}; {installing('label-studio')}")
    from shortlist.integrations.label_studio import Backend, serve
    from shortlist.server.client import Server
    from shortlist.server.settings import read_token

    backend, password = Backend(Server(server, token_file)), read_token(password_file, None)
    serve(backend, host, port, password, lambda url: say(f"add {url} as a model in Label Studio  (Ctrl-C stops)"))
