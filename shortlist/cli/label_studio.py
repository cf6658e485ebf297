"""shortlist label-studio"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.options import ServerAddress, TokenFile
from shortlist.cli.terminal import say
from shortlist.errors import InputError, installing


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
