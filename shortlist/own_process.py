"""A process of our own, the terminal's or the server's, in which nobody hands our estimators to scikit-learn.

It starts sooner, since scikit-learn is loaded only where it is used (estimators.py), and it gives memory back.
"""

from __future__ import annotations

import contextlib
import ctypes

MMAP_THRESHOLD, LARGE = -3, 1 << 22  # as <malloc.h> numbers it; smaller ones are made and freed all the time

is_ours = False


def take() -> None:
    """Say, before anything is loaded, that this process is ours."""
    global is_ours
    is_ours = True
    never_keep_large()


def never_keep_large() -> None:
    """From now on what was freed of arrays of LARGE bytes or more goes back to the system at once (glibc).

    By itself the C library comes to keep up to 64 MB for the next array. This is for a process of our own: it changes
    how all of the process gets its memory.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE)
