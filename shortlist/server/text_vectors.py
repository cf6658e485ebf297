"""Vectors of the texts of requests, where an endpoint may be asked for them.

It is asked in another thread, so that the server goes on. If it does not answer, texts are ranked
by their words alone, and the answer says so; nothing is learned or decided without vectors.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.data.texts import Document, Vectors, WithVectors
from shortlist.encoders import EndpointError
from shortlist.models.encoding import asks_endpoint
from shortlist.server.context import ServerContext
from shortlist.server.entries import of_one_kind
from shortlist.server.logs import log

BY_WORDS = "ranked by words alone, as the encoder does not answer"  # the log says why
SECONDS_BETWEEN_LOGS = 60.0
_logged_at = -SECONDS_BETWEEN_LOGS


async def vectors_to_learn(
    context: ServerContext, texts: Sequence[Document], sent: Sequence[Any] | None
) -> Vectors | None:
    """The vectors of texts, sent or made by the encoder; None if the model has learned none."""
    if sent is None and asks_endpoint(context.settings.encoder or context.replica.model.encoder):
        return await asyncio.to_thread(context.vectors, texts, None)
    return context.vectors(texts, sent)


async def vector_to_learn(
    context: ServerContext, text: Document, sent: list[float] | None
) -> Vectors | None:
    """The vector of one text, as ``vectors_to_learn`` has those of many."""
    vectors = await vectors_to_learn(context, [text], None if sent is None else [sent])
    return None if vectors is None else vectors[0]


async def vectors_to_rank(
    context: ServerContext, texts: Sequence[Document], sent: Sequence[Any] | None
) -> tuple[Vectors | None, str | None]:
    """The vectors of texts, and None; or zeros, and why they are ranked by words alone."""
    try:
        return await vectors_to_learn(context, texts, sent), None
    except EndpointError as problem:
        log_by_words(problem)
        zeros = np.zeros((len(texts), context.replica.model.n_vector_), dtype=np.float32)
        return zeros, BY_WORDS


async def documents_to_rank(context: ServerContext, texts: Sequence[Document]) -> Sequence[Any]:
    """Texts as the model ranks them: of one kind, with vectors if it has learned any."""
    model = context.replica.model
    documents: Sequence[Any] = of_one_kind(texts, model.fields_)
    if model.n_vector_ and documents:
        vectors, _ = await vectors_to_rank(context, texts, None)
        assert vectors is not None
        documents = WithVectors(documents, vectors)
    return documents


def log_by_words(problem: EndpointError) -> None:
    """Log that an endpoint cannot be asked, once a minute."""
    global _logged_at
    if time.monotonic() >= _logged_at + SECONDS_BETWEEN_LOGS:
        _logged_at = time.monotonic()
        log("ranking by words alone", "warning", problem=str(problem))
