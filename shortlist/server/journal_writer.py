"""The thread that writes to the journal, so that nothing else waits for the disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from shortlist.server.journal import Journal
from shortlist.server.journal_errors import JournalError

REQUESTS_IN_ONE_COMMIT = 64
Result = TypeVar("Result")


class JournalWriter:
    """Writes to the journal in a thread.

    What comes while a commit is under way shares the next one (group commit).
    """

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder)
        self._thread = ThreadPoolExecutor(1, "journal")
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    async def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return ``work(journal, *arguments)`` once it is on disk.

        A caller that gives up does not cancel what is on its way there.
        """
        answer: Future[Result] = Future()
        self._waiting.append((partial(work, self.journal, *arguments), answer))
        self._thread.submit(self._commit)
        return await asyncio.shield(asyncio.wrap_future(answer))

    def close(self) -> None:
        """Finish what was asked for."""
        self._thread.shutdown()
        self.journal.close()

    def _commit(self) -> None:
        """Do all work that waits, unless another call has; what is refused fails alone."""
        n_waiting = min(REQUESTS_IN_ONE_COMMIT, len(self._waiting))
        if n_waiting == 0:
            return
        waiting = [self._waiting.popleft() for _ in range(n_waiting)]
        results: list[Any] = []
        try:
            with self.journal.transaction():
                for work, _ in waiting:
                    try:
                        results.append(work())
                    except (sqlite3.Error, JournalError):  # the journal itself fails, and so do all
                        raise
                    except Exception as problem:
                        results.append(problem)
        except Exception as problem:
            results = [problem] * n_waiting
        for (_, answer), result in zip(waiting, results, strict=True):
            if isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)
