"""What people see: progress on standard error, tables and JSON on standard output."""

from __future__ import annotations

import functools
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
    from shortlist.models.base import Answers, Model


def say(sentence: str) -> None:
    """A remark for people, which is no part of the result."""
    print(sentence, file=sys.stderr, flush=True)


def warn_of_labels(facts: dict[str, Any]) -> None:
    """Say so where labels outnumber examples, as they do where another column was read as the labels."""
    labels, examples = facts.get("labels", 0), facts.get("examples", 0)
    if labels > examples:
        say(
            f"warning: there are more labels ({labels:,}) than examples ({examples:,}); if the labels are in another "
            "column, name it with --label-column, and what stands between two of them with --label-separator"
        )


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False))


def print_table(title: str, columns: list[str], rows: Iterable[Iterable[object]]) -> None:
    """A table whose numbers stand to the right."""
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
    wide = None if sys.stdout.isatty() else 200  # a file has no width to keep to
    Console(highlight=False, width=wide).print(table)


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def lines_of(answers: Iterable[Answers], as_json: bool) -> Iterator[str]:
    """What is printed of answers, line by line."""
    for some in answers:
        if as_json:
            yield from (json.dumps(record, ensure_ascii=False) + "\n" for record in some.records())
        else:
            yield from (line + "\n" for line in some.lines())


def facts_in_words(facts: Mapping[str, object]) -> str:
    """Numbers with their names: 6 examples, 1 label, vectors of 256 numbers."""
    said = [counted(value, name) for name, value in facts.items() if isinstance(value, int) and name != "vector"]
    return ", ".join(
        said + [f"vectors of {counted(n, 'numbers')}" for n in [facts.get("vector")] if isinstance(n, int) and n]
    )


def size(n_bytes: float) -> str:
    """A number of bytes in words."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"


_bars: list[object] = []  # on the terminal now


@contextmanager
def _on_the_terminal(bar: object) -> Iterator[None]:
    _bars.append(bar)
    try:
        yield
    finally:
        _bars.remove(bar)


def bar(*columns: Any) -> Progress:
    """A bar on standard error, which shows nothing where that is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())


def progress(stream: Stream, doing: str) -> Iterator[Examples]:
    """The batches of a stream, with a bar on standard error if that is a terminal; at the end, what was skipped."""
    if not sys.stderr.isatty():  # nor is the library of bars loaded
        yield from stream
    else:
        from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

        shown = bar(doing, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with shown, _on_the_terminal(shown):
            task = shown.add_task(doing, total=stream.bytes_total)
            for batch in stream:
                yield batch
                shown.update(task, completed=stream.bytes_read)
    for note in stream.notes:
        say(note)
    say_skipped(stream.skipped)


@contextmanager
def learning_bar() -> Iterator[Callable[[int], None] | None]:
    """What to tell how far learning has come, for a line on standard error if that is a terminal.

    While examples are still being read there is a bar for that, and only one can be on a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    shown = bar(SpinnerColumn(), "learning: {task.completed:,.0f} examples gone through", TimeElapsedColumn())
    task = shown.add_task("learning", total=None)

    def told(more: int) -> None:
        if not _bars:
            shown.start()
        shown.advance(task, more)

    try:
        yield told
    finally:
        shown.stop()


@contextmanager
def counting(doing: str) -> Iterator[Callable[[int, int], None]]:
    """What is told how many parts of how many are done, for a bar on standard error if that is a terminal."""
    with bar() as shown:
        task = shown.add_task(doing, total=None)
        yield lambda done, parts: shown.update(task, completed=done, total=parts)


def say_skipped(skipped: Skipped) -> None:
    """Say what was left out, if anything was."""
    if skipped:
        say(f"left out {counted(skipped.count, 'bad records')}:")
        for sentence in skipped.sentences:
            say(f"  {sentence}")


@contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Say what somebody is warned of, without where in the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *where, **more: say(str(message))
        yield


@contextmanager
def saying_warnings(model: Model[Any]) -> Iterator[None]:
    """Say what a model warns of while it learns, and at the end what a bound on its memory has cost."""
    with warnings_as_sentences():
        yield
    forgotten = getattr(model, "forgotten_", {})
    if any(forgotten.values()):
        say(f"made room by forgetting {facts_in_words(forgotten)}")


@functools.cache  # one listener for a process, however many commands it runs
def say_when_compiling() -> None:
    """Say so, once, if Numba has to compile: the first run on a machine is slower than all later ones."""
    from numba.core import event

    class Notice(event.Listener):
        said = False

        def on_start(self, event: Any) -> None:
            if not self.said:
                say("compiling the inner loops, once for this machine…")
                Notice.said = True

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Notice())
