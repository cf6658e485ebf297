"""The texts of files, for the queue. Labels in a file are ignored: people judge."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any

from shortlist.data.texts import Document, Fielded
from shortlist.errors import InputError
from shortlist.inputs import Examples, Stream, read
from shortlist.inputs.source import Option, TooLarge
from shortlist.inputs.tables import ALL_OTHERS
from shortlist.models.model import Model
from shortlist.server.entries import RESERVED_FIELDS, written_document

LONGEST_CELL = 1000  # characters of a cell that is kept beside a text
# a small compressed file may hold very much
DECOMPRESSED = 2  # bytes of a file for each character of text that it may hold
LEAST_BYTES = 1 << 20
LEAST_COUNTED = 100  # characters that each text counts as: short and empty ones take time, too

Kept = dict[str, str]  # the kept columns of a row


def texts_in(source: str, batches: Iterable[Examples]) -> Iterator[tuple[Document, Kept]]:
    """Yield the texts of batches of examples, or documents if they have several fields, each with
    the kept columns of its row.
    """
    for batch in batches:
        kept = [{}] * len(batch) if batch.kept is None else [_short(row) for row in batch.kept]
        yield from zip(_documents(source, batch), kept, strict=True)


def _short(row: Kept) -> Kept:
    return {name: cell[:LONGEST_CELL] for name, cell in row.items() if cell}


def _documents(source: str, batch: Examples) -> Iterator[Document]:
    texts = batch.texts
    if texts is None:
        raise InputError(f"{source} has no texts; name their column, or another format")
    if not isinstance(texts, Fielded):
        yield from map(str, texts)
        return
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
    keep: Sequence[str] = (),
) -> list[tuple[Document, Kept]]:
    """Return the texts of a sent file, at most ``most`` characters, with the columns to keep; its
    name helps to recognise its format.

    They are in the named column, or else in those that the model knows, if the file has them.
    """

    def read_as(**options: Any) -> list[tuple[Document, Kept]]:
        file = BytesIO(content)
        file.name = name
        if keep == [ALL_OTHERS]:  # where the format has columns
            options["prefer"] = options.get("prefer", {}) | {"keep": ALL_OTHERS}
        elif keep:
            options["keep"] = list(keep)
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


def _at_most(most: int, name: str, batches: Stream) -> list[tuple[Document, Kept]]:
    batches.progress.most_bytes = max(DECOMPRESSED * most, LEAST_BYTES)
    texts: list[tuple[Document, Kept]] = []
    n_characters = 0
    for text, row in texts_in(name, batches):
        n_letters = len(written_document(text)[0]) + sum(map(len, row.values()))
        n_characters += max(LEAST_COUNTED, n_letters)
        if n_characters > most:
            raise TooLarge(
                f"{name} holds more than {most:,} characters of text, each text counted as "
                f"{LEAST_COUNTED} or more; send it in parts"
            )
        texts.append((text, row))
    return texts
