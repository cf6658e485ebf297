"""Ranking for comparators that score all labels of a row anyway."""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Floats, Ints
from shortlist.arrays.rows import Rows
from shortlist.categories.learner import CategoryLearner

SCORES = 1 << 20  # scores that are held at a time


def rank_by_scores(
    learner: CategoryLearner, rows: Rows, ids: Ints, scores: Floats, *, width: int = 0, above: float = -np.inf
) -> None:
    """``_rank`` by the scores of all labels: those above a limit, some rows at a time.

    ``width`` is how many numbers a row takes while its scores are made, if more than there are labels.
    """
    some = max(1, SCORES // max(width, len(learner._labels), 1))
    for first in range(0, rows.n_rows, some):
        part = slice(first, min(first + some, rows.n_rows))
        found = learner._scores(rows.block(part.start, part.stop))
        best = np.argsort(-found, axis=1, kind="stable")[:, : ids.shape[1]]
        own = np.take_along_axis(found, best, axis=1)
        ids[part, : best.shape[1]] = np.where(own > above, best, -1)
        scores[part, : best.shape[1]] = np.where(own > above, own, np.nan)
