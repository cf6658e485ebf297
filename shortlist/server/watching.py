"""How a model fares over time: quality before each example was learned, drift, and what people correct most.

Quality and corrections come from the journal's last examples, calibration and what can be decided alone from the
model's own record of honest rankings; so every server of a state directory says the same, after a restart too. Words
that were unknown are counted while learning, in one example of STRIDE, by its number: what was learned is known
afterwards.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import numpy as np
from scipy.stats import binomtest

from shortlist.models.calibration import calibration_error
from shortlist.models.categorizer import Categorizer
from shortlist.server.journal import Entry, Journal
from shortlist.texts import Document

WINDOW = 200  # examples that one point of the curve stands for
WINDOWS = 20
STRIDE = 10
KEPT, RECENT = 200, 20  # examples whose unknown words are kept in mind, and those of them that are the newest
MOST = 20  # labels that are listed
PRECISION = 0.95
HONEST = 1000  # of the newest rankings that calibration is measured on


class UnknownWords:
    """The share of the words of texts, and of what else a model makes of them, that it had not seen before."""

    def __init__(self) -> None:
        self._shares: deque[float] = deque(maxlen=KEPT)
        self._before: int | None = None

    def before(self, model: Categorizer, number: int, text: Document) -> None:
        """Look at an example that is to be learned next, if its turn has come."""
        looked_at = number % STRIDE == 0 and text and model.can_learn and hasattr(model, "text_")
        self._before = n_features(model, text) if looked_at else None

    def after(self, model: Categorizer, text: Document) -> None:
        """Look at it again, when all of its words are known."""
        if self._before is not None and (now := n_features(model, text)):
            self._shares.append(max(0.0, 1.0 - self._before / now))

    def read(self) -> dict[str, float | None]:
        """The share among the newest examples, and among those before them."""
        every = list(self._shares)
        return {"now": _mean(every[-RECENT:]), "before": _mean(every[:-RECENT])}


def n_features(model: Categorizer, text: Document) -> int:
    return int(model.text_.rows([text]).indices.size)


def quality(outcomes: list[Entry]) -> list[dict[str, Any]]:
    """P@1 before learning, in windows, oldest first, with Wilson's 95 % interval."""
    found = []
    for first in range(len(outcomes) % WINDOW if len(outcomes) > WINDOW else 0, len(outcomes), WINDOW):
        some = outcomes[first : first + WINDOW]
        hits = sum(one.place == 1 for one in some)
        low, high = binomtest(hits, len(some)).proportion_ci(method="wilson")
        found.append({
            "last": some[-1].number, "time": some[-1].time, "examples": len(some), "P@1": hits / len(some),
            "low": float(low), "high": float(high),
        })  # fmt: skip
    return found


def corrected(outcomes: list[Entry]) -> list[dict[str, Any]]:
    """The labels that people corrected most: right where none of an example's labels stood first, or crossed out."""
    judged, missed, crossed = Counter[Any](), Counter[Any](), Counter[Any]()
    for one in outcomes:
        judged.update(one.labels)
        missed.update(one.labels if one.place != 1 else ())
        crossed.update(one.wrong)
    every = missed + crossed
    return [
        {"label": label, "judged": judged[label], "missed": missed[label], "crossed_out": crossed[label]}
        for label, _ in every.most_common(MOST)
    ]  # fmt: skip


def certainty(model: Categorizer) -> dict[str, Any]:
    """How far probabilities are from what came true, and the share of texts that the model can decide alone."""
    confidence = model.confidence_
    seen = confidence.window.ring.take(confidence.window.rows())
    known = np.flatnonzero(seen.expected >= 0)[-HONEST:]
    expected, hits = seen.expected[known].astype(np.float64), seen.hits[known, 0].astype(bool)
    alone = confidence.automation([PRECISION])[0].share if confidence.ready else np.nan
    return {
        "rankings": int(known.size), "expected": _mean(expected.tolist()), "right": _mean(hits.tolist()),
        "calibration_error": _known(calibration_error(expected, hits)), "decided_alone": _known(alone),
    }  # fmt: skip


def outcomes_of(journal: Journal) -> list[Entry]:
    """How the last examples stood before they were learned, oldest first."""
    return journal.outcomes(WINDOW * WINDOWS)


def _mean(values: list[Any]) -> float | None:
    return float(np.mean(values)) if values else None


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
