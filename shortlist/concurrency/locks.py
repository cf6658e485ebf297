"""Models in several threads: any number of them may read a model at a time, or one may change it.

The kernels check nothing, so nothing may change under them. Public verbs that read are marked ``@reading``, those that
change something ``@writing``; a thread that changes a model may read it and call other such verbs on the way. What a
verb does inside, on threads of its own or in private steps, takes no lock.

Whoever reads holds a small lock of its own, which stands in ``readers`` meanwhile. Whoever writes closes the gate and
waits for each of these. Everything is made of the interpreter's own locks in ``with`` statements, which an interruption
(Ctrl-C) cannot leave locked.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from functools import wraps
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _thread import LockType

    from typing_extensions import Self

Verb = TypeVar("Verb", bound=Callable[..., Any])


class ModelLock:
    """The lock of one model. A copy of the model, or one that was pickled, has another."""

    def __init__(self) -> None:
        self.gate = Lock()  # held by whoever writes
        self.turn = Lock()  # held by whoever waits to read; the next writer lets it go first
        self.writer: int | None = None  # the thread that writes
        self.readers: dict[LockType, int] = {}  # their locks, and their threads
        self.making = threading.RLock()  # for what readers make the first time it is asked for

    def others(self, thread: int) -> list[LockType]:
        return [lock for lock, reader in list(self.readers.items()) if reader != thread]

    def reads_twice(self, thread: int) -> bool:
        """Whether a reader that has just entered itself was reading before: whoever writes waits for it in any case."""
        return list(self.readers.values()).count(thread) > 1

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
        lock, thread = lock_of(self), get_ident()
        if lock.writer == thread:
            return verb(self, *args, **kwargs)
        mine = Lock()
        with mine:
            lock.readers[mine] = thread
            try:
                if not lock.gate.locked() or lock.reads_twice(thread):
                    return verb(self, *args, **kwargs)
            finally:
                del lock.readers[mine]
        mine = Lock()  # a writer may be waiting for the lock of the first attempt
        with mine:
            try:
                with lock.turn, lock.gate:
                    lock.readers[mine] = thread
                return verb(self, *args, **kwargs)
            finally:
                lock.readers.pop(mine, None)

    return read  # type: ignore[return-value]


def writing(verb: Verb) -> Verb:
    """A method that changes its model: it waits for all other threads that read or change it."""

    @wraps(verb)
    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock, thread = lock_of(self), get_ident()
        if lock.writer == thread:
            return verb(self, *args, **kwargs)
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


class Shared:
    """Base class of models that threads may share: to copy one is to read it."""

    @reading
    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        copied = memo[id(self)] = type(self).__new__(type(self))
        copied.__dict__ = copy.deepcopy(self.__dict__, memo)
        return copied
