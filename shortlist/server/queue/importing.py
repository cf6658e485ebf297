"""Files of any format that examples are read from, to texts. Labels that a file has are left alone: people judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import BinaryIO

from shortlist.errors import InputError
from shortlist.inputs import Examples, read
from shortlist.inputs.format import Option
from shortlist.server.documents import kept
from shortlist.texts.fields import Document, Fielded


def texts_in(source: str, batches: Iterable[Examples]) -> Iterator[Document]:
    """The texts of batches of examples, or documents where they have several fields."""
    for batch in batches:
        if batch.texts is None:
            raise InputError(f"{source} has no texts; name their column, or another format")
        texts = batch.texts
        yield from (texts if isinstance(texts, Fielded) else map(str, texts))


def texts_of_file(
    content: bytes, name: str, format: str | None, columns: str | list[str] | None, most: int
) -> list[Document]:
    """The texts of a file that was sent, of ``most`` characters in all; its name helps to recognise its format."""
    options: dict[str, Option] = {} if columns is None else {"text": columns}
    texts: list[Document] = []
    held = 0
    for one in texts_in(name, read(_named(content, name), format, **options)):  # type: ignore[arg-type]
        held += len(kept(one)[0])
        if held > most:  # a small file may hold very much once it is unpacked
            raise InputError(f"{name} holds more than {most:,} characters of text; send it in parts")
        texts.append(one)
    return texts


def _named(content: bytes, name: str) -> BinaryIO:
    file = BytesIO(content)
    file.name = name
    return file
