"""What a server promises of its decisions: what spot checks say, when deciding pauses, and what
changed in the texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from shortlist.confidence.drift import moved_inputs
from shortlist.confidence.spot_checks import Examined, share_to_draw
from shortlist.models.auditing import shown
from shortlist.server.context import ServerContext
from shortlist.server.entries import Judgement
from shortlist.server.queue_order import ChecksDue

MOST_UNCHECKED = 1000  # texts that are decided without a spot check that somebody judged
USUAL_PRECISION = 0.95
# one text in so many that are handed out is a spot check, while any wait
EVERY_WHILE_FEW = 2
EVERY = 5
CHANGES_SHOWN = 5
LEAST_COUNT = 3  # of a label or a word that is said to have changed


class Promises:
    """The promises of a server."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def examined(self, precision: float) -> Examined:
        return self._context.replica.model.confidence_.examined(precision)

    def checks_due(self) -> ChecksDue:
        """Return how many of the texts that wait are spot checks, and how often one is handed
        out.
        """
        examined = self.examined(USUAL_PRECISION)
        usual = self._context.settings.spot_checks
        share = share_to_draw(examined, usual)
        return ChecksDue(share, EVERY_WHILE_FEW if share > usual else EVERY)

    def why_paused(self, precision: float) -> str | None:
        """Return why the model decides nothing at this precision; None if it may decide."""
        examined = self.examined(precision)
        if examined.paused:
            return (
                f"deciding at {examined.target:.3g} is paused: spot checks showed that fewer of "
                f"the decisions are right. Since then: {examined}. It goes on by itself once "
                "spot checks say that they are right again"
            )
        if self._context.settings.spot_checks == 0.0:
            return None
        n_decided = self._context.history.decided_since_check()
        if n_decided >= MOST_UNCHECKED:
            return (
                f"deciding waits: {n_decided:,} texts were decided since somebody last judged a "
                "spot check. It goes on when one is judged"
            )
        return None

    def as_dict(self, precision: float) -> dict[str, Any]:
        """Return a promise for an answer."""
        examined = self.examined(precision)
        return {
            "target": examined.target,
            "checked": examined.n_checked,
            "would_decide": examined.n_decided,
            "right": examined.right if examined.n_decided else None,
            "at_least": examined.at_least if examined.n_decided else None,
            "in_words": str(examined),
            "paused": self.why_paused(precision),
        }

    def changes(self) -> dict[str, Any]:
        """Return what is different in the last spot checks: the texts, their labels and words."""
        confidence = self._context.replica.model.confidence_
        now, before = self._context.history.checks_and_before()
        return {
            "inputs": moved_inputs(confidence.window),
            "labels": risen(labels_of(now), labels_of(before)),
            "words": risen(words_of(now), words_of(before)),
        }


def labels_of(judgements: Sequence[Judgement]) -> list[set[str]]:
    return [set(map(str, judgement.labels)) for judgement in judgements]


def words_of(judgements: Sequence[Judgement]) -> list[set[str]]:
    return [set(shown(judgement.text).casefold().split()) for judgement in judgements]


def risen(now: Sequence[set[str]], before: Sequence[set[str]]) -> list[dict[str, Any]]:
    """Return what is in a larger share of some sets than of others before them: what has risen
    most comes first.
    """
    if not now or not before:
        return []
    counts_now = Counter(name for names in now for name in names)
    counts_before = Counter(name for names in before for name in names)
    changes: list[dict[str, Any]] = [
        {"name": name, "now": n / len(now), "before": counts_before[name] / len(before)}
        for name, n in counts_now.items()
        if n >= LEAST_COUNT
    ]
    changes = [change for change in changes if change["now"] > change["before"]]
    changes.sort(key=lambda change: (change["before"] - change["now"], change["name"]))
    return changes[:CHANGES_SHOWN]
