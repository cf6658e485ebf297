"""Drift: if the expected hits of the last examples are far from the hits that came, older examples
mislead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.confidence.calibration_examples import NEVER, CalibrationExamples

LOOK = 32  # examples from one look to the next, and the shortest stretch looked at
LONGEST_DRIFT = 1024
DRIFT_ALARM = 4.5
RECENT_CHECKS = 100


def stretch_to_keep(seen: CalibrationExamples) -> int:
    """How many of the last examples contradict those before them; 0 where none do. The oldest
    example comes first.
    """
    n = seen.n_examples
    last = seen.last(max(0, min(LONGEST_DRIFT, n - LOOK))).take(
        slice(None, None, -1)
    )  # the newest first
    p = last.expected
    # examples before the first curves have no expectation
    p = p[: np.argmax(p < 0.0)] if (p < 0.0).any() else p
    surplus = np.cumsum(last.hits[: p.size, 0] - p)
    spread = np.cumsum(p * (1.0 - p))
    s = LOOK << np.arange(LONGEST_DRIFT.bit_length())
    s = s[s <= p.size]
    if s.size == 0:
        return 0
    z = np.abs(surplus[s - 1]) / np.sqrt(1.0 + (1.0 + s / (n - s)) * spread[s - 1])
    return int(s[z.argmax()]) if z.max() > DRIFT_ALARM else 0


def moved_inputs(seen: CalibrationExamples) -> dict[str, dict[str, float | None]]:
    """How the last spot checks differ from the examples before them, whoever judged these: the mean
    share of known words, the mean best score, and the share with a label that was not retrieved.
    """
    checks = np.flatnonzero(seen.checked)[-RECENT_CHECKS:]
    is_recent = np.zeros(seen.n_examples, dtype=np.bool_)
    is_recent[checks] = True
    has_known = seen.known >= 0.0
    is_ranked = seen.ids[:, 0] >= 0

    def means(values: NDArray[Any], counts: NDArray[np.bool_]) -> dict[str, float | None]:
        parts = {"now": values[is_recent & counts], "before": values[~is_recent & counts]}
        return {
            name: float(part.mean(dtype=np.float64)) if part.size else None
            for name, part in parts.items()
        }

    return {
        "known_words": means(seen.known, has_known),
        "best_score": means(seen.scores[:, 0], is_ranked),
        "unknown_labels": means(seen.depth == NEVER, np.ones_like(is_recent)),
    }
