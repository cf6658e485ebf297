"""Copies of the state directory of a server that may be running: as a folder, or as one file, a workspace.

A folder can be served as it is. Files that are put in place as a whole are copied first, and the journal last, while
nobody writes to it: a snapshot is never ahead of it. Another model that is promoted meanwhile is noticed then, and the
copy begins anew.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from shortlist.errors import InputError
from shortlist.files.drafts import whole_file
from shortlist.models.making import open_model
from shortlist.server import people, promotion, snapshots
from shortlist.server.journal import END_FILE, FILE, PROBLEMS, Journal, check_journal, identity
from shortlist.server.queue import FILE as QUEUE

WHOLE = (
    snapshots.BASE, promotion.BEFORE, promotion.CANDIDATE, promotion.REPORT, people.FILE, people.MARK,
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


# A whole workspace as one file, a ZIP: the base model with its vocabulary and policy, the journal, and the people. Of
# people there are names and roles, and no hash of any token, so that nobody can come in by a workspace that was opened.
# Snapshots, which only save time, are left out.


PARTS = (snapshots.BASE, FILE, END_FILE, people.FILE)
NEEDED = PARTS[:3]
NO_WORKSPACE = "is no workspace of shortlist; shortlist workspace save makes one"


def save_workspace(folder: Path, target: Path) -> None:
    """Write the workspace of a state directory to a file."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "state")
        back_up(folder, copy)
        known = people.People(copy / people.FILE).everyone.values()
        if known:
            named = [{"name": one.name, "role": str(one.role), "hash": "", "since": one.since} for one in known]
            (copy / people.FILE).write_text(json.dumps({"people": named}, ensure_ascii=False), encoding="utf-8")
        try:
            with whole_file(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in PARTS:
                    if (copy / name).exists():
                        archive.write(copy / name, name)
        except OSError as problem:
            raise InputError(f"cannot write {target}: {problem.strerror}") from None


def open_workspace(source: Path, folder: Path) -> None:
    """Make a state directory of a workspace; one that is there already is left alone."""
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; open the workspace in a new folder")
    try:
        with zipfile.ZipFile(source) as archive:
            names = archive.namelist()
            if not set(NEEDED) <= set(names) <= set(PARTS) or len(set(names)) < len(names):
                raise InputError(f"{source} {NO_WORKSPACE}")
            folder.mkdir(exist_ok=True)
            draft = folder / ".opening"
            draft.mkdir()
            archive.extractall(draft)
    except (OSError, zipfile.BadZipFile) as problem:
        raise InputError(f"{source} {NO_WORKSPACE} ({problem})") from None
    try:
        open_model(draft / snapshots.BASE)
        people.People(draft / people.FILE)
        check_journal(draft)
        for name in (*names[1:], names[0]):  # the base last: where it is, all is
            (draft / name).rename(folder / name)
    finally:
        shutil.rmtree(draft)
