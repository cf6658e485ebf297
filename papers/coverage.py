"""What the papers have, section by section, and where it is here: in an experiment, in code, in a
test. ``coverage.csv`` lists it.

What experiments find about their tables and figures, they claim themselves (``Claim``), under the
same places.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple


class Item(NamedTuple):
    """A theorem, algorithm, table, figure or remark of a paper."""

    paper: str
    section: str
    place: str  # as claims name it
    what: str
    experiments: tuple[str, ...]
    code: str  # a file of the project
    tests: str
    depends_on: str  # what else the outcome depends on, as results.md shows


def read_items() -> dict[str, list[Item]]:
    """The parts of each paper."""
    papers = defaultdict(list)
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            experiments = tuple(row.pop("experiments").split())
            papers[row["paper"]].append(Item(experiments=experiments, **row))
    return papers


PAPERS = read_items()
