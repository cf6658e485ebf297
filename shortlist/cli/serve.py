"""shortlist serve"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.options import find_encoder, named_values
from shortlist.cli.terminal import say, say_when_compiling
from shortlist.errors import InputError, installing


def serve(
    model_file: Annotated[
        Path | None, typer.Argument(help="A model file; a demo model if not given.", show_default=False)
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="The folder that keeps what is learned; MODEL-FILE.state if not given.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; any but this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token to ask for; or set SHORTLIST_TOKEN.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Rank and explain only.")] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Go on with the sound part of a damaged journal; the rest is set aside.")
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(help="What makes vectors of texts, where the model file does not say: NAME, or MODULE:FUNCTION."),
    ] = None,
    limit: Annotated[
        list[str] | None, typer.Option(help="A limit, NAME=VALUE, such as text=100000; can be repeated.")
    ] = None,
) -> None:
    """Serve a model over HTTP, with a page, that learns from corrections and loses none.

    What is learned is on disk before it is acknowledged, in the folder given by --state. Without a model file, the
    state goes on where it stopped; without both, a demo model is served, and what it learns is forgotten.
    """
    if os.name == "nt":
        raise InputError("serving needs Linux or macOS, whose file locks and processes it uses; on Windows use WSL")
    for needed in ("fastapi", "uvicorn", "prometheus_client"):
        if find_spec(needed) is None:
            raise InputError(f"serving needs {needed}; {installing('server')}")
    from shortlist.server.app import serve as run
    from shortlist.server.settings import Limits, Settings, read_token
    from shortlist.server.snapshots import is_new

    if state is None and model_file is not None and not read_only:
        state = Path(f"{model_file}.state")
    settings = Settings(
        folder=state or Path(os.devnull), host=host, port=port,
        token=read_token(token_file, os.environ.get("SHORTLIST_TOKEN")),
        read_only=read_only, salvage=salvage,
        limits=Limits.of(named_values("--limit", limit)), encoder=None if encoder is None else find_encoder(encoder),
    )  # fmt: skip
    settings.check()
    if model_file is not None and not model_file.is_file():
        raise InputError(f"there is no model file {model_file}")
    say_when_compiling()
    with tempfile.TemporaryDirectory(prefix="shortlist-") as temporary:
        folder = Path(temporary) if state is None else state
        try:
            folder.mkdir(exist_ok=True)
        except OSError as problem:
            raise InputError(f"cannot make the folder {folder}: {problem.strerror}") from None
        if model_file is None and (state is None or is_new(state)):
            if state is None:
                say("what the demo model learns is forgotten when it stops; --state FOLDER keeps it")
            model_file = demo_model(Path(temporary))
        run(replace(settings, folder=folder), model_file, lambda url: say(f"open {url}  (Ctrl-C stops)"))


def demo_model(folder: Path) -> Path:
    """A model of the docstrings of Python's standard library."""
    from shortlist import Categorizer
    from shortlist.cli.demo import docstrings

    say("learning the docstrings of Python's standard library, for a demo…")
    path = folder / "demo.shortlist"
    Categorizer().fit(*docstrings()).save(path)
    return path
