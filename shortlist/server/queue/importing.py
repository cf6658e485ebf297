"""Files of any format that examples are read from, to texts. Labels that a file has are left alone: people judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import BinaryIO

from shortlist.errors import InputError
from shortlist.inputs import Examples, read
from shortlist.inputs.format import Option
from shortlist.texts.fields import Fielded


def texts_in(source: str, batches: Iterable[Examples]) -> Iterator[str]:
    """The texts of batches of examples; several fields of one are lines of it."""
    for batch in batches:
        if batch.texts is None:
            raise InputError(f"{source} has no texts; name their column, or another format")
        texts = batch.texts
        yield from (texts.joined() if isinstance(texts, Fielded) else map(str, texts))


def texts_of_file(content: bytes, name: str, format: str | None, text: str | None, most: int) -> list[str]:
    """The texts of a file that was sent, of ``most`` characters in all; its name helps to recognise its format."""
    options: dict[str, Option] = {} if text is None else {"text": text}
    texts: list[str] = []
    held = 0
    for one in texts_in(name, read(_named(content, name), format, **options)):  # type: ignore[arg-type]
        held += len(one)
        if held > most:  # a small file may hold very much once it is unpacked
            raise InputError(f"{name} holds more than {most:,} characters of text; send it in parts")
        texts.append(one)
    return texts


def _named(content: bytes, name: str) -> BinaryIO:
    file = BytesIO(content)
    file.name = name
    return file
