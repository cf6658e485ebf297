"""Copies of the state directory of a server that may be running, which can be served as they are.

Files that are put in place as a whole are copied first, and the journal last, while nobody writes to it: a snapshot is
never ahead of it. Another model that is promoted meanwhile is noticed then, and the copy begins anew.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from shortlist.errors import InputError
from shortlist.server import people, promotion, snapshots
from shortlist.server.journal import END_FILE, FILE, PROBLEMS, Journal, identity
from shortlist.server.queue import FILE as QUEUE

WHOLE = (
    snapshots.BASE, promotion.ASIDE, promotion.BEFORE, promotion.CANDIDATE, promotion.REPORT, people.FILE, people.MARK,
)  # fmt: skip


def back_up(folder: Path, target: Path) -> None:
    """Copy a state directory to a new folder, all of it or nothing."""
    snapshots.check_state(folder)
    if target.exists():
        raise InputError(f"{target} is there already; name a new folder")
    draft = target.with_name(f".{target.name}.draft")
    try:
        shutil.rmtree(draft, ignore_errors=True)  # what was cut short
        while not _copied(folder, draft):
            shutil.rmtree(draft)
        os.replace(draft, target)
    except OSError as problem:
        raise InputError(f"cannot write {target}: {problem.strerror}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _copied(folder: Path, draft: Path) -> bool:
    """Copy all files; gives whether the base stayed the same meanwhile."""
    draft.mkdir(mode=0o700)
    with contextlib.closing(Journal(folder)) as journal:
        base = identity(folder)
        _copy(folder, draft, [*WHOLE, *_newest_snapshot(folder)])
        if (folder / QUEUE).exists():
            _copy_database(folder / QUEUE, draft / QUEUE)
        with journal.held():
            _copy_database(folder / FILE, draft / FILE)
            _copy(folder, draft, [END_FILE])
            return identity(folder) == base


def _newest_snapshot(folder: Path) -> list[str]:
    """It only saves time, so one is enough."""
    newest = snapshots.listed(folder)[0][1]
    return [newest.name, snapshots.passed_beside(newest).name]


def _copy(folder: Path, draft: Path, names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # it may never have been there, or go as snapshots do
            shutil.copy(folder / name, draft / name)


def _copy_database(source: Path, target: Path) -> None:
    """By SQLite itself, which knows what of its log belongs to it."""
    try:
        with (
            contextlib.closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as own,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            own.backup(copy)
    except PROBLEMS as problem:
        raise InputError(f"cannot copy {source}: {problem}") from None
