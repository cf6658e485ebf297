"""Files of any format that examples are read from, to texts. Labels that a file has are left alone: people judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any, BinaryIO

from shortlist.errors import InputError
from shortlist.inputs import Examples, read
from shortlist.inputs.format import Option
from shortlist.models.base import Model
from shortlist.server.documents import kept
from shortlist.texts.fields import Document, Fielded


def texts_in(source: str, batches: Iterable[Examples]) -> Iterator[Document]:
    """The texts of batches of examples, or documents where they have several fields."""
    for batch in batches:
        if batch.texts is None:
            raise InputError(f"{source} has no texts; name their column, or another format")
        texts = batch.texts
        yield from (texts if isinstance(texts, Fielded) else map(str, texts))


def columns_of(model: Model[Any]) -> list[str] | None:
    """The columns of texts that a model was trained from, where they have names: its fields, or the one column."""
    return model.fields_ or (getattr(model, "_trained_from", None) or {}).get("text_column")


def texts_of_file(
    content: bytes, name: str, format: str | None, column: str | None, known: list[str] | None, most: int
) -> list[Document]:
    """The texts of a file that was sent, of ``most`` characters in all; its name helps to recognise its format.

    They are in the column that is named, or else in those that the model knows, if the file has them.
    """
    if column is not None:
        return _at_most(most, name, read(_named(content, name), format, text=column))
    try:
        return _at_most(most, name, read(_named(content, name), format, prefer=preferring(known)))
    except InputError:
        with suppress(InputError):
            return _at_most(most, name, read(_named(content, name), format))
        raise


def preferring(known: list[str] | None) -> dict[str, Option]:
    """These columns of texts, as ``read`` is told."""
    return {"text": known[0] if len(known) == 1 else known} if known else {}


def _at_most(most: int, name: str, batches: Iterable[Examples]) -> list[Document]:
    texts: list[Document] = []
    held = 0
    for one in texts_in(name, batches):
        held += len(kept(one)[0])
        if held > most:  # a small file may hold very much once it is unpacked
            raise InputError(f"{name} holds more than {most:,} characters of text; send it in parts")
        texts.append(one)
    return texts


def _named(content: bytes, name: str) -> BinaryIO:
    file = BytesIO(content)
    file.name = name
    return file
