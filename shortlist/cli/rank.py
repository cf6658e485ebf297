"""shortlist rank"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import Clustering, FilesOrInput, Jobs, Json, ModelFile, Reading, reads
from shortlist.cli.terminal import lines_of, print_json, print_table, progress, say_when_compiling


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
    from shortlist.models.making import open_model

    say_when_compiling()
    model = open_model(model_file, n_jobs if cluster.dask is None and cluster.workers is None else 1)
    if text is not None:
        (found,) = model.answer_text(text, k).records()
        if as_json:
            print_json(found)
        else:
            print_table("", ["label", "score"], zip(found["labels"], found["scores"], strict=True))
        return
    sources = data or ["-"]
    with on_cluster(cluster, reading, sources) as there:
        if there:
            sys.stdout.writelines(there.lines(model, k, as_json))
            return
    stream = reading.open_for(model.task, sources[0])
    sys.stdout.writelines(lines_of(model.answer(progress(stream, "ranking"), k), as_json))
