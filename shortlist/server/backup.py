"""Backups of a state directory, whose server may be running.

Files that only change as a whole are copied first, and the journal last, while nothing is written
to it: no snapshot is ahead of it. No snapshot is written and no other model is promoted meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from shortlist.errors import InputError
from shortlist.server import promotion, snapshots
from shortlist.server.checksums import END_FILE
from shortlist.server.journal import Journal
from shortlist.server.journal_errors import SQLITE_ERRORS
from shortlist.server.journal_file import JOURNAL_FILE
from shortlist.server.people import PEOPLE_FILE, PEOPLE_MARK
from shortlist.server.review_queue import QUEUE_FILE

WHOLE_FILES = (
    snapshots.BASE,
    promotion.ASIDE,
    promotion.BEFORE,
    promotion.CANDIDATE,
    promotion.REPORT,
    PEOPLE_FILE,
    PEOPLE_MARK,
)


def back_up(folder: Path, target: Path) -> None:
    """Copy the state directory of a server to a new folder, all of it or nothing."""
    snapshots.check_state(folder)
    if target.exists():
        raise InputError(f"{target} already exists; name a new folder")
    draft = target.with_name(f".{target.name}.draft")
    try:
        shutil.rmtree(draft, ignore_errors=True)  # of a copy that was cut short
        _copy_state(folder, draft)
        os.replace(draft, target)
    except OSError as problem:
        raise InputError(f"cannot write {target}: {problem.strerror}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _copy_state(folder: Path, draft: Path) -> None:
    draft.mkdir(mode=0o700)
    with snapshots.only_one(folder, waiting=True), contextlib.closing(Journal(folder)) as journal:
        # a snapshot only saves time, so one is enough
        _, newest = snapshots.snapshots_and_base(folder)[0]
        _copy(folder, draft, [*WHOLE_FILES, newest.name, snapshots.unlearnable_file(newest).name])
        if (folder / QUEUE_FILE).exists():
            _copy_database(folder / QUEUE_FILE, draft / QUEUE_FILE)
        with journal.transaction():
            _copy_database(folder / JOURNAL_FILE, draft / JOURNAL_FILE)
            _copy(folder, draft, [END_FILE])


def _copy(folder: Path, draft: Path, names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # it may never have been there
            shutil.copy(folder / name, draft / name)


def _copy_database(source: Path, target: Path) -> None:
    """Copy a database with its log, which only SQLite can read."""
    address = f"{source.resolve().as_uri()}?mode=ro"
    try:
        with (
            contextlib.closing(sqlite3.connect(address, uri=True)) as source_db,
            contextlib.closing(sqlite3.connect(target)) as target_db,
        ):
            source_db.backup(target_db)
    except SQLITE_ERRORS as problem:
        raise InputError(f"cannot copy {source}: {problem}") from None
