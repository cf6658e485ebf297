"""Blocks of slots in the pool of an index (lists.py), each of which a list has to itself.

A list that outgrows its block moves to one with half as many slots again; one that was cut may move to a smaller one.
The blocks that lists leave are reused. Where lists lie changes nothing of what stands in them.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import part
from shortlist.categories.index.lists import END, Index


@part
def slots_of(size: int) -> int:
    """How many slots a block of that size has: 1, 2, 3, 4, 6, 8, 12, 16, 24, ..."""
    return (3 - (size & 1)) << ((size + 1) >> 1) >> 1


@part
def move_to_more_room(f: int, wanted: int, index: Index) -> None:
    """Give feature f, whose block of slots is full, one of at least so many: a free one, or a new one at the end."""
    feature, edges = index.features[f], index.edges
    old, n = feature["start"], feature["length"]
    size = 0
    while slots_of(size) <= n:
        size += 1
    old_size = size - 1  # of n slots or, of a list from a file, of fewer
    while slots_of(size) < wanted:
        size += 1
    new = index.free[size]
    if new >= 0:
        index.free[size] = np.int64(edges[new]["label"]) - 1  # a free block holds 1 + the place of the next one
    else:
        new = index.used[END]
        index.used[END] += slots_of(size)
    for e in range(n):
        edges[new + e] = edges[old + e]
    feature["start"] = new
    feature["capacity"] = slots_of(size)
    if n > 0:
        edges[old]["label"] = index.free[old_size] + 1
        index.free[old_size] = old


@part
def move_to_less_room(f: int, index: Index) -> None:
    """Move feature f, whose list was cut, to a free block of slots that is just large enough, if there is one.

    No block is cut in two: of what lists grow out of, the next one that grows would find nothing large enough.
    """
    feature, edges = index.features[f], index.edges
    old, n, size = feature["start"], feature["length"], 0
    while slots_of(size) < n:
        size += 1
    new = index.free[size]
    if new < 0 or slots_of(size) >= feature["capacity"]:
        return
    index.free[size] = np.int64(edges[new]["label"]) - 1
    for e in range(n):
        edges[new + e] = edges[old + e]
    old_size = size
    while slots_of(old_size + 1) <= feature["capacity"]:
        old_size += 1
    edges[old]["label"] = index.free[old_size] + 1
    index.free[old_size] = old
    feature["start"], feature["capacity"] = new, slots_of(size)
