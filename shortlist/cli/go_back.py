"""shortlist go-back"""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli.rehearse import State, say_passed


def go_back(
    state: State,
    force: Annotated[
        bool, typer.Option("--force", help="Even where examples of the journal cannot be learned.")
    ] = False,
) -> None:
    """Serve the model from before the last promotion again.

    The server must be stopped. Nothing that it has learned is lost: the earlier model learns it anew. Going back again
    serves the promoted one.
    """
    from shortlist.server import promotion

    say_passed(promotion.go_back(state, force))
    print(f"The earlier model is back. Next: shortlist serve --state {state}")
