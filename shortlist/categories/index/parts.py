"""Parts of the features, and portions of parts that threads take to change their lists (blocks.py).

The lists of a portion are changed by one thread, whichever takes it: nothing depends on who that is, nor on which parts
go together. Portions are large at first and small at the end, so that no thread is kept waiting long by another whose
work was more than it looked, or whose processor somebody else had for a while.
"""

from __future__ import annotations

from shortlist.arrays.kernels import Ints, Longs, kernel, step
from shortlist.arrays.rows import Rows

PARTS = 64  # of the features
TOGETHER = 4  # bits: so many features that stand side by side belong to the same part, as they share lines of the cache


@step
def part_of(f: int) -> int:
    return (f >> TOGETHER) % PARTS


@step
def share_out(load: Longs, alone: bool, portion: Longs) -> int:
    """Put parts together to portions, the number of which each part is given; gives how many portions there are.

    load: int64[threads, PARTS], how much work each part was in the block before, as each thread has found. Of n
    threads, a portion has one (n + 1)th of the work that is left, or one part. alone: one portion has all.
    """
    n_threads, left = load.shape[0], 0
    for part in range(PARTS):
        for n in range(1, n_threads):
            load[0, part] += load[n, part]
            load[n, part] = 0
        left += load[0, part]
    n_portions = own = 0
    for part in range(PARTS):
        portion[part] = n_portions
        own += load[0, part]
        if own * (n_threads + 1) >= left and own > 0 and n_threads > 1 and not alone and part < PARTS - 1:
            n_portions, left, own = n_portions + 1, left - own, 0
    return n_portions + 1


@kernel
def sort_by_portion(
    rows: Rows, shift: Longs, example: Ints, begin: int, end: int, portion: Longs, starts: Ints, sorted_entries: Ints
) -> None:
    """Put the entries begin..end−1 of a block in the order of their portions, those of a portion as they are.

    shift, example: Block's; starts: int32[portions + 1 or more], receives where the entries of each portion begin.
    """
    n_portions = portion[PARTS - 1] + 1
    if n_portions == 1:
        for e in range(begin, end):
            sorted_entries[e] = e
        starts[0], starts[1] = begin, end
        return
    for p in range(n_portions + 2):
        starts[p] = 0
    starts[0] = starts[1] = begin
    for e in range(begin, end):
        starts[portion[part_of(rows.indices[shift[example[e]] + e])] + 2] += 1
    for p in range(1, n_portions + 1):
        starts[p + 1] += starts[p]
    for e in range(begin, end):  # where the next entry of a portion goes is, in the end, where the next portion begins
        p = portion[part_of(rows.indices[shift[example[e]] + e])]
        sorted_entries[starts[p + 1]] = e
        starts[p + 1] += 1


@step
def find_own(starts: Ints, sorted_entries: Ints, n_chunks: int, portion: int, own: Ints) -> int:
    """The entries of a block that belong to a portion, chunk by chunk; gives how many these are."""
    n = 0
    for chunk in range(n_chunks):
        for a in range(starts[chunk, portion], starts[chunk, portion + 1]):
            own[n] = sorted_entries[a]
            n += 1
    return n
