"""What goes on beside the requests: following the journal, and seeing that snapshots are written."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from shortlist.errors import ShortlistError
from shortlist.server import snapshots
from shortlist.server.journal import JournalError
from shortlist.server.logs import log, log_failure
from shortlist.server.metrics import Metrics
from shortlist.server.replica import Replica
from shortlist.server.settings import Settings

# Writing a snapshot, in a process of its own.


def write(folder: Path) -> Path | None:
    """Write a snapshot of the journal as it is now; None if there is nothing new."""
    with closing(Replica(folder)) as replica:
        seal = replica.journal.seal(replica.version)
        assert seal is not None, "the model has learned what the journal holds"
        path = snapshots.path_of(folder, replica.version, seal)
        if replica.version.examples == 0 or path.exists():
            return None
        snapshots.keep_passed(path, replica.passed)
        replica.model.save(path)
        snapshots.remove_old(folder, replica.journal)
        return path


def main(folder: Path) -> None:
    """Write a snapshot: the work of a process of its own."""
    with snapshots.only_one(folder, waiting=True):  # a promotion may be under way: then of what was promoted
        write(folder)


async def keep_following(replica: Replica, settings: Settings, metrics: Metrics) -> None:
    """Take up what another server has learned, and what was promoted."""
    said = ""
    while True:
        await asyncio.sleep(settings.refresh)
        try:
            metrics.behind.set(replica.journal.version().examples - replica.version.examples)
            await replica.follow()
            said = ""
        except Exception as problem:
            if repr(problem) != said:  # once, not every second
                said = repr(problem)
                if isinstance(problem, JournalError):
                    log("cannot follow the journal", "error", problem=str(problem))
                else:
                    log_failure("cannot follow the journal", problem)
            await asyncio.sleep(1)


async def keep_snapshots(replica: Replica, settings: Settings, metrics: Metrics) -> None:
    """Have a snapshot written whenever enough is new, or old enough."""
    written, at = replica.version, time.monotonic()
    while True:
        await asyncio.sleep(min(1.0, settings.snapshot_seconds))
        new = replica.version.examples - written.examples
        late = time.monotonic() - at >= settings.snapshot_seconds
        if new >= settings.snapshot_examples or (late and replica.version != written):
            written, at = replica.version, time.monotonic()
            if await in_a_process(main, settings.folder):
                metrics.snapshots.labels("written").inc()
                replica.see_snapshots()
                log("snapshot", example=replica.snapshot, bytes=replica.bytes)
            else:
                metrics.snapshots.labels("failed").inc()
                log("snapshot failed", "error", folder=str(settings.folder))


async def in_a_process(work: Callable[..., bool | None], *given: object) -> bool:
    """Have something done in a process of its own, which ends with whoever waits for it; gives whether it went well."""
    process = multiprocessing.get_context("spawn").Process(target=_gently, args=(work, *given), daemon=True)
    process.start()
    try:
        while process.is_alive():
            await asyncio.sleep(0.05)
    finally:
        if process.is_alive():
            process.terminate()
        process.join()
    return process.exitcode == 0


def _gently(work: Callable[..., bool | None], *given: object) -> None:
    """The body of such a process. It ends with code 1 if the work fails, or says that it did."""
    os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process itself
    try:
        failed = work(*given) is False
    except ShortlistError as problem:
        log("failed in the background", "error", work=work.__name__, problem=str(problem))
        failed = True
    sys.exit(failed)
