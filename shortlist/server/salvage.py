"""Going on with the sound part of a damaged journal: asked for by --salvage, never done silently.

Everything as it was found stays in a folder of its own inside the state directory. The new journal holds the old one's
rows up to the first that is damaged, with the same numbers, times and checksums.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from shortlist.errors import counted
from shortlist.server import chain, ledger, snapshots
from shortlist.server.journal import Journal
from shortlist.server.ledger import JournalError

PARTS = (ledger.FILE, f"{ledger.FILE}-wal", f"{ledger.FILE}-shm", chain.END_FILE)


def salvage(folder: Path) -> list[str]:
    """Make the state directory sound again. Gives what was done, in sentences; none if nothing was wrong."""
    aside = folder / time.strftime("damaged-%Y%m%d-%H%M%S")
    done = []
    damage = _damage(folder)
    if damage is not None:
        aside.mkdir()
        examples, undos = _rewrite(folder, aside)
        done.append(
            f"{damage.partition('. ')[0]}; what came before that is kept, {counted(examples, 'examples')} and "
            f"{counted(undos, 'undos')}"
        )
    journal = Journal(folder)
    try:
        for path in snapshots.strangers(folder, journal):
            aside.mkdir(exist_ok=True)
            os.replace(path, aside / path.name)
            done.append(f"the snapshot {path.name} was learned from what the journal does not hold and is set aside")
    finally:
        journal.close()
    if done:
        done.append(f"all that was there is in {aside}")
    return done


def _damage(folder: Path) -> str | None:
    journal = Journal(folder, read_only=True)
    try:
        journal.check()
    except JournalError as problem:
        return str(problem)
    finally:
        journal.close()
    return None


def _rewrite(folder: Path, aside: Path) -> list[int]:
    """Copy what is there; then put a journal of the sound rows in its place, and last the record of its end."""
    for name in PARTS:
        if (folder / name).exists():
            shutil.copyfile(folder / name, aside / name)
    sound = aside / "sound"
    sound.mkdir()
    Journal.begin(sound)
    damaged, fresh = Journal(folder, read_only=True), Journal(sound)
    try:
        kept = fresh.take_from(damaged)
    finally:
        damaged.close()
        fresh.close()
    for name in PARTS[1:3]:
        (folder / name).unlink(missing_ok=True)
    for name in (ledger.FILE, chain.END_FILE):
        os.replace(sound / name, folder / name)
    shutil.rmtree(sound)
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    return kept
