"""How large the values of rows may be that ratings are learned from.

A score is a sum of products of two values, n·k·m of them at the most; with values below LARGEST none of it can grow
past what a float64 holds, and turn into infinity or NaN that no comparison with a threshold understands.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.rows import Rows
from shortlist.errors import InputError

LARGEST = 1e100


def check_size(rows: Rows) -> Rows:
    """The same rows, refused where a value is too large to be multiplied and added up."""
    data = rows.data
    if data.size and max(data.max(), -data.min()) > LARGEST:
        place = int(np.argmax(np.abs(data)))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise InputError(
            f"the value {data[place]:g} in row {row}, column {rows.indices[place]}, is too large to learn ratings from "
            f"or to rate; scale the columns so that no value is beyond {LARGEST:g}"
        )
    return rows
