"""Writing a snapshot, in a process of its own.

It does what a start-up does and saves the result: the server that ranks and learns is never held up by it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from shortlist.errors import ShortlistError
from shortlist.server import snapshots
from shortlist.server.logs import log
from shortlist.server.replica import Replica


def write(folder: Path) -> Path | None:
    """Write a snapshot of the journal as it is now; None if there is nothing new."""
    replica = Replica(folder)
    try:
        seal = replica.journal.seal(replica.version)
        assert seal is not None, "the model has learned what the journal holds"
        path = snapshots.path_of(folder, replica.version, seal)
        if replica.version.examples == 0 or path.exists():
            return None
        snapshots.keep_passed(path, replica.passed)
        replica.model.save(path)
        snapshots.remove_old(folder, replica.journal)
        return path
    finally:
        replica.close()


@contextlib.contextmanager
def only_one(folder: Path, waiting: bool = False) -> Iterator[bool]:
    """Whether this process alone writes snapshots; true for who is ``waiting`` until nobody else does."""
    import fcntl

    with open(folder / "snapshots.lock", "wb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | (0 if waiting else fcntl.LOCK_NB))
            alone = True
        except BlockingIOError:
            alone = False
        yield alone


def main(folder: Path) -> None:
    """Write a snapshot, gently: the body of the process that does so. It ends with code 1 if that fails."""
    os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process itself
    try:
        with only_one(folder, waiting=True):  # a promotion may be under way: then of what was promoted
            write(folder)
    except ShortlistError as problem:
        log("snapshot", "error", problem=str(problem))
        sys.exit(1)
