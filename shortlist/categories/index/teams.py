"""Blocks of examples learned one after the other (blocks.py): by one thread, or each by several.

How many examples a block has is given by how many there are to learn, never by the threads. Threads score the examples
of a block together; then each changes the lists of the features that it owns, and takes room for them from stretches
of the pool of its own. Where lists lie in the pool does depend on the threads, what stands in them does not.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Longs, kernel
from shortlist.categories.index.ahead import nobody
from shortlist.categories.index.blocks import (
    CHUNK,
    PARTS,
    Block,
    Rules,
    Sums,
    Task,
    make_block,
    make_sums,
    prepare,
    score,
    settle,
    widened,
)
from shortlist.categories.index.changes import correct, count_and_correct
from shortlist.categories.index.lists import EDGES, END, SIZES, Index
from shortlist.categories.index.pruning import UNLIMITED
from shortlist.categories.index.tuning import learn, least_share
from shortlist.categories.pauses import DONE, WANTS_ROOM, WANTS_SLOTS
from shortlist.categories.scratch import Scratch, make_scratch

MOST_EXAMPLES, PER_PASS = 1024, 128  # in a block at most so many; blocks in a pass, or more
ENOUGH = 64  # examples of a block are worth a thread
STRETCH = 1 << 13  # slots of the pool that a thread takes at a time, or what one list may want if that is more
ONE_BY_ONE = -1  # the examples of a block are learned each for itself
MINE = np.zeros(PARTS, dtype=np.int64)  # owners of the parts, where there is one


def block_size(n_examples: int) -> int:
    """How many examples of so many are learned at a time: a power of 2, given by the data alone."""
    return min(MOST_EXAMPLES, 1 << max(0, (n_examples // PER_PASS).bit_length() - 1))


class Work(NamedTuple):
    """What a thread needs for itself."""

    scratch: Scratch
    sums: Sums
    met: NDArray[np.bool_]  # for each label, false between lists


class Team:
    """Threads that learn blocks of so many examples together."""

    def __init__(self, size: int, n_threads: int, n_labels: int) -> None:
        self.size, self.n_labels = size, n_labels
        self.n_threads = max(1, min(n_threads, size // ENOUGH))
        self._works = [
            Work(make_scratch(n_labels), make_sums(n_labels), np.zeros(n_labels, dtype=np.bool_))
            for _ in range(self.n_threads)
        ]
        self._block = make_block(size, 0, 0, 0, 0)
        self._pool = ThreadPoolExecutor(max(1, self.n_threads - 1))  # starts a thread when it is needed
        self._taking = Lock()
        self._free = np.full((self.n_threads, SIZES), -1, dtype=np.int64)
        self._used = np.zeros((self.n_threads, 64), dtype=np.int64)  # far apart: each is written by another thread
        self._ends = [0] * self.n_threads  # of the stretches

    def learn(self, task: Task, position: int, index: Index, rules: Rules) -> tuple[int, int, int]:
        """Learn task.order[position:]. Stops early, before an example, where the index has too little room for it.

        Returns how many are done, why it stopped, and how many free slots are wanted.
        """
        self._make_room(task, index)
        while True:
            if self.n_threads == 1:
                found = learn_blocks(task, position, self.size, index, self._works[0], self._block, rules)
            else:
                found = self._learn(task, position, index, rules)
            position, why, amount = found
            if why == WANTS_SLOTS:
                self.give_back(index)  # lists may be moved
            if why != WANTS_ROOM:
                return found
            self._block = self._block._replace(**room_for_errors(2 * amount))

    def give_back(self, index: Index) -> None:
        """Give the free blocks of all threads to whoever uses the index next."""
        for free in self._free:
            join_free(index, free)
        self._free[:], self._used[:], self._ends = -1, 0, [0] * self.n_threads

    def end(self, index: Index) -> None:
        """No more blocks are learned."""
        self._pool.shutdown()
        self.give_back(index)

    def _make_room(self, task: Task, index: Index) -> None:
        """Room for the largest block of the task, but for its errors."""
        starts = np.arange(0, task.order.size, self.size)
        n_entries, n_labels = (
            int(np.add.reduceat(np.diff(indptr)[task.order], starts).max(initial=0)) if starts.size else 0
            for indptr in (task.rows.indptr, task.labels.indptr)
        )
        block, n_features = self._block, index.features.size
        if block.at.size <= n_entries or block.own.size < n_labels or block.final.size < n_features:
            self._block = make_block(self.size, 2 * n_entries, 2 * n_labels, block.errors.size, n_features)

    def _learn(self, task: Task, position: int, index: Index, rules: Rules) -> tuple[int, int, int]:
        """What ``learn_blocks`` does, by all threads."""
        order, first_pass = task.order, task.first_pass
        while position < order.size:
            last, block = min(order.size, (position // self.size + 1) * self.size), self._block
            voting = widened(rules, task.stats)
            spare = self.n_threads * STRETCH
            why, amount = what_is_wanted(task, position, last, self.size, index, block, voting, spare)
            if why != DONE:
                if why == ONE_BY_ONE:
                    position, why, amount = learn_blocks(
                        task._replace(order=order[:last]), position, self.size, index, self._works[0], block,
                        rules,
                    )  # fmt: skip
                if why != DONE:
                    return position, why, amount
                continue

            own = (task, position, last, index, block, voting)
            together(
                self._pool, self._score, [(*own, *some) for some in chunks(block, last - position, self.n_threads)]
            )
            settle(task, position, last, block)
            if first_pass and rules.cap < UNLIMITED:  # an index that may be full has one pool, which is packed
                change_lists(task, position, last, index, self._works[0], block, voting)
            else:
                owner = owners(block.load, self.n_threads)
                together(self._pool, self._change, [(*own, owner)] * self.n_threads)
                index.used[EDGES] += self._used[:, EDGES].sum()
                self._used[:, EDGES] = 0
            position = last
        return order.size, DONE, 0

    def _score(
        self, n: int, task: Task, first: int, last: int, index: Index, block: Block, rules: Rules, begin: int, end: int
    ) -> None:
        score(task, first, last, begin, end, index, self._works[n].scratch, self._works[n].sums, block, rules)

    def _change(
        self, n: int, task: Task, first: int, last: int, index: Index, block: Block, rules: Rules, owner: Longs
    ) -> None:
        """Change the lists of one owner, who takes stretches of the pool as lists need room."""
        if not task.first_pass:
            correct(task.rows, task.order, first, last, index, block, owner, n)
            return
        mine = index._replace(free=self._free[n], used=self._used[n])
        least, met, done = least_share(rules.min_weight, task.stats), self._works[n].met, 0
        while True:
            done, slots = count_and_correct(
                task, first, last, mine, block, owner, n, done, met, rules, least, self._ends[n]
            )
            if slots == 0:
                return
            with self._taking:
                mine.used[END] = index.used[END]
                index.used[END] += slots + STRETCH
                self._ends[n] = int(index.used[END])


def room_for_errors(n: int) -> dict[str, Any]:
    return {
        "errors": np.zeros(n, dtype=np.float32), "bias_label": np.zeros(n, dtype=np.int32), "bias": np.zeros(n)
    }  # fmt: skip


def together(pool: ThreadPoolExecutor, function: Callable[..., None], arguments: list[tuple[Any, ...]]) -> None:
    """Call the function with a number and each of the arguments, all at the same time."""
    tasks = [pool.submit(function, n, *own) for n, own in enumerate(arguments[1:], 1)]
    function(0, *arguments[0])
    for task in tasks:
        task.result()


def chunks(block: Block, n_examples: int, n_threads: int) -> list[tuple[int, int]]:
    """First and last + 1 of the chunks that each thread scores: about the same number of edges for each."""
    firsts = np.arange(0, n_examples, CHUNK)
    wanted = np.linspace(0, int(block.at[block.entry[n_examples]]), n_threads + 1)[1:-1]
    return list(pairwise([0, *np.searchsorted(block.at[block.entry[firsts]], wanted).tolist(), firsts.size]))


@kernel
def owners(load: Longs, n_threads: int) -> Longs:
    """Who owns each part: the heaviest parts are given away first, each to who has the least to do."""
    owner, given = np.zeros(load.size, np.int64), np.zeros(n_threads, np.int64)
    for part in np.argsort(-load, kind="mergesort"):
        least = np.argmin(given)
        owner[part] = least
        given[least] += load[part]
    return owner


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


@kernel
def learn_blocks(
    task: Task, position: int, size: int, index: Index, work: Work, block: Block, rules: Rules
) -> tuple[int, int, int]:
    """Learn task.order[position:], ``size`` examples at a time; stops and gives what ``Team.learn`` does."""
    while position < task.order.size:
        last, voting = min(task.order.size, (position // size + 1) * size), widened(rules, task.stats)
        why, amount = what_is_wanted(task, position, last, size, index, block, voting, 0)
        if why == ONE_BY_ONE:
            position, why, amount = learn(
                task.rows, task.labels, task.order[:last], position, task.first_pass, index, task.bias,
                task.stats, task.to_come, work.scratch, rules.max_edges, rules.min_weight, rules.rare, rules.leakage,
                rules.cap, rules.step, rules.few, np.zeros(0, dtype=np.int8), nobody(),
            )  # fmt: skip
            if why == DONE:
                continue
        if why != DONE:
            return position, why, amount
        score(task, position, last, 0, last, index, work.scratch, work.sums, block, voting)
        settle(task, position, last, block)
        change_lists(task, position, last, index, work, block, voting)
        position = last
    return task.order.size, DONE, 0


@kernel
def change_lists(task: Task, first: int, last: int, index: Index, work: Work, block: Block, rules: Rules) -> None:
    """Change all lists, by one thread."""
    if task.first_pass:
        least, end = least_share(rules.min_weight, task.stats), index.edges.size
        count_and_correct(task, first, last, index, block, MINE, 0, 0, work.met, rules, least, end)
    else:
        correct(task.rows, task.order, first, last, index, block, MINE, 0)


@kernel
def what_is_wanted(
    task: Task, first: int, last: int, size: int, index: Index, block: Block, rules: Rules, spare: int
) -> tuple[int, int]:
    """Prepare a block; gives what it wants before it can be learned, and how much of it.

    Where the index is nearly as large as it may be, each example has to see that there is room for it; and so it was
    where learning has stopped within a block. spare: slots that threads may have and not use.
    """
    if first % size:
        return ONE_BY_ONE, 0
    errors, slots, new_edges = prepare(task, first, last, index, block, rules)
    if task.first_pass:
        if rules.cap - index.used[EDGES] < new_edges:
            return ONE_BY_ONE, 0
        if index.used[END] + 2 * slots + spare > index.edges.size:
            return WANTS_SLOTS, 2 * slots + spare
    return (WANTS_ROOM, errors) if errors > block.errors.size else (DONE, 0)
