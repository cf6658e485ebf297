"""Going on with the sound part of a damaged journal, if --salvage asks for it."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

from shortlist.errors import counted
from shortlist.server import snapshots
from shortlist.server.checksums import END_FILE
from shortlist.server.journal import Journal
from shortlist.server.journal_errors import JournalError
from shortlist.server.journal_file import JOURNAL_FILE

LOGS = (f"{JOURNAL_FILE}-wal", f"{JOURNAL_FILE}-shm")


def salvage(folder: Path) -> list[str]:
    """Make the state directory sound again. Returns what was done, in sentences; none if nothing
    was wrong.

    The original files are kept in a folder inside the state directory. The new journal holds the
    rows in front of the first damaged one, with the same numbers, times and checksums.
    """
    aside = folder / time.strftime("damaged-%Y%m%d-%H%M%S")
    sentences = []
    damage = None
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        try:
            journal.check()
        except JournalError as problem:
            damage = str(problem).partition(". ")[0]
    if damage is not None:
        aside.mkdir()
        examples, undos = _rewrite(folder, aside)
        sentences.append(
            f"{damage}; what came before that is kept, {counted(examples, 'examples')} and "
            f"{counted(undos, 'undos')}"
        )
    with contextlib.closing(Journal(folder)) as journal:
        for path in snapshots.of_another_journal(folder, journal):
            aside.mkdir(exist_ok=True)
            os.replace(path, aside / path.name)
            sentences.append(
                f"the snapshot {path.name} was learned from what the journal does not hold and is "
                "set aside"
            )
    if sentences:
        sentences.append(f"all that was there is in {aside}")
    return sentences


def _rewrite(folder: Path, aside: Path) -> tuple[int, int]:
    """Copy the journal; then put a journal of the sound rows in its place, and last the record
    of its end. Returns how many examples and undos it has.
    """
    for name in (JOURNAL_FILE, *LOGS, END_FILE):
        if (folder / name).exists():
            shutil.copyfile(folder / name, aside / name)
    sound = aside / "sound"
    sound.mkdir()
    Journal.begin(sound)
    with (
        contextlib.closing(Journal(folder, read_only=True)) as damaged,
        contextlib.closing(Journal(sound)) as fresh,
    ):
        numbers = fresh.take_from(damaged)
    for name in LOGS:
        (folder / name).unlink(missing_ok=True)
    for name in (JOURNAL_FILE, END_FILE):
        os.replace(sound / name, folder / name)
    shutil.rmtree(sound)
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    return numbers
