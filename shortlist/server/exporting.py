"""Examples in the layouts of other tools, which ``shortlist.read`` reads back.

A layout gives the text in front of, between and behind the examples, and the form of each. Person,
time and key go with an example, except in fastText's layout. Labels have their present names, after
all renames and merges; retired labels stay.
"""

from __future__ import annotations

import json
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any

from shortlist.data.texts import Fielded
from shortlist.errors import InputError
from shortlist.inputs.sheets import check_can_write, write_workbook
from shortlist.inputs.tables import as_line, guarded
from shortlist.label_vocabulary import LabelVocabulary
from shortlist.server.entries import Judgement, LabelChange
from shortlist.server.journal import BEYOND_ANY_NUMBER, NOT_UNDONE, Journal
from shortlist.server.journal_audit import PresentNames
from shortlist.server.journal_history import History
from shortlist.server.kept_rows import KeptRows

LABEL_SEPARATOR = "|"  # in a cell of CSV
FASTTEXT_PREFIX = "__label__"
# names in the labelling interface of Label Studio
CONTROL = "labels"
OBJECT = "text"
PIECE_BYTES = 1 << 16  # of a workbook


def about(judgement: Judgement) -> dict[str, Any]:
    """Return what is known of a judgement beside text and labels, without empty values."""
    moment = datetime.fromtimestamp(judgement.time, UTC)
    values: dict[str, Any] = {
        "person": judgement.judge_in_words,
        "time": moment.isoformat(timespec="milliseconds"),
        "key": judgement.key,
        "names": list(judgement.names) or None,
        "rows": list(judgement.rows) or None,
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


@dataclass(frozen=True)
class ExportLayout:
    """The form of a file of examples."""

    kind: str
    ending: str
    # the form of an example: text, or the rows of a workbook
    of: Callable[[Judgement], Any] = plain_text
    head: Any = ""  # text, or the names of columns
    between: str = ""
    tail: str = ""
    last: int = BEYOND_ANY_NUMBER  # the number of the last example that it holds
    vocabulary: LabelVocabulary | None = None  # what labels are called
    by_people: bool = False  # without what the model decided


def json_line(judgement: Judgement) -> str:
    """Return all that a model learns from, and about the judgement."""
    record = fields_of(judgement) | {"labels": judgement.labels} | about(judgement)
    if judgement.vector is not None:
        record["vector"] = judgement.vector.tolist()
    if judgement.because:
        record["because"] = list(judgement.because)
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


# what is known of a judgement -> its cell, and which entries have something there
JUDGEMENT_COLUMNS = {
    "labels": (lambda judgement: _in_a_cell(judgement.labels), "1"),
    "names": (lambda judgement: _in_a_cell(judgement.names), "0"),
    "wrong": (lambda judgement: _in_a_cell(judgement.wrong), "wrong != '[]'"),
    "complete": (
        lambda judgement: "yes" if judgement.complete else "no",
        "wrong != '[]' OR labels = '[]' OR NOT complete",
    ),
    "person": (lambda judgement: judgement.judge_in_words, "person != '' OR judge != 'person'"),
    "time": (lambda judgement: about(judgement)["time"], "1"),
    "key": (lambda judgement: judgement.key or "", "key IS NOT NULL"),
}


def table_columns(journal: Journal, has_names: bool) -> list[TableColumn]:
    """Return the columns of a table of all examples: kept ones, one for each field and one for
    texts without fields, and what is known of the judgement. No column is empty.
    """
    history = History(journal)
    fields = history.field_names()
    if not fields or history.has_examples("NOT fields"):
        fields = list(dict.fromkeys(["text", *fields]))
    own = [TableColumn(name, partial(_field_cell, name=name)) for name in fields]
    for name, (cell, condition) in JUDGEMENT_COLUMNS.items():
        if condition == "1" or (name == "names" and has_names) or history.has_examples(condition):
            own.append(TableColumn(name, partial(_judgement_cell, cell=cell)))
    taken = {column.name for column in own}
    kept = []
    for name in KeptRows(journal.path.parent).names():
        title = f"{name} (kept)" if name in taken else name
        kept.append(TableColumn(title, partial(_kept_cell, name=name)))
    return kept + own


def _judgement_cell(
    judgement: Judgement, row: Mapping[str, Any], cell: Callable[[Judgement], str]
) -> Any:
    return cell(judgement)


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


def csv_lines(judgement: Judgement, columns: Sequence[TableColumn], separator: str = ",") -> str:
    return "".join(_row(cells, separator) for cells in table_rows(judgement, columns))


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _row(cells: Sequence[Any], separator: str = ",") -> str:
    """Return a line of CSV; with semicolons, numbers have decimal commas."""
    safe = [
        guarded(cell, is_first=n == 0) if isinstance(cell, str) else cell
        for n, cell in enumerate(cells)
    ]
    if separator == ";":
        safe = [str(cell).replace(".", ",") if isinstance(cell, float) else cell for cell in safe]
    return as_line(safe, separator)


WORKBOOK_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
LONGEST_EXCEL_CELL = 32_767  # characters
LAYOUTS = {
    "jsonl": ExportLayout("application/jsonl", "jsonl", json_line),
    "csv": ExportLayout("text/csv", "csv"),
    "xlsx": ExportLayout(WORKBOOK_KIND, "xlsx"),
    "fasttext": ExportLayout("text/plain", "ft", fasttext_line),
    "label-studio": ExportLayout(
        "application/json", "json", label_studio_task, "[\n", ",\n", "\n]\n"
    ),
}


def exported(
    journal: Journal,
    name: str,
    vocabulary: LabelVocabulary | None = None,
    excel: bool = False,
    by_people: bool = False,
) -> Iterator[bytes]:
    """Yield the examples that were not undone in a layout, in batches."""
    return pieces(journal, layout_for(journal, name, vocabulary, excel, by_people))


def layout_for(
    journal: Journal,
    name: str,
    vocabulary: LabelVocabulary | None = None,
    excel: bool = False,
    by_people: bool = False,
) -> ExportLayout:
    """Return a layout that holds all examples up to now; refuse one that cannot. ``excel``: a CSV
    with semicolons and a byte order mark, as Excel opens it in much of Europe. ``by_people``: only
    what people judged.
    """
    if name not in LAYOUTS:
        raise InputError(f"there is no layout {name!r}; there are {', '.join(LAYOUTS)}")
    if excel and name != "csv":
        raise InputError("--excel is for csv; xlsx is Excel's own format")
    last = journal.version().examples
    layout = replace(LAYOUTS[name], last=last, vocabulary=vocabulary, by_people=by_people)
    if name not in ("csv", "xlsx"):
        return layout
    history = History(journal)
    if history.has_in_a_list(LABEL_SEPARATOR):
        raise InputError(
            f"a label, or an entry of a list, holds {LABEL_SEPARATOR}, which stands between two of "
            f"them in a cell of {name}; export another layout, as jsonl"
        )
    columns = table_columns(journal, vocabulary is not None)
    names = [column.name for column in columns]
    if name == "xlsx":
        check_can_write()
        if history.has_examples(f"length(text) > {LONGEST_EXCEL_CELL}"):
            raise InputError(
                f"a text has more than the {LONGEST_EXCEL_CELL:,} characters that a cell of Excel "
                "takes; export csv"
            )
        return replace(layout, head=names, of=partial(table_rows, columns=columns))
    separator = ";" if excel else ","
    head = "\ufeff" * excel + _row(names, separator)
    return replace(layout, head=head, of=partial(csv_lines, columns=columns, separator=separator))


def pieces(journal: Journal, layout: ExportLayout) -> Iterator[bytes]:
    """Yield the examples that were not undone, in batches."""
    if layout.kind == WORKBOOK_KIND:
        yield from workbook(journal, layout)
        return
    yield layout.head.encode()
    between = ""
    for batch in _batches(journal, layout):
        lines = [layout.of(judgement) for judgement in batch]
        if lines:
            yield (between + layout.between.join(lines)).encode()
            between = layout.between
    yield layout.tail.encode()


def workbook(journal: Journal, layout: ExportLayout) -> Iterator[bytes]:
    """Yield the file of a workbook in pieces."""
    batches = _batches(journal, layout)
    rows = (row for batch in batches for judgement in batch for row in layout.of(judgement))
    with tempfile.TemporaryFile() as file:
        write_workbook(file, chain([layout.head], rows))
        file.seek(0)
        while piece := file.read(PIECE_BYTES):
            yield piece


def _batches(journal: Journal, layout: ExportLayout) -> Iterator[list[Judgement]]:
    """Yield the judgements that were not undone, with present labels and kept rows."""
    kept_rows = KeptRows(journal.path.parent)
    present = PresentLabels(journal, layout.last, layout.vocabulary)
    number = 0
    while batch := journal.after(number, layout.last):
        number = batch[-1].number
        judgements = [present.of(entry) for entry in batch if isinstance(entry, Judgement)]
        if layout.by_people:
            judgements = [one for one in judgements if not one.is_of_model]
        rows = kept_rows.of([judgement.key for judgement in judgements])
        yield [replace(judgement, rows=rows.get(judgement.key, ())) for judgement in judgements]


class PresentLabels:
    """The labels of judgements as they are called after all renames and merges."""

    def __init__(
        self, journal: Journal, last: int, vocabulary: LabelVocabulary | None = None
    ) -> None:
        self._vocabulary = vocabulary
        self._numbers: list[int] = []  # of the changes
        self._names: list[PresentNames] = []  # at the moments before them
        names = PresentNames()
        for entry in _renames(journal, last)[::-1]:
            names.go_back(entry.change)
            self._numbers.insert(0, entry.number)
            self._names.insert(0, names.copy())

    def of(self, judgement: Judgement) -> Judgement:
        place = bisect_right(self._numbers, judgement.number)
        if place < len(self._names):
            names = self._names[place]
            labels = names.of(judgement.labels)
            wrong = [label for label in names.of(judgement.wrong) if label not in labels]
            judgement = replace(judgement, labels=labels, wrong=wrong)
        if self._vocabulary is None:
            return judgement
        return replace(judgement, names=[self._vocabulary.name(name) for name in judgement.labels])


def _renames(journal: Journal, last: int) -> list[LabelChange]:
    """Return the renames and merges that were not undone, in order."""
    where = f"change IS NOT NULL AND number <= ? AND {NOT_UNDONE} ORDER BY number"
    return [
        entry
        for entry in journal.select(where, last, BEYOND_ANY_NUMBER)
        if isinstance(entry, LabelChange) and entry.change.what in ("rename", "merge")
    ]


def with_present_labels(
    vocabulary: LabelVocabulary | None, journal: Journal
) -> LabelVocabulary | None:
    """Return the vocabulary of a base model after the renames of its journal."""
    if vocabulary is None:
        return None
    for entry in _renames(journal, BEYOND_ANY_NUMBER):
        if entry.change.what == "rename":
            vocabulary = vocabulary.renamed(str(entry.change.labels[0]), str(entry.change.into))
    return vocabulary
