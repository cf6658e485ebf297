"""shortlist evaluate"""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli.models import learner_of, load_model, rank_batch
from shortlist.cli.options import Data, Jobs, Json, ModelFile, Reading, reads, with_labels
from shortlist.cli.terminal import print_json, progress, say_when_compiling
from shortlist.errors import InputError

USUAL = ("R1", "R5", "MRR", "P@5", "nDCG@5")


@reads
def evaluate(
    *,
    model_file: ModelFile,
    data: Data = "-",
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="A measure such as R1, P@5, nDCG@10, AP; can be repeated."),
    ] = None,
    reading: Reading,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Measure a model on labelled examples that it has not learned, with 95 % intervals."""
    from shortlist import Ranking
    from shortlist.measures import evaluate as evaluate_ranking
    from shortlist.measures import measure

    say_when_compiling()
    chosen = [measure(name) for name in measures or USUAL]
    model = load_model(model_file, n_jobs)
    learner = learner_of(model)
    complete = any("complete rankings" in one.needs for one in chosen)
    k = len(learner.classes_) if complete else max(int(one.parameters.get("k", 1)) for one in chosen) + 10
    stream = reading.open(data)
    rankings, truth = [], []
    for batch in with_labels(data, stream, progress(stream, "ranking")):
        rankings.append(rank_batch(model, batch, k))
        truth += batch.labels or []
    if not rankings:
        raise InputError("there are no examples to evaluate")
    ranking, numbers = Ranking.stack(rankings, k), learner.label_numbers(truth)
    found = evaluate_ranking(ranking, numbers, chosen, n_labels=len(learner.classes_))
    if as_json:
        print_json(found.to_dict())
    else:
        print(found.table())
