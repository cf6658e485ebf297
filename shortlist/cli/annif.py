"""shortlist annif"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from shortlist.errors import InputError, installing

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
