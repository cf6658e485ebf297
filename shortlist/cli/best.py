"""shortlist train --best: a search for the learner and settings that suit the data."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from shortlist.cli.terminal import print_table, progress, saying_warnings
from shortlist.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shortlist.inputs import Examples, Stream
    from shortlist.models.making import Settings
    from shortlist.models.search import Found, Step

MINUTES = 10.0


def check_best(asked: Settings, best: bool, minutes: float | None, cluster: bool) -> None:
    """Refuse what cannot be asked for together."""
    if not best and minutes is not None:
        raise InputError("--minutes is how long a search may take; it goes with --best")
    if best and asked.task != "categories":
        raise InputError(f"--best is for --task categories, not {asked.task}")
    if best and (asked.learner is not None or asked.values):
        raise InputError("--best chooses the learner and its settings; leave out --learner and --set")
    if best and cluster:
        raise InputError("--best tries models on this machine; leave out --workers and --dask")


def search_here(asked: Settings, source: str, stream: Stream, minutes: float | None) -> Found:
    """The best model for a stream of examples, all of which are kept."""
    from shortlist.models.category_model import CategoryModel
    from shortlist.models.search import search

    examples = gathered(source, stream)
    model = asked.model(of_texts=examples.texts is not None)
    assert isinstance(model, CategoryModel)
    with saying_warnings(model), Bar() as bar:
        return search(model, examples, seconds=60 * (MINUTES if minutes is None else minutes), progress=bar)


def gathered(source: str, stream: Stream) -> Examples:
    """All examples of a stream as one batch."""
    from shortlist.arrays.rows import Rows
    from shortlist.inputs import Examples
    from shortlist.inputs.labelled import teaching
    from shortlist.inputs.vectors import stacked
    from shortlist.labels import NumberedLabels

    batches = list(teaching("categories", source, stream, progress(stream, "reading")))
    labels: Any = NumberedLabels.stack([batch.labels or [] for batch in batches])
    if batches[0].texts is not None:
        return Examples(texts=stacked([batch.texts or [] for batch in batches]), labels=labels)
    rows = Rows.stack([batch.rows for batch in batches if batch.rows is not None])
    return Examples(rows=rows, labels=labels, feature_names=batches[0].feature_names)


class Bar:
    """How far a search is, on standard error if that is a terminal."""

    def __enter__(self) -> Callable[[Step], None]:
        from rich.console import Console
        from rich.progress import Progress

        self.bar = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
        self.bar.start()
        self.task = self.bar.add_task("trying", total=None)
        return lambda step: self.bar.update(
            self.task, completed=step.done, total=step.trials, description=f"trying {step.name[:50]}"
        )

    def __exit__(self, *problem: object) -> None:
        self.bar.stop()


def show_search(found: Found) -> None:
    """What was tried."""
    table = found.table()
    print_table(table.title, table.columns, table.rows)
    print(f"Chosen: {found.chosen}{'' if found.model.can_learn else ', which cannot go on learning'}.")
