"""shortlist evaluate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import MEASURES, Clustering, FilesOrInput, Jobs, Json, ModelFile, Reading, reads
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
        typer.Option("--measure", "-m", help=f"A measure; can be repeated. Among them: {MEASURES}."),
    ] = None,
    per_label: Annotated[bool, typer.Option("--per-label", help="Precision, recall and F1 of each label too.")] = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="The measures of each query too.")] = False,
    errors: Annotated[int, typer.Option("--errors", min=0, help="How many of the worst errors to list.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="A folder to draw curves and a confusion matrix into.")] = None,
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
        if asked and model._detail != detail:
            has = f"--per-{model._detail} shows each {model._detail}" if model._detail else "leave it out"
            raise InputError(f"{option} is not for a model of {model.task}; {has}")
    if (plot or errors) and model.task != "categories":
        what = "--plot draws" if plot else "--errors lists"
        raise InputError(f"{what} rankings of labels; there are none for {model.task}")
    sources, details = data or ["-"], per_label or per_query
    reading.recall(model, sources[0])
    with on_cluster(cluster, reading, sources) as there:
        if there:
            if plot or errors:
                raise InputError("--plot and --errors need the examples here; leave out --workers and --dask")
            found = there.evaluate(model, measures, details)
        else:
            stream = reading.open_for(model.task, sources[0], model)
            read = teaching(model.task, sources[0], stream, progress(stream, "ranking"))
            batches = (batch.complete_only() for batch in read)
            if plot or errors:
                from shortlist.report.evaluation import evaluate_closely

                found = evaluate_closely(model, batches, measures, details=details, errors=errors, folder=plot)
                if plot:
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
