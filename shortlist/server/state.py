"""The sentence about a folder that is not what a server keeps its state in."""

from __future__ import annotations

from pathlib import Path

from shortlist.errors import InputError


def no_state(folder: Path) -> InputError:
    return InputError(f"{folder} is no state directory of a server; shortlist serve MODEL --state {folder} makes one")
