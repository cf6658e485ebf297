"""A whole workspace as one file: the base model with its vocabulary and policy, the journal, and the people.

It is a ZIP file. The journal is copied row by row, with its numbers, times and checksums, while a server may go on; of
people there are names and roles, and no hash of any token, so that nobody can come in by a workspace that was opened.
Snapshots, which only save time, are left out.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from pathlib import Path

from shortlist.errors import InputError
from shortlist.files.drafts import whole_file
from shortlist.models.making import open_model
from shortlist.server import people, snapshots
from shortlist.server.journal import END_FILE, FILE, Journal

PARTS = (snapshots.BASE, FILE, END_FILE, people.FILE)
NEEDED = PARTS[:3]
NO_WORKSPACE = "is no workspace of shortlist; shortlist workspace save makes one"


def save(folder: Path, target: Path) -> None:
    """Write the workspace of a state directory to a file."""
    snapshots.check_state(folder)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary)
        _copy_journal(folder, copy)
        shutil.copyfile(folder / snapshots.BASE, copy / snapshots.BASE)
        known = people.People(folder / people.FILE).everyone.values()
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


def open_in(source: Path, folder: Path) -> None:
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
        _check(draft)
        for name in (*names[1:], names[0]):  # the base last: where it is, all is
            (draft / name).rename(folder / name)
    finally:
        shutil.rmtree(draft)


def _check(folder: Path) -> None:
    open_model(folder / snapshots.BASE)
    people.People(folder / people.FILE)
    journal = Journal(folder, read_only=True)
    try:
        journal.check()
    finally:
        journal.close()


def _copy_journal(folder: Path, copy: Path) -> None:
    Journal.begin(copy)
    journal, fresh = Journal(folder, read_only=True), Journal(copy)
    try:
        fresh.take_from(journal)
    finally:
        journal.close()
        fresh.close()
