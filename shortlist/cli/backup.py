"""shortlist backup"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.rehearse import State


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
