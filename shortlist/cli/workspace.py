"""shortlist workspace, backup"""

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
    from shortlist.server.backup import open_workspace, save_workspace

    if action == "save":
        save_workspace(state, file)
        print(f"Wrote {file}. shortlist workspace open FOLDER {file} makes a state directory of it.")
    elif action == "open":
        open_workspace(file, state)
        print(f"Opened {file} in {state}. Next: shortlist serve --state {state}")
    else:
        raise InputError(f"a workspace can be asked to save or open, not to {action!r}")


def backup(
    state: State, target: Annotated[Path, typer.Argument(help="The folder to make.", show_default=False)]
) -> None:  # fmt: skip
    """Copy the state folder of a server, which may be running, to a new folder.

    The copy can be served as it is: shortlist serve --state TARGET. A copy by other means may catch the journal in the
    middle of a write. It holds the people with the hashes of their tokens: keep it as safe as the folder itself.
    """
    from shortlist.server.backup import back_up

    back_up(state, target)
    print(f"Copied {state} to {target}. shortlist serve --state {target} serves the copy.")
