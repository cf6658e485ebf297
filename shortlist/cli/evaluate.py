"""shortlist evaluate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import Clustering, FilesOrInput, Jobs, Json, ModelFile, Reading, reads
from shortlist.cli.terminal import print_json, print_table, progress, say, say_when_compiling
from shortlist.errors import InputError

SHOWN = 30  # rows of a table for people


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
    from shortlist.inputs.labelled import teaching
    from shortlist.models.making import open_model

    say_when_compiling()
    model = open_model(model_file, n_jobs if cluster.dask is None and cluster.workers is None else 1)
    for option, asked, detail in (("--per-label", per_label, "label"), ("--per-query", per_query, "query")):
        if asked and model.detail != detail:
            has = f"--per-{model.detail} shows each {model.detail}" if model.detail else "leave it out"
            raise InputError(f"{option} is not for a model of {model.task}; {has}")
    if plot and model.task != "categories":
        raise InputError(f"--plot draws rankings of labels; there is nothing to draw for {model.task}")
    sources, details = data or ["-"], per_label or per_query
    with on_cluster(cluster, reading, sources) as there:
        if there:
            if plot:
                raise InputError("--plot needs the examples here; leave out --workers and --dask")
            found = there.evaluate(model, measures, details)
        else:
            stream = reading.open_for(model.task, sources[0])
            batches = teaching(model.task, sources[0], stream, progress(stream, "ranking"))
            if plot:
                from shortlist.report.evaluation import evaluate_and_draw

                found = evaluate_and_draw(plot, model, batches, measures, details)
                say(f"pictures are in {plot}")
            else:
                found = model.evaluate(batches, measures, details=details)
    if as_json:
        print_json(found.to_dict())
        return
    print(found.measures.table())
    for table in found.tables:
        print_table(table.title, table.columns, table.rows[:SHOWN])
        if len(table.rows) > SHOWN:
            print(f"and {len(table.rows) - SHOWN:,} {table.what} more; --json gives all")
