"""Rehearsing a candidate on the journal, promoting it, and going back.

A rehearsal replays the journal with the present model and with the candidate. Each ranks an example
before it learns it, as a server does. The results are compared on the examples that people have
judged, over time and by label.

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
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import file_digest
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from shortlist.data.label_input import Label
from shortlist.errors import InputError, ShortlistError, counted
from shortlist.files.drafts import whole_file
from shortlist.inputs import Stream, read
from shortlist.inputs.labelled import teaching
from shortlist.measures.significance import paired_bootstrap
from shortlist.models.categorizer import Categorizer
from shortlist.models.model import changed, named
from shortlist.models.training_settings import TEXT, open_model
from shortlist.server import snapshots
from shortlist.server.journal import ALONE, Example, Journal, identity_of
from shortlist.server.replica import Replica, listed, passing

CANDIDATE, BEFORE, REPORT = "candidate.shortlist", "before.shortlist", "rehearsal.json"
ASIDE = f".{BEFORE}"  # the model from before, while it becomes the base again
DRAFT = ".snapshot-promoted"  # the first snapshot of a candidate, until the candidate is the base
# of a JSON file that may be missing or damaged
UNREADABLE = (OSError, ValueError, LookupError, TypeError)

Tell = Callable[[int, int], None]  # is told how many examples are done, of how many


# Candidates.


# What the command line calls the columns that a model remembers, and what read calls them.
COLUMNS = {
    "text_column": "text",
    "label_column": "labels",
    "one_hot_column": "one_hot",
    "wrong_column": "wrong",
    "label_separator": "label_separator",
}


def opened(path: Path) -> Categorizer:
    """Open a model file that must be able to learn a journal."""
    model = open_model(path)
    if not isinstance(model, Categorizer) or not model.can_learn:
        raise InputError(f"{path} is not a model of texts with labels that can learn a journal")
    return model


def candidate_like(
    present: Categorizer, learner: str | None, values: dict[str, Any]
) -> Categorizer:
    """Return a model that has learned nothing, with the settings of the present one and some
    others.
    """
    for_text = {
        name.removeprefix(TEXT): value for name, value in values.items() if name.startswith(TEXT)
    }
    others = {name: value for name, value in values.items() if not name.startswith(TEXT)}
    own = clone(present.learner_) if learner is None else named("categories", learner)
    made = Categorizer(changed(own, others), changed(clone(present.text_), for_text, prefix=TEXT))
    if present.vocabulary_ is not None:
        made.set_vocabulary(present.vocabulary_)
    return made.learn_many([], [])  # a learner that cannot go on learning refuses


def taught(model: Categorizer, data: str, stream: Stream) -> int:
    """Have a candidate learn what the present model learned before it was served; count the
    records left out.
    """
    model.fit_batches(teaching("categories", data, stream, iter(stream)))
    return stream.skipped.count


def as_trained(present: Categorizer, data: str, skip_bad: bool = False) -> Stream:
    """Open a file with the columns that the present model was trained from, if the file has
    them.
    """
    given = {
        COLUMNS[name]: value
        for name, value in (present.training_columns_ or {}).items()
        if name in COLUMNS
    }
    options: dict[str, Any] = {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in given.items()
    }
    if present.fields_ is not None:
        options |= {"text": present.fields_, "known_features": present.extra_fields_ or None}
    of_texts = {
        name: value for name, value in options.items() if name in ("text", "known_features")
    }
    for some in (options, of_texts):  # an export has its own columns of labels
        with contextlib.suppress(InputError):
            if some and read(data, prefer=some, skip_bad=True).begins(labelled=True):
                return read(data, prefer=some, skip_bad=skip_bad)
    return read(data, skip_bad=skip_bad)


# Replaying the journal.


LEAST = 20  # examples that a window, a group or a label needs to be compared
WINDOWS = 10
SHOWN = 20  # labels
RESAMPLES = 2000
GROUPS = ((1, 4), (5, 19), (20, 99), (100, None))  # labels by the number of their examples


class Tried(NamedTuple):
    """How a model ranked an example before it learned it."""

    first: float  # 1 if a right label came first
    found: list[float]  # of each right label, whether it was among the first as many


class Rehearsal(NamedTuple):
    """How both models ranked each example."""

    labels: list[list[Label]]
    present: list[Tried]
    candidate: list[Tried]
    passed: dict[int, str]  # examples that the candidate could not learn, and why

    @property
    def both(self) -> tuple[list[Tried], list[Tried]]:
        return self.present, self.candidate


def rehearse(
    folder: Path, present: Categorizer, candidate: Categorizer, tell: Tell = lambda done, of: None
) -> Rehearsal:
    """Replay the journal of a state directory with both models, which learn it."""
    with contextlib.ExitStack() as closing:
        both = [Replica(folder, read_only=True, start=model) for model in (present, candidate)]
        for one in both:
            closing.callback(one.close)
        rehearsal = Rehearsal([], [], [], both[1].passed)
        last = both[0].journal.version().examples
        for lesson in both[0].journal.each(0, last):
            tell(lesson.number - 1, last)
            if (
                not isinstance(lesson.labels, dict)
                and lesson.labels
                and not lesson.person.endswith(ALONE)
            ):
                rehearsal.labels.append(lesson.labels)
                for one, results in zip(both, rehearsal.both, strict=True):
                    results.append(tried(one, lesson, lesson.labels))
            for one in both:
                one.learn_all(lesson.number)
    if len(rehearsal.labels) < LEAST:
        n = len(rehearsal.labels)
        raise InputError(
            f"the journal in {folder} has {counted(n, 'examples')}; a rehearsal needs at least "
            f"{LEAST}"
        )
    return rehearsal


def tried(replica: Replica, lesson: Example, labels: list[Label]) -> Tried:
    ranked = [
        label for label, _ in replica.rank(lesson.text, max(1, len(labels)), vector=lesson.vector)
    ]
    return Tried(
        float(bool(ranked) and ranked[0] in labels), [float(label in ranked) for label in labels]
    )


def report(rehearsal: Rehearsal) -> dict[str, Any]:
    """Compare both models: as a whole, over time, by groups of labels, and for single labels."""
    firsts = [np.array([one.first for one in results]) for results in rehearsal.both]
    n = firsts[0].size
    edges = np.linspace(0, n, 1 + max(1, min(WINDOWS, n // LEAST))).astype(int).tolist()
    windows = [
        {"from": begin + 1, "to": end} | compared(*(own[begin:end] for own in firsts))
        for begin, end in pairwise(edges)
    ]
    counts = Counter(label for own in rehearsal.labels for label in own)
    groups: list[dict[str, Any]] = []
    for least, most in GROUPS:
        members = {
            label
            for label, times in counts.items()
            if least <= times and (most is None or times <= most)
        }
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
    found = {
        "all": whole,
        "windows": windows,
        "groups": groups,
        "labels": labels[:SHOWN],
        "falls": falls,
    }
    return found | passing(rehearsal.passed)


def by_example(rehearsal: Rehearsal, members: set[Label]) -> tuple[np.ndarray[Any, Any], ...]:
    """Return, for each example with labels among these, the share of them that each model found."""
    values: dict[int, list[float]] = defaultdict(list)
    for n, labels in enumerate(rehearsal.labels):
        own = [i for i, label in enumerate(labels) if label in members]
        if own:
            for which, results in enumerate(rehearsal.both):
                values[which].append(sum(results[n].found[i] for i in own) / len(own))
    return np.array(values[0]), np.array(values[1])


def compared(present: np.ndarray[Any, Any], candidate: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Compare two means on the same examples, with the 95 % interval of their difference
    (paired bootstrap).
    """
    found = paired_bootstrap(candidate, present, resamples=RESAMPLES)
    low, high = found.interval or (found.difference, found.difference)
    return {
        "examples": int(present.size),
        "present": float(present.mean()),
        "candidate": float(candidate.mean()),
        "difference": found.difference,
        "low": float(low),
        "high": float(high),
    }


# A rehearsal under way: one at a time in a state directory, under a lock. A server runs it in a
# process of its own, which writes its progress to a file, so that every server of the directory can
# read it.


PROGRESS, LOCK = "rehearsing.json", "rehearsal.lock"
OFTEN = 0.5  # seconds between two reports of progress
TRIES = 10  # asking for the progress holds the lock for a moment
CUT_SHORT = "the last rehearsal ended before it was done; start it again"


def rehearsed(
    folder: Path,
    make: Callable[[Categorizer], tuple[Categorizer, int]],
    tell: Tell = lambda done, of: None,
) -> dict[str, Any]:
    """Rehearse a candidate, and keep it with the report, which is returned.

    ``make`` gives the candidate for the present model, and the number of bad records that it was
    not taught.
    """
    against = seal(folder / snapshots.BASE)  # first: a base that comes meanwhile does not fit
    present = opened(folder / snapshots.BASE)
    candidate, left_out = make(present)
    kept = candidate.copy()  # as it is before the journal
    found = report(rehearse(folder, present, candidate, tell)) | {"left_out": left_out}
    keep(folder, kept, found, against)
    return found


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the lock of rehearsals; refused while another is under way."""
    for _ in range(TRIES):
        with snapshots.only_one(folder, name=LOCK) as alone:
            if alone:
                yield
                return
        time.sleep(0.02)
    raise InputError(f"another rehearsal of {folder} is under way; wait until it is done")


def progress(folder: Path) -> dict[str, Any]:
    """Return how far the present rehearsal has come, or why the last one failed."""
    running = False
    if (folder / LOCK).exists():  # a folder that may only be read has none
        with snapshots.only_one(folder, name=LOCK) as alone:
            running = not alone
    try:
        told = json.loads((folder / PROGRESS).read_bytes())
        done, of, problem = told["done"], told["of"], told["problem"]
    except UNREADABLE:
        return {"running": None, "problem": None}
    if running:
        return {"running": {"done": done, "of": of}, "problem": None}
    return {"running": None, "problem": problem or CUT_SHORT}


def tell(folder: Path, done: int, of: int, problem: str | None = None) -> None:
    """Write down how far a rehearsal has come."""
    with whole_file(folder / PROGRESS) as file:
        file.write(json.dumps({"done": done, "of": of, "problem": problem}).encode())


def carried_out(
    folder: Path,
    learner: str | None,
    values: dict[str, Any],
    data: Path | None,
    server: int,
    skip_bad: bool = False,
) -> bool:
    """Rehearse in a process of its own; write down the progress and failures. Returns whether it
    succeeded.

    ``server``: the process that started this one; without it, this one ends.
    """
    last = 0.0

    def told(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= OFTEN:
            last = time.monotonic()
            if os.getppid() != server:
                sys.exit("the server that started this rehearsal is gone")
            tell(folder, done, of)

    def made(present: Categorizer) -> tuple[Categorizer, int]:
        candidate = candidate_like(present, learner, values)
        if data is None:
            return candidate, 0
        return candidate, taught(candidate, str(data), as_trained(present, str(data), skip_bad))

    try:
        rehearsed(folder, made, told)
        (folder / PROGRESS).unlink(missing_ok=True)
    except ShortlistError as problem:
        tell(
            folder,
            0,
            0,
            str(problem) if data is None else str(problem).replace(str(data), data.name),
        )
        return False
    return True


# Promoting a candidate, and going back.


def keep(folder: Path, candidate: Categorizer, report: dict[str, Any], base: str) -> None:
    """Keep a candidate that has learned nothing of the journal, with the report of its rehearsal
    and the base's seal.

    Nothing is promoted meanwhile, so that what is promoted is what was reported.
    """
    with snapshots.only_one(folder, waiting=True):
        candidate.save(folder / CANDIDATE)
        known: dict[str, Any] = {"base": base, "candidate": seal(folder / CANDIDATE)}
        known |= {"time": time.time(), "learner": candidate.describe()["learner"]}
        with whole_file(folder / REPORT) as file:
            file.write(
                json.dumps(known | {"report": report}, ensure_ascii=False, indent=1).encode()
            )


def last(folder: Path) -> dict[str, Any] | None:
    """Return what is known of the last candidate, and whether it still fits the base; None if
    there is none.
    """
    try:
        kept: dict[str, Any] = json.loads((folder / REPORT).read_bytes())
        sealed = {"base": seal(folder / snapshots.BASE), "candidate": seal(folder / CANDIDATE)}
        kept["fits"] = all(kept[what] == own for what, own in sealed.items())
        kept["report"]["falls"]
    except UNREADABLE:
        return None
    return kept


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
        kept = last(folder)
        if kept is None:
            raise InputError(
                f"there is no candidate in {folder}; make one with shortlist rehearse {folder}"
            )
        if not kept["fits"]:
            raise InputError(
                f"the candidate in {folder} was rehearsed against another model; rehearse it again"
            )
        falls: list[str] = kept["report"]["falls"]
        if falls and not force:
            raise InputError(
                f"the candidate falls for {', '.join(falls)}; force (--force) promotes it all the "
                "same"
            )
        passed = _put_in_place(folder, folder / CANDIDATE, force)
        (folder / REPORT).unlink()
        return kept["report"], passed


def go_back(folder: Path, force: bool = False, running: bool = False) -> dict[int, str]:
    """Serve the model from before the promotion again; going back twice returns to the promoted
    one.

    Returns the examples that it cannot learn, with the reasons; refused unless forced if there are
    any.
    """
    with _alone(folder, running):
        before, aside = folder / BEFORE, folder / ASIDE
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
    draft, base, current = folder / DRAFT, folder / snapshots.BASE, False
    with contextlib.closing(Journal(folder)) as journal:
        try:
            while not current:
                start = opened(source)
                with contextlib.closing(Replica(folder, read_only=True, start=start)) as learned:
                    learned.learn_all()
                    moment, version, passed = (
                        journal.seal(learned.version),
                        learned.version,
                        dict(learned.passed),
                    )
                    learned.model.save(draft)
                    with journal.held():
                        current = learned.learn_all()  # what came meanwhile
                        if current:
                            _check(learned.passed, force)
                            snapshots.copy(base, folder / BEFORE)
                            # it is older than the model from before now
                            if source != folder / ASIDE:
                                (folder / ASIDE).unlink(missing_ok=True)
                            for _, path in snapshots.listed(folder)[:-1]:
                                snapshots.remove(path)
                            os.replace(source, base)
                            if version.examples and moment is not None:
                                snapshot = snapshots.path_of(folder, version, moment)
                                snapshots.keep_passed(snapshot, passed)
                                os.replace(draft, snapshot)
            return learned.passed
        finally:
            draft.unlink(missing_ok=True)


def _check(passed: dict[int, str], force: bool) -> None:
    if passed and not force:
        number, why = next(iter(passed.items()))
        raise InputError(
            f"the model cannot learn {counted(len(passed), 'examples')} of the journal: "
            f"{listed(list(passed))} "
            f"({number}: {why}); force (--force) serves it all the same, without them"
        )


@contextlib.contextmanager
def _alone(folder: Path, running: bool) -> Iterator[None]:
    """Keep others from writing snapshots, and unless this is the ``running`` server, from
    serving the folder.
    """
    with contextlib.ExitStack() as held:
        if not running:
            snapshots.check_state(folder)
            held.enter_context(snapshots.lock(folder))
        if not held.enter_context(snapshots.only_one(folder)):
            raise InputError(
                f"a snapshot of {folder}, or a backup, is being written; try again in a minute"
            )
        yield


def seal(path: Path) -> str:
    """Return a checksum of a file that only changes as a whole; it is read once."""
    return _seal_of(path, identity_of(path))


@lru_cache(maxsize=8)
def _seal_of(path: Path, identity: tuple[int, ...]) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "blake2b").hexdigest()[:32]
