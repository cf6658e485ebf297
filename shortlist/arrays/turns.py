"""Processes that start together compile each loop once: who comes second waits, and reads what the first has kept.

Servers with several processes, workers of a cluster and processes of tests need the same loops at the same moment, and
each of them would compile all of them. A loop that calls others is held while these are compiled; as no loop is called
by what it calls, nobody waits in a circle.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock

PATIENCE = 120.0  # seconds: after that it is compiled here, too
OFTEN = 0.02


def in_turn(compile_one: Callable[[Any], Any], place: str | None) -> Callable[[Any], Any]:
    """Numba's ``compile`` of a loop that is kept at this place, in one process at a time for the same types.

    Where it cannot be kept, each process has to compile it, and waits for nobody.
    """
    if place is None:
        return compile_one

    def compile_in_turn(signature: Any) -> Any:
        # the order in which Numba's own lock and ours are taken is the same in all threads
        with global_compiler_lock, turn(f"{place} {signature}"):
            return compile_one(signature)

    return compile_in_turn


@contextlib.contextmanager
def turn(name: str) -> Iterator[None]:
    """Only one process at a time is inside with this name; one that ends, in whatever way, makes room."""
    at = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")
    until = time.monotonic() + PATIENCE
    while (busy := _is_busy(at)) and time.monotonic() < until:
        time.sleep(OFTEN)
    try:
        yield
    finally:
        if not busy:
            with contextlib.suppress(ImportError, OSError):
                _lock(at, free=True)


def _is_busy(at: int) -> bool:
    """Take one place of the file, if nobody has it. Where there can be no such file, nobody does."""
    try:
        _lock(at)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False


def _lock(at: int, free: bool = False) -> None:
    import fcntl  # not on Windows

    fcntl.lockf(_file(os.getpid()), fcntl.LOCK_UN if free else fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)


@cache
def _file(process: int) -> int:
    """A file of this user that is never written, open as long as the process lives: to close it would free all.

    One that somebody else has put there could be held by them for ever.
    """
    path = Path(tempfile.gettempdir()) / f"shortlist-loops-{os.getuid()}"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if os.fstat(file).st_uid != os.getuid():
        os.close(file)
        raise PermissionError(f"{path} is somebody else's")
    return file
