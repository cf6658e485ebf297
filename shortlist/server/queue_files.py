"""The texts of files, for the queue. Labels in a file are ignored: people judge."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

from shortlist.data.texts import Document, Fielded
from shortlist.errors import InputError
from shortlist.inputs import Examples, Stream, read
from shortlist.inputs.source import Option, TooLarge
from shortlist.models.model import Model
from shortlist.server.entries import RESERVED_FIELDS, written_document

# a small compressed file may hold very much
DECOMPRESSED = 2  # bytes of a file for each character of text that it may hold
LEAST_BYTES = 1 << 20
LEAST_COUNTED = 100  # characters that each text counts as: short and empty ones take time, too


def texts_in(source: str, batches: Iterable[Examples]) -> Iterator[Document]:
    """Yield the texts of batches of examples, or documents if they have several fields."""
    for batch in batches:
        texts = batch.texts
        if texts is None:
            raise InputError(f"{source} has no texts; name their column, or another format")
        if not isinstance(texts, Fielded):
            yield from map(str, texts)
            continue
        reserved = {*texts.texts, *texts.values}.intersection(RESERVED_FIELDS)
        if reserved:
            raise InputError(
                f"{source}: a field cannot be called {min(reserved)}, which an export has beside "
                "the fields"
            )
        yield from texts


def columns_of(model: Model[Any]) -> list[str] | None:
    """Return the named columns of texts that a model was trained from: its fields, or one
    column.
    """
    columns = getattr(model, "training_columns_", None) or {}
    return model.fields_ or columns.get("text_column")


def texts_of_file(
    content: bytes,
    name: str,
    format: str | None,
    column: str | None,
    known_columns: list[str] | None,
    most: int,
) -> list[Document]:
    """Return the texts of a sent file, at most ``most`` characters; its name helps to recognise its
    format.

    They are in the named column, or else in those that the model knows, if the file has them.
    """

    def read_as(**options: Any) -> list[Document]:
        file = BytesIO(content)
        file.name = name
        return _at_most(most, name, read(file, format, **options))

    if column is not None:
        return read_as(text=column)
    try:
        return read_as(prefer=preferring(known_columns))
    except TooLarge:
        raise
    except InputError:
        with contextlib.suppress(InputError):
            return read_as()
        raise


def preferring(known_columns: list[str] | None) -> dict[str, Option]:
    """Return known columns of texts as an option of ``read``."""
    if not known_columns:
        return {}
    return {"text": known_columns[0] if len(known_columns) == 1 else known_columns}


def _at_most(most: int, name: str, batches: Stream) -> list[Document]:
    batches.progress.most_bytes = max(DECOMPRESSED * most, LEAST_BYTES)
    texts: list[Document] = []
    n_characters = 0
    for text in texts_in(name, batches):
        n_characters += max(LEAST_COUNTED, len(written_document(text)[0]))
        if n_characters > most:
            raise TooLarge(
                f"{name} holds more than {most:,} characters of text, each text counted as "
                f"{LEAST_COUNTED} or more; send it in parts"
            )
        texts.append(text)
    return texts
