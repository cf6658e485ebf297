"""Curves: the precision-recall graph, R_k against k, and averages that grow with a stream (papers 001, 002, 004)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays.validation import as_whole
from shortlist.errors import InputError, counted
from shortlist.measures.positions import Positions

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


def precision_recall(positions: Positions, levels: int = 11) -> Curve:
    """Recall levels 0 … 1 and the interpolated precision there, averaged over examples with something relevant.

    The interpolated precision of one example at recall level l is the largest precision at any rank whose recall is
    at least l; 0 if its ranking never reaches l.
    """
    recall = np.linspace(0, 1, as_whole(levels, "levels", least=2))
    size = positions.size[positions.size > 0]
    if not size.size:
        return recall, np.full(recall.size, np.nan)
    ends = np.cumsum(size)
    precision = np.append(positions.nth / positions.rank, 0.0)
    found = []
    for level in recall:
        wanted = np.maximum(np.ceil(level * size - 1e-9), 1).astype(np.int64)  # relevant items that give this recall
        best = np.maximum.reduceat(precision, np.column_stack([ends - size + wanted - 1, ends]).ravel())[::2]
        found.append(np.cumsum(best)[-1] / size.size)
    return recall, np.array(found)


def among_first_k(positions: Positions, up_to: int | None = None) -> Curve:
    """k = 1, 2, … and R_k: the share of examples with a relevant item among the first k."""
    best = positions.best[positions.size > 0]
    if up_to is None:
        up_to = int(positions.length.max(initial=1))
    if as_whole(up_to, "up_to", least=1) > positions.width:
        raise InputError(
            f"R_k up to k = {up_to} needs rankings of {counted(up_to, 'labels')}; these hold {positions.width}"
        )
    k = np.arange(1, up_to + 1)
    if not best.size:
        return k.astype(np.float64), np.full(k.size, np.nan)
    return k.astype(np.float64), np.searchsorted(np.sort(best), k, side="right") / best.size


def progressive(values: ArrayLike) -> Curve:
    """t = 1, 2, … and Σ_{i≤t} values_i / t: the round-averaged cumulative loss (or R_1, …) of a stream.

    Rounds that were left out (NaN) are skipped; they count neither above nor below the line.
    """
    v = np.asarray(values, dtype=np.float64)
    if v.ndim != 1:
        raise InputError(f"a stream of values has one dimension, not {v.ndim}")
    v = v[~np.isnan(v)]
    t = np.arange(1, v.size + 1, dtype=np.float64)
    return t, np.cumsum(v) / t
