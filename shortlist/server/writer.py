"""Group commit: while the disk is busy with one commit, requests queue up, and the next commit takes them all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from shortlist.server.journal import Check, Example, Journal, Receipt, Seen

MOST = 64  # requests in one commit


class Writer:
    """A thread that writes to the journal, so that nobody else waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder)
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    async def append(self, examples: Sequence[Example], seen: Seen | None = None) -> list[Receipt]:
        """Write some examples, all or none. Returns when they are on disk."""
        receipts: list[Receipt] = await self._ask((examples, seen))
        return receipts

    async def undo_all(self, numbers: Sequence[int], person: str, check: Check) -> int:
        """Take examples back, all or none. Returns when that is on disk."""
        undone: int = await self._ask(lambda journal: journal.undo_all(numbers, person, check))
        return undone

    async def replace(self, number: int, example: Example, seen: Seen, check: Check) -> Receipt:
        """Take an example back and learn another in its place. Returns when both are on disk."""
        receipt: Receipt = await self._ask(lambda journal: journal.replace(number, example, seen, check))
        return receipt

    def close(self) -> None:
        """Finish what was asked for."""
        self._queue.put(None)
        self._thread.join()

    async def _ask(self, work: tuple[Sequence[Example], Seen | None] | Callable[[Journal], Any]) -> Any:
        answer: Future[Any] = Future()
        self._queue.put((work, answer))
        # Whoever gives up waiting does not take back what is already on its way to the disk.
        return await asyncio.shield(asyncio.wrap_future(answer))

    def _run(self) -> None:
        going_on = True
        while going_on:
            jobs = [self._queue.get()]
            while len(jobs) < MOST and not self._queue.empty():
                jobs.append(self._queue.get())
            going_on = None not in jobs
            _answer(self._journal, [job for job in jobs if job is not None])
        self._journal.close()


def _answer(journal: Journal, jobs: list[tuple[Any, Future[Any]]]) -> None:
    appends = [(work, answer) for work, answer in jobs if not callable(work)]
    try:
        requests = [work for work, _ in appends]
        examples, seen = [own for own, _ in requests], [own for _, own in requests]
        results = journal.append(examples, seen) if appends else []
    except Exception as problem:
        results = [problem] * len(appends)  # type: ignore[list-item]
    answers = [(answer, result) for (_, answer), result in zip(appends, results, strict=True)]
    for work, answer in jobs:
        if callable(work):
            try:
                answers.append((answer, work(journal)))
            except Exception as problem:
                answers.append((answer, problem))  # type: ignore[arg-type]
    for answer, result in answers:
        if isinstance(result, Exception):
            answer.set_exception(result)
        else:
            answer.set_result(result)
