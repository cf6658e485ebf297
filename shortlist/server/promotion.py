"""Promoting a rehearsed candidate, and going back.

What a server serves is its base and then the journal. Promoting a candidate makes it the base.
Before that, the candidate learns the whole journal: examples that it cannot learn are found and
refused, and its first snapshot is ready. Snapshots of the old base are removed first; then one
rename changes the base, so that a crash at any moment leaves one base or the other. No snapshots
are written meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from typing import Any

from shortlist.errors import InputError, counted
from shortlist.files.drafts import whole_file
from shortlist.models.categorizer import Categorizer
from shortlist.server import snapshots
from shortlist.server.candidates import opened
from shortlist.server.journal import Journal, file_identity
from shortlist.server.replica import Replica, in_words

CANDIDATE = "candidate.shortlist"
BEFORE = "before.shortlist"  # the base until the last promotion
ASIDE = f".{BEFORE}"  # that model, while it becomes the base again
REPORT = "rehearsal.json"
DRAFT = ".snapshot-promoted"  # the first snapshot of a candidate, until the candidate is the base
# of a JSON file that may be missing or damaged
UNREADABLE = (OSError, ValueError, LookupError, TypeError)


def keep(folder: Path, candidate: Categorizer, report: dict[str, Any], base: str) -> None:
    """Keep a candidate that has learned nothing of the journal, with the report of its rehearsal
    and the base's seal.

    Nothing is promoted meanwhile, so that what is promoted is what was reported.
    """
    with snapshots.only_one(folder, waiting=True):
        candidate.save(folder / CANDIDATE)
        rehearsal = {
            "base": base,
            "candidate": file_seal(folder / CANDIDATE),
            "time": time.time(),
            "learner": candidate.describe()["learner"],
            "report": report,
        }
        with whole_file(folder / REPORT) as file:
            file.write(json.dumps(rehearsal, ensure_ascii=False, indent=1).encode())


def last_rehearsal(folder: Path) -> dict[str, Any] | None:
    """Return what is known of the last candidate, and whether it still fits the base; None if
    there is none.
    """
    try:
        rehearsal: dict[str, Any] = json.loads((folder / REPORT).read_bytes())
        rehearsal["fits"] = rehearsal["base"] == file_seal(folder / snapshots.BASE) and rehearsal[
            "candidate"
        ] == file_seal(folder / CANDIDATE)
        rehearsal["report"]["falls"]
    except UNREADABLE:
        return None
    return rehearsal


def can_go_back(folder: Path) -> bool:
    """Return whether there is a model from before a promotion."""
    return (folder / BEFORE).is_file() or (folder / ASIDE).is_file()


def promote(
    folder: Path, force: bool = False, running: bool = False
) -> tuple[dict[str, Any], dict[int, str]]:
    """Serve the candidate from now on. Returns its report, and the examples that it cannot learn,
    with the reasons.

    Refused unless forced if a group of labels fell or there are such examples. ``running``: the
    server of this folder itself asks; otherwise it must be stopped.
    """
    with _alone(folder, running):
        rehearsal = last_rehearsal(folder)
        if rehearsal is None:
            raise InputError(
                f"there is no candidate in {folder}; make one with shortlist rehearse {folder}"
            )
        if not rehearsal["fits"]:
            raise InputError(
                f"the candidate in {folder} was rehearsed against another model; rehearse it again"
            )
        report = rehearsal["report"]
        if report["falls"] and not force:
            raise InputError(
                f"the candidate falls for {', '.join(report['falls'])}; force (--force) promotes "
                "it all the same"
            )
        unlearnable = _put_in_place(folder, folder / CANDIDATE, force)
        (folder / REPORT).unlink()
        return report, unlearnable


def go_back(folder: Path, force: bool = False, running: bool = False) -> dict[int, str]:
    """Serve the model from before the promotion again; going back twice returns to the promoted
    one.

    Returns the examples that it cannot learn, with the reasons; refused unless forced if there are
    any.
    """
    before = folder / BEFORE
    aside = folder / ASIDE
    with _alone(folder, running):
        if not can_go_back(folder):
            raise InputError(f"there is no {before}: nothing was promoted that could be taken back")
        if not aside.is_file():  # else an earlier attempt was killed
            os.replace(before, aside)
        try:
            return _put_in_place(folder, aside, force)
        finally:
            if aside.is_file():
                os.replace(aside, before)


def _put_in_place(folder: Path, source: Path, force: bool) -> dict[int, str]:
    """Make a model the base, and the base the model from before, once the model has learned the
    whole journal.

    Returns the examples that it cannot learn. Its first snapshot is put in place at the end.
    """
    draft = folder / DRAFT
    with contextlib.closing(Journal(folder)) as journal:
        try:
            while True:
                start = opened(source)
                with contextlib.closing(Replica(folder, read_only=True, start=start)) as replica:
                    replica.learn_all()
                    version = replica.version
                    unlearnable = dict(replica.unlearnable)
                    replica.model.save(draft)
                    with journal.transaction():
                        if replica.learn_all():  # what came meanwhile; nothing of it was undone
                            _check_learned(replica.unlearnable, force)
                            _replace_base(folder, source)
                            seal = journal.seal(version)
                            if version.examples and seal is not None:
                                snapshot = snapshots.path_of(folder, version, seal)
                                snapshots.keep_unlearnable(snapshot, unlearnable)
                                os.replace(draft, snapshot)
                            return replica.unlearnable
        finally:
            draft.unlink(missing_ok=True)


def _replace_base(folder: Path, source: Path) -> None:
    """Remove the snapshots of the base, and put another model in its place."""
    base = folder / snapshots.BASE
    snapshots.copy(base, folder / BEFORE)
    if source != folder / ASIDE:  # that one is older than the model from before now
        (folder / ASIDE).unlink(missing_ok=True)
    for _, path in snapshots.snapshots_and_base(folder)[:-1]:
        snapshots.remove(path)
    os.replace(source, base)


def _check_learned(unlearnable: dict[int, str], force: bool) -> None:
    if unlearnable and not force:
        number, why = next(iter(unlearnable.items()))
        raise InputError(
            f"the model cannot learn {counted(len(unlearnable), 'examples')} of the journal: "
            f"{in_words(list(unlearnable))} ({number}: {why}); force (--force) serves it all the "
            "same, without them"
        )


@contextlib.contextmanager
def _alone(folder: Path, running: bool) -> Iterator[None]:
    """Keep others from writing snapshots, and unless this is the ``running`` server, from
    serving the folder.
    """
    with contextlib.ExitStack() as locks:
        if not running:
            snapshots.check_state(folder)
            locks.enter_context(snapshots.lock(folder))
        if not locks.enter_context(snapshots.only_one(folder)):
            raise InputError(
                f"a snapshot of {folder}, or a backup, is being written; try again in a minute"
            )
        yield


def file_seal(path: Path) -> str:
    """Return a checksum of a file that only changes as a whole; it is read once."""
    return _seal_of(path, file_identity(path))


@lru_cache(maxsize=8)
def _seal_of(path: Path, identity: tuple[int, ...]) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "blake2b").hexdigest()[:32]
