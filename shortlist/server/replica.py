"""A model in memory that follows the journal, and the tasks that run beside the requests of a
server.

Only the event loop's thread touches the model, one example at a time, so ranking waits at most for
one example to be learned. Long looks at the whole model run in another thread and hold ``reading``,
for which learning waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import clone

from shortlist.data.label_input import Label
from shortlist.data.texts import Document, Vectors
from shortlist.errors import InputError, ShortlistError
from shortlist.models.categorizer import Categorizer
from shortlist.models.label_changes import Change
from shortlist.models.rules import Rules
from shortlist.server import snapshots
from shortlist.server.journal import (
    Conflict,
    Example,
    Journal,
    JournalError,
    Moved,
    Seen,
    Version,
    identity,
)
from shortlist.server.middleware import Metrics
from shortlist.server.settings import Settings, log, log_failure

FIRST = 5  # labels that the rolling measures look at

Found = TypeVar("Found")


class Replica:
    """The model of a state directory, up to some moment of its journal."""

    def __init__(
        self,
        folder: Path,
        read_only: bool = False,
        without: Collection[int] = (),
        start: Categorizer | None = None,
    ) -> None:
        """``without``: examples to leave out, as if they had been undone.

        ``start``: a model that has learned nothing of the journal; else the newest snapshot and
        what came after it.
        """
        self.folder, self.read_only, self._start = folder, read_only, start
        self._is_trial = start is not None or bool(without)
        self.journal = Journal(folder, read_only)
        self.journal.hidden = without
        self.passed: dict[int, str] = {}  # examples that the model could not learn, and why
        self.reading = asyncio.Lock()
        self._rebuilding: asyncio.Task[None] | None = None
        try:
            self._load()
        except BaseException:
            self.journal.close()
            raise

    def _load(self) -> None:
        # first, so that a base that comes meanwhile is noticed later
        self._base = identity(self.folder)
        self.problems: list[str] = []  # with snapshots
        if self._start is None:
            found = snapshots.newest_good(self.folder, self.journal)
            self.version, self.served, self.passed, self.problems = found
        else:
            self.version, self.served = Version(0, self.journal.version().undos), self._start
        self.model = cast("Categorizer", self.served)  # for routes that only models of texts have
        self.see_snapshots()
        if isinstance(self.served, Categorizer):
            if self._start is None:
                self.learn_all()
            self._numbers = {
                str(name): name
                for name in self.model.classes_.tolist()
                if not isinstance(name, str)
            }

    def close(self) -> None:
        self.journal.close()

    def warm_up(self) -> None:
        """Compile or load the inner loops before the first request."""
        model = self.served
        if isinstance(model, Categorizer):
            clone(model).learn("a first example", ["a label"]).rank("example")
            self.rank("example", 1)
        else:
            model.answer_text("example")

    def check_can_learn(self) -> None:
        """Refuse a model that cannot go on learning, or not from the journal."""
        learner = self.served.describe()["learner"]
        if not isinstance(self.served, Categorizer):
            raise InputError(
                f"{learner} does not learn labels of texts, which the journal holds; serve it with "
                "--read-only"
            )
        if not self.served.can_learn:
            raise InputError(f"{learner} cannot go on learning; serve it with --read-only")

    def see_snapshots(self) -> None:
        """Look up the number of the last example in the newest snapshot, and its size."""
        for version, path in snapshots.listed(self.folder):
            with contextlib.suppress(FileNotFoundError):  # removed since it was listed
                self.snapshot, self.bytes = version.examples, path.stat().st_size
                return

    # Following the journal.

    async def catch_up(self) -> Version:
        """Learn what is new in the journal, and forget what was undone."""
        now = self.journal.version()
        while self.version.examples < now.examples or self.version.undos < now.undos:
            async with self.reading:
                for _ in self._steps(now):
                    await asyncio.sleep(0)  # let others rank between two examples
            if self.version.undos < now.undos:
                await self._rebuilt()
        return now

    def learn_all(self, last: int | None = None) -> bool:
        """Learn everything up to now, or up to an example.

        Returns False if something that this model has learned was undone meanwhile.
        """
        now = self.journal.version()
        for _ in self._steps(now if last is None else Version(last, self.version.undos)):
            pass
        return self.version.undos >= now.undos

    def is_current(self) -> bool:
        """Return whether this model began with the present base; another one may have been
        promoted.
        """
        return self._base == identity(self.folder)

    @property
    def seen(self) -> Seen:
        """The state that a request is checked against."""
        return Seen(self.version, self._base)

    async def follow(self) -> None:
        """Catch up, also if another base was promoted; the old model ranks meanwhile."""
        if not self.is_current():
            await self._rebuilt()
        await self.catch_up()

    async def _rebuilt(self) -> None:
        if self._rebuilding is None or self._rebuilding.done():
            self._rebuilding = asyncio.create_task(self._rebuild())
        # one for all that wait; it goes on when they give up
        await asyncio.shield(self._rebuilding)

    def _steps(self, now: Version) -> Iterator[None]:
        """Learn up to a moment, yielding after each example; stop if a learned example was
        undone.
        """
        if self.journal.undone_since(self.version) is None:
            self.version = Version(self.version.examples, max(now.undos, self.version.undos))
        while self.version.examples < now.examples:
            entries = self.journal.after(self.version.examples, now.examples)
            for lesson in entries:
                number = lesson.number
                if number > self.version.examples:  # nothing else has learned it meanwhile
                    try:
                        teach(self.model, lesson)
                    except InputError as problem:  # no replica can learn any of it
                        self.passed[number] = str(problem)
                        if not self._is_trial:
                            # /v1/model says why
                            log("passed over an example", "warning", number=number)
                    self.version = self.version._replace(examples=number)
                    yield
            if not entries:
                self.version = self.version._replace(examples=now.examples)

    async def _rebuild(self) -> None:
        """Start again from the newest snapshot before the undone example; the old model ranks
        meanwhile.
        """
        fresh = await asyncio.to_thread(Replica, self.folder, self.read_only)
        await asyncio.to_thread(fresh.learn_all)  # what came meanwhile
        async with self.reading:
            fresh.learn_all()  # the rest, so that nothing acknowledged is missing for a moment
            self.version, self.served, self.model = fresh.version, fresh.served, fresh.model
            self.passed, self._base, self._numbers = fresh.passed, fresh._base, fresh._numbers
        fresh.close()

    # Reading.

    async def look(self, work: Callable[..., Found], *arguments: object) -> Found:
        """Run ``work(model, *arguments)`` in another thread, for a long look at the model."""
        await self.reading.acquire()
        looking = asyncio.get_running_loop().run_in_executor(None, work, self.model, *arguments)
        looking.add_done_callback(lambda _: self.reading.release())
        return await asyncio.shield(looking)

    def rank(
        self, text: Document, k: int, rules: Rules | None = None, vector: Vectors | None = None
    ) -> list[tuple[Any, float]]:
        """Return the best labels of a text; by its words alone if it has no vector."""
        if vector is None and self.model.n_vector_:
            vector = np.zeros(self.model.n_vector_, dtype=np.float32)
        return list(self.model.rank(text, k, rules, vector=vector))

    def place(self, text: Document, labels: list[Any], vector: Vectors | None = None) -> int | None:
        """Return the rank of the best of these labels; None if it is not among the first."""
        for place, (label, _) in enumerate(self.rank(text, FIRST, vector=vector), 1):
            if label in labels:
                return place
        return None

    def label(self, name: str) -> Label:
        """Return the label of a name: a number of that name, or the label that the vocabulary gives
        that name.

        Spaces around the name of a new label are removed: no file could keep them.
        """
        vocabulary = self.model.vocabulary_
        name = name if self.model.knows_label(name) else name.strip()
        if (
            name not in self._numbers
            and vocabulary is not None
            and not self.model.knows_label(name)
        ):
            name = vocabulary.of_name(name) or name
        return self._numbers.get(name, name)


def teach(model: Categorizer, lesson: Example) -> None:
    """Have a model learn one example, or change its labels."""
    if isinstance(lesson.labels, dict):
        model.change_labels(Change.of(lesson.labels))
    else:
        model.learn(lesson.text, lesson.labels, lesson.wrong, lesson.complete, vector=lesson.vector)


def check_not_needed(trial: Replica, known: Collection[int], journal: Journal) -> None:
    """Refuse to undo examples without which others could not be learned.

    ``trial``: a model without them; ``known``: examples that cannot be learned anyway.
    """
    if not trial.learn_all():
        raise Moved("something else was taken back meanwhile; try again")
    lost = [number for number in trial.passed if number not in known]
    if lost:
        raise Conflict(
            f"without it the model could not learn {listed(lost)} ({trial.passed[lost[0]]}); take "
            "back "
            f"{listed(lost)} first"
        )


def listed(numbers: Sequence[int], most: int = 5) -> str:
    """Return the first few of some examples in words."""
    first, more = ", ".join(map(str, numbers[:most])), len(numbers) - most
    return f"example{'s' * (len(numbers) > 1)} {first}{f' and {more} more' if more > 0 else ''}"


def passing(passed: dict[int, str], most: int = 100) -> dict[str, Any]:
    """Return how many examples cannot be learned, and why the first of them cannot."""
    first = [{"number": number, "problem": why} for number, why in islice(passed.items(), most)]
    return {"passed_over": len(passed), "passed": first}


# Tasks beside the requests.


async def keep_following(replica: Replica, settings: Settings, metrics: Metrics) -> None:
    """Take up what another server has learned, and what was promoted."""
    told = ""
    while True:
        await asyncio.sleep(settings.refresh)
        try:
            metrics.behind.set(replica.journal.version().examples - replica.version.examples)
            await replica.follow()
            told = ""
        except Exception as problem:
            if repr(problem) != told:  # once, not every second
                told = repr(problem)
                if isinstance(problem, JournalError):
                    log("cannot follow the journal", "error", problem=str(problem))
                else:
                    log_failure("cannot follow the journal", problem)
            await asyncio.sleep(1)


async def keep_snapshots(replica: Replica, settings: Settings, metrics: Metrics) -> None:
    """Have a snapshot written when enough examples are new, or when any is and enough time has
    passed.
    """
    written, at = replica.version, time.monotonic()
    while True:
        await asyncio.sleep(min(1.0, settings.snapshot_seconds))
        new = replica.version.examples - written.examples
        late = time.monotonic() - at >= settings.snapshot_seconds
        if new >= settings.snapshot_examples or (late and replica.version != written):
            written, at = replica.version, time.monotonic()
            if await in_a_process(write_snapshot, settings.folder):
                metrics.snapshots.labels("written").inc()
                replica.see_snapshots()
                log("snapshot", example=replica.snapshot, bytes=replica.bytes)
            else:
                metrics.snapshots.labels("failed").inc()
                log("snapshot failed", "error", folder=str(settings.folder))


def write_snapshot(folder: Path) -> Path | None:
    """Write a snapshot of the journal as it is now; None if nothing is new. It waits for a
    promotion to end.
    """
    with snapshots.only_one(folder, waiting=True), contextlib.closing(Replica(folder)) as replica:
        seal = replica.journal.seal(replica.version)
        assert seal is not None, "the model has learned what the journal holds"
        path = snapshots.path_of(folder, replica.version, seal)
        if replica.version.examples == 0 or path.exists():
            return None
        snapshots.keep_passed(path, replica.passed)
        replica.model.save(path)
        snapshots.remove_old(folder, replica.journal)
        return path


async def in_a_process(work: Callable[..., object], *given: object) -> bool:
    """Run work in a process, which ends with this task. Returns whether it succeeded."""
    process = multiprocessing.get_context("spawn").Process(
        target=_gently, args=(work, *given), daemon=True
    )
    process.start()
    try:
        while process.is_alive():
            await asyncio.sleep(0.05)
    finally:
        if process.is_alive():
            process.terminate()
        process.join()
    return process.exitcode == 0


def _gently(work: Callable[..., object], *given: object) -> None:
    """Run work at low priority; exit with code 1 if it fails or returns False."""
    os.nice(5)
    # Ctrl-C is for the server, which ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        failed = work(*given) is False
    except ShortlistError as problem:
        log("failed in the background", "error", work=work.__name__, problem=str(problem))
        failed = True
    sys.exit(failed)
