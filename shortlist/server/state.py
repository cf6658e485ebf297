"""The state directory of a server: which file its base is, and the sentence about a folder that is none."""

from __future__ import annotations

import os
from pathlib import Path

from shortlist.errors import InputError

BASE = "base.shortlist"  # the model that serving began with, or what was promoted since


def identity(folder: Path) -> tuple[int, ...]:
    """Which file the base is: another one, once something was promoted."""
    return identity_of(folder / BASE)


def identity_of(path: Path) -> tuple[int, ...]:
    """Which file this is: another one, once it was replaced or written to."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def no_state(folder: Path) -> InputError:
    return InputError(f"{folder} is not a state directory yet: start shortlist serve MODEL --state {folder} once")
