"""shortlist evaluate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import Clustering, FilesOrInput, Jobs, Json, ModelFile, Reading, reads
from shortlist.cli.tasks import Asked, load_model
from shortlist.cli.terminal import progress, say_when_compiling


@reads
def evaluate(
    *,
    model_file: ModelFile,
    data: FilesOrInput = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="A measure such as R1, P@5, nDCG@10, AP; can be repeated."),
    ] = None,
    per_label: Annotated[bool, typer.Option("--per-label", help="Precision, recall and F1 of each label too.")] = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="The measures of each query too.")] = False,
    plot: Annotated[Path | None, typer.Option(help="A folder to draw curves into.")] = None,
    reading: Reading,
    cluster: Clustering,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Measure a model on labelled examples that it has not learned, with 95 % intervals."""
    say_when_compiling()
    model, task = load_model(model_file, n_jobs if cluster.dask is None and cluster.workers is None else 1)
    sources, asked = data or ["-"], Asked(measures, per_label, per_query, plot, as_json)
    with on_cluster(cluster, reading, sources) as there:
        if there:
            task.evaluate_there(model, there, asked)
            return
    stream = task.open_data(reading, sources[0])
    task.evaluate(model, task.labelled(sources[0], stream, progress(stream, "ranking")), stream, asked)
