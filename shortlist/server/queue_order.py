"""The next text of the queue by gain: how much its judgement would teach.

The model learns most from a text whose two best labels have nearly equal scores. Scores are known
from the first example on, and margins of calibrated probabilities were no better. A text of unknown
words has no margin and comes first.

A margin cannot tell an ambiguous text from one with words that were not judged yet. So the gain
counts in full if all words that other texts share are new, and half if none is. Of equal texts,
those unlike the texts handed out last come first.

Each question measures a bounded sample: the best texts of earlier samples, and those measured
longest ago. So each answer costs the same however long the queue is. The disk is waited for in a
thread; the model is asked on the event loop.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from shortlist.confidence.observers import DEPTH
from shortlist.data.texts import Document
from shortlist.models.answers import Assigned
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.server.client import parts
from shortlist.server.journal import Journal
from shortlist.server.queue_following import follow
from shortlist.server.review_queue import Item, Queue

BEST_MEASURED = 16  # texts of earlier samples that are measured again
LONGEST_AGO = 48  # texts that were measured longest ago, or never
CHARACTERS_AT_A_TIME = 20_000  # that are ranked while others wait
RECENT_TEXTS = 20  # handed out last
SAMPLES = 5  # if others take all texts of one
LABELS_COMPARED = 2
COUNTED_TEXTS = 10_000  # whose words are counted

Result = TypeVar("Result")
AsRanked = Callable[[Sequence[Document]], Sequence[Any]]  # texts as a model ranks them


def gains(model: Categorizer, texts: Sequence[Any]) -> list[float]:
    """Return the expected gain of a judgement of each text by its ranking, from 0 to 1."""
    ranking = model.rank(texts, LABELS_COMPARED)
    scores = np.nan_to_num(ranking.scores)
    if scores.shape[1] < LABELS_COMPARED:
        return [1.0] * len(texts)  # at most one label is known
    first, second = scores.T
    margin = (first - second) / np.maximum(np.abs(first) + np.abs(second), np.finfo(float).tiny)
    return (1.0 - np.clip(margin, 0.0, 1.0)).tolist()


class Novelty:
    """Which words the texts of a queue have, and how often each was judged."""

    def __init__(self) -> None:
        self._counted: set[int] = set()  # numbers of texts
        self._texts: Counter[str] = Counter()  # that have a word
        self._judged: Counter[str] = Counter()

    def meet(self, number: int, words: frozenset[str]) -> None:
        """Count the words of a text; a sample of a long queue is enough."""
        if len(self._counted) < COUNTED_TEXTS and number not in self._counted:
            self._counted.add(number)
            self._texts.update(words)

    def judge(self, words: frozenset[str]) -> None:
        """Count the words of a text that is being judged."""
        self._judged.update(words)

    def share(self, words: frozenset[str]) -> float:
        """Return the share of words that are new and that other texts have, from 0 to 1; rare
        words weigh more.
        """
        new = 0.0
        total = 0.0
        for word in words:
            n_texts = self._texts[word]
            weight = math.log(1 + len(self._counted) / max(1, n_texts)) ** 2
            total += weight
            if n_texts > 1:
                new += weight / (1 + self._judged[word])
        return new / total if total else 0.0


def likeness(words: frozenset[str], texts: Iterable[frozenset[str]]) -> float:
    """Return how similar a text is to the most similar of some others: the Jaccard index of
    their words.
    """
    return max((len(words & text) / max(1, len(words | text)) for text in texts), default=0.0)


def shown_text(item: Item) -> str:
    return shown(item.text)


class ChecksDue(NamedTuple):
    """How many spot checks are wanted."""

    share: float  # of the texts that wait
    every: int  # one in so many texts that are handed out, while there are any


class Sample(NamedTuple):
    """The text that a person has now, or else a sample to choose from by gain."""

    item: Item | None
    choice: list[Item]
    counts: dict[str, int]


class AsyncQueue:
    """The queue for the event loop: the disk is waited for in a thread."""

    def __init__(self, folder: Path, gains_of: Callable[[Sequence[Document]], list[float]]) -> None:
        self._folder = folder
        self._gains_of = gains_of
        self._thread = ThreadPoolExecutor(1, "queue")
        self._opened: tuple[Queue, Journal] | None = None
        # the words of the texts handed out last
        self._recent: deque[frozenset[str]] = deque(maxlen=RECENT_TEXTS)
        self._novelty = Novelty()
        self._handed_out = 0  # texts since the last spot check

    def close(self) -> None:
        """Finish what was asked for."""
        self._thread.shutdown()
        for opened in self._opened or ():
            opened.close()

    async def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Run work on the queue, once it has followed the journal."""

        def run_in_thread() -> Result:
            if self._opened is None:  # late: a queue that cannot be opened stops nothing else
                self._opened = (Queue(self._folder), Journal(self._folder))
            queue, journal = self._opened
            follow(queue, journal)
            return work(queue, *arguments)

        # A caller that gives up does not cancel what is on its way to the disk.
        loop = asyncio.get_running_loop()
        return await asyncio.shield(loop.run_in_executor(self._thread, run_in_thread))

    async def next(
        self, person: str, order: str, seconds: float, checks: ChecksDue
    ) -> tuple[Item | None, dict[str, int]]:
        """Return the text that this person has, or else a spot check or the next text in an order,
        None if none is left; and the counts.
        """
        counts: dict[str, int] = {}
        for _ in range(SAMPLES):
            is_check_next = self._handed_out + 1 >= checks.every
            sample = await self.run(_sample, person, order, seconds, checks.share, is_check_next)
            if sample.item is not None or not sample.choice:
                self._handed_out += 1
                if sample.item is not None and sample.item.checked:
                    self._handed_out = 0
                return sample.item, sample.counts
            words = {item.number: words_of(item) for item in sample.choice}
            gain_of = await self._measure(sample.choice, words)
            best = self._best_first(sample.choice, words, gain_of)
            item, counts = await self.run(_reserve_best, best, gain_of, person, seconds)
            if item is not None:
                self._handed_out += 1
                return item, counts
        return None, counts

    async def _measure(
        self, items: list[Item], words: dict[int, frozenset[str]]
    ) -> dict[int, float]:
        """Return the gain of each text, by its number."""
        for item in items:
            self._novelty.meet(item.number, words[item.number])
        gain_of: dict[int, float] = {}
        for part in parts(items, shown_text, CHARACTERS_AT_A_TIME):
            gains_of_part = self._gains_of([item.text for item in part])
            for item, gain in zip(part, gains_of_part, strict=True):
                novelty = self._novelty.share(words[item.number])
                gain_of[item.number] = gain * (1 + novelty) / 2
            await asyncio.sleep(0)
        return gain_of

    def _best_first(
        self, items: list[Item], words: dict[int, frozenset[str]], gain_of: dict[int, float]
    ) -> list[int]:
        """Return the numbers of texts, best first."""

        def rank(item: Item) -> tuple[int, float]:
            repetition = likeness(words[item.number], self._recent)
            return item.later, repetition / 2 - gain_of[item.number]

        best = [item.number for item in sorted(items, key=rank)]
        self._recent.append(words[best[0]])
        self._novelty.judge(words[best[0]])
        return best


def words_of(item: Item) -> frozenset[str]:
    return frozenset(shown(item.text).casefold().split())


def _sample(
    queue: Queue, person: str, order: str, seconds: float, share: float, is_check_next: bool
) -> Sample:
    """Return the text of this person, a spot check if one is due or nothing else is left, or a
    sample of texts to choose from by gain.
    """
    item = queue.reserved(person, seconds)
    choice: list[Item] = []
    if item is None and is_check_next:
        item = queue.reserve_check(share, person, seconds)
    if item is None and order == "gain":
        best = queue.free("gain", person, BEST_MEASURED, share=share)
        numbers = [item.number for item in best]
        choice = best + queue.free("stale", person, LONGEST_AGO, but=numbers, share=share)
    while item is None and order != "gain":
        free = queue.free(order, person, BEST_MEASURED, share=share)
        if not free:
            break
        # None: others have taken all of them
        item = queue.reserve([item.number for item in free], person, seconds)
    if item is None and not choice:
        item = queue.reserve_check(share, person, seconds)
    return Sample(item, choice, queue.counts())


def _reserve_best(
    queue: Queue, best: list[int], gain_of: dict[int, float], person: str, seconds: float
) -> tuple[Item | None, dict[str, int]]:
    """Note what was measured, and reserve the first text that is still free."""
    queue.measure(list(gain_of.items()))
    return queue.reserve(best, person, seconds), queue.counts()


async def decidable(
    model: Categorizer, as_ranked: AsRanked, items: Sequence[Item], precision: float
) -> tuple[list[tuple[Item, Assigned]], list[float]]:
    """Return the texts that the model would decide, with their labels, and the gains of judging
    each text.
    """
    decided: list[tuple[Item, Assigned]] = []
    gains_of_all: list[float] = []
    for part in parts(items, shown_text, CHARACTERS_AT_A_TIME):
        # in another thread, as an endpoint may be asked for vectors
        texts = await asyncio.to_thread(as_ranked, [item.text for item in part])
        decisions = model.decide(texts, model.rank(texts, DEPTH), model.aim(precision))
        decided += [(item, labels) for item, labels in zip(part, decisions, strict=True) if labels]
        gains_of_all += gains(model, texts)
        await asyncio.sleep(0)  # let others have a turn
    return decided, gains_of_all
