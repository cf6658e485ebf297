"""How much a judgement of a text would teach, as far as its ranking and its words can tell.

The model would learn most where its two best labels are nearly as good as each other: the margin between their scores
is what a judgement moves. Scores are known from the first example on; margins of calibrated probabilities, which come
later, were no better. A text of which no word is known has no margin at all, and comes first.

A margin cannot tell a text that is ambiguous, and stays so, from one whose words nobody has judged yet. So it counts in
full where all words are new that other texts of the queue have too, and half where none is: to judge these again
teaches little, and a word that no other text has is of no use to any. Of texts that would teach as much, those come
first that are unlike the texts judged last.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.arrays.kernels import Floats
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.texts.fields import Document

LOOKED_AT = 2  # labels of each text
MET = 10_000  # texts of whose words a process takes notice


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
    """Which words texts of a queue have, and how often each was judged, as far as one process has met them."""

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
