"""The margin of a document, as figure 1 of paper 001 draws it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def document_margins(scores: ArrayLike, relevant: ArrayLike) -> NDArray[np.float64]:
    """The margin of each row of scores: the lowest of a relevant item less the highest of another.

    Above 0 where the ranking is perfect, otherwise not; NaN where all items are relevant, or none.

    Examples
    --------
    >>> from papers.margins import document_margins
    >>> document_margins([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]], [[1, 0, 0], [0, 1, 0]]).tolist()
    [1.0, -2.0]
    """
    values, true = np.asarray(scores, dtype=np.float64), np.asarray(relevant) > 0
    lowest = np.where(true, values, np.inf).min(axis=1, initial=np.inf)
    highest = np.where(true, -np.inf, values).max(axis=1, initial=-np.inf)
    margins = lowest - highest
    return np.where(np.isfinite(margins), margins, np.nan)
