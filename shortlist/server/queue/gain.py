"""How much a judgement of a text would teach, as far as its ranking can tell.

The model would learn most where its two best labels are nearly as good as each other: the margin between their scores
is what a judgement moves. Scores are known from the first example on; margins of calibrated probabilities, which come
later, were no better. A text of which no word is known has no margin at all, and comes first. Of texts that would teach
as much, those come first that are unlike the texts judged last: a margin cannot tell that two would teach the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.arrays.kernels import Floats
from shortlist.models.auditing import shown
from shortlist.models.categorizer import Categorizer
from shortlist.texts.fields import Document

LOOKED_AT = 2  # labels of each text


def gains(model: Categorizer, texts: Sequence[Any]) -> Floats:
    """The expected gain of a judgement of each text, from 0 to 1."""
    ranking = model.rank(texts, LOOKED_AT)
    scores = np.nan_to_num(ranking.scores)
    if scores.shape[1] < 2:
        return np.ones(len(texts))  # one label, or none: all there is to learn is others
    first, second = scores.T
    margin = (first - second) / np.maximum(np.abs(first) + np.abs(second), np.finfo(float).tiny)
    gain: Floats = 1.0 - np.clip(margin, 0.0, 1.0)
    return gain


def likeness(text: Document, others: Sequence[frozenset[str]]) -> float:
    """How much a text shares with the most similar of others: words of both to words of either."""
    own = words_of(text)
    shared = [(len(own & other), len(other)) for other in others]
    return max((both / max(1, len(own) + n - both) for both, n in shared), default=0.0)


def words_of(text: Document) -> frozenset[str]:
    return frozenset(shown(text).casefold().split())
