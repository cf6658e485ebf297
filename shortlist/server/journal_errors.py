"""The errors of the journal and of whoever writes to it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from shortlist.encoders import EndpointError
from shortlist.errors import InputError, ShortlistError

# what SQLite raises; the latter if its message quotes damaged text
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
DISK_FULL = ("disk is full", "disk I/O error")
DAMAGED = (
    "not a database",
    "malformed",
    "no such",
    "decode",
    "already exists",
    "duplicate",
    "file is encrypted",
)
START_AFRESH = "To start afresh from a model or a snapshot, serve that file with another --state"


class JournalError(ShortlistError):
    """The journal cannot be opened, read or written."""


class DiskFull(JournalError):
    """The disk has no room; nothing was changed."""


class Conflict(InputError):
    """The present state does not allow the request."""


class OutOfDate(InputError):
    """Since a request was checked, labels were changed, an example was undone or another model
    was promoted.
    """


class NeedsTrial(InputError):
    """A later change of labels may need the examples to be undone: only a model without them can
    tell.
    """


def is_disk_full(problem: Exception) -> bool:
    return any(words in str(problem) for words in DISK_FULL)


def explained(path: Path, problem: Exception) -> JournalError:
    """Return our error for an error of SQLite or the system."""
    words = str(problem)
    if is_disk_full(problem):
        return DiskFull(
            f"the disk is full or fails ({words}): nothing was changed; make room and try again"
        )
    if any(part in words for part in DAMAGED):
        return JournalError(
            f"the journal {path} is damaged ({words}); bring back a copy of it. {START_AFRESH}"
        )
    if "readonly" in words or "unable to open" in words or isinstance(problem, PermissionError):
        return JournalError(f"cannot write the journal {path}; may this user write to the folder?")
    return JournalError(f"the journal {path} cannot be used: {words}")


@contextlib.contextmanager
def as_conflict() -> Iterator[None]:
    """Raise an InputError as a Conflict: the request is right, and the model does not allow it.

    An endpoint that is away is no conflict.
    """
    try:
        yield
    except EndpointError:
        raise
    except InputError as problem:
        raise Conflict(str(problem)) from None
