"""shortlist rank"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import Clustering, FilesOrInput, Jobs, Json, ModelFile, Reading, reads
from shortlist.cli.tasks import load_model
from shortlist.cli.terminal import print_json, print_table, progress, say_when_compiling
from shortlist.errors import InputError


@reads
def rank(
    *,
    model_file: ModelFile,
    data: FilesOrInput = None,
    text: Annotated[str | None, typer.Option(help="Rank this one text.", show_default=False)] = None,
    k: Annotated[int, typer.Option("--top", "-k", help="How many labels for each text.")] = 5,
    reading: Reading,
    cluster: Clustering,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Rank the labels of texts.

    Prints one line for each text: label, score, label, score, …, separated by tabs; with --json an object with the
    lists `labels` and `scores`. Any number of lines goes through in constant memory.
    """
    say_when_compiling()
    model, task = load_model(model_file, n_jobs if cluster.dask is None and cluster.workers is None else 1)
    if text is not None:
        if not hasattr(model, "text_"):
            raise InputError("the model ranks rows of features, not texts")
        ranking = list(model.rank(text, k))
        if as_json:
            print_json({"labels": [label for label, _ in ranking], "scores": [score for _, score in ranking]})
        else:
            print_table("", ["label", "score"], ranking)
        return
    sources = data or ["-"]
    with on_cluster(cluster, reading, sources) as there:
        if there:
            sys.stdout.writelines(there.lines(model, task.__name__.rpartition(".")[2], k, as_json))
            return
    stream = task.open_data(reading, sources[0])
    lines = task.lines(model, progress(stream, "ranking"), stream, k, as_json)
    sys.stdout.writelines(line + "\n" for line in lines)
