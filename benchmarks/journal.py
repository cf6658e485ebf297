"""What the journal's checksums cost: commits with and without the record of their end on disk, and the check at start.

    python benchmarks/journal.py [--commits 300] [--rows 100000] [--folder FOLDER]

Commits of one example each are timed by turns: as they are, with the record of the end written but not waited for, and
without SQLite's own wait for the disk as well. FOLDER says on which disk; a temporary one if not given.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from shortlist.server import chain
from shortlist.server.journal import Example, Journal

TEXT = "a title of about sixty letters, as libraries have them, no. {}"


def commits(folder: Path, n: int) -> None:
    """Time single commits, with each way of waiting for the disk in turn."""
    Journal.begin(folder)
    journal, sync = Journal(folder), chain.sync
    ways = {"both on disk": (sync, "FULL"), "the record not waited for": (int, "FULL"), "no wait at all": (int, "OFF")}
    times: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(n):
        for way, (chain.sync, mode) in ways.items():
            journal._db.execute(f"PRAGMA synchronous={mode}")
            began = time.perf_counter()
            journal.append([[Example(TEXT.format(number), ["x"])]])
            times[way].append(time.perf_counter() - began)
    chain.sync = sync
    journal.close()
    for way, taken in times.items():
        told = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
        print(f"commit of one example, {way:26} median {1000 * told[0]:7.3f} ms   p99 {1000 * told[1]:8.3f} ms")


def check(folder: Path, rows: int) -> None:
    """Time what start-up does before anything else."""
    Journal.begin(folder)
    journal = Journal(folder)
    for first in range(0, rows, 10_000):
        journal.append([[Example(TEXT.format(n), ["x"]) for n in range(first, min(first + 10_000, rows))]])
    journal.close()
    taken = []
    for _ in range(3):
        journal = Journal(folder, read_only=True)
        began = time.perf_counter()
        journal.check()
        taken.append(time.perf_counter() - began)
        journal.close()
    size = (folder / "journal.sqlite").stat().st_size / 1e6
    print(f"check of {rows:,} rows ({size:.0f} MB): {min(taken):.2f} s, the best of three")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=None)
    chosen = parser.parse_args()
    print(f"{os.cpu_count()} cores; load average {os.getloadavg()[0]:.1f} before")
    with tempfile.TemporaryDirectory(dir=chosen.folder) as root:
        for name, measure, n in (("commits", commits, chosen.commits), ("rows", check, chosen.rows)):
            folder = Path(root, name)
            folder.mkdir()
            measure(folder, n)


if __name__ == "__main__":
    main()
