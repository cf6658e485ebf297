"""Models in several threads: any number of them may read a model at a time, or one may change it.

The kernels check nothing, so nothing may change under them. Public verbs that read are marked ``@reading``, those that
change something ``@writing``, or ``@learning`` if Ctrl-C must not leave it half done; a thread that changes a model
may read it and call other such verbs on the way. What a verb does inside, on threads of its own or in private steps,
takes no lock. A verb that learns from another model is marked ``@merging``, one that gives all that a model is
``@snapshot``.

Whoever reads holds a small lock of its own, which stands in ``readers`` meanwhile. Whoever writes closes the gate and
waits for each of these. Everything is made of the interpreter's own locks in ``with`` statements, which an interruption
(Ctrl-C) cannot leave locked.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial, wraps
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from threading import Lock, get_ident, main_thread
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from _thread import LockType

Verb = TypeVar("Verb", bound=Callable[..., Any])
numbers = count()


class ModelLock:
    """The lock of one model. A copy of the model, or one that was pickled, has another."""

    __slots__ = ("gate", "making", "number", "readers", "turn", "writer")

    def __init__(self) -> None:
        self.gate = Lock()  # held by whoever writes
        self.turn = Lock()  # held by whoever waits to read; the next writer lets it go first
        self.writer: int | None = None  # the thread that writes
        self.readers: dict[int, LockType] = {}  # their threads, and the lock of each
        self.making = threading.RLock()  # for what readers make the first time it is asked for
        self.number = next(numbers)  # of two locks, the one with the lower number is taken first

    def is_held(self, thread: int) -> bool:
        """Whether a thread reads or writes: whoever else wants to write waits for it in any case."""
        mine = self.readers.get(thread)
        return self.writer == thread or (mine is not None and mine.locked())

    def others(self, thread: int) -> list[LockType]:
        return [lock for reader, lock in list(self.readers.items()) if reader != thread]

    def __deepcopy__(self, memo: dict[int, object]) -> ModelLock:
        return ModelLock()

    def __reduce__(self) -> tuple[type[ModelLock], tuple[()]]:
        return ModelLock, ()


def lock_of(model: object) -> ModelLock:
    try:
        lock: ModelLock = model._lock  # type: ignore[attr-defined]
    except AttributeError:
        # Of two threads that come first, both get the same lock.
        lock = model.__dict__.setdefault("_lock", ModelLock())
    return lock


def reading(verb: Verb) -> Verb:
    """A method that reads its model: it waits while another thread changes it."""

    @wraps(verb)
    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            lock = self._lock  # as ``lock_of`` and ``is_held``, without other calls: a text is ranked in 50 µs
        except AttributeError:
            lock = lock_of(self)
        thread, readers = get_ident(), lock.readers
        if (thread in readers and readers[thread].locked()) or lock.writer == thread:
            return verb(self, *args, **kwargs)
        mine = Lock()
        with mine:
            readers[thread] = mine
            try:
                if not lock.gate.locked():
                    return verb(self, *args, **kwargs)
            finally:
                del readers[thread]
        mine = Lock()  # a writer may be waiting for the lock of the first attempt
        with mine:
            try:
                with lock.turn, lock.gate:
                    lock.readers[thread] = mine
                return verb(self, *args, **kwargs)
            finally:
                lock.readers.pop(thread, None)

    return read  # type: ignore[return-value]


def writing(verb: Verb) -> Verb:
    """A method that changes its model: it waits for all other threads that read or change it."""
    return _writing(verb, nullcontext)


def learning(verb: Verb) -> Verb:
    """A method that changes its model, and is not left half done by Ctrl-C (below)."""
    return _writing(verb, Noting)


def _writing(verb: Verb, within: Callable[[], AbstractContextManager[Any]]) -> Verb:
    @wraps(verb)
    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock, thread = lock_of(self), get_ident()
        if lock.writer == thread:
            with within():
                return verb(self, *args, **kwargs)
        if lock.turn.locked():  # somebody waits to read
            with lock.turn:
                pass
        with lock.gate:
            try:
                lock.writer = thread
                if lock.readers:
                    for reader in lock.others(thread):
                        with reader:
                            pass
                with within():
                    return verb(self, *args, **kwargs)
            finally:
                lock.writer = None

    return write  # type: ignore[return-value]


def merging(verb: Verb) -> Verb:
    """A method that learns from another model.

    It reads the other while it changes its own. Of the two the older lock is taken first, or two threads that merge two
    models into each other would wait for each other for ever.
    """
    change = learning(verb)

    @wraps(verb)
    def merge(self: Any, other: Any) -> Any:
        if hasattr(other, "_held") and lock_of(other).number < lock_of(self).number:
            return other._held(partial(change, self, other))
        return change(self, other)

    return merge  # type: ignore[return-value]


def snapshot(verb: Verb) -> Verb:
    """A method that gives all that a model is, as a State.

    Whoever holds the model, as the verb that saves it, gets its very arrays; anybody else a copy, because they may
    change as soon as nobody holds it.
    """

    @wraps(verb)
    def taken(self: Any) -> Any:
        if lock_of(self).is_held(get_ident()):
            return verb(self)
        return self._held(lambda: verb(self).copied())

    return taken  # type: ignore[return-value]


# Ctrl-C while a model learns: it is heard where a whole number of examples has been learned.
#
# Python raises KeyboardInterrupt between any two steps of the main thread, also between two that belong together, such
# as new words and their counts. So while a verb runs that is marked ``@learning``, Ctrl-C is only noted, and raised at
# its end, or earlier where the verb says ``stop_here()``. So is an alarm that is set to do the same. Programs with a
# handler of their own keep it, and other threads get no signals: nothing is done there.


SIGNALS = [int(getattr(signal, name)) for name in ("SIGINT", "SIGALRM") if hasattr(signal, name)]
RUN = 1 << 13  # examples that a kernel learns at a time: some tenths of a second, after which Ctrl-C is heard

# The C functions behind those of the module, which make an enum of every answer: some 40 µs for each text learned.
_quick: Any = import_module("_signal") if find_spec("_signal") else signal
_noted: list[int] = []  # signals that came; the main thread alone notes any


class Noting:
    """Ctrl-C is only noted meanwhile, and raised at the end."""

    __slots__ = ("kept_back",)

    def __enter__(self) -> None:
        self.kept_back: list[int] = []
        if _quick.getsignal(SIGNALS[0]) is _note or get_ident() != main_thread().ident:
            return  # within another one, or in a thread that gets no signals
        found = [one for one in SIGNALS if _quick.getsignal(one) is signal.default_int_handler]
        if found:
            _noted.clear()
        try:
            for one in found:
                self.kept_back.append(one)
                _quick.signal(one, _note)
        except KeyboardInterrupt:
            self._hand_back()
            raise

    def __exit__(self, *_: object) -> None:
        self._hand_back()
        if self.kept_back and _noted:
            _noted.clear()
            raise KeyboardInterrupt

    def _hand_back(self) -> None:
        for one in self.kept_back:
            _quick.signal(one, signal.default_int_handler)


class Learns(Protocol):
    """What says whether it has learned anything."""

    def __sklearn_is_fitted__(self) -> bool: ...


@contextmanager
def nothing_if_refused(one: Learns) -> Iterator[None]:
    """What had learned nothing has learned nothing, too, if its first examples are refused in here.

    What is stopped by Ctrl-C keeps what it has learned by then.
    """
    before = None if one.__sklearn_is_fitted__() else dict(one.__dict__)
    try:
        yield
    except Exception:
        if before is not None:
            one.__dict__ = before
        raise


def stop_here() -> None:
    """Raise KeyboardInterrupt if Ctrl-C came meanwhile: what has been learned so far is whole."""
    if _noted and get_ident() == main_thread().ident:
        raise KeyboardInterrupt


def runs(n: int, size: int | None = None) -> Iterator[slice]:
    """0..n−1 in runs, the last one shorter; one empty run of nothing. Whoever watches is told how far it has come."""
    size = RUN if size is None else size
    for first in range(0, max(n, 1), size):
        yield slice(first, min(first + size, n))
        tell(min(size, n - first))


def _note(number: int, frame: FrameType | None) -> None:
    _noted.append(number)


# How far learning has come, for whoever watches.


Watcher = Callable[[int], None]  # how many examples more have been gone through, in whatever pass

_watchers: list[Watcher] = []


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Tell someone how far all learning comes meanwhile; nobody if None."""
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


# Stages that work at the same time: while one batch is learned, the next is tokenised, and the one after it read.
#
# A stage is an iterator; ``prefetch`` runs it in a thread of its own, which stays a few items ahead and then waits.
# Reading, decompressing and the kernels release the interpreter's lock, so the slowest stage sets the pace. Each stage
# still does its items in order, by itself: what comes out is what would come out without threads, errors at their place
# included.


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
