"""Putting a candidate in the place of the present model, and going back.

What a server serves is its base and then the journal (snapshots.py). So to promote is to put another base in its
place: the journal stays as it is, and is learned anew by the candidate when the server starts, or beside its other work
where it runs (replica.py). Snapshots, which only save time, go first; then one rename changes the base, so that a crash
at any moment leaves the one or the other. Nobody writes a snapshot of the base of before meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from shortlist.errors import InputError
from shortlist.files.drafts import whole_file
from shortlist.models.categorizer import Categorizer
from shortlist.server import snapshots
from shortlist.server.snapshot_writer import only_one

CANDIDATE, BEFORE, REPORT = "candidate.shortlist", "before.shortlist", "rehearsal.json"
ASIDE = f".{BEFORE}"  # what is to be the model of before, until it is
AT_ONCE = 1 << 20  # bytes of a model file that are read at a time


def keep(folder: Path, candidate: Categorizer, report: dict[str, Any], base: str) -> None:
    """Keep a candidate that has learned nothing of the journal, and how its rehearsal against a base of this seal went.

    Nobody promotes meanwhile: what is promoted is what was looked at.
    """
    with only_one(folder, waiting=True):
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


def promote(folder: Path, force: bool = False, running: bool = False) -> dict[str, Any]:
    """Serve the candidate from now on; gives how its rehearsal went. Refused where a group of labels fell.

    ``running`` is for the server of this folder itself; for all others it must be stopped.
    """
    with _running(folder) if running else _stopped(folder):
        base, candidate = folder / snapshots.BASE, folder / CANDIDATE
        kept = last(folder)
        if kept is None:
            raise InputError(f"there is no candidate in {folder}; make one with shortlist rehearse {folder}")
        if not kept["fits"]:
            raise InputError(f"the candidate in {folder} was rehearsed against another model; rehearse it again")
        falls: list[str] = kept["report"]["falls"]
        if falls and not force:
            raise InputError(f"the candidate falls for {', '.join(falls)}; force (--force) promotes it all the same")
        _copy(base, folder / BEFORE)
        _remove_snapshots(folder)
        os.replace(candidate, base)
        (folder / REPORT).unlink()
        report: dict[str, Any] = kept["report"]
        return report


def go_back(folder: Path, running: bool = False) -> None:
    """Serve the model of before again; the one that was served takes its place, so that going back twice is nothing."""
    with _running(folder) if running else _stopped(folder):
        base, before = folder / snapshots.BASE, folder / BEFORE
        if not can_go_back(folder):
            raise InputError(f"there is no {before}: nothing was promoted that could be taken back")
        aside = folder / ASIDE
        if not before.is_file():  # killed between the two renames below
            os.replace(aside, before)
        _copy(base, aside)
        _remove_snapshots(folder)
        os.replace(before, base)
        os.replace(aside, before)


@contextmanager
def _stopped(folder: Path) -> Iterator[None]:
    """Nobody serves this folder, or writes snapshots of it, meanwhile."""
    snapshots.check_state(folder)
    with snapshots.lock(folder), _running(folder):
        yield


@contextmanager
def _running(folder: Path) -> Iterator[None]:
    """Nobody writes snapshots of this folder meanwhile."""
    with only_one(folder) as alone:
        if not alone:
            raise InputError(f"a snapshot of {folder} is being written; try again in a minute")
        yield


def _remove_snapshots(folder: Path) -> None:
    for _, path in snapshots.listed(folder):
        if path.name != snapshots.BASE:
            path.unlink()


def _copy(source: Path, target: Path) -> None:
    with whole_file(target) as file, open(source, "rb") as own:
        shutil.copyfileobj(own, file)


def seal(path: Path) -> str:
    """A checksum of a file."""
    found = blake2b(digest_size=16)
    with open(path, "rb") as file:
        while some := file.read(AT_ONCE):
            found.update(some)
    return found.hexdigest()


def known_seal(path: Path) -> str:
    """The checksum of a file that is put in place as a whole: it is read once, however often somebody asks."""
    return _seal_of(path, snapshots.identity_of(path))


@lru_cache(maxsize=8)
def _seal_of(path: Path, identity: tuple[int, ...]) -> str:
    return seal(path)
