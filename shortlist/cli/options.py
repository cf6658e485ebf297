"""Options that several verbs share, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.inputs import Examples, Stream

ModelFile = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
Data = Annotated[str, typer.Argument(help="A file or folder of examples; - for standard input.")]
Format = Annotated[str | None, typer.Option(help="The format of the data; recognised if not given.")]
TextColumn = Annotated[str, typer.Option("--text-column", help="The column or field that holds the text.")]
LabelColumn = Annotated[str, typer.Option("--label-column", help="The column or field that holds the labels.")]
Separator = Annotated[str | None, typer.Option("--label-separator", help="What separates the labels in one column.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out bad records, count them, and say so.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Jobs = Annotated[int, typer.Option(help="Threads for ranking; the result does not depend on it. -1 for all cores.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="The model file to write.", show_default=False)]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting: NAME=VALUE of the learner, text.NAME=VALUE of the text; can be repeated."),
]


def open_data(
    source: str, format: str | None, text: str, labels: str, separator: str | None, skip_bad: bool
) -> Stream:
    """The stream of a data argument and its options."""
    from shortlist.inputs import read

    return read(source, format, text=text, labels=labels, label_separator=separator, skip_bad=skip_bad)


def with_labels(batches: Iterator[Examples]) -> Iterator[Examples]:
    """The same batches, refused if they carry no labels to learn from or compare with."""
    for batch in batches:
        if batch.labels is None:
            raise InputError("the data have no labels; name their column with --label-column, or another --format")
        yield batch


def parse_settings(settings: list[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """--set NAME=VALUE, into the settings of the learner and those of the text."""
    learner: dict[str, Any] = {}
    text: dict[str, Any] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--set takes NAME=VALUE, not {setting!r}")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        if name.startswith("text."):
            text[name.removeprefix("text.")] = parsed
        else:
            learner[name] = parsed
    return learner, text


def change(estimator: Any, settings: dict[str, Any], prefix: str = "") -> Any:
    """The estimator with these settings, refused if it has no such setting."""
    known = estimator.get_params(deep=False)
    for name in settings:
        if name not in known:
            names = ", ".join(prefix + one for one in known)
            raise InputError(f"{type(estimator).__name__} has no setting {prefix}{name}; its settings are {names}")
    return estimator.set_params(**settings)
