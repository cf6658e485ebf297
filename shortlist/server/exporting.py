"""Examples in the layouts of other tools, which ``shortlist.read`` reads back.

A layout gives the text in front of, between and behind the examples, and the form of each. Person,
time and key go with an example, except in fastText's layout.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from shortlist.data.texts import Fielded
from shortlist.errors import InputError
from shortlist.inputs.tables import as_line, guarded
from shortlist.server.entries import Judgement
from shortlist.server.journal import BEYOND_ANY_NUMBER, Journal
from shortlist.server.journal_history import History

LABEL_SEPARATOR = "|"  # in a cell of CSV
FASTTEXT_PREFIX = "__label__"
# names in the labelling interface of Label Studio
CONTROL = "labels"
OBJECT = "text"


@dataclass(frozen=True)
class ExportLayout:
    """The form of a file of examples."""

    kind: str
    ending: str
    of: Callable[[Judgement], str]  # the form of an example
    head: str = ""
    between: str = ""
    tail: str = ""
    last: int = BEYOND_ANY_NUMBER  # the number of the last example that it holds


def about(judgement: Judgement) -> dict[str, Any]:
    """Return what is known of a judgement beside text and labels, without empty values."""
    moment = datetime.fromtimestamp(judgement.time, UTC)
    values: dict[str, Any] = {
        "person": judgement.judge_in_words,
        "time": moment.isoformat(timespec="milliseconds"),
        "key": judgement.key,
    }
    if judgement.wrong or not judgement.complete or not judgement.labels:
        values["wrong"] = judgement.wrong
        values["complete"] = judgement.complete
    return {name: value for name, value in values.items() if value not in ("", None)}


def fields_of(judgement: Judgement) -> dict[str, Any]:
    document = judgement.text
    return dict(document) if isinstance(document, Mapping) else {"text": document}


def plain_text(judgement: Judgement) -> str:
    """Return the text of an example; of a document the texts of its fields, joined by line
    feeds.
    """
    document = judgement.text
    if isinstance(document, Mapping):
        return Fielded.of([document]).joined()[0]
    return document


def json_line(judgement: Judgement) -> str:
    """Return all that a model learns from, and about the judgement."""
    record = fields_of(judgement) | {"labels": judgement.labels} | about(judgement)
    if judgement.vector is not None:
        record["vector"] = judgement.vector.tolist()
    return _json(record) + "\n"


def label_studio_task(judgement: Judgement) -> str:
    """Return an annotated task, with the person in its data: people have other numbers in each
    Label Studio.
    """
    beside = about(judgement)
    choices = {"choices": list(map(str, judgement.labels))}
    result = {"from_name": CONTROL, "to_name": OBJECT, "type": "choices", "value": choices}
    annotation = {"created_at": beside["time"], "was_cancelled": False, "result": [result]}
    data = {"text": plain_text(judgement)} | fields_of(judgement) | beside
    return _json({"id": judgement.number, "data": data, "annotations": [annotation]})


def fasttext_line(judgement: Judgement) -> str:
    """Return a line in which spaces of labels are underscores, and the text is one line of
    words.
    """
    names = ["_".join(str(label).split()) for label in judgement.labels]
    labels = [FASTTEXT_PREFIX + name for name in names if name]  # a label may be blank
    words = [
        word.lstrip("_") if word.startswith(FASTTEXT_PREFIX) else word
        for word in plain_text(judgement).split()
    ]
    return " ".join([*labels, *words]) + "\n"


def csv_row(judgement: Judgement, columns: Sequence[str] = ("text",)) -> str:
    beside = about(judgement)
    fields = fields_of(judgement)
    cells = []
    for column in columns:
        value = fields.get(column, "")
        cells.append(LABEL_SEPARATOR.join(value) if isinstance(value, list) else value)
    return _row(
        [
            *cells,
            LABEL_SEPARATOR.join(map(str, judgement.labels)),
            LABEL_SEPARATOR.join(map(str, judgement.wrong)),
            "yes" if judgement.complete else "no",
            judgement.judge_in_words,
            beside["time"],
            judgement.key,
        ]
    )


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _row(cells: Iterable[Any]) -> str:
    return as_line(
        guarded(cell, is_first=n == 0) if isinstance(cell, str) else cell
        for n, cell in enumerate(cells)
    )


CSV_COLUMNS = ("labels", "wrong", "complete", "person", "time", "key")
LAYOUTS = {
    "jsonl": ExportLayout("application/jsonl", "jsonl", json_line),
    "csv": ExportLayout("text/csv", "csv", csv_row, head=_row(["text", *CSV_COLUMNS])),
    "fasttext": ExportLayout("text/plain", "ft", fasttext_line),
    "label-studio": ExportLayout(
        "application/json", "json", label_studio_task, "[\n", ",\n", "\n]\n"
    ),
}


def exported(journal: Journal, name: str) -> Iterator[str]:
    """Yield the examples that were not undone in a layout, in batches."""
    return pieces(journal, layout_for(journal, name))


def layout_for(journal: Journal, name: str) -> ExportLayout:
    """Return a layout that holds all examples up to now; refuse one that cannot."""
    last = journal.version().examples
    history = History(journal)
    if name not in LAYOUTS:
        raise InputError(f"there is no layout {name!r}; there are {', '.join(LAYOUTS)}")
    layout = replace(LAYOUTS[name], last=last)
    if name != "csv":
        return layout
    if history.has_in_a_list(LABEL_SEPARATOR):
        raise InputError(
            f"a label, or an entry of a list, holds {LABEL_SEPARATOR}, which stands between two of "
            "them in a cell of CSV; export another layout, as jsonl"
        )
    # a column for each field, and one for texts without fields
    columns = list(dict.fromkeys(["text", *history.field_names()]))
    head = _row([*columns, *CSV_COLUMNS])
    return replace(layout, head=head, of=partial(csv_row, columns=columns))


def pieces(journal: Journal, layout: ExportLayout) -> Iterator[str]:
    """Yield the examples that were not undone, in batches."""
    yield layout.head
    number = 0
    between = ""
    while batch := journal.after(number, layout.last):
        number = batch[-1].number
        lines = [layout.of(entry) for entry in batch if isinstance(entry, Judgement)]
        if lines:
            yield between + layout.between.join(lines)
            between = layout.between
    yield layout.tail
