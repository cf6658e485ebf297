"""Examples in the layouts of other tools, which ``shortlist.read`` reads back; and backups of a
state directory.

A layout gives the text before, between and after the examples, and the form of each. Person, time
and key go with an example, except in fastText's layout.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from shortlist.data.texts import Fielded
from shortlist.errors import InputError
from shortlist.inputs.tables import as_line, guarded
from shortlist.server import people, rehearsals, snapshots
from shortlist.server.journal import ALL, END_FILE, FILE, PROBLEMS, Example, Journal
from shortlist.server.review_queue import FILE as QUEUE

SEPARATOR = "|"  # between labels in a cell of CSV
PREFIX = "__label__"  # of a label in fastText's layout
CONTROL, OBJECT = "labels", "text"  # names in the labelling interface of Label Studio


@dataclass(frozen=True)
class Layout:
    """The form of a file of examples."""

    kind: str
    ending: str
    of: Callable[[Example], str]  # the form of an example
    before: str = ""
    between: str = ""
    behind: str = ""
    last: int = ALL  # the number of the last example that it holds


def about(example: Example) -> dict[str, Any]:
    """Return what is known of a judgement beside text and labels, without empty values."""
    at = datetime.fromtimestamp(example.time, UTC).isoformat(timespec="milliseconds")
    found: dict[str, Any] = {"person": example.person, "time": at, "key": example.key}
    if example.wrong or not example.complete or not example.labels:
        found |= {"wrong": example.wrong, "complete": example.complete}
    return {name: value for name, value in found.items() if value not in ("", None)}


def fields_of(example: Example) -> dict[str, Any]:
    return dict(example.text) if isinstance(example.text, Mapping) else {"text": example.text}


def plain(example: Example) -> str:
    """Return the text of an example; of a document the texts of its fields, joined by line
    feeds.
    """
    return (
        Fielded.of([example.text]).joined()[0]
        if isinstance(example.text, Mapping)
        else example.text
    )


def json_line(example: Example) -> str:
    """Return all that a model learns from, and about the judgement."""
    vector = {} if example.vector is None else {"vector": example.vector.tolist()}
    own = {"labels": example.labels} | about(example) | vector
    return _json(fields_of(example) | own) + "\n"


def label_studio_task(example: Example) -> str:
    """Return an annotated task, with the person in its data: people have other numbers in each
    Label Studio.
    """
    beside = about(example)
    chosen = {"choices": list(map(str, example.labels))}
    result = [{"from_name": CONTROL, "to_name": OBJECT, "type": "choices", "value": chosen}]
    annotation = {"created_at": beside["time"], "was_cancelled": False, "result": result}
    data = {"text": plain(example)} | fields_of(example) | beside
    return _json({"id": example.number, "data": data, "annotations": [annotation]})


def fasttext_line(example: Example) -> str:
    """Return a line in which spaces of labels are underscores, and the text is one line of
    words.
    """
    # a label may be blank
    own = filter(None, ("_".join(str(label).split()) for label in example.labels))
    words = [
        word.lstrip("_") if word.startswith(PREFIX) else word for word in plain(example).split()
    ]
    return " ".join([*(PREFIX + name for name in own), *words]) + "\n"


def csv_row(example: Example, columns: Sequence[str] = ("text",)) -> str:
    beside, own = about(example), fields_of(example)
    wrong = SEPARATOR.join(map(str, example.wrong))
    cells = [
        SEPARATOR.join(one) if isinstance(one, list) else one
        for one in (own.get(name, "") for name in columns)
    ]
    return _row(
        [
            *cells,
            SEPARATOR.join(map(str, example.labels)),
            wrong,
            "yes" if example.complete else "no",
            example.person,
            beside["time"],
            example.key,
        ]
    )


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
}


def exported(journal: Journal, name: str) -> Iterator[str]:
    """Yield the examples that were not undone in a layout, in batches."""
    return pieces(journal, layout_for(journal, name))


def layout_for(journal: Journal, name: str) -> Layout:
    """Return a layout that holds all examples up to now; refuse one that cannot."""
    last = journal.version().examples
    if name not in LAYOUTS:
        raise InputError(f"there is no layout {name!r}; there are {', '.join(LAYOUTS)}")
    if name == "csv" and journal.has_in_a_list(SEPARATOR):
        raise InputError(
            f"a label, or an entry of a list, holds {SEPARATOR}, which stands between two of them "
            "in a cell of CSV; "
            "export another layout, as jsonl"
        )
    layout, fields = replace(LAYOUTS[name], last=last), journal.field_names()
    if name == "csv" and fields:  # a column for each, and one for texts without fields
        columns = list(dict.fromkeys(["text", *fields]))
        layout = replace(
            layout, before=_row([*columns, *COLUMNS]), of=partial(csv_row, columns=columns)
        )
    return layout


def pieces(journal: Journal, layout: Layout) -> Iterator[str]:
    """Yield the examples that were not undone, in batches."""
    number, between = 0, ""
    yield layout.before
    while some := journal.after(number, layout.last):
        number = some[-1].number
        # changes of labels
        if lines := [layout.of(one) for one in some if not isinstance(one.labels, dict)]:
            yield between + layout.between.join(lines)
            between = layout.between
    yield layout.behind


# Backups. Files that only change as a whole are copied first, and the journal last, while nothing
# is written to it: no snapshot is ahead of it. No snapshot is written and no other model is
# promoted meanwhile.


WHOLE = (
    snapshots.BASE,
    rehearsals.ASIDE,
    rehearsals.BEFORE,
    rehearsals.CANDIDATE,
    rehearsals.REPORT,
    people.FILE,
    people.MARK,
)


def back_up(folder: Path, target: Path) -> None:
    """Copy the state directory of a server, which may be running, to a new folder, all of it or
    nothing.
    """
    snapshots.check_state(folder)
    if target.exists():
        raise InputError(f"{target} is there already; name a new folder")
    draft = target.with_name(f".{target.name}.draft")
    try:
        shutil.rmtree(draft, ignore_errors=True)  # of a copy that was cut short
        _copy_state(folder, draft)
        os.replace(draft, target)
    except OSError as problem:
        raise InputError(f"cannot write {target}: {problem.strerror}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _copy_state(folder: Path, draft: Path) -> None:
    draft.mkdir(mode=0o700)
    with snapshots.only_one(folder, waiting=True), contextlib.closing(Journal(folder)) as journal:
        newest = snapshots.listed(folder)[0][1]  # a snapshot only saves time, so one is enough
        _copy(folder, draft, [*WHOLE, newest.name, snapshots.passed_beside(newest).name])
        if (folder / QUEUE).exists():
            _copy_database(folder / QUEUE, draft / QUEUE)
        with journal.held():
            _copy_database(folder / FILE, draft / FILE)
            _copy(folder, draft, [END_FILE])


def _copy(folder: Path, draft: Path, names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # it may never have been there
            shutil.copy(folder / name, draft / name)


def _copy_database(source: Path, target: Path) -> None:
    """Copy a database with its log, which only SQLite can read."""
    try:
        with (
            contextlib.closing(
                sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)
            ) as own,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            own.backup(copy)
    except PROBLEMS as problem:
        raise InputError(f"cannot copy {source}: {problem}") from None
