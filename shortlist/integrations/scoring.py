"""Rankings for tools that have one score from 0 to 1 for each label, and order labels by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Ranked = list[tuple[str, float | None]]  # labels, best first, and how likely each is, where that is known
SMALLEST, STEP = 1e-6, 1 - 1e-6  # above 0, which would be no score, and less than the one before in float32, too


def descending(ranked: Iterable[tuple[str, float | None]]) -> Iterator[tuple[str, float]]:
    """Labels with scores that keep their order: how likely each is, or one over its place where that is not known."""
    before = 1 / STEP
    for place, (label, probability) in enumerate(ranked, 1):
        if probability is None or probability != probability:  # NaN
            probability = 1 / place
        before = min(max(probability, SMALLEST), before * STEP)
        yield label, before
