"""Output: progress on standard error, tables and JSON on standard output."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shortlist.errors import counted

if TYPE_CHECKING:
    from rich.progress import Progress

    from shortlist.inputs import Examples, Skipped, Stream
    from shortlist.models.model import Answers, Model


def say(sentence: str) -> None:
    """Print a remark, which is not part of the result, on standard error."""
    print(sentence, file=sys.stderr, flush=True)


def warn_of_labels(facts: dict[str, Any]) -> None:
    """Warn if labels outnumber examples: the wrong column may have been read as the labels."""
    labels = facts.get("labels", 0)
    examples = facts.get("examples", 0)
    if labels > examples:
        say(
            f"warning: there are more labels ({labels:,}) than examples ({examples:,}); if the "
            "labels are in another column, name it with --label-column, and what stands between "
            "two of them with --label-separator"
        )


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False))


def print_table(title: str, columns: list[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table; columns of numbers are aligned to the right."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    cells = [list(row) for row in rows]
    table = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left")
    for n, column in enumerate(columns):
        numeric = all(isinstance(row[n], (int, float)) or row[n] is None for row in cells)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*(escape(_shown(value)) for value in row))
    wide = None if sys.stdout.isatty() else 200  # a file has no width
    Console(highlight=False, width=wide).print(table)


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def lines_of(answers: Iterable[Answers], as_json: bool) -> Iterator[str]:
    """Yield the lines of answers."""
    for batch in answers:
        lines = batch.lines()
        if as_json:
            lines = (json.dumps(record, ensure_ascii=False) for record in batch.records())
        for line in lines:
            yield f"{line}\n"


def facts_in_words(facts: Mapping[str, object]) -> str:
    """Return numbers with their names: 6 examples, 1 label, vectors of 256 numbers."""
    words = []
    for name, value in facts.items():
        if isinstance(value, int) and name != "vector":
            words.append(counted(value, name))
    length = facts.get("vector")
    if isinstance(length, int) and length:
        words.append(f"vectors of {counted(length, 'numbers')}")
    return ", ".join(words)


def size(n_bytes: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"


_reading_bars: list[object] = []  # the bars of streams that are being read


def bar(*columns: Any) -> Progress:
    """Return a bar on standard error, which shows nothing if that is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    return Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    )


def progress(stream: Stream, doing: str) -> Iterator[Examples]:
    """Yield the batches of a stream, with a bar on standard error if that is a terminal; then
    say what was skipped.
    """
    if not sys.stderr.isatty():  # without loading the library of bars
        yield from stream
    else:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        shown = bar(
            doing, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
        )
        _reading_bars.append(shown)
        try:
            with shown:
                task = shown.add_task(doing, total=stream.bytes_total)
                for batch in stream:
                    yield batch
                    shown.update(task, completed=stream.bytes_read)
        finally:
            _reading_bars.remove(shown)
    for note in stream.notes:
        say(note)
    say_skipped(stream.skipped)


@contextmanager
def learning_bar() -> Iterator[Callable[[int], None] | None]:
    """Give a function to call with the number of examples gone through, for a line on standard
    error.

    The line appears once the bar of reading is gone, as a terminal shows one bar.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    shown = bar(
        SpinnerColumn(),
        "learning: {task.completed:,.0f} examples gone through",
        TimeElapsedColumn(),
    )
    task = shown.add_task("learning", total=None)

    def advance(more: int) -> None:
        if not _reading_bars:
            shown.start()
        shown.advance(task, more)

    try:
        yield advance
    finally:
        shown.stop()


@contextmanager
def counting(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function to call with the parts done and the number of parts, for a bar on
    standard error.
    """
    with bar() as shown:
        task = shown.add_task(doing, total=None)
        yield lambda done, parts: shown.update(task, completed=done, total=parts)


def say_skipped(skipped: Skipped) -> None:
    """Say which records were left out."""
    if skipped:
        say(f"left out {counted(skipped.count, 'bad records')}:")
        for sentence in skipped.sentences:
            say(f"  {sentence}")


@contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Print warnings as sentences, without their place in the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *where, **more: say(str(message))
        yield


@contextmanager
def saying_warnings(model: Model[Any]) -> Iterator[None]:
    """Print the warnings of a model that learns, and at the end what it forgot to keep to its
    memory.
    """
    with warnings_as_sentences():
        yield
    forgotten = getattr(model, "forgotten_", {})
    if any(forgotten.values()):
        say(f"made room by forgetting {facts_in_words(forgotten)}")


def say_when_compiling() -> None:
    """Say once if loops are compiled: the first run on a machine is slower than later ones."""
    from shortlist.compiled import numba_internals

    numba_internals.somebody_waits = True
