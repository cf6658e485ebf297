"""The state directory: its locks and its model files.

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.errors import InputError, ModelFileError
from shortlist.files.drafts import whole_file
from shortlist.models.model import Model
from shortlist.models.training_settings import open_model
from shortlist.server.journal import BASE as BASE
from shortlist.server.journal import Journal, Version
from shortlist.server.journal_errors import JournalError
from shortlist.server.journal_file import JOURNAL_FILE

LOCK = "lock"
SNAPSHOT_NAME = re.compile(r"snapshot-(\d+)-(\d+)-([0-9a-f]{16})\.shortlist")
SNAPSHOTS = 3  # that are kept beside the base


@contextlib.contextmanager
def only_one(folder: Path, waiting: bool = False, name: str = "snapshots.lock") -> Iterator[bool]:
    """Try to hold a lock, or wait for it; gives whether it is held. It ends with the process."""
    import fcntl

    try:
        lock_file = os.open(folder / name, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as problem:
        raise InputError(f"cannot write to {folder}: {problem.strerror}") from None
    mode = fcntl.LOCK_EX if waiting else fcntl.LOCK_EX | fcntl.LOCK_NB
    try:
        fcntl.flock(lock_file, mode)
        is_locked = True
    except BlockingIOError:
        is_locked = False
    try:
        yield is_locked
    finally:
        os.close(lock_file)


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold a state directory; refused while another server works on it."""
    with only_one(folder, name=LOCK) as is_locked:
        if not is_locked:
            raise InputError(
                f"another server works on {folder}; stop it, or give this one another --state"
            )
        yield


def is_new(folder: Path) -> bool:
    """Return whether no server has worked in this folder yet."""
    return not (folder / BASE).exists()


def check_state(folder: Path) -> None:
    """Refuse a folder that no server has worked in, or whose base is lost."""
    if not is_new(folder):
        return
    if (folder / JOURNAL_FILE).exists():
        raise base_lost(folder)
    raise no_state(folder)


def no_state(folder: Path) -> InputError:
    return InputError(
        f"{folder} is not a state directory yet: start shortlist serve MODEL --state {folder} once"
    )


def base_lost(folder: Path) -> InputError:
    return InputError(
        f"{folder} has a journal but no {BASE}, the model that learned its examples: restore "
        f"{BASE} from a backup, or copy the model file that serving began with to {folder / BASE}"
    )


def take_base(folder: Path, model: Path) -> None:
    """Copy the model that serving begins with; refuse another model than the one it began with
    earlier.
    """
    base = folder / BASE
    if not is_new(folder):
        if not filecmp.cmp(model, base, shallow=False):
            raise InputError(
                f"{folder} goes on from another model than {model}; leave the model out to go on "
                "with it, or give another --state to start afresh"
            )
        return
    model_of_texts(model)  # a file that cannot be served must not become the base
    Journal.begin(folder)  # first: a base without a journal means that the journal is lost
    with contextlib.closing(Journal(folder)) as journal:
        if journal.version() != Version(0, 0):  # learned by a model that is lost
            raise base_lost(folder)
    try:
        copy(model, base)
    except OSError as problem:
        raise InputError(f"cannot write to {folder}: {problem.strerror}") from None


def copy(source: Path, target: Path) -> None:
    """Copy a file, so that the other is there as a whole or not at all."""
    with whole_file(target) as target_file, open(source, "rb") as source_file:
        shutil.copyfileobj(source_file, target_file)


def path_of(folder: Path, version: Version, seal: str) -> Path:
    return folder / f"snapshot-{version.examples:012}-{version.undos:09}-{seal}.shortlist"


def snapshots_and_base(folder: Path) -> list[tuple[Version, Path]]:
    """Return all snapshots, newest first, and the base."""
    versions = []
    for path in folder.iterdir():
        name = SNAPSHOT_NAME.fullmatch(path.name)
        if name is not None:
            versions.append((Version(int(name[1]), int(name[2])), path))
    return [*sorted(versions, reverse=True), (Version(0, 0), folder / BASE)]


def of_another_journal(folder: Path, journal: Journal) -> list[Path]:
    """Return the snapshots that do not fit this journal: it has lost its end, or is another one."""
    return [
        path
        for version, path in snapshots_and_base(folder)[:-1]
        # None beyond its end
        if path.stem.rpartition("-")[2] != journal.seal(version)
    ]


def model_of_texts(path: Path) -> Model[Any]:
    """Open a model file that can be served."""
    model = open_model(path)
    if not model.takes_texts:
        raise InputError(f"{path} learned from rows of numbers; only models of texts are served")
    return model


class Loaded(NamedTuple):
    """A model from a file, and what it has learned of the journal."""

    version: Version
    model: Model[Any]
    unlearnable: dict[int, str]  # examples that it could not learn, and why
    problems: list[str]  # with newer snapshots


def newest_good(folder: Path, journal: Journal) -> Loaded:
    """Open the newest snapshot that fits the journal and holds nothing that was undone since.

    The version counts all undos up to now, since the model holds none of the undone examples.
    """
    problems: list[str] = []
    now = journal.version()
    for path in of_another_journal(folder, journal):
        raise JournalError(
            f"the journal {journal.path}, which ends at example {now.examples}, undo {now.undos}, "
            f"does not hold what the snapshot {path.name} was learned from: its end is lost, or it "
            f"is another one. {journal.way_out()}"
        )
    first_hidden = min(journal.hidden, default=math.inf)
    for version, path in snapshots_and_base(folder):
        if journal.undone_since(version) is None and version.examples < first_hidden:
            try:
                return Loaded(
                    Version(version.examples, now.undos),
                    model_of_texts(path),
                    unlearnable_of(path),
                    problems,
                )
            except (ModelFileError, OSError) as problem:
                problems.append(str(problem))
    raise ModelFileError(problems[-1])


def unlearnable_file(path: Path) -> Path:
    """Return the file beside a snapshot with the examples that its model could not learn;
    missing if there are none.
    """
    return path.with_name(f"{path.name}.passed")


def unlearnable_of(path: Path) -> dict[int, str]:
    """Return the examples that the model of a snapshot could not learn, and why."""
    beside = unlearnable_file(path)
    try:
        reasons = json.loads(beside.read_bytes())
        return {int(number): str(why) for number, why in reasons.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as problem:
        raise ModelFileError(f"{beside} cannot be read ({problem})") from None


def keep_unlearnable(path: Path, unlearnable: dict[int, str]) -> None:
    """Write down the examples that the model of a snapshot could not learn, ahead of the
    snapshot.
    """
    if unlearnable:
        with whole_file(unlearnable_file(path)) as file:
            file.write(json.dumps(unlearnable, ensure_ascii=False).encode())


def remove(path: Path) -> None:
    """Remove a snapshot."""
    path.unlink()
    unlearnable_file(path).unlink(missing_ok=True)


def remove_old(folder: Path, journal: Journal) -> None:
    """Keep the base and the newest few snapshots that hold nothing undone."""
    n_good = 0
    for version, path in snapshots_and_base(folder)[:-1]:
        if n_good < SNAPSHOTS and journal.undone_since(version) is None:
            n_good += 1
        else:
            remove(path)
    for draft in folder.glob(".snapshot-*"):  # of a writer that was killed
        draft.unlink()
