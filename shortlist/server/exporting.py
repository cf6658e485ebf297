"""Judged examples in the layouts that other tools read, and that ``shortlist.read`` reads back.

Each layout gives what stands before, what each example becomes, what stands between two, and what stands behind. Who
judged, when, and the example's key go with it, but in fastText's layout, which has no room for more than labels. What
these are called depends on the fields that documents have (documents.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from shortlist.errors import InputError
from shortlist.inputs.tables import as_line, guarded
from shortlist.server import people, rehearsal, snapshots
from shortlist.server.journal import ALL, BESIDE, END_FILE, FILE, PROBLEMS, Entry, Journal, identity, read_vector
from shortlist.server.queue import FILE as QUEUE
from shortlist.texts import Document, Fielded

SEPARATOR = "|"  # between labels in a cell of CSV
PREFIX = "__label__"  # of a label in fastText's layout
CONTROL, OBJECT = "labels", "text"  # names in the labelling interface of Label Studio


def called(fields: Collection[str]) -> dict[str, str]:
    """Return what each name of an export becomes beside documents with these fields."""
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


def plain(document: Document) -> str:
    """Return a document as one text: the texts of its fields, joined by line feeds."""
    return Fielded.of([document]).joined()[0] if isinstance(document, Mapping) else document


@dataclass(frozen=True)
class Layout:
    """How a file of examples is made."""

    kind: str
    ending: str
    of: Callable[[Entry, Mapping[str, str]], str]  # an example, and what labels, person and others are called
    before: str = ""
    between: str = ""
    behind: str = ""
    last: int = ALL  # the number of the last example that it was looked at for


def told(example: Entry) -> dict[str, Any]:
    """What is known of a judgement beside text and labels; what says nothing is left out."""
    at = datetime.fromtimestamp(example.time, UTC).isoformat(timespec="milliseconds")
    found: dict[str, Any] = {"person": example.person, "time": at, "key": example.key}
    if example.wrong or not example.complete or not example.labels:
        found |= {"wrong": example.wrong, "complete": example.complete}
    return {name: value for name, value in found.items() if value not in ("", None)}


def fields_of(example: Entry) -> dict[str, Any]:
    """What an example was learned from: a text, or the fields of a document."""
    return dict(example.text) if isinstance(example.text, Mapping) else {"text": example.text}


def json_line(example: Entry, names: Mapping[str, str] = USUAL) -> str:
    return _json(fields_of(example) | renamed({"labels": example.labels} | told(example), names)) + "\n"


def training_line(example: Entry, names: Mapping[str, str] = USUAL) -> str:
    """All that a model learns from, and who judged: a line of a training file like any other."""
    known, vector = told(example), read_vector(example.vector)
    own: dict[str, Any] = {name: known[name] for name in ("wrong", "complete", "person") if name in known}
    own |= {} if vector is None else {"vector": vector.tolist()}
    return _json(fields_of(example) | renamed({"labels": example.labels} | own, names)) + "\n"


def doccano_line(example: Entry, names: Mapping[str, str] = USUAL) -> str:
    """Fields beside text and label are metadata there."""
    labels = list(map(str, example.labels))
    own = {"fields": fields_of(example)} if isinstance(example.text, Mapping) else {}
    return _json({"id": example.number, "text": plain(example.text), "label": labels} | own | told(example)) + "\n"


def label_studio_task(example: Entry, names: Mapping[str, str] = USUAL) -> str:
    """A task that is annotated. Who judged stands in its data: people have other numbers in each Label Studio."""
    beside = told(example)
    chosen = {"choices": list(map(str, example.labels))}
    result = [{"from_name": CONTROL, "to_name": OBJECT, "type": "choices", "value": chosen}]
    annotation = {"created_at": beside["time"], "was_cancelled": False, "result": result}
    data = {"text": plain(example.text)} | fields_of(example) | renamed(beside, names)
    return _json({"id": example.number, "data": data, "annotations": [annotation]})


def fasttext_line(example: Entry, names: Mapping[str, str] = USUAL) -> str:
    """Labels cannot hold spaces there, so theirs become underscores; the text is one line of words."""
    own = filter(None, ("_".join(str(label).split()) for label in example.labels))  # one may be blank
    words = [word.lstrip("_") if word.startswith(PREFIX) else word for word in plain(example.text).split()]
    return " ".join([*(PREFIX + name for name in own), *words]) + "\n"


def csv_row(example: Entry, names: Mapping[str, str] = USUAL, columns: Sequence[str] = ("text",)) -> str:
    beside, own = told(example), fields_of(example)
    wrong = SEPARATOR.join(map(str, example.wrong))
    cells = [SEPARATOR.join(one) if isinstance(one, list) else one for one in (own.get(name, "") for name in columns)]
    return _row([
        *cells, SEPARATOR.join(map(str, example.labels)), wrong, "yes" if example.complete else "no",
        example.person, beside["time"], example.key,
    ])  # fmt: skip


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _row(cells: list[Any]) -> str:
    return as_line(guarded(cell) if isinstance(cell, str) else cell for cell in cells)


COLUMNS = ["labels", "wrong", "complete", "person", "time", "key"]
LAYOUTS = {
    "jsonl": Layout("application/jsonl", "jsonl", json_line),
    "csv": Layout("text/csv", "csv", csv_row, before=_row(["text", *COLUMNS])),
    "fasttext": Layout("text/plain", "ft", fasttext_line),
    "label-studio": Layout("application/json", "json", label_studio_task, "[\n", ",\n", "\n]\n"),
    "doccano": Layout("application/jsonl", "jsonl", doccano_line),
}


TRAINING = Layout("application/jsonl", "jsonl", training_line)


def training(journal: Journal) -> tuple[Layout, dict[str, str]]:
    """The layout of a training file, of the examples up to now, and what ours are called in it."""
    return replace(TRAINING, last=journal.version().examples), called(journal.field_names())


def exported(journal: Journal, name: str) -> Iterator[str]:
    """The examples that were learned and not taken back, some at a time; a layout that cannot hold them is refused."""
    return pieces(journal, *layout_for(journal, name))


def layout_for(journal: Journal, name: str) -> tuple[Layout, dict[str, str]]:
    """A layout with room for all fields of documents, and what ours are called in it; looks at all of them.

    What is learned afterwards may have other fields, and is left to the next export.
    """
    last = journal.version().examples
    if name not in LAYOUTS:
        raise InputError(f"there is no layout {name!r}; there are {', '.join(LAYOUTS)}")
    if name == "csv" and journal.has_in_a_list(SEPARATOR):
        raise InputError(
            f"a label, or an entry of a list, holds {SEPARATOR}, which stands between two of them in a cell of CSV; "
            "export another layout, as jsonl"
        )
    layout, fields = replace(LAYOUTS[name], last=last), journal.field_names()
    names = called(fields)
    if name == "csv" and fields:  # a column for each, and one for those that have none
        columns = list(dict.fromkeys(["text", *fields]))
        header = _row([*columns, *(names[own] for own in COLUMNS)])
        layout = replace(layout, before=header, of=partial(csv_row, columns=columns))
    return layout, names


def pieces(journal: Journal, layout: Layout, names: Mapping[str, str]) -> Iterator[str]:
    """The examples that were learned and not taken back, some at a time."""
    number, between = 0, ""
    yield layout.before
    while some := journal.after(number, layout.last):
        number = some[-1].number
        if lines := [layout.of(one, names) for one in some if not isinstance(one.labels, dict)]:  # changes of labels
            yield between + layout.between.join(lines)
            between = layout.between
    yield layout.behind


WHOLE = (
    snapshots.BASE, rehearsal.ASIDE, rehearsal.BEFORE, rehearsal.CANDIDATE, rehearsal.REPORT, people.FILE, people.MARK,
)  # fmt: skip


def back_up(folder: Path, target: Path) -> None:
    """Copy a state directory to a new folder, all of it or nothing."""
    snapshots.check_state(folder)
    if target.exists():
        raise InputError(f"{target} is there already; name a new folder")
    draft = target.with_name(f".{target.name}.draft")
    try:
        shutil.rmtree(draft, ignore_errors=True)  # what was cut short
        while not _copied(folder, draft):
            shutil.rmtree(draft)
        os.replace(draft, target)
    except OSError as problem:
        raise InputError(f"cannot write {target}: {problem.strerror}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _copied(folder: Path, draft: Path) -> bool:
    """Copy all files; gives whether the base stayed the same meanwhile."""
    draft.mkdir(mode=0o700)
    with contextlib.closing(Journal(folder)) as journal:
        base = identity(folder)
        _copy(folder, draft, [*WHOLE, *_newest_snapshot(folder)])
        if (folder / QUEUE).exists():
            _copy_database(folder / QUEUE, draft / QUEUE)
        with journal.held():
            _copy_database(folder / FILE, draft / FILE)
            _copy(folder, draft, [END_FILE])
            return identity(folder) == base


def _newest_snapshot(folder: Path) -> list[str]:
    """It only saves time, so one is enough."""
    newest = snapshots.listed(folder)[0][1]
    return [newest.name, snapshots.passed_beside(newest).name]


def _copy(folder: Path, draft: Path, names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # it may never have been there, or go as snapshots do
            shutil.copy(folder / name, draft / name)


def _copy_database(source: Path, target: Path) -> None:
    """By SQLite itself, which knows what of its log belongs to it."""
    try:
        with (
            contextlib.closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as own,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            own.backup(copy)
    except PROBLEMS as problem:
        raise InputError(f"cannot copy {source}: {problem}") from None
