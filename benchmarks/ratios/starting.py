"""How soon the terminal answers, against an empty Python with the library that reads the options."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.ratios.ratio import Ratio, in_turn


def starting() -> Iterator[Ratio]:
    def run(*command):
        return lambda: subprocess.run([sys.executable, *command], check=True, capture_output=True)

    calls = run("-m", "shortlist.cli", "--help"), run("-c", "import typer, rich.console")
    yield Ratio("shortlist --help: importing Typer and Rich", *in_turn(*calls, clock=time.perf_counter), 0.4)
