"""shortlist encode"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.options import EncoderModel, Json, Reading, encoder_name, reads
from shortlist.cli.terminal import bar, print_json, say, say_skipped
from shortlist.errors import InputError, counted, installing

if TYPE_CHECKING:
    from shortlist.encoders import Encoder
    from shortlist.inputs import Stream


@reads
def encode(
    *,
    data: Annotated[
        str | None,
        typer.Argument(help="A file or folder of texts; - for standard input.", show_default=False),
    ] = None,
    encoder: Annotated[
        str, typer.Option(help="The encoder: a name, a folder, LIBRARY:NAME, or an address.")
    ],
    encoder_model: EncoderModel = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; DATA.vectors if not given."),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Answer /v1/embeddings with this encoder instead.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(help="The address to listen on; any but this machine's own needs a token."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")
    ] = 8080,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token to ask for; or set SHORTLIST_TOKEN.")
    ] = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Turn texts into vectors once, for --vectors of other commands, or serve an encoder.

    The file has a row for each text, as numpy.save writes it. If the command is stopped, the same
    command goes on where it was. With --serve, anything that speaks OpenAI's /v1/embeddings can use
    the encoder.
    """
    from shortlist.encoders import load_encoder

    if serve and (data is not None or output is not None):
        raise InputError("--serve takes no data and no --output: it answers requests")
    if not serve and data is None:
        raise InputError("name a file of texts to encode, or serve the encoder with --serve")
    if data == "-" and output is None:
        raise InputError("the vectors of standard input need a file: name it with --output")
    loaded = load_encoder(encoder_name(encoder, encoder_model))
    if serve:
        serve_over_http(loaded, host, port, token_file)
        return
    assert data is not None
    target = output or Path(f"{data.rstrip('/')}.vectors")
    stream = reading.open(data)
    n, n_before = encode_file(loaded, stream, target)
    say_skipped(stream.skipped)
    if as_json:
        print_json({"vectors": str(target), "texts": n, "numbers": loaded.dimension})
        return
    resumed = f", {n_before:,} of them before" if n_before else ""
    print(f"{target}: vectors of {counted(n, 'texts')}{resumed}, {loaded.dimension} numbers each")


def encode_file(encoder: Encoder, stream: Stream, target: Path) -> tuple[int, int]:
    """Encode the texts of a stream; return how many there are, and how many were done before."""
    from shortlist.encoders.vectors_file import write_vectors

    with bar("encoding", "{task.completed:,} texts") as shown:
        task = shown.add_task("encoding", total=None)
        return write_vectors(
            texts_of(stream), encoder, target, lambda n: shown.update(task, completed=n)
        )


def texts_of(stream: Stream) -> Iterator[str]:
    """The texts of a stream, as an encoder sees them."""
    from shortlist.data.texts import Fielded, as_documents

    for batch in stream:
        if batch.texts is None:
            raise InputError("there are no texts to encode in the data; name their --text-column")
        documents = as_documents(batch.texts)
        yield from documents.joined() if isinstance(documents, Fielded) else documents


def serve_over_http(encoder: Encoder, host: str, port: int, token_file: Path | None) -> None:
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise InputError(f"serving needs {package}; {installing('server')}")
    from shortlist.server.embeddings import serve_encoder
    from shortlist.server.settings import read_token

    def announce(address: str) -> None:
        say(f"{encoder.name} at {address}  (Ctrl-C stops)")

    token = read_token(token_file, os.environ.get("SHORTLIST_TOKEN"))
    serve_encoder(encoder, host, port, token, announce)
