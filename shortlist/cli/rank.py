"""shortlist rank"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from shortlist.cli.models import load_model, rank_batch
from shortlist.cli.options import Data, Jobs, Json, ModelFile, Reading, reads
from shortlist.cli.terminal import print_json, print_table, progress, say_when_compiling
from shortlist.errors import InputError


@reads
def rank(
    *,
    model_file: ModelFile,
    data: Data = "-",
    text: Annotated[str | None, typer.Option(help="Rank this one text.", show_default=False)] = None,
    k: Annotated[int, typer.Option("--top", "-k", help="How many labels for each text.")] = 5,
    reading: Reading,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Rank the labels of texts.

    Prints one line for each text: label, score, label, score, …, separated by tabs; with --json an object with the
    lists `labels` and `scores`. Any number of lines goes through in constant memory.
    """
    say_when_compiling()
    model = load_model(model_file, n_jobs)
    if text is not None:
        if not hasattr(model, "text_"):
            raise InputError("the model ranks rows of features, not texts")
        ranking = model.rank(text, k)
        if as_json:
            print_json(as_object(ranking))
        else:
            print_table("", ["label", "score"], ranking)
        return
    stream = reading.open(data)
    show = as_lines_of_json if as_json else as_lines
    for batch in progress(stream, "ranking"):
        sys.stdout.write("".join(show(rank_batch(model, batch, k), batch.ids)))


def as_object(ranking: Any) -> dict[str, Any]:
    return {"labels": [label for label, _ in ranking], "scores": [score for _, score in ranking]}


def as_lines(rankings: Any, ids: list[str] | None) -> Iterator[str]:
    for ranking in rankings:
        yield "\t".join(f"{one_line(label)}\t{score:.6g}" for label, score in ranking) + "\n"


def as_lines_of_json(rankings: Any, ids: list[str] | None) -> Iterator[str]:
    for n, ranking in enumerate(rankings):
        named = {} if ids is None else {"id": ids[n]}
        yield json.dumps(named | as_object(ranking), ensure_ascii=False) + "\n"


def one_line(label: Any) -> str:
    """A label that can stand between tabs."""
    return str(label).replace("\t", " ").replace("\n", " ")
