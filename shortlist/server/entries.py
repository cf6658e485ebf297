"""The entries of the journal, judgements and changes of labels, and the rows that hold them.

``to_row`` and ``from_row`` are the only places that know the form of a row. Texts are stored as
they are, documents of fields as JSON objects, and vectors in base64, so that exactly the same
values are read again.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from shortlist.data.label_input import Label
from shortlist.data.texts import Document, Vectors
from shortlist.errors import InputError
from shortlist.models.categorizer import Categorizer
from shortlist.models.label_changes import Change

VECTOR_NUMBERS = np.dtype("<f4")
# what an export has beside the fields of a document
RESERVED_FIELDS = (
    "labels",
    "wrong",
    "complete",
    "person",
    "time",
    "key",
    "vector",
    "names",
    "rows",
    "because",
)


class Judge(StrEnum):
    """Who or what judged an example."""

    PERSON = "person"
    CHECK = "check"  # a person, without seeing the model's answer, of a text drawn by chance
    MODEL = "decided"  # not learned
    LEARNED_MODEL = "model"
    IMPORT = "import"


# follows the name of the person who let the model decide, or who imported
JUDGE_NOTES = {
    Judge.CHECK: "(spot check)",
    Judge.MODEL: "(decided by the model)",
    Judge.LEARNED_MODEL: "(decided alone)",
    Judge.IMPORT: "(imported)",
}


def judge_in_words(person: str, judge: str) -> str:
    """Return who judged, as exports and the page show it."""
    if judge == Judge.PERSON:
        return person
    note = JUDGE_NOTES.get(judge, judge)  # type: ignore[call-overload]
    return f"{person} {note}".strip()


@dataclass(frozen=True)
class Judgement:
    """What a text is about: to learn, or from the journal."""

    text: Document
    labels: Sequence[Label]
    key: str | None = None
    place: int | None = None  # the rank of its best label before it was learned; None if not near
    wrong: Sequence[Label] = ()  # labels that were crossed out
    complete: bool = True  # whether all other labels are wrong; False: they were not judged
    person: str = ""
    vector: Vectors | None = None
    judge: Judge = Judge.PERSON
    because: Sequence[str] = ()  # words of the text that decide
    # of one from the journal:
    number: int = 0
    time: float = 0.0
    undone: bool = False
    # the kept columns of each row of a table that held the text, from the queue
    rows: Sequence[Mapping[str, Any]] = ()
    names: Sequence[str] = ()  # what its labels are called

    @property
    def judge_in_words(self) -> str:
        return judge_in_words(self.person, self.judge)

    @property
    def is_of_model(self) -> bool:
        """Whether the model decided it, alone."""
        return self.judge in (Judge.MODEL, Judge.LEARNED_MODEL)

    def teach(self, model: Categorizer) -> None:
        if self.judge == Judge.MODEL:
            return
        model.learn(
            self.text,
            self.labels,
            self.wrong,
            self.complete,
            checked=self.judge == Judge.CHECK,
            vector=self.vector,
            because=self.because,
        )


@dataclass(frozen=True)
class LabelChange:
    """A change of labels: to make, or from the journal."""

    change: Change
    key: str | None = None
    person: str = ""
    # of one from the journal:
    number: int = 0
    time: float = 0.0
    undone: bool = False

    def teach(self, model: Categorizer) -> None:
        model.change_labels(self.change)


Entry = Judgement | LabelChange


class EntryRow(NamedTuple):
    """The values of an entry, in the order of the table's columns."""

    number: int
    time: float
    key: str | None
    text: str
    fields: int
    labels: str
    wrong: str
    complete: int
    place: int | None
    vector: str
    change: str | None
    person: str
    judge: str
    because: str = "[]"

    @classmethod
    def values_checked(cls, values: Sequence[Any]) -> list[Any]:
        """Return what the checksum of a row covers.

        Version 1 had no columns for judge and change: the one stood behind the person's name, the
        other in the place of the labels. Checksums still cover values of that form, so that those
        of version 1 hold. Rows without marked words are those of version 2.
        """
        row = cls(*values)
        because = [] if row.because == "[]" else [row.because]
        return [
            row.number,
            row.time,
            row.key,
            row.text,
            row.labels if row.change is None else row.change,
            row.place,
            row.wrong,
            row.complete,
            judge_in_words(row.person, row.judge),
            row.vector,
            row.fields,
            *because,
        ]

    def is_same_request(self, other: EntryRow) -> bool:
        """Return whether both say the same; number, time and place may differ."""
        return self._replace(number=0, time=0, place=None) == other._replace(
            number=0, time=0, place=None
        )


ENTRY_COLUMNS = ", ".join(EntryRow._fields)


def to_row(entry: Entry, time: float) -> EntryRow:
    """Return the row of an entry that has no number yet."""
    if isinstance(entry, LabelChange):
        change = _as_json(entry.change.to_dict())
        person = entry.person
        return EntryRow(
            0, time, entry.key, "", 0, "[]", "[]", 1, None, "", change, person, Judge.PERSON
        )
    text, fields = written_document(entry.text)
    return EntryRow(
        0,
        time,
        entry.key,
        text,
        fields,
        _as_json(entry.labels),
        _as_json(entry.wrong),
        int(entry.complete),
        entry.place,
        written_vector(entry.vector),
        None,
        entry.person,
        entry.judge,
        _as_json(entry.because),
    )


def from_row(values: Sequence[Any]) -> Entry:
    """Return the entry of a row, behind whose values stands whether it was undone."""
    row = EntryRow(*values[:-1])
    undone = bool(values[-1])
    if row.change is not None:
        change = Change.of(json.loads(row.change))
        return LabelChange(change, row.key, row.person, row.number, row.time, undone)
    return Judgement(
        read_document(row.text, row.fields),
        json.loads(row.labels),
        row.key,
        row.place,
        json.loads(row.wrong),
        bool(row.complete),
        row.person,
        read_vector(row.vector),
        Judge(row.judge),
        json.loads(row.because),
        row.number,
        row.time,
        undone,
    )


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def written_document(document: Document) -> tuple[str, int]:
    """Return the stored form of a text or a document of fields, and whether it is a JSON object
    of fields.
    """
    if isinstance(document, Mapping):
        return _as_json(dict(document)), 1
    return document, 0


def read_document(text: str, fields: int) -> Document:
    """Return the document of a stored form."""
    return json.loads(text) if fields else text


def written_vector(vector: Vectors | None) -> str:
    """Return the stored form of a vector, from which exactly the same vector is read."""
    if vector is None:
        return ""
    return b64encode(vector.astype(VECTOR_NUMBERS).tobytes()).decode()


def read_vector(text: str) -> Vectors | None:
    """Return the vector of a stored form."""
    if not text:
        return None
    try:
        content = b64decode(text, validate=True)
        return np.frombuffer(content, dtype=VECTOR_NUMBERS).astype(np.float32)
    except ValueError:
        raise InputError("the stored vector is not valid base64 float32") from None


def of_one_kind(documents: Sequence[Document], fields: Sequence[str] | None) -> list[Any]:
    """Return documents of one kind, for a model of these fields: among documents of fields, a
    text is the first.
    """
    if not any(isinstance(document, Mapping) for document in documents):
        return list(documents)
    first = fields[0] if fields else "text"
    return [
        document if isinstance(document, Mapping) else {first: document} for document in documents
    ]
