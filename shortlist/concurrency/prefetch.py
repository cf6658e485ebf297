"""Stages that work at the same time: while one batch is learned, the next is tokenised, and the one after it read.

A stage is an iterator; ``prefetch`` runs it in a thread of its own, which stays a few items ahead and then waits.
Reading, decompressing and the kernels release the interpreter's lock, so the slowest stage sets the pace. Each stage
still does its items in order, by itself: what comes out is what would come out without threads, errors at their place
included.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
Given = TypeVar("Given")
NAME = "a stage ahead"
AHEAD = 2  # items that may wait: enough that no stage starves, few enough that they take no room


def prefetch(items: Iterable[Item]) -> Generator[Item, None, None]:
    """The same items, made by a thread of their own before they are asked for.

    Whoever stops early waits for the item that is being made; not so if the user stops the program, because that item
    may never come: its maker may be waiting for input.
    """
    iterator, end = iter(items), object()
    maker = ThreadPoolExecutor(1, thread_name_prefix=NAME)
    wait = True
    try:
        waiting: deque[Any] = deque(maker.submit(next, iterator, end) for _ in range(AHEAD))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(maker.submit(next, iterator, end))
            yield item
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        maker.shutdown(wait=wait, cancel_futures=True)


def by_threads(function: Callable[[Given], Item], items: Iterable[Given], workers: int) -> Iterator[Item]:
    """What the function makes of each item, in their order, made by several threads a few items ahead."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > workers + AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def is_stuck() -> bool:
    """Whether a stage is still at work, after the user has stopped the program."""
    return any(thread.name.startswith(NAME) for thread in threading.enumerate())
