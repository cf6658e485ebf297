"""Files that are whole or absent: a draft is written beside the target and replaces it once it is
on disk.

The writer of a draft holds a lock on it, which the system releases when the process ends. A draft
without a lock was abandoned: the next writer of the same target removes it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # on a system without such locks, abandoned drafts stay
    fcntl = None  # type: ignore[assignment]

DRAFT_ENDING = ".draft"


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Open a file to write to, which becomes ``target`` at the end; after an error, ``target``
    is as it was.
    """
    remove_abandoned(target)
    draft = _begin(target)
    try:
        with draft:
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
            os.replace(draft.name, target)  # before the lock ends with the file
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft.name)
        raise


def remove_abandoned(target: Path) -> None:
    """Remove the drafts of a target whose writers have ended."""
    if fcntl is None:
        return
    name = re.compile(re.escape(f".{target.name}.") + "[a-z0-9_]{8}" + re.escape(DRAFT_ENDING))
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        for draft in list(target.parent.iterdir()):
            if not name.fullmatch(draft.name):
                continue
            with contextlib.suppress(OSError), open(draft, "rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer is alive
                draft.unlink()


def _begin(target: Path) -> BinaryIO:
    """Open an empty draft and lock it."""
    while True:
        path = target.with_name(f".{target.name}.{secrets.token_hex(4)}{DRAFT_ENDING}")
        draft = open(path, "xb")  # noqa: SIM115 - whole_file closes it
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(draft, fcntl.LOCK_EX)
        if os.fstat(draft.fileno()).st_nlink:
            return draft
        draft.close()  # another process removed it before it was locked
