"""Models in several threads: any number of threads may read a model at a time, or one may change
it.

The kernels check nothing, so arrays must not change while they run. Public methods that read are
marked ``@reading``, those that change the model ``@writing``, or ``@learning`` if Ctrl-C must not
leave it half changed. A thread that changes a model may also call its other methods. Private
methods and the threads of a method take no lock. A method that returns the state of a model is
marked ``@snapshot``. Learners and text parts have no locks: a model
has one for all of its parts.

A reader holds a lock of its own, which is listed in ``readers``. A writer closes the gate and waits
for each of these. All locks are held by ``with`` statements, so that Ctrl-C cannot leave one
locked.

A process that forks inherits the locks of threads that it does not inherit, so it makes them anew.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from itertools import count, repeat
from threading import Lock, get_ident, main_thread
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, cast
from weakref import WeakValueDictionary

from shortlist.errors import ShortlistError

if TYPE_CHECKING:
    from _thread import LockType

Verb = TypeVar("Verb", bound=Callable[..., Any])
numbers = count()


class ModelLock:
    """The lock of one model. A copy of the model has another."""

    __slots__ = ("__weakref__", "gate", "making", "number", "readers", "turn", "writer")

    def __init__(self) -> None:
        self.gate: Any = Lock()  # held by the writer
        self.turn = Lock()  # held by a waiting reader, which goes before the next writer
        self.writer: int | None = None  # the thread that writes
        self.readers: dict[int, LockType] = {}  # the lock of each reading thread
        self.making = threading.RLock()  # for values that readers compute once
        self.number = next(numbers)  # of two locks, the one with the lower number is taken first
        model_locks[self.number] = self

    def is_held(self, thread: int) -> bool:
        """Whether a thread reads or writes the model now."""
        mine = self.readers.get(thread)
        return self.writer == thread or (mine is not None and mine.locked())

    def forget_other_threads(self) -> None:
        """Make the lock that of the only thread of a process that was forked."""
        thread = get_ident()
        if self.writer != thread:
            is_half_changed = self.writer is not None and not self.is_held(thread)
            if not isinstance(self.gate, ClosedGate):
                self.gate = ClosedGate() if is_half_changed else Lock()
            self.writer = None
        self.turn = Lock()
        self.making = threading.RLock()
        self.readers = {reader: own for reader, own in self.readers.items() if reader == thread}

    def __reduce__(self) -> tuple[type[ModelLock], tuple[()]]:
        return ModelLock, ()


class ClosedGate:
    """The gate of a model that another thread was changing while the process was forked."""

    def locked(self) -> NoReturn:
        raise ShortlistError(
            "this process was forked while another thread changed the model, so it has half of the "
            "change; fork while no thread learns, or open the model from a file"
        )

    def __enter__(self) -> None:
        self.locked()

    def __exit__(self, *_: object) -> None: ...


# A fork waits until no thread changes a model, since learning an example takes no time. It does not
# wait for longer learning: it may be about something else.

FORK_SECONDS = 1.0
model_locks: WeakValueDictionary[int, ModelLock] = WeakValueDictionary()
_gates_of_forks: dict[int, list[LockType]] = {}  # that a forking thread holds


def _before_fork() -> None:
    end = time.monotonic() + FORK_SECONDS
    thread = get_ident()
    gates = _gates_of_forks[thread] = []
    for _, lock in sorted(model_locks.items()):
        if lock.is_held(thread) or isinstance(lock.gate, ClosedGate):
            continue
        if lock.turn.acquire(timeout=max(0.0, end - time.monotonic())):
            if lock.gate.acquire(timeout=max(0.0, end - time.monotonic())):
                gates.append(lock.gate)
            lock.turn.release()


def _after_fork_in_parent() -> None:
    for gate in _gates_of_forks.pop(get_ident()):
        gate.release()


def _after_fork_in_child() -> None:
    _gates_of_forks.clear()
    for lock in list(model_locks.values()):
        lock.forget_other_threads()


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )


def lock_of(model: object) -> ModelLock:
    try:
        lock: ModelLock = model.lock_  # type: ignore[attr-defined]
    except AttributeError:
        lock = model.__dict__.setdefault("lock_", ModelLock())  # the same for two threads at a time
    return lock


def reading(verb: Verb) -> Verb:
    """Mark a method that reads its model: it waits while another thread changes it."""

    @wraps(verb)
    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            # without calling ``lock_of`` and ``is_held``: a text is ranked in 50 µs
            lock = self.lock_
        except AttributeError:
            lock = lock_of(self)
        thread = get_ident()
        readers = lock.readers
        if (thread in readers and readers[thread].locked()) or lock.writer == thread:
            return verb(self, *args, **kwargs)
        reader_lock = Lock()
        with reader_lock:
            readers[thread] = reader_lock
            try:
                if not lock.gate.locked():
                    return verb(self, *args, **kwargs)
            finally:
                del readers[thread]
        reader_lock = Lock()  # a writer may be waiting for the lock of the first attempt
        with reader_lock:
            try:
                with lock.turn, lock.gate:
                    lock.readers[thread] = reader_lock
                return verb(self, *args, **kwargs)
            finally:
                lock.readers.pop(thread, None)

    return read  # type: ignore[return-value]


def writing(verb: Verb) -> Verb:
    """Mark a method that changes its model: it waits for all other threads that read or change
    it.
    """
    return _writing(verb, nullcontext)


def learning(verb: Verb) -> Verb:
    """Mark a method that changes its model, and is not left half done by Ctrl-C (below)."""
    return _writing(verb, uninterrupted)


def _writing(verb: Verb, within: Callable[[], AbstractContextManager[Any]]) -> Verb:
    @wraps(verb)
    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = lock_of(self)
        thread = get_ident()
        if lock.writer == thread:
            with within():
                return verb(self, *args, **kwargs)
        if lock.turn.locked():  # a reader waits
            with lock.turn:
                pass
        with lock.gate:
            try:
                lock.writer = thread
                for reader, held in list(lock.readers.items()):
                    if reader != thread:
                        with held:
                            pass
                if getattr(self, "is_mapped_", False):
                    self.own_arrays()
                with within():
                    return verb(self, *args, **kwargs)
            finally:
                lock.writer = None

    return write  # type: ignore[return-value]


def snapshot(verb: Verb) -> Verb:
    """Mark a method that returns the State of a model.

    A thread that holds the model, as while saving it, gets its arrays; any other a copy, because
    the arrays may change once the model is released.
    """

    @reading
    def copied(self: Any) -> Any:
        return verb(self).copied()

    @wraps(verb)
    def taken(self: Any) -> Any:
        if lock_of(self).is_held(get_ident()):
            return verb(self)
        return copied(self)

    return taken  # type: ignore[return-value]


# Ctrl-C while a model learns takes effect once a whole number of examples has been learned.
#
# Python raises KeyboardInterrupt between any two steps of the main thread, also between steps that
# belong together, such as new words and their counts. So while a ``@learning`` method runs, Ctrl-C
# is only noted, and raised at its end, or earlier where the method calls ``stop_here()``. Nothing
# is done in other threads, which get no signals, nor in programs with another handler.

# examples that a kernel learns at a time: some tenths of a second, after which Ctrl-C takes effect
RUN = 1 << 13

# The C functions behind those of the module, which make enums and so take 40 µs for each text
# learned.
_quick: Any = import_module("_signal") if find_spec("_signal") else signal
SIGINT = int(signal.SIGINT)
_noted: list[int] = []  # signals that came, noted by the main thread


class uninterrupted:
    """A context in which Ctrl-C is only noted, and raised at the end."""

    __slots__ = ("is_first",)

    def __enter__(self) -> None:
        self.is_first = False  # inside another such context, or where no signals come
        if (
            get_ident() == main_thread().ident
            and _quick.getsignal(SIGINT) is signal.default_int_handler
        ):
            _noted.clear()
            self.is_first = True
            try:
                _quick.signal(SIGINT, lambda number, frame: _noted.append(number))
            except KeyboardInterrupt:
                _quick.signal(SIGINT, signal.default_int_handler)
                raise

    def __exit__(self, *_: object) -> None:
        if self.is_first:
            _quick.signal(SIGINT, signal.default_int_handler)
            if _noted:
                _noted.clear()
                raise KeyboardInterrupt


def not_interrupted(verb: Verb) -> Verb:
    """Mark a method of a part of a model that is not left half done by Ctrl-C. It takes no lock."""

    @wraps(verb)
    def deferred(*args: Any, **kwargs: Any) -> Any:
        with uninterrupted():
            return verb(*args, **kwargs)

    return deferred  # type: ignore[return-value]


class Learns(Protocol):
    """A model that knows whether it has learned."""

    def __sklearn_is_fitted__(self) -> bool: ...


@contextmanager
def nothing_if_refused(model: Learns) -> Iterator[None]:
    """Restore an unfitted model if its first examples are refused; after Ctrl-C it keeps what
    it has learned.
    """
    state_before = None if model.__sklearn_is_fitted__() else dict(model.__dict__)
    try:
        yield
    except Exception:
        if state_before is not None:
            model.__dict__ = state_before
        raise


def stop_here() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was noted; called where the model is consistent."""
    if _noted and get_ident() == main_thread().ident:
        raise KeyboardInterrupt


def runs(n: int, size: int | None = None) -> Iterator[slice]:
    """Yield 0..n−1 in runs, one empty run if n is 0, and report the progress after each."""
    size = RUN if size is None else size
    for first in range(0, max(n, 1), size):
        yield slice(first, min(first + size, n))
        tell(min(size, n - first))


# The progress of learning.

# called with the number of examples that were gone through since the last call
Watcher = Callable[[int], None]

_watchers: list[Watcher] = []


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Report the progress of all learning in this context to a watcher, if there is one."""
    if watcher is None:
        yield
        return
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def tell(more: int) -> None:
    for watcher in _watchers:
        watcher(more)


# Stages that run at the same time: while one batch is learned, the next is read; while one is
# ranked, the next is tokenised, and the one after it read.
#
# A stage is an iterator; ``prefetch`` runs it in a thread, a few items ahead. Reading,
# decompressing and the kernels release the interpreter's lock. The items, their order and the place
# of errors are the same as without threads.

Item = TypeVar("Item")
Given = TypeVar("Given")
NAME = "a stage ahead"
AHEAD = 1  # items that wait while all threads are busy


def prefetch(items: Iterable[Item]) -> Generator[Item, None, None]:
    """Yield the same items, made ahead by a thread.

    A caller that stops early waits for the item that is being made.
    """
    iterator = iter(items)
    end = object()
    for item in by_threads(lambda _: next(iterator, end), repeat(None), 1):
        if item is end:
            return
        yield cast("Item", item)


def by_threads(
    function: Callable[[Given], Item], items: Iterable[Given], workers: int
) -> Iterator[Item]:
    """Yield the results of a function for each item, in order, made by several threads a few items
    ahead.

    After Ctrl-C it does not wait for what is being made, as a thread may be waiting for input.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix=NAME)
    wait = True
    try:
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > workers + AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait, cancel_futures=True)


def spread(
    function: Callable[[Given], Item], items: Iterable[Given], workers: int
) -> Iterator[Item]:
    """``by_threads`` where there are several items and workers; otherwise made when it is asked
    for.
    """
    items = list(items)
    return (
        by_threads(function, items, workers)
        if min(workers, len(items)) > 1
        else map(function, items)
    )


def is_stuck() -> bool:
    """Whether a stage is still running after the user has stopped the program."""
    return any(thread.name.startswith(NAME) for thread in threading.enumerate())
