"""A comparison of two running times, taken within one run so that a busy machine slows both."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.conftest import unpacked


class Absent(Exception):
    """A data set that a comparison needs is not there."""


class Ratio(NamedTuple):
    """How long we take, how long the other takes, and how many times as long it should take."""

    name: str
    ours: float  # seconds
    theirs: float
    least: float
    most: float = float("inf")

    @property
    def found(self) -> float:
        return self.theirs / self.ours

    @property
    def met(self) -> bool:
        return self.least <= self.found <= self.most


def in_turn(*calls: Callable[[], Any], repeats: int = 5, clock: Callable[[], float] = time.process_time) -> list[float]:
    """The best time of each call in seconds of processor time, taken in turn, so that all fare alike."""
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for n, call in enumerate(calls):
            began = clock()
            call()
            best[n] = min(best[n], clock() - began)
    return best


def data(archive: str, folder: str) -> Path:
    """The folder of a public data set, where the tests look for it."""
    chosen = os.environ.get("SHORTLIST_DATA")
    root = Path(chosen) if chosen else unpacked(archive)
    if root is None or not (root / folder).exists():
        raise Absent(f"the data set {folder} is absent; set SHORTLIST_DATA to the folder that holds it")
    return root / folder
