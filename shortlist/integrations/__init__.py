"""Drop-ins for other tools, over the journal of a running server, which alone writes to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Ranked = list[tuple[str, float | None]]  # labels, best first, with their probabilities if known
LEAST_SCORE = 1e-6  # a score above 0
BELOW = 1 - 1e-6  # a factor that makes a float32 smaller


def descending(ranked: Iterable[tuple[str, float | None]]) -> Iterator[tuple[str, float]]:
    """Yield labels with scores from 0 to 1 that keep their order: the probability, or 1 / rank
    if it is not known.
    """
    score = 1 / BELOW
    for rank, (label, probability) in enumerate(ranked, 1):
        if probability is None or probability != probability:  # NaN
            probability = 1 / rank
        score = min(max(probability, LEAST_SCORE), score * BELOW)
        yield label, score
