"""Settings of a process that belongs to shortlist: the command line or the server.

It starts faster, since scikit-learn is loaded only where it is used (estimators.py), and it returns
freed memory.
"""

from __future__ import annotations

import contextlib
import ctypes

# as <malloc.h> numbers it; smaller ones are made and freed all the time
MMAP_THRESHOLD = -3
LARGE = 1 << 22

is_ours = False


def take() -> None:
    """Mark this process as shortlist's, before anything is loaded."""
    global is_ours
    is_ours = True
    never_keep_large()


def never_keep_large() -> None:
    """Return freed arrays of LARGE bytes or more to the system at once (glibc), which by default
    keeps up to 64 MB.

    This changes how the whole process gets its memory.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE)
