"""A server as its routes see it: the model, the journal, the queue, and who asks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import numpy as np
from starlette.exceptions import HTTPException

from shortlist.data.texts import Document, Vectors, as_documents, as_vectors
from shortlist.encoders import EndpointError
from shortlist.models.encoding import encoded, with_vectors
from shortlist.server.entries import of_one_kind
from shortlist.server.journal import Journal
from shortlist.server.journal_errors import as_conflict
from shortlist.server.journal_history import History
from shortlist.server.journal_writer import JournalWriter
from shortlist.server.label_names import LabelNames
from shortlist.server.middleware import Metrics
from shortlist.server.people import ASKING
from shortlist.server.queue_order import AsyncQueue, gains
from shortlist.server.replica import Replica
from shortlist.server.settings import ServerSettings

Result = TypeVar("Result")


class ServerContext:
    """What the routes of a server share."""

    def __init__(self, replica: Replica, settings: ServerSettings) -> None:
        self.replica = replica
        self.settings = settings
        self.metrics = Metrics()
        self.history = History(replica.journal)
        self.labels = LabelNames(replica)
        self._writer: JournalWriter | None = None
        self._queue: AsyncQueue | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Begin to serve: open the journal and the queue for writing, unless the server is
        read-only.
        """
        folder = self.settings.folder
        if not self.settings.read_only:
            self._writer = JournalWriter(folder)
            self._queue = AsyncQueue(
                folder, lambda texts: gains(self.replica.model, self.as_ordered(texts))
            )

    def start_task(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task beside the requests, until the server ends."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Finish what was asked for, and end the tasks beside it."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._queue is not None:
            self._queue.close()
        if self._writer is not None:
            self._writer.close()
        self.replica.close()

    @property
    def person(self) -> str:
        """The name of the person who asks; empty if the server does not know people."""
        return ASKING.get().name

    def writer(self) -> JournalWriter:
        """Return the writer of the journal; refused if the server is read-only."""
        if self._writer is None:
            raise HTTPException(
                403, "this server is read-only: it ranks and explains, and does not learn"
            )
        return self._writer

    def queue(self) -> AsyncQueue:
        """Return the queue; refused if the server is read-only."""
        if self._queue is None:
            raise HTTPException(
                403, "this server is read-only: it ranks and explains, and has no queue"
            )
        return self._queue

    async def look_back(self, work: Callable[[Journal], Result]) -> Result:
        """Run a long look at the journal in another thread, over a connection of its own."""

        def look() -> Result:
            with contextlib.closing(Journal(self.replica.folder, read_only=True)) as journal:
                return work(journal)

        return await asyncio.to_thread(look)

    def vectors(self, texts: Sequence[Document], sent: Sequence[Any] | None) -> Vectors | None:
        """Return the vectors of texts, sent or made by the encoder; None if the model has
        learned none.
        """
        encoder = self.settings.encoder
        if sent is not None:
            with as_conflict():  # if the model does not allow them
                texts = with_vectors(texts, as_vectors(sent, len(texts)))
                return self.replica.model.vectors_of_texts(texts)
        if not self.replica.model.n_vector_:
            return None
        if encoder is not None and texts:
            return encoded(encoder, as_documents(texts))
        with as_conflict():
            return self.replica.model.vectors_of_texts(texts)

    def vector(self, text: Document, sent: list[float] | None) -> Vectors | None:
        """Return the vector of one text."""
        vectors = self.vectors([text], None if sent is None else [sent])
        return None if vectors is None else vectors[0]

    def as_ranked(self, texts: Sequence[Document]) -> Sequence[Any]:
        """Return texts of the queue as the model ranks them: of one kind, with vectors if it
        has learned any.
        """
        documents = of_one_kind(texts, self.replica.model.fields_)
        return with_vectors(documents, self.vectors(documents, None))

    def as_ordered(self, texts: Sequence[Document]) -> Sequence[Any]:
        """Return texts as ``as_ranked`` does; with vectors of zeros while an endpoint is away,
        as the queue needs an order anyway.
        """
        try:
            return self.as_ranked(texts)
        except EndpointError:
            model = self.replica.model
            documents = of_one_kind(texts, model.fields_)
            zeros = np.zeros((len(texts), model.n_vector_), dtype=np.float32)
            return with_vectors(documents, zeros)
