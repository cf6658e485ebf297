"""Examples in the layouts of other tools, which ``shortlist.read`` reads back.

A layout gives the text in front of, between and behind the examples, and the form of each. Person,
time and key go with an example, except in fastText's layout.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from shortlist.server.kept_rows import KeptRows

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
        "rows": list(judgement.rows),
    }
    if judgement.wrong or not judgement.complete or not judgement.labels:
        values["wrong"] = judgement.wrong
        values["complete"] = judgement.complete
    return {name: value for name, value in values.items() if value not in ("", None, [])}


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


@dataclass(frozen=True)
class TableColumn:
    """A column of a table, and its cell for a judgement and one of its kept rows."""

    name: str
    cell: Callable[[Judgement, Mapping[str, Any]], Any]


JUDGEMENT_COLUMNS = (
    TableColumn("labels", lambda judgement, row: _in_a_cell(judgement.labels)),
    TableColumn("wrong", lambda judgement, row: _in_a_cell(judgement.wrong)),
    TableColumn("complete", lambda judgement, row: "yes" if judgement.complete else "no"),
    TableColumn("person", lambda judgement, row: judgement.judge_in_words),
    TableColumn("time", lambda judgement, row: about(judgement)["time"]),
    TableColumn("key", lambda judgement, row: judgement.key or ""),
)


def table_columns(journal: Journal) -> list[TableColumn]:
    """Return the columns of a table of all examples: kept ones, one for each field and one for
    texts without fields, and what is known of the judgement.
    """
    fields = list(dict.fromkeys(["text", *History(journal).field_names()]))
    own = [TableColumn(name, partial(_field_cell, name=name)) for name in fields]
    own += JUDGEMENT_COLUMNS
    taken = {column.name for column in own}
    kept = []
    for name in KeptRows(journal.path.parent).names():
        title = f"{name} (kept)" if name in taken else name
        kept.append(TableColumn(title, partial(_kept_cell, name=name)))
    return kept + own


def _field_cell(judgement: Judgement, row: Mapping[str, Any], name: str) -> Any:
    value = fields_of(judgement).get(name, "")
    return _in_a_cell(value) if isinstance(value, list) else value


def _kept_cell(judgement: Judgement, row: Mapping[str, Any], name: str) -> Any:
    return row.get(name, "")


def _in_a_cell(values: Sequence[Any]) -> str:
    return LABEL_SEPARATOR.join(map(str, values))


def table_rows(judgement: Judgement, columns: Sequence[TableColumn]) -> list[list[Any]]:
    """Return the cells of a judgement: a row for each row of a table that held its text."""
    return [[column.cell(judgement, row) for column in columns] for row in judgement.rows or [{}]]


def csv_lines(judgement: Judgement, columns: Sequence[TableColumn]) -> str:
    return "".join(_row(cells) for cells in table_rows(judgement, columns))


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _row(cells: Sequence[Any]) -> str:
    return as_line(guarded(cell) if isinstance(cell, str) else cell for cell in cells)


LAYOUTS = {
    "jsonl": ExportLayout("application/jsonl", "jsonl", json_line),
    "csv": ExportLayout("text/csv", "csv", partial(csv_lines, columns=JUDGEMENT_COLUMNS)),
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
    columns = table_columns(journal)
    head = _row([column.name for column in columns])
    return replace(layout, head=head, of=partial(csv_lines, columns=columns))


def pieces(journal: Journal, layout: ExportLayout) -> Iterator[str]:
    """Yield the examples that were not undone, in batches."""
    yield layout.head
    kept_rows = KeptRows(journal.path.parent)
    number = 0
    between = ""
    while batch := journal.after(number, layout.last):
        number = batch[-1].number
        judgements = [entry for entry in batch if isinstance(entry, Judgement)]
        rows = kept_rows.of([judgement.key for judgement in judgements])
        lines = [
            layout.of(replace(judgement, rows=rows.get(judgement.key, ())))
            for judgement in judgements
        ]
        if lines:
            yield between + layout.between.join(lines)
            between = layout.between
    yield layout.tail
