"""Where the threads of a team meet, and what they leave there for one another (teams.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist.arrays.kernels import Longs, look, sleep_shortly, step, take
from shortlist.categories.index.lists import SIZES
from shortlist.categories.index.parts import PARTS

PATIENCE = 20_000  # looks at what the others do before somebody else may have the processor: some tens of µs
# Entries of Desk.said. How many have come and how often all were there; why to stop, how much is wanted; whether lists
# are still to be changed, how many edges vote, and how long a stretch is; whether somebody will never come; how many
# portions there are, the biases among them, and which is the next to be taken.
CAME, MET, WHY, AMOUNT, CHANGING, VOTING, STRETCHES, GIVEN_UP, PORTIONS, TAKEN = 0, 8, 16, 17, 18, 19, 20, 21, 22, 32
SAID = 40
WANTED, STRETCH_END = 0, 1  # entries of a row of Desk.has
BIASES = 0  # is taken before the portions of features


class Desk(NamedTuple):
    """What the threads of a team share, beside the block. Rows are far apart: each is written by another thread."""

    said: Longs
    load: Longs  # int64[threads, PARTS], how much work each part is, as each thread has found
    done: Longs  # int64[PARTS + 1], whether the biases are done, and how many entries of each portion
    has: Longs  # int64[threads, …]: how many slots it wants; where its stretch ends
    free: Longs  # int64[threads, SIZES], the free blocks of each (lists.Index)
    used: Longs  # int64[threads, …], what each has used of its stretch


def make_desk(n_threads: int, stretch: int) -> Desk:
    """An empty desk, at which threads take so many slots at a time."""

    def rows(n: int) -> Longs:
        return np.zeros((n_threads, n), dtype=np.int64)

    said, load, free = np.zeros(SAID, dtype=np.int64), rows(PARTS), np.full((n_threads, SIZES), -1, dtype=np.int64)
    said[STRETCHES], load[0] = stretch, 1
    return Desk(said, load, np.zeros(PARTS + 1, dtype=np.int64), rows(16), free, rows(16))


@step
def comes_last(desk: Desk) -> bool:
    """Whether all other threads have come here. They wait until the last one says ``go_on``.

    What each wrote before it came, all can read afterwards. Nobody waits for who will never come, which only those can
    hear who have just begun.
    """
    said, n_threads, looks = desk.said, desk.load.shape[0], 0
    if n_threads == 1:
        return True
    before = look(said, MET)
    if take(said, CAME, 1) == n_threads - 1:
        return True
    while look(said, MET) == before:
        looks += 1
        if looks > PATIENCE:
            if look(said, GIVEN_UP):
                return False
            sleep_shortly()
    return False


@step
def go_on(desk: Desk) -> None:
    """Let the others go on who wait for the last one."""
    desk.said[CAME] = 0
    take(desk.said, MET, 1)
