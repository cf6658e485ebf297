"""Putting a candidate in the place of the present model, and going back.

What a server serves is its base and then the journal (snapshots.py). So to promote is to put another base in its
place: the journal stays as it is, and is learned anew by the candidate. That is done before: what the candidate cannot
learn is known, and refused, while nobody writes to the journal; and a snapshot of what it has learned is there at once.
Snapshots of before, which only save time, go first; then one rename changes the base, so that a crash at any moment
leaves the one or the other. Nobody writes a snapshot of the base of before meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from shortlist.errors import InputError, counted
from shortlist.files.drafts import whole_file
from shortlist.models.categorizer import Categorizer
from shortlist.models.making import open_model
from shortlist.server import snapshots
from shortlist.server.journal import Journal, identity_of
from shortlist.server.replica import Replica, listed

CANDIDATE, BEFORE, REPORT = "candidate.shortlist", "before.shortlist", "rehearsal.json"
ASIDE = f".{BEFORE}"  # the model of before, while it is put in place again
DRAFT = ".snapshot-promoted"  # what the candidate has learned, until it is the base
AT_ONCE = 1 << 20  # bytes of a model file that are read at a time


def opened(path: Path) -> Categorizer:
    """The model in a file, which must be able to learn a journal."""
    model = open_model(path)
    if not isinstance(model, Categorizer) or not model.can_learn:
        raise InputError(f"{path} is not a model of texts with labels that can learn a journal")
    return model


def keep(folder: Path, candidate: Categorizer, report: dict[str, Any], base: str) -> None:
    """Keep a candidate that has learned nothing of the journal, and how its rehearsal against a base of this seal went.

    Nobody promotes meanwhile: what is promoted is what was looked at.
    """
    with snapshots.only_one(folder, waiting=True):
        candidate.save(folder / CANDIDATE)
        known: dict[str, Any] = {"base": base, "candidate": seal(folder / CANDIDATE)}
        known |= {"time": time.time(), "learner": candidate.describe()["learner"]}
        with whole_file(folder / REPORT) as file:
            file.write(json.dumps(known | {"report": report}, ensure_ascii=False, indent=1).encode())


def last(folder: Path) -> dict[str, Any] | None:
    """What is known of the last candidate and its rehearsal, and whether it still fits; None if there is none."""
    try:
        kept: dict[str, Any] = json.loads((folder / REPORT).read_bytes())
        sealed = {"base": known_seal(folder / snapshots.BASE), "candidate": known_seal(folder / CANDIDATE)}
        kept["fits"] = all(kept[what] == own for what, own in sealed.items())
        kept["report"]["falls"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return kept


def can_go_back(folder: Path) -> bool:
    """Whether there is a model of before."""
    return (folder / BEFORE).is_file() or (folder / ASIDE).is_file()


def promote(folder: Path, force: bool = False, running: bool = False) -> tuple[dict[str, Any], dict[int, str]]:
    """Serve the candidate from now on; gives how its rehearsal went, and the examples that it cannot learn, and why.

    Refused where a group of labels fell or there are such examples, unless forced. ``running`` is for the server of
    this folder itself; for all others it must be stopped.
    """
    with _running(folder) if running else _stopped(folder):
        kept = last(folder)
        if kept is None:
            raise InputError(f"there is no candidate in {folder}; make one with shortlist rehearse {folder}")
        if not kept["fits"]:
            raise InputError(f"the candidate in {folder} was rehearsed against another model; rehearse it again")
        falls: list[str] = kept["report"]["falls"]
        if falls and not force:
            raise InputError(f"the candidate falls for {', '.join(falls)}; force (--force) promotes it all the same")
        passed = _put_in_place(folder, folder / CANDIDATE, force)
        (folder / REPORT).unlink()
        return kept["report"], passed


def go_back(folder: Path, force: bool = False, running: bool = False) -> dict[int, str]:
    """Serve the model of before again; gives the examples that it cannot learn, which must be forced.

    The one that was served takes its place, so that going back twice is nothing.
    """
    with _running(folder) if running else _stopped(folder):
        before, aside = folder / BEFORE, folder / ASIDE
        if not can_go_back(folder):
            raise InputError(f"there is no {before}: nothing was promoted that could be taken back")
        if not aside.is_file():  # else this was killed before
            os.replace(before, aside)
        try:
            return _put_in_place(folder, aside, force)
        finally:
            if aside.is_file():
                os.replace(aside, before)


def _put_in_place(folder: Path, source: Path, force: bool) -> dict[int, str]:
    """A model becomes the base, which becomes the model of before; gives the examples that it cannot learn, and why.

    It has learned the whole journal, and nobody writes there meanwhile. Its snapshot is put in place at the end.
    """
    draft, base, current = folder / DRAFT, folder / snapshots.BASE, False
    with closing(Journal(folder)) as journal:
        try:
            while not current:
                with closing(Replica(folder, read_only=True, start=opened(source), quiet=True)) as learned:
                    learned.learn_all()
                    seal, version, passed = journal.seal(learned.version), learned.version, dict(learned.passed)
                    learned.model.save(draft)
                    with journal.held():
                        current = learned.learn_all()  # what came meanwhile
                        if current:
                            _check(learned.passed, force)
                            _copy(base, folder / BEFORE)
                            if source != folder / ASIDE:  # which is from before what is the model of before now
                                (folder / ASIDE).unlink(missing_ok=True)
                            for _, path in snapshots.listed(folder)[:-1]:
                                snapshots.remove(path)
                            os.replace(source, base)
                            if version.examples and seal is not None:
                                snapshot = snapshots.path_of(folder, version, seal)
                                snapshots.keep_passed(snapshot, passed)
                                os.replace(draft, snapshot)
            return learned.passed
        finally:
            draft.unlink(missing_ok=True)


def _check(passed: dict[int, str], force: bool) -> None:
    if passed and not force:
        number, why = next(iter(passed.items()))
        raise InputError(
            f"the model cannot learn {counted(len(passed), 'examples')} of the journal: {listed(list(passed))} "
            f"({number}: {why}); force (--force) serves it all the same, without them"
        )


def _copy(source: Path, target: Path) -> None:
    with whole_file(target) as file, open(source, "rb") as own:
        shutil.copyfileobj(own, file)


@contextmanager
def _stopped(folder: Path) -> Iterator[None]:
    """Nobody serves this folder, or writes snapshots of it, meanwhile."""
    snapshots.check_state(folder)
    with snapshots.lock(folder), _running(folder):
        yield


@contextmanager
def _running(folder: Path) -> Iterator[None]:
    """Nobody writes snapshots of this folder meanwhile."""
    with snapshots.only_one(folder) as alone:
        if not alone:
            raise InputError(f"a snapshot of {folder} is being written; try again in a minute")
        yield


def seal(path: Path) -> str:
    """A checksum of a file."""
    found = blake2b(digest_size=16)
    with open(path, "rb") as file:
        while some := file.read(AT_ONCE):
            found.update(some)
    return found.hexdigest()


def known_seal(path: Path) -> str:
    """The checksum of a file that is put in place as a whole: it is read once, however often somebody asks."""
    return _seal_of(path, identity_of(path))


@lru_cache(maxsize=8)
def _seal_of(path: Path, identity: tuple[int, ...]) -> str:
    return seal(path)
