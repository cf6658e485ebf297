"""What the routes share: the model that they ask, the journal that they write to, and what is counted."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from starlette.exceptions import HTTPException

from shortlist.arrays.given_labels import Label
from shortlist.errors import InputError
from shortlist.models.base import Model
from shortlist.models.categorizer import Categorizer
from shortlist.models.encoding import encoded, with_vectors
from shortlist.server.documents import alike
from shortlist.server.journal import Check, Example, Journal, Moved, MustTry, Receipt, Writer, nothing_needs
from shortlist.server.metrics import Metrics, Speedometer
from shortlist.server.people import ASKING
from shortlist.server.queue_order import Handing, gains
from shortlist.server.replica import Replica, check_not_needed
from shortlist.server.settings import Limits, Settings
from shortlist.texts.fields import Document, Vectors, as_documents, as_vectors

Found = TypeVar("Found")


class Context:
    """One process of a server, as its routes see it."""

    def __init__(self, replica: Replica, settings: Settings) -> None:
        self.replica, self.settings = replica, settings
        self.metrics, self.speed = Metrics(), Speedometer()
        self._writer: Writer | None = None
        self._queue: Handing | None = None
        self._beside: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Begin to serve: a server that learns writes to the journal."""
        if not self.settings.read_only:
            self._writer = Writer(self.settings.folder)
            self._queue = Handing(self.settings.folder, self.gains)

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done beside the requests, until the server ends."""
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def close(self) -> None:
        """Finish what was asked for, and end what goes on beside it."""
        beside = list(self._beside)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        for one in (self._queue, self._writer):
            if one is not None:
                one.close()
        self.replica.close()

    @property
    def limits(self) -> Limits:
        return self.settings.limits

    @property
    def served(self) -> Model[Any]:
        """The model as it is now, of whatever kind."""
        return self.replica.served

    @property
    def model(self) -> Categorizer:
        """The same for routes of texts; taking an example back puts another in its place."""
        return self.replica.model

    @property
    def person(self) -> str:
        """The name of who asks; empty where the server knows nobody by name."""
        return ASKING.get().name

    async def look_back(self, work: Callable[[Journal], Found]) -> Found:
        """Have a long look at the journal in another thread, by a connection of its own."""

        def look() -> Found:
            journal = Journal(self.replica.folder, read_only=True)
            try:
                return work(journal)
            finally:
                journal.close()

        return await asyncio.to_thread(look)

    def vectors(self, texts: Sequence[Document], given: Sequence[Any] | None) -> Vectors | None:
        """The vectors of texts as the model takes them, given or made by the encoder; None if it has learned none."""
        model, encoder = self.model, self.settings.encoder
        if given is None and not model.n_vector_:
            return None
        if given is None and encoder is not None and texts:
            return encoded(encoder, as_documents(texts))
        try:
            return model._vectors_of(with_vectors(texts, None if given is None else as_vectors(given, len(texts))))
        except InputError as problem:  # the question can be read; it is the model that does not allow it
            raise HTTPException(409, str(problem)) from None

    def gains(self, texts: Sequence[Document]) -> list[float]:
        """What judgements of texts would gain."""
        found: list[float] = gains(self.model, self.ready(texts)).tolist()
        return found

    def ready(self, texts: Sequence[Document]) -> Sequence[Any]:
        """Texts of the queue as the model ranks them: of one kind, with vectors where it has learned any."""
        documents = alike(texts, self.model.fields_)
        return with_vectors(documents, self.vectors(documents, None))

    def vector(self, text: Document, given: list[float] | None) -> Vectors | None:
        """That of one text."""
        found = self.vectors([text], None if given is None else [given])
        return None if found is None else found[0]

    def writer(self) -> Writer:
        """For who may change the model."""
        if self._writer is None:
            raise HTTPException(403, "this server is read-only: it ranks and explains, and does not learn")
        return self._writer

    def checked(self, examples: list[Example]) -> list[Example]:
        """The examples; labels that the model does not take are refused, unless it has learned the example before."""
        judged = zip(*((one.labels, one.wrong, one.complete) for one in examples), strict=True)
        try:
            self.model.check_labels(*map(list, judged))
        except InputError as problem:
            new = [one for one in examples if not self.replica.journal.has_key(one.key)]
            if len(new) < len(examples):  # the others are only sent again
                if new:
                    self.checked(new)
                return examples
            if any(one.wrong or not one.complete for one in examples):  # which the question allows, but not the model
                raise HTTPException(409, str(problem)) from None
            raise
        return examples

    async def appended(self, checked: Callable[[], Sequence[Example]]) -> list[Receipt]:
        """Have examples written that the model takes at the moment of the commit, and learned; ``checked`` gives them.

        It is asked again where labels have changed between its answer and the commit; and once where it refuses, as the
        model of this process may be behind what another has acknowledged.
        """
        writer, refused = self.writer(), False
        while True:
            try:
                receipts = await writer.append(checked(), self.replica.seen)
                break
            except Moved:
                await self.replica.follow()
            except (InputError, HTTPException):
                if refused:
                    raise
                refused = True
                await self.replica.follow()
        await self.replica.catch_up()
        self.metrics.learned.inc(sum(receipt.new for receipt in receipts))
        return receipts

    async def undone(self, numbers: Sequence[int], undo: Callable[[Check], Awaitable[Found]]) -> Found:
        """Have examples taken back, unless the model could not learn others without them; and forgotten."""
        while True:
            try:
                found = await self._tried(numbers, undo)
                break
            except Moved:
                await self.replica.follow()
        await self.replica.catch_up()
        return found

    async def _tried(self, numbers: Sequence[int], undo: Callable[[Check], Awaitable[Found]]) -> Found:
        with contextlib.suppress(MustTry):
            return await undo(partial(nothing_needs, numbers))
        known = set(self.replica.passed)
        trial = await asyncio.to_thread(partial(Replica, self.settings.folder, True, without=numbers, quiet=True))
        try:
            return await undo(partial(check_not_needed, trial, known))
        finally:
            trial.close()

    def queue(self) -> Handing:
        """For who may judge."""
        if self._queue is None:
            raise HTTPException(403, "this server is read-only: it ranks and explains, and has no queue")
        return self._queue

    def named(self, label: Label) -> dict[str, Any]:
        """A label and, where a vocabulary says so, its name."""
        vocabulary = self.model.vocabulary_
        return {"label": label} if vocabulary is None else {"label": label, "name": vocabulary.name(label)}

    def check_known(self, names: Sequence[str]) -> None:
        """Refuse rules that name labels which nobody knows: a rule with a slip in it would leave nothing, or all."""
        model = self.model
        for name in names:
            if not model._knows(self.replica.label(name)) and name not in (model.vocabulary_ or ()):
                said = f"a rule names {name!r}, which is not a label that was learned; look for it at /v1/labels"
                raise HTTPException(409, said)

    def known_label(self, name: str) -> Label:
        """The label of that name, which must have been learned."""
        label = self.replica.label(name)
        if not self.model._knows(label):  # retired ones are known: they can be restored
            raise HTTPException(404, f"the label {name!r} has not been learned")
        return label
