"""shortlist export"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from shortlist.cli.terminal import say
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.models.rater import Rater


def export(
    state: Annotated[Path, typer.Argument(help="The folder that a server keeps what is learned in.")],
    format: Annotated[
        str | None,
        typer.Option(
            help="jsonl, csv, fasttext, label-studio or doccano; jsonl if not given, and csv for rows of numbers."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; standard output if not given.")
    ] = None,
) -> None:
    """Write the examples that a server has learned, with who judged them, when, and their keys.

    Examples that were taken back are left out. All layouts can be read back by shortlist train; in CSV with
    --label-separator '|'. The server may go on meanwhile.
    """
    from shortlist.files.drafts import whole_file
    from shortlist.files.store import kind_of
    from shortlist.models.making import open_model
    from shortlist.server.exporting import exported, exported_rows
    from shortlist.server.journal import Journal
    from shortlist.server.snapshots import BASE, check_state

    check_state(state)
    journal = Journal(state, read_only=True)
    try:
        if kind_of(state / BASE) == "Rater":  # of rows; a TextRater is another kind
            pieces = exported_rows(journal, format, cast("Rater", open_model(state / BASE)).column_names)
        else:
            pieces = exported(journal, format or "jsonl")
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
