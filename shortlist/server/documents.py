"""Texts and documents of several fields, as the journal and the queue keep them, and as people see them.

A text is kept as it is, and a document of fields (texts/fields.py) as a JSON object, its fields in their order; a mark
beside it says which of the two it is.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from shortlist.inputs.labelled import ERRORS
from shortlist.texts.fields import Document, Fielded

# What the fields of a record are called that say more of an example than its document: labels, who judged, when.


BESIDE = ("labels", "wrong", "complete", "person", "time", "key", "vector")


def called(fields: Collection[str]) -> dict[str, str]:
    """What each of ours is called beside documents with these fields."""
    return {name: unlike(name, fields) for name in BESIDE}


def unlike(name: str, others: Collection[str]) -> str:
    """The name, with as many _ behind it as make it unlike all others."""
    while name in others:
        name += "_"
    return name


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
