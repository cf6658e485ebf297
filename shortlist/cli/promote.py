"""shortlist promote"""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli.rehearse import State, say_passed

FORCE = "Even where a group of labels falls, or examples of the journal cannot be learned."


def promote(
    state: State,
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False,
) -> None:
    """Serve the candidate of the last rehearsal from now on.

    The server must be stopped. What it has learned is learned anew by the candidate; the earlier model is kept for
    shortlist go-back.
    """
    from shortlist.server import promotion

    report, passed = promotion.promote(state, force)
    found = report["all"]
    say_passed(passed)
    print(
        f"The candidate is promoted: P@1 {found['candidate']:.4f}, and {found['present']:.4f} before. "
        f"Next: shortlist serve --state {state}; shortlist go-back {state} takes it back."
    )
