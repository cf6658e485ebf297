"""The next text for a person, and the texts of which the model is sure.

How much a judgement of a text would teach is told from its ranking and its words. The model would learn most where its
two best labels are nearly as good as each other: the margin between their scores is what a judgement moves. Scores are
known from the first example on; margins of calibrated probabilities, which come later, were no better. A text of which
no word is known has no margin at all, and comes first.

A margin cannot tell a text that is ambiguous, and stays so, from one whose words nobody has judged yet. So it counts in
full where all words are new that other texts of the queue have too, and half where none is: to judge these again
teaches little, and a word that no other text has is of no use to any. Of texts that would teach as much, those come
first that are unlike the texts judged last.

Nothing is ranked in advance. Whoever asks for the next text by gain has a bounded sample measured: the best ones of
earlier samples, and those that were measured longest ago. What was measured is kept, so that over time the best of all
come first, and each answer costs the same however long the queue is. The disk is waited for in a thread of its own; the
model is asked on the event loop.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from shortlist.arrays.kernels import Floats
from shortlist.models.answers import Assigned
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.models.observing import DEPTH
from shortlist.server.journal import Journal
from shortlist.server.queue import Item, Queue, follow
from shortlist.texts import Document

BEST, STALE = 16, 48  # texts that are measured: the best ones known, and those not looked at for longest
PIECE = 20_000  # characters that are ranked at a time, before others have their turn
RECENT = 20  # texts handed out last, which the next should be unlike
TRIES = 5  # before whatever is free is given

Gains = Callable[[Sequence[Document]], list[float]]  # what judgements of texts would gain
Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")
Ready = Callable[[Sequence[Document]], Sequence[Any]]  # texts as a model ranks them
LOOKED_AT = 2  # labels of each text
MET = 10_000  # texts of whose words a server takes notice


def gains(model: Categorizer, texts: Sequence[Any]) -> Floats:
    """The expected gain of a judgement of each text by its ranking, from 0 to 1."""
    ranking = model.rank(texts, LOOKED_AT)
    scores = np.nan_to_num(ranking.scores)
    if scores.shape[1] < 2:
        return np.ones(len(texts))  # one label, or none: all there is to learn is others
    first, second = scores.T
    margin = (first - second) / np.maximum(np.abs(first) + np.abs(second), np.finfo(float).tiny)
    gain: Floats = 1.0 - np.clip(margin, 0.0, 1.0)
    return gain


class Novelty:
    """Which words texts of a queue have, and how often each was judged, as far as this server has met them."""

    def __init__(self) -> None:
        self._met: set[int] = set()  # numbers of texts
        self._texts: Counter[str] = Counter()  # that have a word
        self._judged: Counter[str] = Counter()

    def meet(self, number: int, words: frozenset[str]) -> None:
        """Take notice of a text; a sample of a long queue is enough to know which words are frequent."""
        if len(self._met) < MET and number not in self._met:
            self._met.add(number)
            self._texts.update(words)

    def judge(self, words: frozenset[str]) -> None:
        """Take notice that a text is being judged."""
        self._judged.update(words)

    def share(self, words: frozenset[str]) -> float:
        """How much of what a text says is new and useful for others, from 0 to 1; rare words say more."""
        new = every = 0.0
        for word in words:
            n = self._texts[word]
            says = math.log(1 + len(self._met) / max(1, n)) ** 2
            every += says
            new += says / (1 + self._judged[word]) if n > 1 else 0.0
        return new / every if every else 0.0


class Recent:
    """The words of the texts handed out last."""

    def __init__(self, most: int) -> None:
        self._texts: deque[frozenset[str]] = deque()
        self._most = most

    def add(self, words: frozenset[str]) -> None:
        """Take up one more, and forget the oldest."""
        self._texts.append(words)
        if len(self._texts) > self._most:
            self._texts.popleft()

    def likeness(self, texts: Sequence[frozenset[str]]) -> list[float]:
        """How much each text shares with the most similar of them: words of both to words of either."""
        where = defaultdict(list)  # most words of a text are in none of them, and cost no more than a look
        for n, words in enumerate(self._texts):
            for word in words:
                where[word].append(n)
        return [self._most_shared(own, where) for own in texts]

    def _most_shared(self, own: frozenset[str], where: dict[str, list[int]]) -> float:
        shared = Counter(n for word in own if word in where for n in where[word])
        return max((both / (len(own) + len(self._texts[n]) - both) for n, both in shared.items()), default=0.0)


def words_of(text: Document) -> frozenset[str]:
    return frozenset(shown(text).casefold().split())


class Handing:
    """The queue of a state directory, as the routes use it."""

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


# Texts of which the model is sure, which it can decide alone.


@dataclass(frozen=True)
class Sure:
    """A text and the labels that the model would assign alone."""

    item: Item
    labels: Assigned

    @property
    def least(self) -> float:
        return float(self.labels.probabilities.min())


async def sure_of(
    model: Categorizer, ready: Ready, items: Sequence[Item], precision: float
) -> tuple[list[Sure], list[float]]:
    """Those texts that the model would decide alone, and what judgements of all of them would gain."""
    found: list[Sure] = []
    gained: list[float] = []
    for first, last in pieces([len(shown(one.text)) for one in items]):
        some = items[first:last]
        texts = ready([one.text for one in some])
        decided = model._decide(texts, model.rank(texts, DEPTH), model._aim("f1", precision))
        found += [Sure(one, labels) for one, labels in zip(some, decided, strict=True) if labels]
        gained += gains(model, texts).tolist()
        await asyncio.sleep(0)  # let others have a turn
    return found, gained
