"""shortlist export"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.terminal import say
from shortlist.errors import InputError


def export(
    state: Annotated[Path, typer.Argument(help="The folder that a server keeps what is learned in.")],
    format: Annotated[str, typer.Option(help="jsonl, csv, fasttext, label-studio or doccano.")] = "jsonl",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; standard output if not given.")
    ] = None,
) -> None:
    """Write the examples that a server has learned, with who judged them, when, and their keys.

    Examples that were taken back are left out. All layouts can be read back by shortlist train; in CSV with
    --label-separator '|'. The server may go on meanwhile.
    """
    from shortlist.files.drafts import whole_file
    from shortlist.server.exporting import exported
    from shortlist.server.journal import Journal
    from shortlist.server.snapshots import check_state

    check_state(state)
    journal = Journal(state, read_only=True)
    try:
        pieces = exported(journal, format)
        if output is None:
            for piece in pieces:
                sys.stdout.write(piece)
            return
        try:
            with whole_file(output) as file:
                for piece in pieces:
                    file.write(piece.encode())
        except OSError as problem:
            raise InputError(f"cannot write {output}: {problem.strerror}") from None
        say(f"wrote {output}")
    finally:
        journal.close()
