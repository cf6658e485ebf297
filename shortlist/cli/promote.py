"""shortlist promote"""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli.rehearse import State


def promote(
    state: State,
    force: Annotated[bool, typer.Option("--force", help="Even where a group of labels falls.")] = False,
) -> None:
    """Serve the candidate of the last rehearsal from now on.

    The server must be stopped. What it has learned is learned anew by the candidate when it starts; the earlier model
    is kept for shortlist go-back.
    """
    from shortlist.server import promotion

    found = promotion.promote(state, force)["all"]
    print(
        f"The candidate is promoted: P@1 {found['candidate']:.4f}, and {found['present']:.4f} before. "
        f"Next: shortlist serve --state {state}; shortlist go-back {state} takes it back."
    )
