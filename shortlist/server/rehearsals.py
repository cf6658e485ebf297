"""Rehearsing a candidate on the journal.

A rehearsal replays the journal with the present model and with the candidate. Each ranks an example
before it learns it, as a server does. The results are compared on the examples that people have
judged, over time and by label.

One rehearsal runs at a time in a state directory, under a lock. A server runs it in a process of
its own, which writes its progress to a file, so that every server of the directory can read it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.data.label_input import Label
from shortlist.errors import InputError, ShortlistError, counted
from shortlist.files.drafts import whole_file
from shortlist.measures.significance import paired_bootstrap
from shortlist.models.categorizer import Categorizer
from shortlist.server import promotion, snapshots
from shortlist.server.candidates import as_trained, candidate_like, opened, taught
from shortlist.server.entries import Judge, Judgement
from shortlist.server.journal_history import History
from shortlist.server.replica import Replica, unlearnable_answer

LEAST_EXAMPLES = 20  # that a window, a group or a label needs to be compared
LEAST_CHECKS = 100  # fewer spot checks are compared together with what else people judged
WINDOWS = 10
LABELS_REPORTED = 20
RESAMPLES = 2000
LABEL_GROUPS = ((1, 4), (5, 19), (20, 99), (100, None))  # by the number of their examples

PROGRESS_FILE = "rehearsing.json"
REHEARSAL_LOCK = "rehearsal.lock"
PROGRESS_SECONDS = 0.5  # between two reports of progress
LOCK_TRIES = 10  # asking for the progress holds the lock for a moment
CUT_SHORT = "the last rehearsal ended before it was done; start it again"

Values = NDArray[np.float64]
ReportProgress = Callable[
    [int, int], None
]  # is called with how many examples are done, and of how many


def report_nothing(done: int, total: int) -> None:
    pass


# Replaying the journal.


class Outcome(NamedTuple):
    """How a model ranked an example before it learned it."""

    first: float  # 1 if a right label came first
    hits: list[float]  # of each right label, whether it was among the first as many


class Rehearsal(NamedTuple):
    """How both models ranked each example."""

    labels: list[list[Label]]
    present: list[Outcome]
    candidate: list[Outcome]
    unlearnable: dict[int, str]  # examples that the candidate could not learn, and why


def rehearse(
    folder: Path,
    present: Categorizer,
    candidate: Categorizer,
    report_progress: ReportProgress = report_nothing,
) -> Rehearsal:
    """Replay the journal of a state directory with both models, which learn it."""
    with (
        contextlib.closing(Replica(folder, read_only=True, start=present)) as of_present,
        contextlib.closing(Replica(folder, read_only=True, start=candidate)) as of_candidate,
    ):
        rehearsal = Rehearsal([], [], [], of_candidate.unlearnable)
        last = of_present.journal.version().examples
        judges = [Judge.CHECK]  # the fairest sample, if it is large enough
        if History(of_present.journal).count_judged(Judge.CHECK) < LEAST_CHECKS:
            judges.append(Judge.PERSON)
        for entry in of_present.journal.each(0, last):
            report_progress(entry.number - 1, last)
            if isinstance(entry, Judgement) and entry.labels and entry.judge in judges:
                rehearsal.labels.append(list(entry.labels))
                rehearsal.present.append(outcome(of_present, entry))
                rehearsal.candidate.append(outcome(of_candidate, entry))
            of_present.learn_all(entry.number)
            of_candidate.learn_all(entry.number)
    n_examples = len(rehearsal.labels)
    if n_examples < LEAST_EXAMPLES:
        raise InputError(
            f"the journal in {folder} has {counted(n_examples, 'examples')}; a rehearsal needs at "
            f"least {LEAST_EXAMPLES}"
        )
    return rehearsal


def outcome(replica: Replica, judgement: Judgement) -> Outcome:
    ranking = replica.rank(judgement.text, len(judgement.labels), vector=judgement.vector)
    labels = [label for label, _ in ranking]
    first = float(bool(labels) and labels[0] in judgement.labels)
    return Outcome(first, [float(label in labels) for label in judgement.labels])


def report(rehearsal: Rehearsal) -> dict[str, Any]:
    """Compare both models: as a whole, over time, by groups of labels, and for single labels."""
    present = np.array([outcome.first for outcome in rehearsal.present])
    candidate = np.array([outcome.first for outcome in rehearsal.candidate])
    n_windows = max(1, min(WINDOWS, present.size // LEAST_EXAMPLES))
    edges = np.linspace(0, present.size, 1 + n_windows).astype(int).tolist()
    windows = [
        {"from": begin + 1, "to": end} | compared(present[begin:end], candidate[begin:end])
        for begin, end in pairwise(edges)
    ]
    whole = compared(present, candidate)
    counts = Counter(label for labels in rehearsal.labels for label in labels)
    groups = _by_groups(rehearsal, counts)
    falls = [
        group["group"]
        for group in [*groups, {"group": "all examples"} | whole]
        if group["high"] < 0
    ]
    return {
        "all": whole,
        "windows": windows,
        "groups": groups,
        "labels": _by_labels(rehearsal, counts),
        "falls": falls,
    } | unlearnable_answer(rehearsal.unlearnable)


def _by_groups(rehearsal: Rehearsal, counts: Counter[Label]) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    for least, most in LABEL_GROUPS:
        members = {
            label for label, n in counts.items() if least <= n and (most is None or n <= most)
        }
        shares = found_shares(rehearsal, members)
        if shares[0].size >= LEAST_EXAMPLES:
            name = f"{least}–{most} examples" if most else f"{least} examples and more"
            groups.append({"group": name, "labels": len(members)} | compared(*shares))
    return groups


def _by_labels(rehearsal: Rehearsal, counts: Counter[Label]) -> list[dict[str, Any]]:
    """Return the frequent labels that differ most."""
    labels = [
        {"label": label} | compared(*found_shares(rehearsal, {label}))
        for label, n in counts.items()
        if n >= LEAST_EXAMPLES
    ]
    labels.sort(key=lambda label: (-abs(label["difference"]), str(label["label"])))
    return labels[:LABELS_REPORTED]


def found_shares(rehearsal: Rehearsal, members: set[Label]) -> tuple[Values, Values]:
    """Return, for each example with labels among these, the share of them that each model found."""
    present = []
    candidate = []
    for n, labels in enumerate(rehearsal.labels):
        places = [i for i, label in enumerate(labels) if label in members]
        if places:
            present.append(sum(rehearsal.present[n].hits[i] for i in places) / len(places))
            candidate.append(sum(rehearsal.candidate[n].hits[i] for i in places) / len(places))
    return np.array(present), np.array(candidate)


def compared(present: Values, candidate: Values) -> dict[str, Any]:
    """Compare two means on the same examples, with the 95 % interval of their difference
    (paired bootstrap).
    """
    result = paired_bootstrap(candidate, present, resamples=RESAMPLES)
    low, high = result.interval or (result.difference, result.difference)
    return {
        "examples": int(present.size),
        "present": float(present.mean()),
        "candidate": float(candidate.mean()),
        "difference": result.difference,
        "low": float(low),
        "high": float(high),
    }


# A rehearsal under way.


def rehearsed(
    folder: Path,
    make: Callable[[Categorizer], tuple[Categorizer, int]],
    report_progress: ReportProgress = report_nothing,
) -> dict[str, Any]:
    """Rehearse a candidate, and keep it with the report, which is returned.

    ``make`` gives the candidate for the present model, and the number of bad records that it was
    not taught.
    """
    base = folder / snapshots.BASE
    seal = promotion.file_seal(base)  # first: a base that comes meanwhile does not fit
    present = opened(base)
    candidate, left_out = make(present)
    untaught = candidate.copy()  # as it is without the journal
    result = report(rehearse(folder, present, candidate, report_progress))
    result["left_out"] = left_out
    promotion.keep(folder, untaught, result, seal)
    return result


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the lock of rehearsals; refused while another is under way."""
    for _ in range(LOCK_TRIES):
        with snapshots.only_one(folder, name=REHEARSAL_LOCK) as is_locked:
            if is_locked:
                yield
                return
        time.sleep(0.02)
    raise InputError(f"another rehearsal of {folder} is under way; wait until it is done")


def progress(folder: Path) -> dict[str, Any]:
    """Return how far the present rehearsal has come, or why the last one failed."""
    is_running = False
    if (folder / REHEARSAL_LOCK).exists():  # a folder that may only be read has none
        with snapshots.only_one(folder, name=REHEARSAL_LOCK) as is_locked:
            is_running = not is_locked
    try:
        written = json.loads((folder / PROGRESS_FILE).read_bytes())
        running = {"done": written["done"], "of": written["of"]}
        problem = written["problem"]
    except promotion.UNREADABLE:
        return {"running": None, "problem": None}
    if is_running:
        return {"running": running, "problem": None}
    return {"running": None, "problem": problem or CUT_SHORT}


def write_progress(folder: Path, done: int, total: int, problem: str | None = None) -> None:
    """Write down how far a rehearsal has come."""
    with whole_file(folder / PROGRESS_FILE) as file:
        file.write(json.dumps({"done": done, "of": total, "problem": problem}).encode())


def rehearse_in_process(
    folder: Path,
    learner: str | None,
    settings: dict[str, Any],
    data: Path | None,
    server: int,
    skip_bad: bool = False,
) -> bool:
    """Rehearse in a process of its own; write down the progress and failures. Returns whether it
    succeeded.

    ``server``: the process that started this one; without it, this one ends.
    """
    reported_at = 0.0

    def report_progress(done: int, total: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= PROGRESS_SECONDS:
            reported_at = time.monotonic()
            if os.getppid() != server:
                sys.exit("the server that started this rehearsal is gone")
            write_progress(folder, done, total)

    def make(present: Categorizer) -> tuple[Categorizer, int]:
        candidate = candidate_like(present, learner, settings)
        if data is None:
            return candidate, 0
        return candidate, taught(candidate, str(data), as_trained(present, str(data), skip_bad))

    try:
        rehearsed(folder, make, report_progress)
        (folder / PROGRESS_FILE).unlink(missing_ok=True)
    except ShortlistError as problem:
        sentence = str(problem)
        if data is not None:
            sentence = sentence.replace(str(data), data.name)
        write_progress(folder, 0, 0, sentence)
        return False
    return True
