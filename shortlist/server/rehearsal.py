"""A rehearsal: the journal is learned anew by the present model and by a candidate, each ranking before it learns.

Both go through the same examples in the same order, one at a time, as a server does (replica.py): what was taken back
is left out, what was judged in part is learned in part, labels change where they were changed. What each made of an
example before it learned it is compared, over time and by label, on the same examples: those that people have judged,
since what the present model decided alone is no truth to measure it by.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from shortlist.arrays.given_labels import Label
from shortlist.errors import InputError, ShortlistError, counted
from shortlist.files.drafts import whole_file
from shortlist.inputs import Stream, read
from shortlist.inputs.labelled import teaching
from shortlist.measures.significance import paired_bootstrap
from shortlist.models.base import changed, named
from shortlist.models.categorizer import Categorizer
from shortlist.models.making import TEXT
from shortlist.server import promotion, snapshots
from shortlist.server.documents import read_vector
from shortlist.server.journal import ALONE, Entry
from shortlist.server.replica import Replica, first_of

# Models that may take the present one's place: opened from a file, or made anew with other settings.


# What the command line calls the columns that a model remembers, and what read calls them.
COLUMNS = {
    "text_column": "text", "label_column": "labels", "one_hot_column": "one_hot", "wrong_column": "wrong",
    "label_separator": "label_separator",
}  # fmt: skip


def candidate_like(present: Categorizer, learner: str | None, values: dict[str, Any]) -> Categorizer:
    """A model that has learned nothing, with the settings of the present one but for these."""
    for_text = {name.removeprefix(TEXT): value for name, value in values.items() if name.startswith(TEXT)}
    others = {name: value for name, value in values.items() if not name.startswith(TEXT)}
    own = clone(present.learner_) if learner is None else named("categories", learner)
    made = Categorizer(changed(own, others), changed(clone(present.text_), for_text, prefix=TEXT))
    if present.vocabulary_ is not None:
        made.set_vocabulary(present.vocabulary_)
    return made.learn_many([], [])  # a learner that cannot go on learning refuses


def taught(model: Categorizer, data: str, stream: Stream) -> Categorizer:
    """A candidate that has learned what the present model learned before it was served."""
    model.fit_batches(teaching("categories", data, stream, iter(stream)))
    return model


def as_trained(present: Categorizer, data: str, skip_bad: bool = False) -> Stream:
    """A file read by the columns that the present model was trained from, if it has them."""
    given = {COLUMNS[name]: value for name, value in (present._trained_from or {}).items() if name in COLUMNS}
    options: dict[str, Any] = {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in given.items()
    }
    if present.fields_ is not None:
        options |= {"text": present.fields_, "known_features": present._fields_beside_ or None}
    of_texts = {name: value for name, value in options.items() if name in ("text", "known_features")}
    for some in (options, of_texts):  # what was exported has columns of labels of its own
        with contextlib.suppress(InputError):
            if some and read(data, prefer=some, skip_bad=True).begins(labelled=True):
                return read(data, prefer=some, skip_bad=skip_bad)
    return read(data, skip_bad=skip_bad)


LEAST = 20  # examples that a window, a group or a label must have to be compared
WINDOWS = 10
SHOWN = 20  # labels
RESAMPLES = 2000
GROUPS = ((1, 4), (5, 19), (20, 99), (100, None))  # labels by the number of their examples


class Tried(NamedTuple):
    """What a model made of an example before it learned it."""

    first: float  # 1 where a right label stood first
    found: list[float]  # of each right label, whether it was among as many as are right


class Rehearsal(NamedTuple):
    """What both models made of each example."""

    labels: list[list[Label]]
    present: list[Tried]
    candidate: list[Tried]
    passed: dict[int, str]  # examples that the candidate could not learn, and why

    @property
    def both(self) -> tuple[list[Tried], list[Tried]]:
        return self.present, self.candidate


def rehearse(
    folder: Path,
    present: Categorizer,
    candidate: Categorizer,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Rehearsal:
    """Replay the journal of a state directory with both, which learn it; ``tell`` how much of how much is done."""
    with contextlib.ExitStack() as closing:
        both = [Replica(folder, read_only=True, start=model, quiet=True) for model in (present, candidate)]
        for one in both:
            closing.callback(one.close)
        rehearsal = Rehearsal([], [], [], both[1].passed)
        last = both[0].journal.version().examples
        for lesson in both[0].journal.each(0, last):
            tell(lesson.number - 1, last)
            if not isinstance(lesson.labels, dict) and lesson.labels and not lesson.person.endswith(ALONE):
                rehearsal.labels.append(lesson.labels)
                for one, results in zip(both, rehearsal.both, strict=True):
                    results.append(tried(one, lesson, lesson.labels))
            for one in both:
                one.learn_all(lesson.number)
    if len(rehearsal.labels) < LEAST:
        n = len(rehearsal.labels)
        raise InputError(f"the journal in {folder} has {counted(n, 'examples')}; a rehearsal needs at least {LEAST}")
    return rehearsal


def tried(replica: Replica, lesson: Entry, labels: list[Label]) -> Tried:
    ranked = [label for label, _ in replica.rank(lesson.text, max(1, len(labels)), vector=read_vector(lesson.vector))]
    return Tried(float(bool(ranked) and ranked[0] in labels), [float(label in ranked) for label in labels])


def report(rehearsal: Rehearsal) -> dict[str, Any]:
    """Both side by side: as a whole, over time, by groups of labels, and for single labels."""
    firsts = [np.array([one.first for one in results]) for results in rehearsal.both]
    n = firsts[0].size
    edges = np.linspace(0, n, 1 + max(1, min(WINDOWS, n // LEAST))).astype(int).tolist()
    windows = [
        {"from": begin + 1, "to": end} | compared(*(own[begin:end] for own in firsts)) for begin, end in pairwise(edges)
    ]
    counts = Counter(label for own in rehearsal.labels for label in own)
    groups: list[dict[str, Any]] = []
    for least, most in GROUPS:
        members = {label for label, times in counts.items() if least <= times and (most is None or times <= most)}
        values = by_example(rehearsal, members)
        if values[0].size >= LEAST:
            named = f"{least}–{most} examples" if most else f"{least} examples and more"
            groups.append({"group": named, "labels": len(members)} | compared(*values))
    frequent = [label for label, times in counts.items() if times >= LEAST]
    labels = [{"label": label} | compared(*by_example(rehearsal, {label})) for label in frequent]
    labels.sort(key=lambda one: (-abs(one["difference"]), str(one["label"])))
    whole = compared(*firsts)
    every: list[dict[str, Any]] = [*groups, {"group": "all examples"} | whole]
    falls = [one["group"] for one in every if one["high"] < 0]
    return {
        "all": whole, "windows": windows, "groups": groups, "labels": labels[:SHOWN], "falls": falls,
        "passed_over": len(rehearsal.passed), "passed": first_of(rehearsal.passed),
    }  # fmt: skip


def by_example(rehearsal: Rehearsal, members: set[Label]) -> tuple[np.ndarray[Any, Any], ...]:
    """For each example with labels among these, the share of them that each model found."""
    values: dict[int, list[float]] = defaultdict(list)
    for n, labels in enumerate(rehearsal.labels):
        own = [i for i, label in enumerate(labels) if label in members]
        if own:
            for which, results in enumerate(rehearsal.both):
                values[which].append(sum(results[n].found[i] for i in own) / len(own))
    return np.array(values[0]), np.array(values[1])


def compared(present: np.ndarray[Any, Any], candidate: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Two means on the same examples, and the 95 % interval of their difference (paired bootstrap)."""
    found = paired_bootstrap(candidate, present, resamples=RESAMPLES)
    low, high = found.interval or (found.difference, found.difference)
    return {
        "examples": int(present.size), "present": float(present.mean()), "candidate": float(candidate.mean()),
        "difference": found.difference, "low": float(low), "high": float(high),
    }  # fmt: skip


# A rehearsal under way: one at a time in a state directory, in a process of its own where a server starts it. Whoever
# sees to it holds a lock. How far it has come stands in a file, so that every server of the directory can say so. A
# candidate and its report are kept when both models have learned all.


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
    present = promotion.opened(folder / snapshots.BASE)
    candidate = make(present)
    kept = candidate.copy()  # as it is before the journal
    found = report(rehearse(folder, present, candidate, tell)) | {"left_out": left_out()}
    promotion.keep(folder, kept, found, against)
    return found


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """See to the only rehearsal; refused while there is another."""
    for _ in range(TRIES):
        with snapshots.only_one(folder, name=LOCK) as alone:
            if alone:
                yield
                return
        time.sleep(0.02)
    raise InputError(f"another rehearsal of {folder} is under way; wait until it is done")


def progress(folder: Path) -> dict[str, Any]:
    """How far the present rehearsal has come, or why the last one came to nothing."""
    running = False
    if (folder / LOCK).exists():  # a folder that may only be read has none
        with snapshots.only_one(folder, name=LOCK) as alone:
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


def carried_out(
    folder: Path, learner: str | None, values: dict[str, Any], data: Path | None, server: int, skip_bad: bool = False
) -> bool:  # fmt: skip
    """Rehearse, and write down how far it is, or why it came to nothing; gives whether it went well.

    ``server``: the process that started this one, and without which it ends.
    """
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
