"""Blocks of examples learned one after the other (blocks.py): by one thread, or each by several.

How many examples a block has is given by how many there are to learn, never by the threads. Threads score the examples
of a block together; then each changes the lists of some parts of the features (parts.py), takes more of them as long
as there are any, and takes room for lists from stretches of the pool of its own. Where lists lie in the pool does
depend on the threads, what stands in them does not.

All threads go through the same loop, ``learn_blocks``, and meet between its two stages, without the interpreter. What
one has to do while the others wait, a few microseconds for each block, is done by the last to come: nobody has to wake
up for it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays.kernels import Floats, Ints, Longs, kernel, look, step, take
from shortlist.categories.index.ahead import nobody
from shortlist.categories.index.blocks import (
    CHUNK,
    ERRORS,
    Block,
    Rules,
    Task,
    add_biases,
    having,
    lay_out,
    make_block,
    make_stats,
    score,
    settle,
    widened,
)
from shortlist.categories.index.changes import correct, count_and_correct, mark_last
from shortlist.categories.index.desk import (
    AMOUNT,
    BIASES,
    CHANGING,
    GIVEN_UP,
    PORTIONS,
    STRETCH_END,
    STRETCHES,
    TAKEN,
    VOTING,
    WANTED,
    WHY,
    Desk,
    comes_last,
    go_on,
    make_desk,
)
from shortlist.categories.index.lists import EDGES, END, Index
from shortlist.categories.index.parts import find_own, share_out
from shortlist.categories.index.pruning import UNLIMITED
from shortlist.categories.index.recent import NOTHING_RECENT
from shortlist.categories.index.tuning import learn, least_share
from shortlist.categories.pauses import DONE, WANTS_ROOM, WANTS_SLOTS
from shortlist.categories.scratch import Scratch, make_scratch

MOST_EXAMPLES, PER_PASS = 1024, 128  # in a block at most so many; blocks in a pass, or more
PAYS = 1 << 16  # examples: fewer are learned one by one in two or three seconds
ENOUGH = 64  # examples of a block are worth a thread
STRETCH = 1 << 13  # slots of the pool that a thread takes at a time, or what one list may want if that is more
ONE_BY_ONE = -1  # the examples of a block are to be learned each for itself


def block_size(n_examples: int) -> int:
    """How many examples of so many are learned at a time, if nobody says: a power of 2, given by the data alone."""
    if n_examples < PAYS:
        return 1
    return min(MOST_EXAMPLES, 1 << max(0, (n_examples // PER_PASS).bit_length() - 1))


class Work(NamedTuple):
    """What a thread needs for itself."""

    scratch: Scratch
    stats: Floats  # as one example would leave them
    met: NDArray[np.bool_]  # for each label, false between lists
    own: Ints  # the entries of a portion


class Team:
    """Threads that learn blocks of so many examples together."""

    def __init__(self, size: int, n_threads: int, n_labels: int) -> None:
        self.size, self.n_labels = size, n_labels
        self.n_threads = max(1, min(n_threads, size // ENOUGH))
        self._works = [
            Work(make_scratch(n_labels), make_stats(), np.zeros(n_labels, np.bool_), np.zeros(0, np.int32))
            for _ in range(self.n_threads)
        ]
        self._block = make_block(size, 0, 0, 0, 0)
        self._desk = make_desk(self.n_threads, STRETCH)
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
                    task.to_come, *rules, np.zeros(0, dtype=np.int8), nobody(), task.mates, NOTHING_RECENT,
                )  # fmt: skip
                if why == DONE and position < task.order.size:
                    continue
            if why == WANTS_SLOTS:
                self._give_back(index)  # lists may be moved
            if why != WANTS_ROOM:
                return position, why, amount
            self._block = self._block._replace(**room_for_errors(amount + amount // 4))

    def end(self, index: Index) -> None:
        """No more blocks are learned."""
        self._pool.shutdown()
        self._give_back(index)

    def _give_back(self, index: Index) -> None:
        """Give the free blocks of all threads to whoever uses the index next."""
        for free in self._desk.free:
            join_free(index, free)
        self._desk.free[:], self._desk.used[:], self._desk.has[:, STRETCH_END] = -1, 0, 0

    def _make_room(self, task: Task, index: Index) -> None:
        """Room for the largest block of the task, but for its errors."""
        starts = np.arange(0, task.order.size, self.size)
        n_entries, n_labels = (
            int(np.add.reduceat(np.diff(indptr)[task.order], starts).max(initial=0)) if starts.size else 0
            for indptr in (task.rows.indptr, task.labels.indptr)
        )
        block, n_features = self._block, index.features.size
        if block.at.size < n_entries or block.own.size < n_labels or 8 * block.met.size < n_features:
            self._block = make_block(self.size, 2 * n_entries, 2 * n_labels, block.errors.size, n_features)
            self._works = [work._replace(own=np.zeros(2 * n_entries, dtype=np.int32)) for work in self._works]

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
        "errors": np.zeros(n, dtype=np.float32), "bias_label": np.zeros(n, dtype=np.int32),
        "bias_error": np.zeros(n, dtype=np.float32),
    }  # fmt: skip


@kernel
def learn_blocks(
    n: int, work: Work, task: Task, position: int, size: int, index: Index, block: Block, desk: Desk, rules: Rules
) -> tuple[int, int, int]:
    """What thread n does to learn task.order[position:], ``size`` examples at a time; gives what Team.learn does."""
    said = desk.said
    if comes_last(desk):
        begin(task, position, size, block, desk, rules)
        go_on(desk)
    if look(said, GIVEN_UP):
        return position, DONE, 0
    while position < task.order.size:
        last = end_of_block(task, position, size)
        if said[CHANGING] == 0:
            if is_one_by_one(task, position, last, size, index, rules):
                return position, ONE_BY_ONE, 0
            voting = widened(rules, task.stats)
            score(task, position, last, index, work.scratch, work.stats, desk.load[n], block, voting)
            if comes_last(desk):
                agree(task, position, last, block, desk, rules)
                go_on(desk)
            if said[WHY] != DONE:
                return position, said[WHY], said[AMOUNT]
        change_lists(n, work, task, position, last, index, block, desk, rules)
        if comes_last(desk):
            gather(index, desk)
            begin(task, last, size, block, desk, rules)
            go_on(desk)
        if said[WHY] != DONE:
            return position, said[WHY], said[AMOUNT]
        position = last
    return task.order.size, DONE, 0


@step
def end_of_block(task: Task, position: int, size: int) -> int:
    return min(task.order.size, (position // size + 1) * size)


@step
def begin(task: Task, position: int, size: int, block: Block, desk: Desk, rules: Rules) -> None:
    """What one thread does before a block, if there is one and that before it is done: lay it out, share out parts."""
    if desk.said[CHANGING] == 0 and position < task.order.size:
        lay_out(task, position, end_of_block(task, position, size), block)
        alone = task.first_pass and rules.cap < UNLIMITED  # an index that may be full has one pool, which is packed
        desk.said[PORTIONS] = 1 + share_out(desk.load, alone, block.portion)


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
    """What one thread does once all is scored: see that the errors had room, and settle the stats."""
    said = desk.said
    said[WHY], said[AMOUNT] = DONE, block.common[ERRORS]
    if block.common[ERRORS] > block.errors.size:
        said[WHY] = WANTS_ROOM
        return
    said[VOTING], said[CHANGING] = widened(rules, task.stats).max_edges, 1
    settle(task, first, last, block)
    said[TAKEN] = 0
    for portion in range(said[PORTIONS]):
        desk.done[portion] = 0


@step
def change_lists(
    n: int, work: Work, task: Task, first: int, last: int, index: Index, block: Block, desk: Desk, rules: Rules
) -> None:
    """Change the biases and the lists of the features, a portion after the other as long as there is one that no thread
    has taken, and the pool has room."""
    n_chunks, wanted = (last - first + CHUNK - 1) // CHUNK, 0
    while wanted == 0:
        portion = take(desk.said, TAKEN, 1)
        if portion >= desk.said[PORTIONS]:
            break
        if portion != BIASES:
            n_own = find_own(block.starts, block.sorted, n_chunks, portion - 1, work.own)
            if task.first_pass:
                wanted = count_portion(n, n_own, portion, work, task, first, index, block, desk, rules)
            elif desk.done[portion] == 0:
                correct(task.rows, index, block, work.own, n_own)
                desk.done[portion] = n_own
        elif desk.done[BIASES] == 0:
            add_biases(task, last - first, block)
            desk.done[BIASES] = 1
    desk.has[n, WANTED] = wanted


@step
def count_portion(
    n: int, n_own: int, portion: int, work: Work, task: Task, first: int, index: Index, block: Block, desk: Desk,
    rules: Rules,
) -> int:  # fmt: skip
    """Count and correct a portion; gives how many slots are wanted if the pool has too few of them, otherwise 0."""
    done, has, own = desk.done, desk.has[n], work.own
    voting, least = having(rules, desk.said[VOTING]), least_share(rules.min_weight, task.stats)
    mark_last(task.rows, block, own, n_own)
    if desk.load.shape[0] == 1 or rules.cap < UNLIMITED:
        done[portion], wanted = count_and_correct(
            task, first, index, block, own, done[portion], n_own, work.met, voting, least, index.edges.size
        )
        return wanted
    mine, wanted = Index(index.features, index.edges, desk.free[n], desk.used[n]), 1
    while wanted > 0:
        done[portion], wanted = count_and_correct(
            task, first, mine, block, own, done[portion], n_own, work.met, voting, least, has[STRETCH_END]
        )
        if wanted > 0:
            stretch = wanted + desk.said[STRETCHES]
            start = take(index.used, END, stretch)
            if start + stretch > index.edges.size:
                take(index.used, END, -stretch)
                return wanted
            mine.used[END], has[STRETCH_END] = start, start + stretch
    return 0


@step
def gather(index: Index, desk: Desk) -> None:
    """What one thread does once lists are changed: count the edges, and see that nobody wants slots."""
    said, wanted, n_threads = desk.said, 0, desk.load.shape[0]
    for n in range(n_threads):
        index.used[EDGES] += desk.used[n, EDGES]
        desk.used[n, EDGES] = 0
        wanted = max(wanted, desk.has[n, WANTED])
    said[WHY] = WANTS_SLOTS if wanted > 0 else DONE
    said[AMOUNT], said[CHANGING] = n_threads * (wanted + said[STRETCHES]), 1 if wanted > 0 else 0
    said[TAKEN] = 0


@kernel
def join_free(index: Index, free: Longs) -> None:
    """Put the free blocks of a thread behind those that the index has (slots.py)."""
    for size in range(free.size):
        if free[size] >= 0:
            last = free[size]
            while index.edges[last]["label"] > 0:
                last = np.int64(index.edges[last]["label"]) - 1
            index.edges[last]["label"] = index.free[size] + 1
            index.free[size] = free[size]
