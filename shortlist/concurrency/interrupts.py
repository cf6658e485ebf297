"""Ctrl-C while a model learns: it is heard where a whole number of examples has been learned.

Python raises KeyboardInterrupt between any two steps of the main thread, also between two that belong together, such
as new words and their counts. So a verb that changes a model is marked ``@whole``: while it runs, Ctrl-C is only noted,
and raised at its end, or earlier where the verb says ``stop_here()``. So is an alarm that is set to do the same.
Programs with a handler of their own keep it, and other threads get no signals: nothing is done there.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from threading import get_ident, main_thread
from types import FrameType
from typing import Any, Protocol, TypeVar

Verb = TypeVar("Verb", bound=Callable[..., Any])
SIGNALS = [int(getattr(signal, name)) for name in ("SIGINT", "SIGALRM") if hasattr(signal, name)]
RUN = 1 << 13  # examples that a kernel learns at a time: some tenths of a second, after which Ctrl-C is heard

# The C functions behind those of the module, which make an enum of every answer: some 40 µs for each text learned.
_quick: Any = import_module("_signal") if find_spec("_signal") else signal
_noted: list[int] = []  # signals that came; the main thread alone notes any


def whole(verb: Verb) -> Verb:
    """A function that is not left half done by Ctrl-C."""

    @wraps(verb)
    def carried_through(*args: Any, **kwargs: Any) -> Any:
        if _quick.getsignal(SIGNALS[0]) is _note or get_ident() != main_thread().ident:
            return verb(*args, **kwargs)  # inside another such verb, or in a thread that gets no signals
        kept_back = [one for one in SIGNALS if _quick.getsignal(one) is signal.default_int_handler]
        if not kept_back:
            return verb(*args, **kwargs)
        _noted.clear()
        try:
            for one in kept_back:
                _quick.signal(one, _note)
            return verb(*args, **kwargs)
        finally:
            for one in kept_back:
                _quick.signal(one, signal.default_int_handler)
            if _noted:
                _noted.clear()
                raise KeyboardInterrupt

    return carried_through  # type: ignore[return-value]


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
