"""A model in memory that follows the journal.

Only the event loop's thread touches the model, one example at a time, so ranking waits at most for
one example to be learned. Long looks at the whole model run in another thread and hold ``reading``,
for which learning waits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from shortlist.data.label_input import Label
from shortlist.data.texts import Document, Vectors
from shortlist.errors import InputError
from shortlist.estimators import clone
from shortlist.models.categorizer import Categorizer
from shortlist.models.rules import Rules
from shortlist.server import snapshots
from shortlist.server.entries import Entry
from shortlist.server.journal import Basis, Journal, Version, base_identity
from shortlist.server.journal_errors import Conflict, OutOfDate
from shortlist.server.logs import log

PLACES = 5  # of the best labels, which the rolling measures look at
Result = TypeVar("Result")


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
        self.folder = folder
        self.read_only = read_only
        self._is_trial = start is not None or bool(without)
        self.journal = Journal(folder, read_only)
        self.journal.hidden = without
        self.reading = asyncio.Lock()
        self._rebuilding: asyncio.Task[None] | None = None
        try:
            self._load(start)
        except BaseException:
            self.journal.close()
            raise

    def _load(self, start: Categorizer | None) -> None:
        # first, so that a base that comes meanwhile is noticed later
        self._base = base_identity(self.folder)
        if start is None:
            loaded = snapshots.newest_good(self.folder, self.journal)
        else:
            now = Version(0, self.journal.version().undos)
            loaded = snapshots.Loaded(now, start, {}, [])
        self.version = loaded.version
        self.served = loaded.model
        self.model = cast("Categorizer", self.served)  # for routes that only models of texts have
        self.unlearnable = loaded.unlearnable  # examples that the model could not learn, and why
        self.snapshot_problems = loaded.problems
        self.find_newest_snapshot()
        if isinstance(self.served, Categorizer):
            if start is None:
                self.learn_all()
            self._number_labels = {
                str(label): label
                for label in self.model.classes_.tolist()
                if not isinstance(label, str)
            }

    def close(self) -> None:
        self.journal.close()

    def warm_up(self) -> None:
        """Compile or load the inner loops before the first request."""
        if isinstance(self.served, Categorizer):
            vector = None
            if self.served.n_vector_:
                vector = np.zeros(self.served.n_vector_, dtype=np.float32)
            model = clone(self.served)
            model.encoder = None  # an endpoint may be away
            model.learn("a first example", ["a label"], vector=vector)
            model.rank("example", vector=vector)
            self.rank("example", 1)
        else:
            self.served.answer_text("example")

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

    def find_newest_snapshot(self) -> None:
        """Look up the number of the last example in the newest snapshot, and its size."""
        for version, path in snapshots.snapshots_and_base(self.folder):
            with contextlib.suppress(FileNotFoundError):  # removed since it was listed
                self.bytes = path.stat().st_size
                self.snapshot = version.examples
                return

    # Following the journal.

    async def catch_up(self) -> Version:
        """Learn what is new in the journal, and forget what was undone."""
        now = self.journal.version()
        while self.version.examples < now.examples or self.version.undos < now.undos:
            async with self.reading:
                for _ in self._learn_up_to(now):
                    await asyncio.sleep(0)  # let others rank between two examples
            if self.version.undos < now.undos:
                await self._rebuilt()
        return now

    def learn_all(self, last: int | None = None) -> bool:
        """Learn everything up to now, or up to an example.

        Returns False if something that this model has learned was undone meanwhile.
        """
        now = self.journal.version()
        goal = now if last is None else Version(last, self.version.undos)
        for _ in self._learn_up_to(goal):
            pass
        return self.version.undos >= now.undos

    def is_current(self) -> bool:
        """Return whether this model began with the present base; another one may have been
        promoted.
        """
        return self._base == base_identity(self.folder)

    @property
    def basis(self) -> Basis:
        """The state that a request is checked against."""
        return Basis(self.version, self._base)

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

    def _learn_up_to(self, now: Version) -> Iterator[None]:
        """Learn up to a moment, yielding after each entry; stop if a learned one was undone."""
        if self.journal.undone_since(self.version) is None:
            self.version = Version(self.version.examples, max(now.undos, self.version.undos))
        while self.version.examples < now.examples:
            entries = self.journal.after(self.version.examples, now.examples)
            for entry in entries:
                if entry.number > self.version.examples:  # nothing else has learned it meanwhile
                    self._learn(entry)
                    yield
            if not entries:
                self.version = self.version._replace(examples=now.examples)

    def _learn(self, entry: Entry) -> None:
        try:
            entry.teach(self.model)
        except InputError as problem:  # no replica can learn any of it; /v1/model says why
            self.unlearnable[entry.number] = str(problem)
            if not self._is_trial:
                log("passed over an example", "warning", number=entry.number)
        self.version = self.version._replace(examples=entry.number)

    async def _rebuild(self) -> None:
        """Start again from the newest snapshot in front of the undone example; the old model
        ranks meanwhile.
        """
        fresh = await asyncio.to_thread(Replica, self.folder, self.read_only)
        await asyncio.to_thread(fresh.learn_all)  # what came meanwhile
        async with self.reading:
            fresh.learn_all()  # the rest, so that nothing acknowledged is missing for a moment
            self.version = fresh.version
            self.served = fresh.served
            self.model = fresh.model
            self.unlearnable = fresh.unlearnable
            self._base = fresh._base
            self._number_labels = fresh._number_labels
        fresh.close()

    # Reading.

    async def look(self, work: Callable[..., Result], *arguments: object) -> Result:
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

    def place(
        self, text: Document, labels: Collection[Label], vector: Vectors | None = None
    ) -> int | None:
        """Return the rank of the best of these labels; None if it is not among the first."""
        for place, (label, _) in enumerate(self.rank(text, PLACES, vector=vector), 1):
            if label in labels:
                return place
        return None

    def label(self, name: str) -> Label:
        """Return the label of a name: a number of that name, or the label that the vocabulary gives
        that name.

        Spaces around the name of a new label are removed: no file could keep them.
        """
        if not self.model.knows_label(name):
            name = name.strip()
        vocabulary = self.model.vocabulary_
        is_known = name in self._number_labels or self.model.knows_label(name)
        if vocabulary is not None and not is_known:
            name = vocabulary.of_name(name) or name
        return self._number_labels.get(name, name)


def check_not_needed(trial: Replica, unlearnable: Collection[int], journal: Journal) -> None:
    """Refuse to undo examples without which others could not be learned.

    ``trial``: a model without them; ``unlearnable``: examples that cannot be learned anyway.
    """
    if not trial.learn_all():
        raise OutOfDate("something else was taken back meanwhile; try again")
    lost = [number for number in trial.unlearnable if number not in unlearnable]
    if lost:
        examples = in_words(lost)
        raise Conflict(
            f"without it the model could not learn {examples} ({trial.unlearnable[lost[0]]}); "
            f"take back {examples} first"
        )


def in_words(numbers: Sequence[int], most: int = 5) -> str:
    """Return the first few of some examples in words: examples 3, 4 and 7 more."""
    words = "example " if len(numbers) == 1 else "examples "
    words += ", ".join(map(str, numbers[:most]))
    if len(numbers) > most:
        words += f" and {len(numbers) - most} more"
    return words


def unlearnable_answer(unlearnable: dict[int, str], most: int = 100) -> dict[str, Any]:
    """Return how many examples cannot be learned, and why the first of them cannot."""
    first = [
        {"number": number, "problem": why} for number, why in islice(unlearnable.items(), most)
    ]
    return {"passed_over": len(unlearnable), "passed": first}
