"""How often ``fit`` goes through the rows, if nobody says how often."""

from __future__ import annotations

from shortlist.arrays.validation import as_whole

FEW, MOST_PASSES = 8000, 10  # rows that all passes see together, if there are fewer; but no more passes than these
# Where more have one label each: how often all passes see a label, on average; but no more rows and passes than these.
OFTEN, MOST_ROWS, SOME_PASSES = 300, 40_000, 4


def passes_of_contest(n_rows: int, n_classes: int) -> int:
    """How often to go through that many rows at least, each of which has one of so many labels.

    A contest over few examples can be gone through again and again; over more of them until each label was seen often,
    but not so often that wrong labels are learned by heart.
    """
    if n_rows < FEW // 2:
        return MOST_PASSES
    return max(2, min(SOME_PASSES, -(-min(OFTEN * n_classes, MOST_ROWS) // n_rows)))


def usual_passes(given: int | None, n_rows: int | None, least: int = 2) -> int:
    """How often to go through that many rows, None for as many as there may be, if nobody says how often."""
    usual = least if n_rows is None else min(max(least, -(-FEW // max(1, n_rows))), MOST_PASSES)
    return as_whole(usual if given is None else given, "passes", least=1)
