"""shortlist go-back"""

from __future__ import annotations

from shortlist.cli.rehearse import State


def go_back(state: State) -> None:
    """Serve the model from before the last promotion again.

    The server must be stopped. Nothing that it has learned is lost: the earlier model learns it when it starts. Going
    back again serves the promoted one.
    """
    from shortlist.server import promotion

    promotion.go_back(state)
    print(f"The earlier model is back. Next: shortlist serve --state {state}")
