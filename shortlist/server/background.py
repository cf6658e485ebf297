"""The tasks that run beside the requests of a server: following the journal, and snapshots."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from shortlist.errors import ShortlistError
from shortlist.server import snapshots
from shortlist.server.journal_errors import JournalError
from shortlist.server.logs import log, log_failure
from shortlist.server.middleware import Metrics
from shortlist.server.replica import Replica
from shortlist.server.settings import ServerSettings


async def keep_following(replica: Replica, settings: ServerSettings, metrics: Metrics) -> None:
    """Take up what another server has learned, and what was promoted."""
    last_problem = ""
    while True:
        await asyncio.sleep(settings.refresh)
        try:
            metrics.behind.set(replica.journal.version().examples - replica.version.examples)
            await replica.follow()
            last_problem = ""
        except Exception as problem:
            if repr(problem) != last_problem:  # once, not every second
                last_problem = repr(problem)
                if isinstance(problem, JournalError):
                    log("cannot follow the journal", "error", problem=str(problem))
                else:
                    log_failure("cannot follow the journal", problem)
            await asyncio.sleep(1)


async def keep_snapshots(replica: Replica, settings: ServerSettings, metrics: Metrics) -> None:
    """Have a snapshot written when enough examples are new, or when any is and enough time has
    passed.
    """
    written = replica.version
    written_at = time.monotonic()
    while True:
        await asyncio.sleep(min(1.0, settings.snapshot_seconds))
        n_new = replica.version.examples - written.examples
        is_late = time.monotonic() - written_at >= settings.snapshot_seconds
        if n_new < settings.snapshot_examples and not (is_late and replica.version != written):
            continue
        written = replica.version
        written_at = time.monotonic()
        if await in_a_process(write_snapshot, settings.folder):
            metrics.snapshots.labels("written").inc()
            replica.find_newest_snapshot()
            log("snapshot", example=replica.snapshot, bytes=replica.bytes)
        else:
            metrics.snapshots.labels("failed").inc()
            log("snapshot failed", "error", folder=str(settings.folder))


def write_snapshot(folder: Path) -> Path | None:
    """Write a snapshot of the journal as it is now; None if nothing is new. It waits for a
    promotion to end.
    """
    with snapshots.only_one(folder, waiting=True), contextlib.closing(Replica(folder)) as replica:
        seal = replica.journal.seal(replica.version)
        assert seal is not None, "the model has learned what the journal holds"
        path = snapshots.path_of(folder, replica.version, seal)
        if replica.version.examples == 0 or path.exists():
            return None
        snapshots.keep_unlearnable(path, replica.unlearnable)
        replica.model.save(path)
        snapshots.remove_old(folder, replica.journal)
        return path


async def in_a_process(work: Callable[..., object], *arguments: object) -> bool:
    """Run work in a process, which ends with this task. Returns whether it succeeded."""
    process = multiprocessing.get_context("spawn").Process(
        target=_run_gently, args=(work, *arguments), daemon=True
    )
    process.start()
    try:
        while process.is_alive():
            await asyncio.sleep(0.05)
    finally:
        if process.is_alive():
            process.terminate()
        process.join()
    return process.exitcode == 0


def _run_gently(work: Callable[..., object], *arguments: object) -> None:
    """Run work at low priority; exit with code 1 if it fails or returns False."""
    os.nice(5)
    # Ctrl-C is for the server, which ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        failed = work(*arguments) is False
    except ShortlistError as problem:
        log("failed in the background", "error", work=work.__name__, problem=str(problem))
        failed = True
    sys.exit(failed)
