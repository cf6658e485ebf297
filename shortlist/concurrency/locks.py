"""Models in several threads: any number of them may read a model at a time, or one may change it.

The kernels check nothing, so nothing may change under them. Public verbs that read are marked ``@reading``, those that
change something ``@writing``; a thread that changes a model may read it and call other such verbs on the way. What a
verb does inside, on threads of its own or in private steps, takes no lock. A verb that changes one model by reading
another is marked ``@merging``, one that gives all that a model is ``@snapshot``.

Whoever reads holds a small lock of its own, which stands in ``readers`` meanwhile. Whoever writes closes the gate and
waits for each of these. Everything is made of the interpreter's own locks in ``with`` statements, which an interruption
(Ctrl-C) cannot leave locked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial, wraps
from itertools import count
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, TypeVar

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

    @wraps(verb)
    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock, thread = lock_of(self), get_ident()
        if lock.writer == thread:
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
                return verb(self, *args, **kwargs)
            finally:
                lock.writer = None

    return write  # type: ignore[return-value]


def merging(verb: Verb) -> Verb:
    """A method that changes its model by reading another one.

    It reads the other while it changes its own. Of the two the older lock is taken first, or two threads that merge two
    models into each other would wait for each other for ever.
    """
    change = writing(verb)

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
