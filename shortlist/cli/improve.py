"""Measures and doubts: shortlist evaluate, compare, audit."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import (
    MEASURES,
    Clustering,
    Data,
    FilesOrInput,
    Jobs,
    Json,
    ModelFile,
    Reading,
    Settable,
    complete_learner,
    named_values,
    reads,
)
from shortlist.cli.terminal import (
    counting,
    print_json,
    print_table,
    progress,
    say,
    say_when_compiling,
    size,
)
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.models.categorizer import Categorizer

ROWS = 30  # of a table of details
DOUBTS = 15  # duplicates, and pairs of labels, in a table
LETTERS = 70  # of a text in a table
SURE = 0.05


@reads
def evaluate(
    *,
    model_file: ModelFile,
    data: FilesOrInput = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure", "-m", help=f"A measure; can be repeated. Among them: {MEASURES}."
        ),
    ] = None,
    per_label: Annotated[
        bool, typer.Option("--per-label", help="Precision, recall and F1 of each label too.")
    ] = False,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="The measures of each query too.")
    ] = False,
    errors: Annotated[
        int, typer.Option("--errors", min=0, help="How many of the worst errors to list.")
    ] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="A folder to draw curves and a confusion matrix into.")
    ] = None,
    reading: Reading,
    cluster: Clustering,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Measure a model on labelled examples that it has not learned, with 95 % intervals."""
    from shortlist.inputs.labelled import teaching
    from shortlist.models.training_settings import open_model

    say_when_compiling()
    model = open_model(model_file, 1 if cluster.asked else n_jobs)
    for option, asked, detail in (
        ("--per-label", per_label, "label"),
        ("--per-query", per_query, "query"),
    ):
        if asked and model.detail_kind != detail:
            has = (
                f"--per-{model.detail_kind} shows each {model.detail_kind}"
                if model.detail_kind
                else "leave it out"
            )
            raise InputError(f"{option} is not for a model of {model.task}; {has}")
    if (plot or errors) and model.task != "categories":
        what = "--plot draws" if plot else "--errors lists"
        raise InputError(f"{what} rankings of labels; there are none for {model.task}")
    sources, details = data or ["-"], per_label or per_query
    reading.recall(model, sources[0])
    with on_cluster(cluster, reading, sources) as there:
        if there:
            if plot or errors:
                raise InputError(
                    "--plot and --errors need the examples here; leave out --workers and --dask"
                )
            found = there.evaluate(model, measures, details)
        else:
            stream = reading.open_for(model.task, sources[0], model)
            read = teaching(model.task, sources[0], stream, progress(stream, "ranking"))
            batches = (batch.complete_only() for batch in read)
            if plot or errors:
                from shortlist.report import evaluate_closely

                found = evaluate_closely(
                    model, batches, measures, details=details, errors=errors, folder=plot
                )
                if plot:
                    say(f"pictures are in {plot}")
            else:
                found = model.evaluate(batches, measures, details=details)
    if as_json:
        print_json(found.to_dict())
        return
    print(found.measures.table())
    for table in found.tables:
        print_table(table.title, table.columns, table.rows[:ROWS])
        if len(table.rows) > ROWS:
            print(f"and {len(table.rows) - ROWS:,} {table.what} more; --json gives all")


@reads
def compare(
    *,
    data: Data,
    learners: Annotated[
        str, typer.Option(help="Short names of learners with commas between, or all.")
    ] = ("tuned-index,feature-focus,independent,mmp1,rocchio,frequency"),
    splits: Annotated[
        int, typer.Option(min=1, help="How many random splits; each tests on a fifth.")
    ] = 5,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Train and test learners of categories side by side, on the same random splits.

    Texts become features as `shortlist train` makes them. Prints quality, seconds, edges or
    weights, bytes, and which differences of R1 are more than chance by a Wilcoxon test over all
    test examples.
    """
    from rich.console import Console
    from rich.progress import track

    from shortlist.inputs.labelled import gathered, teaching
    from shortlist.models.model import learners as known_learners
    from shortlist.models.model import named
    from shortlist.models.model_search import ORDERED_BY, differences
    from shortlist.models.model_search import compare as compare_learners

    say_when_compiling()
    known = list(known_learners("categories"))
    names = (
        known
        if learners == "all"
        else [name.strip() for name in learners.split(",") if name.strip()]
    )
    if not names:
        raise InputError(f"--learners must name some of {', '.join(known)}, or be all")
    for name in names:
        named("categories", name, "--learners")
    stream = reading.open_for("categories", data)
    given = gathered(teaching("categories", data, stream, progress(stream, "reading")))
    examples: Any = list(given.texts) if given.texts is not None else given.rows
    labels = [list(own) for own in given.labels or ()]
    rounds = compare_learners(names, examples, labels, splits=splits, held_out=0.2, random_state=0)
    watched = track(rounds, "comparing", splits, console=Console(stderr=True), transient=True)
    contestants = deque(watched, maxlen=1)[0]  # each round adds to the last
    found = differences(contestants)
    if as_json:
        kept = [{**asdict(one), "per_row": None} for one in contestants]
        print_json({"learners": kept, "differences": [asdict(one) for one in found]})
        return
    ranked = sorted(contestants, key=lambda one: -one.mean(ORDERED_BY))
    columns = ["learner", "R1", "R5", "MRR", "learn, s", "rank, µs", "weights", "bytes"]
    rows = [
        [
            one.name,
            one.mean("R1"),
            one.mean("R5"),
            one.mean("MRR"),
            sum(one.seconds) / splits,
            round(sum(one.microseconds) / splits),
            one.weights,
            size(one.n_bytes),
        ]
        for one in ranked
    ]
    print_table(counted(splits, "splits"), columns, rows)
    shown = [
        [
            f"{one.first} > {one.second}",
            one.difference,
            one.wilcoxon,
            "yes" if one.wilcoxon < SURE else "no",
        ]
        for one in found
    ]
    print_table("Differences", ["", ORDERED_BY, "Wilcoxon p", "more than chance"], shown)


@reads
def audit(
    *,
    data: Data = "-",
    limit: Annotated[
        int, typer.Option(min=1, help="How many of the most doubtful examples to list.")
    ] = 50,
    learner: Annotated[
        str | None, typer.Option(help="The learner, as for train.", autocompletion=complete_learner)
    ] = None,
    settings: Settable = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="A model file whose learner and settings to take; not what it has learned."
        ),
    ] = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Find examples whose labels may be wrong, equal texts with different labels, and labels that
    get confused.

    Each fifth of the examples is ranked by a model that has learned the others; what it contradicts
    most comes first, with the words that speak against the label. Examples are numbered from 1, in
    the order of the file.
    """
    from shortlist.data.labels import NumberedLabels
    from shortlist.inputs.labelled import teaching
    from shortlist.models.text_batches import texts_and_labels

    say_when_compiling()
    auditor = auditor_like(model, learner, named_values("--set", settings))
    stream = reading.open_for("categories", data)
    batches = list(teaching("categories", data, stream, progress(stream, "reading")))
    if batches[0].texts is None:
        raise InputError(
            f"{data} holds rows of numbers, and audit needs texts; name their column with "
            "--text-column"
        )
    pairs = [texts_and_labels(batch) for batch in batches]
    texts = [text for some, _ in pairs for text in some]
    labels = NumberedLabels.stack([own for _, own in pairs])  # type: ignore[misc]
    with counting("looking") as watch:
        found = auditor.audit(texts, labels, limit, watch=watch, numbers=range(1, len(texts) + 1))
    if as_json:
        print_json(found.to_dict() | {"skipped": stream.skipped.count})
        return
    are = "is" if found.contradicted == 1 else "are"
    print(
        f"{found.contradicted:,} of {found.examples:,} examples {are} contradicted by a model that "
        "learned the others."
    )
    called = auditor.name_of
    rows = []
    for one in found.doubts:
        words = ", ".join(word for word, _ in one.words)
        rows.append(
            [one.number, called(one.label), called(one.found), one.by, words, one.text[:LETTERS]]
        )
    print_table("Most doubtful", ["example", "label", "rather", "by", "because of", "text"], rows)
    if found.duplicates:
        rows = []
        for equal in found.duplicates[:DOUBTS]:
            labels_of = " | ".join(", ".join(map(called, own)) or "none" for own in equal.labels)
            rows.append([", ".join(map(str, equal.numbers)), labels_of, equal.text[:LETTERS]])
        print_table(
            f"Equal texts, different labels ({len(found.duplicates):,})",
            ["examples", "labels", "text"],
            rows,
        )
    if found.confusions:
        often = [
            [called(one.label), called(one.found), len(one.numbers)]
            for one in found.confusions[:DOUBTS]
        ]
        print_table("Labels that get confused", ["label", "rather", "examples"], often)


def auditor_like(path: Path | None, learner: str | None, values: dict[str, Any]) -> Categorizer:
    """Return a new model with the settings of a model file, or with these."""
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.training_settings import TrainingSettings, open_model

    if path is None:
        found = TrainingSettings("categories", learner, None, values).model(of_texts=True)
    elif learner or values:
        raise InputError(
            "--model has a learner and settings; leave out --learner and --set, or --model"
        )
    else:
        found = open_model(path)
    if not isinstance(found, Categorizer):
        raise InputError(f"{path} is not a model of texts with labels, and has no settings for one")
    return found
