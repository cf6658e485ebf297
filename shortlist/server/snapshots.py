"""The state directory: its locks, its model files, and salvage.

It holds ``base.shortlist``, the model that serving began with, the journal, and snapshots: model
files that save a start-up from learning everything again. Each snapshot is named after its moment
of the journal and the journal's checksum there, so that a snapshot of another journal is noticed.
"""

from __future__ import annotations

import contextlib
import filecmp
import json
import math
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shortlist.errors import InputError, ModelFileError, counted
from shortlist.files.drafts import whole_file
from shortlist.models.model import Model
from shortlist.models.training_settings import open_model
from shortlist.server.journal import BASE as BASE
from shortlist.server.journal import END_FILE, FILE, Journal, JournalError, Version

LOCK = "lock"
NAME = re.compile(r"snapshot-(\d+)-(\d+)-([0-9a-f]{16})\.shortlist")
KEPT = 3  # beside the base
JOURNAL = (FILE, f"{FILE}-wal", f"{FILE}-shm", END_FILE)


@contextlib.contextmanager
def only_one(folder: Path, waiting: bool = False, name: str = "snapshots.lock") -> Iterator[bool]:
    """Try to hold a lock, or wait for it; gives whether it is held. It ends with the process."""
    import fcntl

    try:
        held = os.open(folder / name, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as problem:
        raise InputError(f"cannot write to {folder}: {problem.strerror}") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if waiting else fcntl.LOCK_NB))
        alone = True
    except BlockingIOError:
        alone = False
    try:
        yield alone
    finally:
        os.close(held)


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold a state directory; refused while another server works on it."""
    with only_one(folder, name=LOCK) as alone:
        if not alone:
            raise InputError(
                f"another server works on {folder}; stop it, or give this one another --state"
            )
        yield


def is_new(folder: Path) -> bool:
    """Return whether no server has worked in this folder yet."""
    return not (folder / BASE).exists()


def check_state(folder: Path) -> None:
    """Refuse a folder that no server has worked in."""
    if is_new(folder):
        raise no_state(folder)


def no_state(folder: Path) -> InputError:
    return InputError(
        f"{folder} is not a state directory yet: start shortlist serve MODEL --state {folder} once"
    )


def take_base(folder: Path, model: Path) -> None:
    """Copy the model that serving begins with; refuse another model than the one it began with
    before.
    """
    base = folder / BASE
    if not is_new(folder):
        if not filecmp.cmp(model, base, shallow=False):
            raise InputError(
                f"{folder} goes on from another model than {model}; leave the model out to go on "
                "with it, "
                "or give another --state to start afresh"
            )
        return
    model_of_texts(model)  # a file that cannot be served must not become the base
    Journal.begin(folder)  # first: a base without a journal means that the journal is lost
    try:
        copy(model, base)
    except OSError as problem:
        raise InputError(f"cannot write to {folder}: {problem.strerror}") from None


def copy(source: Path, target: Path) -> None:
    """Copy a file, so that the other is there as a whole or not at all."""
    with whole_file(target) as file, open(source, "rb") as own:
        shutil.copyfileobj(own, file)


def path_of(folder: Path, version: Version, seal: str) -> Path:
    return folder / f"snapshot-{version.examples:012}-{version.undos:09}-{seal}.shortlist"


def listed(folder: Path) -> list[tuple[Version, Path]]:
    """Return all snapshots and the base, newest first."""
    found = [(Version(0, 0), folder / BASE)]
    for path in folder.iterdir():
        named = NAME.fullmatch(path.name)
        if named:
            found.append((Version(*map(int, named.groups()[:2])), path))
    return sorted(found, reverse=True)


def strangers(folder: Path, journal: Journal) -> list[Path]:
    """Return the snapshots that do not fit this journal: it has lost its end, or is another one."""
    found = []
    for version, path in listed(folder)[:-1]:
        seal = NAME.fullmatch(path.name)[3]  # type: ignore[index]
        if seal != journal.seal(version):  # None beyond its end
            found.append(path)
    return found


def model_of_texts(path: Path) -> Model[Any]:
    """Open a model file that can be served."""
    model = open_model(path)
    if not model.takes_texts:
        raise InputError(f"{path} learned from rows of numbers; only models of texts are served")
    return model


def newest_good(
    folder: Path, journal: Journal
) -> tuple[Version, Model[Any], dict[int, str], list[str]]:
    """Open the newest snapshot that fits the journal and holds nothing that was undone since.

    Returns its moment of the journal, the model, the examples that it could not learn, and the
    problems with newer snapshots. The moment counts all undos up to now, since the model holds none
    of the undone examples.
    """
    problems: list[str] = []
    now = journal.version()
    for path in strangers(folder, journal):
        raise JournalError(
            f"the journal {journal.path}, which ends at example {now.examples}, undo {now.undos}, "
            "does not hold what "
            f"the snapshot {path.name} was learned from: its end is lost, or it is another one. "
            f"{journal.way_out()}"
        )
    for version, path in listed(folder):
        if journal.undone_since(version) is None and version.examples < min(
            journal.hidden, default=math.inf
        ):
            try:
                return (
                    Version(version.examples, now.undos),
                    model_of_texts(path),
                    passed_of(path),
                    problems,
                )
            except (ModelFileError, OSError) as problem:
                problems.append(str(problem))
    raise ModelFileError(problems[-1])


def passed_beside(path: Path) -> Path:
    """Return the file beside a snapshot with the examples that its model could not learn;
    missing if there are none.
    """
    return path.with_name(f"{path.name}.passed")


def passed_of(path: Path) -> dict[int, str]:
    """Return the examples that the model of a snapshot could not learn, and why."""
    try:
        return {
            int(number): str(why)
            for number, why in json.loads(passed_beside(path).read_bytes()).items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as problem:
        raise ModelFileError(f"{passed_beside(path)} cannot be read ({problem})") from None


def keep_passed(path: Path, passed: dict[int, str]) -> None:
    """Write down the examples that the model of a snapshot could not learn, before the snapshot
    is there.
    """
    if passed:
        with whole_file(passed_beside(path)) as file:
            file.write(json.dumps(passed, ensure_ascii=False).encode())


def remove(path: Path) -> None:
    """Remove a snapshot."""
    path.unlink()
    passed_beside(path).unlink(missing_ok=True)


def remove_old(folder: Path, journal: Journal) -> None:
    """Keep the base and the newest few snapshots that hold nothing undone."""
    good = [path for version, path in listed(folder)[:-1] if journal.undone_since(version) is None]
    for _, path in listed(folder)[:-1]:
        if path not in good[:KEPT]:
            remove(path)
    for draft in folder.glob(".snapshot-*"):  # of a writer that was killed
        draft.unlink()


# Going on with the sound part of a damaged journal, if --salvage asks for it.


def salvage(folder: Path) -> list[str]:
    """Make the state directory sound again. Returns what was done, in sentences; none if nothing
    was wrong.

    The original files are kept in a folder inside the state directory. The new journal holds the
    rows before the first damaged one, with the same numbers, times and checksums.
    """
    aside = folder / time.strftime("damaged-%Y%m%d-%H%M%S")
    done, damage = [], None
    with contextlib.closing(Journal(folder, read_only=True)) as journal:
        try:
            journal.check()
        except JournalError as problem:
            damage = str(problem)
    if damage is not None:
        aside.mkdir()
        examples, undos = _rewrite(folder, aside)
        done.append(
            f"{damage.partition('. ')[0]}; what came before that is kept, "
            f"{counted(examples, 'examples')} and "
            f"{counted(undos, 'undos')}"
        )
    with contextlib.closing(Journal(folder)) as journal:
        for path in strangers(folder, journal):
            aside.mkdir(exist_ok=True)
            os.replace(path, aside / path.name)
            done.append(
                f"the snapshot {path.name} was learned from what the journal does not hold and is "
                "set aside"
            )
    if done:
        done.append(f"all that was there is in {aside}")
    return done


def _rewrite(folder: Path, aside: Path) -> list[int]:
    """Copy the journal; then put a journal of the sound rows in its place, and last the record
    of its end.
    """
    for name in JOURNAL:
        if (folder / name).exists():
            shutil.copyfile(folder / name, aside / name)
    sound = aside / "sound"
    sound.mkdir()
    Journal.begin(sound)
    with (
        contextlib.closing(Journal(folder, read_only=True)) as damaged,
        contextlib.closing(Journal(sound)) as fresh,
    ):
        kept = fresh.take_from(damaged)
    for name in JOURNAL[1:3]:
        (folder / name).unlink(missing_ok=True)
    for name in (FILE, END_FILE):
        os.replace(sound / name, folder / name)
    shutil.rmtree(sound)
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    return kept
