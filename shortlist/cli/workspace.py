"""shortlist workspace"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.rehearse import State
from shortlist.errors import InputError


def workspace(
    action: Annotated[str, typer.Argument(help="save or open.", show_default=False)],
    state: State,
    file: Annotated[Path, typer.Argument(help="The file of the workspace.", show_default=False)],
) -> None:
    """Save all that a server has, in one file, or open such a file in a new folder.

    The file holds the model with its vocabulary, the journal, and the people, who need new tokens where it is opened:
    shortlist people remove and add. A server may go on while its workspace is saved.
    """
    from shortlist.server import workspace as whole

    if action == "save":
        whole.save(state, file)
        print(f"Wrote {file}. shortlist workspace open FOLDER {file} makes a state directory of it.")
    elif action == "open":
        whole.open_in(file, state)
        print(f"Opened {file} in {state}. Next: shortlist serve --state {state}")
    else:
        raise InputError(f"a workspace can be asked to save or open, not to {action!r}")
