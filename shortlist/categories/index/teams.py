"""Blocks of examples learned one after the other (blocks.py): by one thread, or each by several.

How many examples a block has is given by how many there are to learn, never by the threads. Threads score the examples
of a block together; then each changes the lists of the features that it owns, and takes room for them from stretches
of the pool of its own. Where lists lie in the pool does depend on the threads, what stands in them does not.

All threads go through the same loop, ``learn_blocks``, and meet between its stages, without the interpreter: what one
of them does while the others wait is a few microseconds for each block.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel, look, sleep_shortly, step, take
from shortlist.categories.index.ahead import nobody
from shortlist.categories.index.blocks import (
    CHUNK,
    ERRORS,
    PARTS,
    Block,
    Rules,
    Sums,
    Task,
    add_biases,
    having,
    lay_out,
    make_block,
    make_sums,
    score,
    settle,
    widened,
)
from shortlist.categories.index.changes import Mine, correct, count_and_correct, find_final, find_mine, make_mine
from shortlist.categories.index.lists import EDGES, END, SIZES, Index
from shortlist.categories.index.pruning import UNLIMITED
from shortlist.categories.index.tuning import learn, least_share
from shortlist.categories.pauses import DONE, WANTS_ROOM, WANTS_SLOTS
from shortlist.categories.scratch import Scratch, make_scratch

MOST_EXAMPLES, PER_PASS = 1024, 128  # in a block at most so many; blocks in a pass, or more
ENOUGH = 64  # examples of a block are worth a thread
STRETCH = 1 << 13  # slots of the pool that a thread takes at a time, or what one list may want if that is more
ONE_BY_ONE = -1  # the examples of a block are to be learned each for itself
PATIENCE = 20_000  # looks at what the others do before somebody else may have the processor: some tens of µs
# Entries of Desk.said. How many have come and how often all were there; why to stop, how much is wanted; whether lists
# are still to be changed, how many edges vote, and how long a stretch is; whether somebody will never come.
CAME, MET, WHY, AMOUNT, CHANGING, VOTING, STRETCHES, GIVEN_UP, SAID = 0, 8, 16, 17, 18, 19, 20, 21, 24
READY, WANTED, STRETCH_END = 0, 1, 2  # entries of a row of Desk.done


def block_size(n_examples: int) -> int:
    """How many examples of so many are learned at a time: a power of 2, given by the data alone."""
    return min(MOST_EXAMPLES, 1 << max(0, (n_examples // PER_PASS).bit_length() - 1))


class Work(NamedTuple):
    """What a thread needs for itself."""

    scratch: Scratch
    sums: Sums
    met: NDArray[np.bool_]  # for each label, false between lists
    mine: Mine


class Desk(NamedTuple):
    """What the threads of a team share, beside the block. Rows are far apart: each is written by another thread."""

    said: Longs
    owner: Longs  # int64[PARTS], which thread changes the lists of a part
    load: Longs  # int64[threads, PARTS], how much work each part is, as each thread has found
    given: Longs  # int64[threads], how much work it has
    done: Longs  # int64[threads, …]: how many of its entries are done; how many slots it wants; where its stretch ends
    free: Longs  # int64[threads, SIZES], the free blocks of each (lists.Index)
    used: Longs  # int64[threads, …], what each has used of its stretch


def make_desk(n_threads: int) -> Desk:
    def rows(n: int) -> Longs:
        return np.zeros((n_threads, n), dtype=np.int64)

    said, owner, given = (np.zeros(n, dtype=np.int64) for n in (SAID, PARTS, n_threads))
    said[STRETCHES] = STRETCH
    return Desk(said, owner, rows(PARTS), given, rows(16), np.full((n_threads, SIZES), -1, dtype=np.int64), rows(16))


class Team:
    """Threads that learn blocks of so many examples together."""

    def __init__(self, size: int, n_threads: int, n_labels: int) -> None:
        self.size, self.n_labels = size, n_labels
        self.n_threads = max(1, min(n_threads, size // ENOUGH))
        self._works = [
            Work(make_scratch(n_labels), make_sums(n_labels), np.zeros(n_labels, dtype=np.bool_), make_mine(0, 0))
            for _ in range(self.n_threads)
        ]
        self._block = make_block(size, 0, 0, 0, 0)
        self._desk = make_desk(self.n_threads)
        self._pool = ThreadPoolExecutor(max(1, self.n_threads - 1))  # starts a thread when it is needed

    def learn(self, task: Task, position: int, index: Index, rules: Rules) -> tuple[int, int, int]:
        """Learn task.order[position:]. Stops early where the index has too little room for what comes next.

        Returns how many are done, why it stopped, and how many free slots are wanted.
        """
        self._make_room(task, index)
        while True:
            position, why, amount = self._learn(task, position, index, rules)
            if why == ONE_BY_ONE:
                last = min(task.order.size, (position // self.size + 1) * self.size)
                position, why, amount = learn(
                    task.rows, task.labels, task.order[:last], position, task.first_pass, index, task.bias, task.stats,
                    task.to_come, *rules, np.zeros(0, dtype=np.int8), nobody(), task.mates,
                )  # fmt: skip
                if why == DONE and position < task.order.size:
                    continue
            if why == WANTS_SLOTS:
                self._give_back(index)  # lists may be moved
            if why != WANTS_ROOM:
                return position, why, amount
            self._block = self._block._replace(**room_for_errors(2 * amount))

    def end(self, index: Index) -> None:
        """No more blocks are learned."""
        self._pool.shutdown()
        self._give_back(index)

    def _give_back(self, index: Index) -> None:
        """Give the free blocks of all threads to whoever uses the index next."""
        for free in self._desk.free:
            join_free(index, free)
        self._desk.free[:], self._desk.used[:], self._desk.done[:, STRETCH_END] = -1, 0, 0

    def _make_room(self, task: Task, index: Index) -> None:
        """Room for the largest block of the task, but for its errors."""
        starts = np.arange(0, task.order.size, self.size)
        n_entries, n_labels = (
            int(np.add.reduceat(np.diff(indptr)[task.order], starts).max(initial=0)) if starts.size else 0
            for indptr in (task.rows.indptr, task.labels.indptr)
        )
        block, n_features = self._block, index.features.size
        if block.at.size < n_entries or block.own.size < n_labels or block.final.size < n_features:
            self._block = make_block(self.size, 2 * n_entries, 2 * n_labels, block.errors.size, n_features)
            self._works = [work._replace(mine=make_mine(self.size, 2 * n_entries)) for work in self._works]

    def _learn(self, task: Task, position: int, index: Index, rules: Rules) -> tuple[int, int, int]:
        """Learn blocks, by all threads; each comes to the same end."""
        own = (task, position, self.size, index, self._block, self._desk, rules)
        try:
            others = [self._pool.submit(learn_blocks, n, work, *own) for n, work in enumerate(self._works[1:], 1)]
            found: tuple[int, int, int] = learn_blocks(0, self._works[0], *own)
        except BaseException:  # no further thread could be started, or somebody's own signal handler has raised
            self._desk.said[GIVEN_UP] = 1
            raise
        for other in others:
            other.result()
        return found


def room_for_errors(n: int) -> dict[str, Any]:
    return {
        "errors": np.zeros(n, dtype=np.float32), "bias_label": np.zeros(n, dtype=np.int32), "bias": np.zeros(n)
    }  # fmt: skip


@kernel
def learn_blocks(
    n: int, work: Work, task: Task, position: int, size: int, index: Index, block: Block, desk: Desk, rules: Rules
) -> tuple[int, int, int]:
    """What thread n does to learn task.order[position:], ``size`` examples at a time; gives what Team.learn does."""
    said = desk.said
    if not meet(desk):
        return position, DONE, 0
    while position < task.order.size:
        last = min(task.order.size, (position // size + 1) * size)
        if said[CHANGING] == 0:
            if is_one_by_one(task, position, last, size, index, rules):
                return position, ONE_BY_ONE, 0
            if n == 0:
                lay_out(task, position, last, block)
            meet(desk)
            voting = widened(rules, task.stats)
            score(task, position, last, index, work.scratch, work.sums, desk.load[n], block, voting)
            meet(desk)
            if n == 0:
                agree(task, position, last, block, desk, rules)
            meet(desk)
            if said[WHY] != DONE:
                return position, said[WHY], said[AMOUNT]
        change_lists(n, work, task, position, last, index, block, desk, rules)
        meet(desk)
        if n == 0:
            gather(index, desk)
        meet(desk)
        if said[WHY] != DONE:
            return position, said[WHY], said[AMOUNT]
        position = last
    return task.order.size, DONE, 0


@step
def meet(desk: Desk) -> bool:
    """Wait until all threads have come here. What each wrote before, all can read afterwards.

    False if somebody will never come, which only those can hear who have just begun.
    """
    said, n_threads, looks = desk.said, desk.given.size, 0
    if n_threads == 1:
        return True
    before = look(said, MET)
    if take(said, CAME, 1) == n_threads - 1:
        said[CAME] = 0
        take(said, MET, 1)
        return True
    while look(said, MET) == before:
        looks += 1
        if looks > PATIENCE:
            if look(said, GIVEN_UP):
                return False
            sleep_shortly()
    return True


@step
def is_one_by_one(task: Task, first: int, last: int, size: int, index: Index, rules: Rules) -> bool:
    """Whether the examples of a block are to be learned one by one.

    Where the index is nearly as large as it may be, each has to see that there is room for it; and so it was where
    learning has stopped within a block.
    """
    if first % size:
        return True
    if not task.first_pass or rules.cap == UNLIMITED:
        return False
    new_edges = 0
    for t in range(first, last):
        i = task.order[t]
        own = task.labels.indptr[i + 1] - task.labels.indptr[i]
        new_edges += (task.rows.indptr[i + 1] - task.rows.indptr[i]) * (own + 1)
    return rules.cap - index.used[EDGES] < new_edges


@step
def agree(task: Task, first: int, last: int, block: Block, desk: Desk, rules: Rules) -> None:
    """What one thread does once all is scored: see that the errors had room, settle the stats, and give out parts."""
    said = desk.said
    said[WHY], said[AMOUNT] = DONE, block.common[ERRORS]
    if block.common[ERRORS] > block.errors.size:
        said[WHY] = WANTS_ROOM
        return
    said[VOTING], said[CHANGING] = widened(rules, task.stats).max_edges, 1
    settle(task, first, last, block)
    n_biases = 0
    for chunk in range((last - first + CHUNK - 1) // CHUNK):
        n_biases += block.n_biases[chunk]
    alone = task.first_pass and rules.cap < UNLIMITED  # an index that may be full has one pool, which is packed
    give_out(desk, n_biases // 2, alone)


@step
def give_out(desk: Desk, n_others: int, alone: bool) -> None:
    """Who owns each part: the heaviest parts are given away first, each to who has the least to do.

    n_others: what the last thread does beside that. alone: the first has them all.
    """
    load, n_threads = desk.load, desk.given.size
    for n in range(n_threads):
        desk.given[n] = n_others if n == n_threads - 1 else 0
        desk.done[n, READY] = -1
    for part in range(PARTS):
        for n in range(1, n_threads):
            load[0, part] += load[n, part]
    for _ in range(PARTS):
        heaviest = least = 0
        for part in range(PARTS):
            heaviest = part if load[0, part] > load[0, heaviest] else heaviest
        for n in range(n_threads):
            least = n if desk.given[n] < desk.given[least] and not alone else least
        desk.owner[heaviest] = least
        desk.given[least] += load[0, heaviest]
        load[0, heaviest] = -1


@step
def change_lists(
    n: int, work: Work, task: Task, first: int, last: int, index: Index, block: Block, desk: Desk, rules: Rules
) -> None:
    """Change the lists of the features that are mine; the last thread changes the biases."""
    rows, order, n_threads = task.rows, task.order, desk.given.size
    done = desk.done[n]
    if done[READY] < 0:
        if n == n_threads - 1:
            add_biases(task, (last - first + CHUNK - 1) // CHUNK, block)
        find_mine(rows, order, first, last, block, desk.owner, n, work.mine)
        done[READY] = 0
        if not task.first_pass:
            correct(rows, order, first, last, index, block, work.mine)
            done[READY] = work.mine.begin[last - first]
            return
        find_final(rows, order, first, last, block, work.mine)
    voting, stretch = having(rules, desk.said[VOTING]), desk.said[STRETCHES]
    least = least_share(rules.min_weight, task.stats)
    if n_threads == 1 or rules.cap < UNLIMITED:
        done[READY], done[WANTED] = count_and_correct(
            task, first, last, index, block, work.mine, done[READY], work.met, voting, least, index.edges.size
        )
        return
    own = Index(index.features, index.edges, desk.free[n], desk.used[n])
    wanted = 1
    while wanted > 0:
        done[READY], wanted = count_and_correct(
            task, first, last, own, block, work.mine, done[READY], work.met, voting, least, done[STRETCH_END]
        )
        done[WANTED] = wanted
        if wanted > 0:
            start = take(index.used, END, wanted + stretch)
            if start + wanted + stretch > index.edges.size:
                take(index.used, END, -(wanted + stretch))
                return
            own.used[END], done[STRETCH_END] = start, start + wanted + stretch


@step
def gather(index: Index, desk: Desk) -> None:
    """What one thread does once lists are changed: count the edges, and see that nobody wants slots."""
    said, wanted, n_threads = desk.said, 0, desk.given.size
    for n in range(n_threads):
        index.used[EDGES] += desk.used[n, EDGES]
        desk.used[n, EDGES] = 0
        wanted = max(wanted, desk.done[n, WANTED])
        desk.done[n, WANTED] = 0
    said[WHY] = WANTS_SLOTS if wanted > 0 else DONE
    said[AMOUNT], said[CHANGING] = n_threads * (wanted + said[STRETCHES]), 1 if wanted > 0 else 0


@kernel
def join_free(index: Index, free: Longs) -> None:
    """Put the free blocks of a thread behind those that the index has (lists.move_to_more_room)."""
    for size in range(free.size):
        if free[size] >= 0:
            last = free[size]
            while index.edges[last]["label"] > 0:
                last = np.int64(index.edges[last]["label"]) - 1
            index.edges[last]["label"] = index.free[size] + 1
            index.free[size] = free[size]
