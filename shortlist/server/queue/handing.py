"""The next text for a person. The disk is waited for in a thread of its own; the model is asked on the event loop.

Nothing is ranked in advance. Whoever asks for the next text by gain has a bounded sample measured: the best ones of
earlier samples, and those that were measured longest ago. What was measured is kept, so that over time the best of all
come first, and each answer costs the same however long the queue is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from shortlist.models.auditing import shown
from shortlist.server.journal import Journal
from shortlist.server.queue.following import follow
from shortlist.server.queue.gain import Novelty, Recent, words_of
from shortlist.server.queue.store import Item, Queue
from shortlist.texts.fields import Document

BEST, STALE = 16, 48  # texts that are measured: the best ones known, and those not looked at for longest
PIECE = 20_000  # characters that are ranked at a time, before others have their turn
RECENT = 20  # texts handed out last, which the next should be unlike
TRIES = 5  # before whatever is free is given

Gains = Callable[[Sequence[Document]], list[float]]  # what judgements of texts would gain
Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


class Handing:
    """The queue of a state directory, as the routes of one process use it."""

    def __init__(self, folder: Path, gains: Gains) -> None:
        self._folder, self._gains = folder, gains
        self._thread = ThreadPoolExecutor(1, "queue")
        self._opened: tuple[Queue, Journal] | None = None
        self._recent = Recent(RECENT)
        self._novelty = Novelty()

    def close(self) -> None:
        """Finish what was asked for."""
        self._thread.shutdown()
        for one in self._opened or ():
            one.close()

    async def ask(
        self,
        work: Callable[Concatenate[Queue, Arguments], Found],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Found:
        """Have something done with the queue, once it knows what the journal knows."""

        def done() -> Found:
            if self._opened is None:  # when it is first used: a queue that cannot be opened stops nothing else
                self._opened = Queue(self._folder), Journal(self._folder)
            queue, journal = self._opened
            follow(queue, journal)
            return work(queue, *arguments, **named)

        # Whoever gives up waiting does not take back what is already on its way to the disk.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, done))

    async def next(self, person: str, order: str, seconds: float) -> tuple[Item | None, dict[str, int]]:
        """What this person has not judged yet, or else the next text in this order; None if there is none left.

        And how far the queue has come. On a busy machine each turn of the thread is waited for, so there are two.
        """
        counts: dict[str, int] = {}
        for _ in range(TRIES):
            item, found, counts = await self.ask(partial(_look, person=person, order=order, seconds=seconds))
            if item is not None or not found:
                return item, counts
            chosen, gained = await self._by_gain(found)
            item, counts = await self.ask(partial(_take, chosen=chosen, gained=gained, person=person, seconds=seconds))
            if item is not None:
                return item, counts
        return None, counts

    async def _by_gain(self, found: list[Item]) -> tuple[list[int], list[tuple[int, float]]]:
        """The numbers of some texts, those first whose judgement would teach most; and what each would teach."""
        gained: list[float] = []
        words = [words_of(one.text) for one in found]
        for first, last in pieces([len(shown(one.text)) for one in found]):
            for one, own in zip(found[first:last], words[first:last], strict=True):
                self._novelty.meet(one.number, own)
            by_margin = self._gains([one.text for one in found[first:last]])
            new = map(self._novelty.share, words[first:last])
            gained += [gain * (1 + share) / 2 for gain, share in zip(by_margin, new, strict=True)]
            await asyncio.sleep(0)
        unlike = [gain - like / 2 for gain, like in zip(gained, self._recent.likeness(words), strict=True)]
        best = sorted(range(len(found)), key=lambda n: (found[n].later, -unlike[n], n))
        self._recent.add(words[best[0]])
        self._novelty.judge(words[best[0]])
        return [found[n].number for n in best], [(one.number, gain) for one, gain in zip(found, gained, strict=True)]


def _look(queue: Queue, person: str, order: str, seconds: float) -> tuple[Item | None, list[Item], dict[str, int]]:
    """The text that this person has, or gets where the order is known; or else texts to choose from, by gain."""
    item, found = queue.held(person, seconds), []
    if item is None and order == "gain":
        best = queue.free("gain", person, BEST)
        found = best + queue.free("stale", person, STALE, but=[one.number for one in best])
    while order != "gain" and item is None and (free := queue.free(order, person, BEST)):
        item = queue.lease([one.number for one in free], person, seconds)  # None: others have taken all of them
    return item, found, queue.counts()


def _take(
    queue: Queue, chosen: list[int], gained: list[tuple[int, float]], person: str, seconds: float
) -> tuple[Item | None, dict[str, int]]:
    """Note what was measured, and give this person the first text that is still free."""
    queue.measure(gained)
    return queue.lease(chosen, person, seconds), queue.counts()


def pieces(sizes: list[int]) -> list[tuple[int, int]]:
    """First and last + 1 of pieces of a list that have about PIECE together, and at least one each."""
    found, first, held = [], 0, 0
    for n, size in enumerate(sizes):
        held += size
        if held >= PIECE or n == len(sizes) - 1:
            found.append((first, n + 1))
            first, held = n + 1, 0
    return found
