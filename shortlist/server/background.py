"""What goes on beside the requests: following the journal, and seeing that snapshots are written."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Callable

from shortlist.server import snapshot_writer
from shortlist.server.ledger import JournalError
from shortlist.server.logs import log, log_failure
from shortlist.server.metrics import Metrics
from shortlist.server.replica import Replica
from shortlist.server.settings import Settings


async def keep_following(replica: Replica, settings: Settings, metrics: Metrics) -> None:
    """Take up what other processes have learned."""
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
            if await in_a_process(snapshot_writer.main, settings.folder):
                metrics.snapshots.labels("written").inc()
                replica.see_snapshots()
                log("snapshot", example=replica.snapshot, bytes=replica.bytes)
            else:
                metrics.snapshots.labels("failed").inc()
                log("snapshot failed", "error", folder=str(settings.folder))


async def in_a_process(work: Callable[..., None], *given: object) -> bool:
    """Have something done in a process of its own, which ends with whoever waits for it; gives whether it went well."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=given, daemon=True)
    process.start()
    try:
        while process.is_alive():
            await asyncio.sleep(0.05)
    finally:
        if process.is_alive():
            process.terminate()
        process.join()
    return process.exitcode == 0
