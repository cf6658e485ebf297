"""Measures and doubts: shortlist evaluate, compare, audit."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from shortlist.cli.on_cluster import on_cluster
from shortlist.cli.options import (
    KNOWN_MEASURES,
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

MOST_ROWS = 30  # of a table of details
MOST_PAIRS = 15  # duplicates, and pairs of labels, in a table
TEXT_LETTERS = 70  # of a text in a table
SIGNIFICANCE = 0.05


@reads
def evaluate(
    *,
    model_file: ModelFile,
    data: FilesOrInput = None,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measure", "-m", help=f"A measure; can be repeated. Among them: {KNOWN_MEASURES}."
        ),
    ] = None,
    per_label: Annotated[
        bool, Option("--per-label", help="Precision, recall and F1 of each label too.")
    ] = False,
    per_query: Annotated[
        bool, Option("--per-query", help="The measures of each query too.")
    ] = False,
    errors: Annotated[
        int, Option("--errors", min=0, help="How many of the worst errors to list.")
    ] = 0,
    plot: Annotated[
        Path | None, Option(help="A folder to draw curves and a confusion matrix into.")
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
    kind = model.detail_kind
    for is_set, detail in ((per_label, "label"), (per_query, "query")):
        if is_set and kind != detail:
            hint = f"--per-{kind} shows each {kind}" if kind else "leave it out"
            raise InputError(f"--per-{detail} is not for a model of {model.task}; {hint}")
    if (plot or errors) and model.task != "categories":
        does = "--plot draws" if plot else "--errors lists"
        raise InputError(f"{does} rankings of labels; there are none for {model.task}")
    sources = data or ["-"]
    details = per_label or per_query
    reading.recall(model, sources[0])
    with on_cluster(cluster, reading, sources) as parts:
        if parts:
            if plot or errors:
                raise InputError(
                    "--plot and --errors need the examples here; leave out --workers and --dask"
                )
            report = parts.evaluate(model, measures, details)
        else:
            stream = reading.open_for(model.task, sources[0], model)
            batches = teaching(model.task, sources[0], stream, progress(stream, "ranking"))
            judged = (batch.complete_only() for batch in batches)
            if plot or errors:
                from shortlist.report import evaluate_closely

                report = evaluate_closely(
                    model, judged, measures, details=details, errors=errors, folder=plot
                )
            else:
                report = model.evaluate(judged, measures, details=details)
            if plot:
                say(f"pictures are in {plot}")
    if as_json:
        print_json(report.to_dict())
        return
    print(report.measures.table())
    for table in report.tables:
        print_table(table.title, table.columns, table.rows[:MOST_ROWS])
        if len(table.rows) > MOST_ROWS:
            print(f"and {len(table.rows) - MOST_ROWS:,} {table.what} more; --json gives all")


@reads
def compare(
    *,
    data: Data,
    learners: Annotated[
        str, Option(help="Short names of learners with commas between, or all.")
    ] = ("tuned-index,feature-focus,independent,mmp1,rocchio,frequency"),
    splits: Annotated[
        int, Option(min=1, help="How many random splits; each tests on a fifth.")
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
    all_names = list(known_learners("categories"))
    names = all_names
    if learners != "all":
        names = [name.strip() for name in learners.split(",") if name.strip()]
    if not names:
        raise InputError(f"--learners must name some of {', '.join(all_names)}, or be all")
    for name in names:
        named("categories", name, "--learners")
    stream = reading.open_for("categories", data)
    examples = gathered(teaching("categories", data, stream, progress(stream, "reading")))
    inputs: Any = examples.rows if examples.texts is None else list(examples.texts)
    labels = [list(names) for names in examples.labels or ()]
    rounds = compare_learners(names, inputs, labels, splits=splits, held_out=0.2, random_state=0)
    watched = track(rounds, "comparing", splits, console=Console(stderr=True), transient=True)
    results = deque(watched, maxlen=1)[0]  # each round adds to the last
    pairs = differences(results)
    if as_json:
        records = [asdict(result) | {"per_row": None} for result in results]
        print_json({"learners": records, "differences": [asdict(pair) for pair in pairs]})
        return
    columns = ["learner", "R1", "R5", "MRR", "learn, s", "rank, µs", "weights", "bytes"]
    rows = [
        [
            result.name,
            result.mean("R1"),
            result.mean("R5"),
            result.mean("MRR"),
            sum(result.seconds) / splits,
            round(sum(result.microseconds) / splits),
            result.weights,
            size(result.n_bytes),
        ]
        for result in sorted(results, key=lambda result: -result.mean(ORDERED_BY))
    ]
    print_table(counted(splits, "splits"), columns, rows)
    rows = []
    for pair in pairs:
        is_sure = "yes" if pair.wilcoxon < SIGNIFICANCE else "no"
        rows.append([f"{pair.first} > {pair.second}", pair.difference, pair.wilcoxon, is_sure])
    print_table("Differences", ["", ORDERED_BY, "Wilcoxon p", "more than chance"], rows)


@reads
def audit(
    *,
    data: Annotated[
        list[str] | None,
        Argument(
            help="A file or folder of examples, or - for standard input; or apply FILE WORKLIST.",
            show_default="-",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="A worklist to write, .csv or .xlsx; with apply, the corrected copy of the file.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int, Option(min=1, help="How many of the most doubtful examples to list.")
    ] = 50,
    learner: Annotated[
        str | None, Option(help="The learner, as for train.", autocompletion=complete_learner)
    ] = None,
    settings: Settable = None,
    model: Annotated[
        Path | None,
        Option(help="A model file whose learner and settings to take; not what it has learned."),
    ] = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Find examples whose labels may be wrong, equal texts with different labels, and labels that
    get confused.

    Each fifth of the examples is ranked by a model that has learned the others; what it contradicts
    most comes first, with the words that speak against the label. Examples have the numbers of
    their lines, or of their rows in a spreadsheet.

    -o doubts.xlsx writes a worklist of the doubtful examples and of equal texts, whose last column
    waits for the right labels. audit apply FILE WORKLIST -o NEW-FILE then copies the file with
    these labels.
    """
    from shortlist.cli.worklists import Numbering, apply, check_worklist, write_worklist
    from shortlist.data.labels import NumberedLabels
    from shortlist.inputs.labelled import teaching
    from shortlist.models.text_batches import texts_and_labels

    data = data or ["-"]
    if data[0] == "apply":
        apply(data[1:], output, reading, as_json)
        return
    if len(data) > 1:
        raise InputError("audit takes one file or folder, or: audit apply FILE WORKLIST")
    source = data[0]
    if output is not None:
        check_worklist(output)
    say_when_compiling()
    auditor = auditor_like(model, learner, named_values("--set", settings))
    stream = reading.open_for("categories", source)
    batches = list(teaching("categories", source, stream, progress(stream, "reading")))
    if batches[0].texts is None:
        raise InputError(
            f"{source} holds rows of numbers, and audit needs texts; name their column with "
            "--text-column"
        )
    pairs = [texts_and_labels(batch) for batch in batches]
    texts = [text for texts, _ in pairs for text in texts]
    labels = NumberedLabels.stack([labels for _, labels in pairs])  # type: ignore[misc]
    numbering = Numbering.of(batches)
    with counting("looking") as watch:
        report = auditor.audit(texts, labels, limit, watch=watch, numbers=numbering.numbers)
    if output is not None:
        worklist = numbering.worklist(report, texts, labels, auditor, reading)
        write_worklist(output, worklist, stream.progress.separator)
        say(
            f"wrote {output}: put the right labels into its last column, and run: shortlist audit "
            f"apply {source} {output} -o NEW-FILE, with the same columns"
        )
    if as_json:
        record = report.to_dict() | {"skipped": stream.skipped.count, "numbers": numbering.unit}
        for doubt in record["doubts"]:
            doubt |= numbering.id_of(doubt["number"])
        print_json(record)
        return
    are = "is" if report.contradicted == 1 else "are"
    print(
        f"{report.contradicted:,} of {report.examples:,} examples {are} contradicted by a model "
        "that learned the others."
    )
    name_of = auditor.name_of
    rows: list[list[Any]] = []
    for doubt in report.doubts:
        words = ", ".join(word for word, _ in doubt.words)
        label = name_of(doubt.label)
        rather = name_of(doubt.found)
        which = numbering.called(doubt.number)
        rows.append([which, label, rather, doubt.by, words, doubt.text[:TEXT_LETTERS]])
    unit = numbering.unit
    print_table("Most doubtful", [unit, "label", "rather", "by", "because of", "text"], rows)
    if report.duplicates:
        rows = []
        for equal in report.duplicates[:MOST_PAIRS]:
            numbers = ", ".join(map(numbering.called, equal.numbers))
            lists = [", ".join(map(name_of, names)) or "none" for names in equal.labels]
            rows.append([numbers, " | ".join(lists), equal.text[:TEXT_LETTERS]])
        title = f"Equal texts, different labels ({len(report.duplicates):,})"
        print_table(title, [f"{unit}s", "labels", "text"], rows)
    if report.confusions:
        rows = []
        for pair in report.confusions[:MOST_PAIRS]:
            rows.append([name_of(pair.label), name_of(pair.found), len(pair.numbers)])
        print_table("Labels that get confused", ["label", "rather", "examples"], rows)


def auditor_like(path: Path | None, learner: str | None, values: dict[str, Any]) -> Categorizer:
    """Return a new model with the settings of a model file, or with these."""
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.training_settings import TrainingSettings, open_model

    model: Any
    if path is None:
        model = TrainingSettings("categories", learner, None, values).model(of_texts=True)
    elif learner or values:
        raise InputError(
            "--model has a learner and settings; leave out --learner and --set, or --model"
        )
    else:
        model = open_model(path)
    if not isinstance(model, Categorizer):
        raise InputError(f"{path} is not a model of texts with labels, and has no settings for one")
    return model
