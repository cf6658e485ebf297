"""A rehearsal under way: one at a time in a state directory, in a process of its own where a server starts it.

Whoever sees to it holds a lock, which ends with that process however it ends. How far it has come stands in a file, so
that every process of a server can say so. A candidate and its report are kept when both models have learned all.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from shortlist.errors import InputError, ShortlistError
from shortlist.files.drafts import whole_file
from shortlist.models.categorizer import Categorizer
from shortlist.server import promotion, rehearsal, snapshots
from shortlist.server.rehearsal import as_trained, candidate_like, opened, taught

PROGRESS, LOCK = "rehearsing.json", "rehearsal.lock"
OFTEN = 0.5  # seconds from one word of how far it has come to the next
TRIES = 10  # whoever looks whether there is a rehearsal holds the lock for a moment
CUT_SHORT = "the last rehearsal ended before it was done; start it again"


def rehearsed(
    folder: Path,
    make: Callable[[Categorizer], Categorizer],
    tell: Callable[[int, int], None] = lambda done, of: None,
    left_out: Callable[[], int] = lambda: 0,
) -> dict[str, Any]:
    """Replay the journal with the present model and with the candidate made from it; both are kept with the report.

    ``left_out`` counts the bad records that the candidate was not taught.
    """
    against = promotion.seal(folder / snapshots.BASE)  # first: another base that comes meanwhile does not fit
    present = opened(folder / snapshots.BASE)
    candidate = make(present)
    kept = candidate.copy()  # as it is before the journal
    found = rehearsal.report(rehearsal.rehearse(folder, present, candidate, tell)) | {"left_out": left_out()}
    promotion.keep(folder, kept, found, against)
    return found


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """See to the only rehearsal; refused while there is another."""
    for _ in range(TRIES):
        with _held(folder) as alone:
            if alone:
                yield
                return
        time.sleep(0.02)
    raise InputError(f"another rehearsal of {folder} is under way; wait until it is done")


def progress(folder: Path) -> dict[str, Any]:
    """How far the present rehearsal has come, or why the last one came to nothing."""
    running = False
    if (folder / LOCK).exists():  # a folder that may only be read has none
        with _held(folder, "rb") as alone:
            running = not alone
    try:
        told = json.loads((folder / PROGRESS).read_bytes())
        done, of, problem = told["done"], told["of"], told["problem"]
    except (OSError, ValueError, LookupError, TypeError):
        return {"running": None, "problem": None}
    if running:
        return {"running": {"done": done, "of": of}, "problem": None}
    return {"running": None, "problem": problem or CUT_SHORT}


def tell(folder: Path, done: int, of: int, problem: str | None = None) -> None:
    """Write down how far a rehearsal has come."""
    with whole_file(folder / PROGRESS) as file:
        file.write(json.dumps({"done": done, "of": of, "problem": problem}).encode())


def main(
    folder: Path, learner: str | None, values: dict[str, Any], data: Path | None, skip_bad: bool, server: int
) -> None:  # fmt: skip
    """Rehearse, gently: the body of a process that ``server``, another one, sees to. It ends with 1 if it fails."""
    os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process itself
    if not carried_out(folder, learner, values, data, server, skip_bad):
        sys.exit(1)


def carried_out(
    folder: Path, learner: str | None, values: dict[str, Any], data: Path | None, server: int, skip_bad: bool = False
) -> bool:  # fmt: skip
    """Rehearse, and write down how far it is, or why it came to nothing; gives whether it went well."""
    last, left_out = 0.0, 0

    def told(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= OFTEN:
            last = time.monotonic()
            if os.getppid() != server:
                sys.exit("whoever started this rehearsal is gone")
            tell(folder, done, of)

    def made(present: Categorizer) -> Categorizer:
        nonlocal left_out
        candidate = candidate_like(present, learner, values)
        if data is not None:
            stream = as_trained(present, str(data), skip_bad)
            taught(candidate, str(data), stream)
            left_out = stream.skipped.count
        return candidate

    try:
        rehearsed(folder, made, told, lambda: left_out)
        (folder / PROGRESS).unlink(missing_ok=True)
    except ShortlistError as problem:
        tell(folder, 0, 0, str(problem) if data is None else str(problem).replace(str(data), data.name))
        return False
    return True


@contextlib.contextmanager
def _held(folder: Path, mode: str = "ab") -> Iterator[bool]:
    """Whether nobody else sees to a rehearsal; nobody does meanwhile."""
    import fcntl

    with open(folder / LOCK, mode) as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
        yield alone
