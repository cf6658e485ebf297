"""How often ``fit`` goes through the rows, if nobody says how often."""

from __future__ import annotations

from shortlist.arrays.validation import as_whole

FEW, MOST_PASSES = 8000, 10  # rows that all passes see together, if there are fewer; but no more passes than these
# Where more have one label each: labels of fewer examples than these, on average, are gone through once more for each
# so many that are missing; but no more often, nor through more rows in all.
ENOUGH, MISSING, SOME_PASSES, MOST_ROWS = 150, 10, 6, 100_000


def passes_of_contest(n_rows: int, n_classes: int) -> int:
    """How often to go through that many rows at least, each of which has one of so many labels.

    A contest over few examples can be gone through again and again: that takes no time. Over more of them it can be
    where labels have few each, as whatever learns a classifier for each label takes far longer there.
    """
    if n_rows < FEW // 2:
        return MOST_PASSES
    scarce = 2 + -(-(ENOUGH * n_classes - n_rows) // (MISSING * max(1, n_classes)))
    quick = MOST_PASSES * (FEW // 2) ** 2 // n_rows**2
    return max(2, min(SOME_PASSES, max(quick, min(scarce, -(-MOST_ROWS // n_rows)))))


def usual_passes(given: int | None, n_rows: int | None, least: int = 2) -> int:
    """How often to go through that many rows, None for as many as there may be, if nobody says how often."""
    usual = least if n_rows is None else min(max(least, -(-FEW // max(1, n_rows))), MOST_PASSES)
    return as_whole(usual if given is None else given, "passes", least=1)
