"""Texts, documents of several fields and vectors, as the journal and the queue keep them.

A text is kept as it is, and a document of fields (texts.py) as a JSON object, its fields in their order; a mark
beside it says which of the two it is.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from shortlist.errors import InputError
from shortlist.inputs.labelled import ERRORS
from shortlist.texts import Document, Fielded, Vectors

NUMBERS = np.dtype("<f4")  # of a vector

# What the fields of a record are called that say more of an example than its document: labels, who judged, when.


BESIDE = ("labels", "wrong", "complete", "person", "time", "key", "vector")


def called(fields: Collection[str]) -> dict[str, str]:
    """What each of ours is called beside documents with these fields."""
    names = {}
    for name in BESIDE:
        own = name
        while own in fields:
            own += "_"
        names[name] = own
    return names


USUAL = called(())


def renamed(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[name]: value for name, value in record.items()}


def kept(document: Document) -> tuple[str, int]:
    """What is written of a document, and whether that is an object of fields."""
    if isinstance(document, Mapping):
        return json.dumps(dict(document), ensure_ascii=False), 1
    return document, 0


def read_back(text: str, fields: int) -> Document:
    """The document again."""
    return json.loads(text) if fields else text


def plain(document: Document) -> str:
    """A document as one text, as explanations count its letters: the texts of its fields, a line feed between them."""
    return Fielded.of([document]).joined()[0] if isinstance(document, Mapping) else document


def says_something(document: Document) -> bool:
    """Whether there is anything in it to judge: a word, or a value, and not only a spreadsheet's errors."""
    own = document.values() if isinstance(document, Mapping) else [document]
    return any(str(one).strip() not in {"", *ERRORS} for one in own)


def alike(documents: Sequence[Document], fields: Sequence[str] | None) -> list[Any]:
    """Documents of one kind, for a model that has learned from these fields: a text is its first field."""
    if not any(isinstance(one, Mapping) for one in documents):
        return list(documents)
    first = fields[0] if fields else "text"
    return [one if isinstance(one, Mapping) else {first: one} for one in documents]


def written_vector(vector: Vectors | None) -> str:
    """The vector of an example as the journal keeps it, so that it is learned again as it was."""
    return "" if vector is None else b64encode(vector.astype(NUMBERS).tobytes()).decode()


def read_vector(kept: str) -> Vectors | None:
    """The vector again."""
    if not kept:
        return None
    try:
        return np.frombuffer(b64decode(kept, validate=True), dtype=NUMBERS).astype(np.float32)
    except ValueError:
        raise InputError("the stored vector is not valid base64 float32") from None
