"""shortlist train"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import Clustering, Files, Json, MaxMemory, Output, Reading, named_values, reads
from shortlist.cli.tasks import TASKS, Settings, task
from shortlist.cli.terminal import facts_in_words, print_json, progress, say_when_compiling, size
from shortlist.errors import InputError


@reads
def train(
    *,
    data: Files,
    output: Output = None,
    task_name: Annotated[str, typer.Option("--task", help=f"What to learn: {', '.join(TASKS)}.")] = "categories",
    learner: Annotated[str | None, typer.Option(help="The learner, if not the usual one of the task.")] = None,
    measure: Annotated[
        str | None, typer.Option(help="Of documents, the measure to optimise: map, roc, ndcg or mrr.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting, NAME=VALUE, or text.NAME=VALUE for the text; can be repeated."),
    ] = None,
    max_memory: MaxMemory = None,
    reading: Reading,
    cluster: Clustering,
    as_json: Json = False,
) -> None:
    """Learn from a file of labelled examples and write a model file.

    Examples are shuffled, so that a file sorted by label does no harm. `shortlist learn` takes them as they come.
    """
    say_when_compiling()
    chosen = task(task_name)
    if max_memory is not None and task_name != "categories":
        raise InputError(f"--max-memory is for --task categories, not {task_name}")
    asked = Settings(learner, measure, named_values("--set", settings), max_memory)
    began = time.perf_counter()
    with on_cluster(cluster, reading, data) as there:
        if there and max_memory is not None:
            raise InputError("--max-memory is for one machine; leave out --workers and --dask")
        if there:
            model, format, skipped = there.train(chosen.unfitted(asked, there.holds_texts)), there.format, there.skipped
        else:
            stream = chosen.open_data(reading, data[0])
            batches = chosen.labelled(data[0], stream, progress(stream, "reading"))
            model, format, skipped = chosen.train(batches, stream, asked), stream.format, stream.skipped
    seconds = time.perf_counter() - began
    target = output or Path(Path(data[0] if data[0] != "-" else "model").name.partition(".")[0] + ".shortlist")
    model.save(target)
    facts, n_bytes = chosen.describe(model), target.stat().st_size
    if as_json:
        said = {"model": str(target), "format": format, "seconds": round(seconds, 3), "bytes": n_bytes}
        print_json(said | facts | {"skipped": skipped.count})
    else:
        print(
            f"Learned in {seconds:.1f} s: {facts_in_words(facts)}.\nWrote {target} ({size(n_bytes)}). "
            f"Next: shortlist rank {target} …"
        )
