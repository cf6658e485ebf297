"""shortlist train, learn"""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.on_cluster import check_cluster, on_cluster
from shortlist.cli.options import (
    NAMED,
    Clustering,
    Data,
    EncoderModel,
    FilesOrNone,
    Jobs,
    Json,
    Language,
    MaxMemory,
    ModelFile,
    Output,
    Policy,
    Reading,
    Settable,
    Teach,
    Vocabulary,
    check_output,
    complete_learner,
    find_encoder,
    named_values,
    read_names,
    reads,
    with_names,
)
from shortlist.cli.terminal import (
    counting,
    facts_in_words,
    learning_bar,
    print_json,
    print_table,
    progress,
    say,
    say_when_compiling,
    saying_warnings,
    size,
    warn_of_labels,
)
from shortlist.errors import InputError, ShortlistError, counted

if TYPE_CHECKING:
    from shortlist.inputs import Stream
    from shortlist.label_vocabulary import LabelVocabulary
    from shortlist.models.model import Model
    from shortlist.models.model_search import Found
    from shortlist.models.training_settings import Settings

MINUTES = 10.0


@reads
def train(
    *,
    data: FilesOrNone = None,
    output: Output = None,
    task: Annotated[
        str, typer.Option(help="What to learn: categories, ratings, documents.")
    ] = "categories",
    learner: Annotated[
        str | None,
        typer.Option(
            help=f"The learner: {NAMED}. The first is the usual one.",
            autocompletion=complete_learner,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="For documents: the measure to optimise, map, roc, ndcg or mrr."),
    ] = None,
    settings: Settable = None,
    max_memory: MaxMemory = None,
    best: Annotated[
        bool,
        typer.Option(
            "--best",
            help="Try learners and settings on held-back parts of the data; keep the best.",
        ),
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(min=0, help="How long --best may take; 10 if not given.", show_default=False),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help=(
                "Learn meaning, too: all-MiniLM-L6-v2, the folder of an encoder, LIBRARY:NAME, "
                "the address of an endpoint, or MODULE:FUNCTION."
            )
        ),
    ] = None,
    encoder_model: EncoderModel = None,
    vocabulary: Vocabulary = None,
    language: Language = None,
    policy: Policy = "grow",
    teach: Teach = 0,
    n_jobs: Jobs = -1,
    compact: Annotated[
        bool, typer.Option("--compact", help="Write a file of less than a third of the size.")
    ] = False,
    reading: Reading,
    cluster: Clustering,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace the model file even if its model has learned more than this."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Learn from a file of labelled examples and write a model file.

    Examples are shuffled, so that a file sorted by label does no harm. `shortlist learn` takes them
    as they come. With --best the usual learner is kept unless another one is better by more than
    chance.

    An existing model file is replaced. If its model has learned from more examples than the new
    one, as after `shortlist learn`, train asks first; in a script it cannot ask, and writes the new
    model under another name.

    With --vocabulary and --encoder, and no data, the model ranks by the meaning of the labels'
    names.
    """
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.training_settings import Settings

    say_when_compiling()
    from_names = not data
    if not data:
        if vocabulary is None or encoder is None:
            raise InputError(
                "there are no data to learn from: name a file, or both --vocabulary and --encoder"
            )
        data = [str(vocabulary)]  # for the name of the model
    target = output or Path(
        Path(data[0] if data[0] != "-" else "model").name.partition(".")[0] + ".shortlist"
    )
    check_output(target)
    there_already = 0 if force else examples_of(target)
    names = read_names(vocabulary, language, policy, teach)
    if names is not None and task != "categories":
        raise InputError(f"--vocabulary names labels; there are none in {task}")
    makes = None if encoder is None else find_encoder(encoder, encoder_model)
    given = named_values("--set", settings)
    asked = Settings(task, learner, measure, given, max_memory, makes)  # type: ignore[arg-type]
    check_best(asked, best, minutes, cluster)
    check_cluster(cluster, asked)
    began = time.perf_counter()
    found: Found | None = None
    format: str | None
    with nullcontext() if from_names else on_cluster(cluster, reading, data) as there:
        if from_names:
            model, format, skipped = with_names(asked.model(of_texts=True), names), None, 0
        elif there:
            model, format, skipped = (
                with_names(there.train(asked), names),
                there.format,
                there.skipped.count,
            )
        else:
            stream = reading.open_for(task, data[0])
            found = (
                search_here(asked, data[0], stream, MINUTES if minutes is None else minutes)
                if best
                else None
            )
            model = (
                with_names(found.model, names)
                if found
                else train_here(asked, data[0], stream, n_jobs, names)
            )
            format, skipped = stream.format, stream.skipped.count
    seconds = time.perf_counter() - began
    facts = model.describe()
    if there_already > facts["examples"]:
        target = another(target, there_already, facts["examples"])
    if isinstance(model, Categorizer):
        model.training_columns_ = reading.to_remember() or None
    model.save(target, compact=compact)
    n_bytes = target.stat().st_size
    if names is None:  # labels of a vocabulary may have no example
        warn_of_labels(facts)
    if as_json:
        said = {
            "model": str(target),
            "format": format,
            "seconds": round(seconds, 3),
            "bytes": n_bytes,
        }
        print_json(
            said | facts | {"skipped": skipped} | ({"search": found.record} if found else {})
        )
    else:
        if found:
            table = found.table()
            print_table(table.title, table.columns, table.rows)
            print(
                "Chosen: "
                f"{found.chosen}{'' if found.model.can_learn else ', which cannot go on learning'}."
            )
        taught = "; each name that teaches counts as an example" if teach else ""
        learned = f"Learned in {seconds:.1f} s: {facts_in_words(facts)}{taught}."
        if from_names:
            ranked = (
                f"{counted(facts['labels'], 'labels')} are ranked by the meaning of their names"
            )
            learned = f"No example was learned; {ranked}."
        print(f"{learned}\nWrote {target} ({size(n_bytes)}). Next: shortlist rank {target} …")


@reads
def learn(
    *,
    model_file: ModelFile,
    data: Data = "-",
    output: Output = None,
    max_memory: MaxMemory = None,
    vocabulary: Vocabulary = None,
    language: Language = None,
    policy: Policy = "grow",
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Teach a model file more labelled examples, in the order in which they come.

    New words and labels may come at any time. The model file is replaced once everything has been
    learned, or left as it is.
    """
    from shortlist.inputs.labelled import teaching
    from shortlist.models.category_model import CategoryModel
    from shortlist.models.training_settings import bound_memory, open_model

    say_when_compiling()
    model = open_model(model_file)
    target = output or model_file
    check_output(target)
    if max_memory is not None:
        bound_memory(model, max_memory)
    model = with_names(model, read_names(vocabulary, language, policy))
    before = model.describe()
    stream = reading.open_for(model.task, data, model)
    with saying_warnings(model):
        model.learn_batches(
            teaching(model.task, data, stream, progress(stream, "learning"), may_be_empty=True)
        )
    model.save(target)
    facts = model.describe()
    if getattr(model, "vocabulary_", None) is None:
        warn_of_labels(facts)
    if isinstance(model, CategoryModel) and model.confidence_.runs.now:
        say(
            "warning: the examples came sorted by label, from which nothing can be promised: no "
            "label is assigned by "
            "--precision until others come mixed; shuffle the file, or use shortlist train"
        )
    if as_json:
        print_json(
            {
                "model": str(target),
                "format": stream.format,
                **facts,
                "skipped": stream.skipped.count,
            }
        )
    else:
        new = {
            name: n - before[name]
            for name, n in facts.items()
            if name in ("examples", "labels", "features")
        }
        print(f"Learned {facts_in_words(new)} more, and wrote {target}.")


def train_here(
    asked: Settings,
    source: str,
    stream: Stream,
    n_jobs: int = 1,
    names: LabelVocabulary | None = None,
) -> Model[Any]:
    """Fit a model to a stream."""
    from shortlist.inputs.labelled import teaching

    asked.check()
    batches = teaching(asked.task, source, stream, progress(stream, "reading"))
    first = next(batches)
    model = with_names(asked.model(of_texts=first.texts is not None), names)
    with saying_warnings(model), learning_bar() as bar:
        return model.fit_with_threads(chain([first], batches), n_jobs, bar)


def check_best(asked: Settings, best: bool, minutes: float | None, cluster: Clustering) -> None:
    """Refuse options that do not go with --best, or need it."""
    if not best and minutes is not None:
        raise InputError("--minutes is how long a search may take; it goes with --best")
    if best and asked.task != "categories":
        raise InputError(f"--best is for --task categories, not {asked.task}")
    if best and (asked.learner is not None or asked.values):
        raise InputError(
            "--best chooses the learner and its settings; leave out --learner and --set"
        )
    if best and cluster.asked:
        raise InputError("--best tries models on this machine; leave out --workers and --dask")


def search_here(asked: Settings, source: str, stream: Stream, minutes: float) -> Found:
    """Search the best model for a stream of examples, which are all held in memory."""
    from shortlist.inputs.labelled import gathered, teaching
    from shortlist.models.category_model import CategoryModel
    from shortlist.models.model_search import search

    examples = gathered(teaching(asked.task, source, stream, progress(stream, "reading")))
    model = asked.model(of_texts=examples.texts is not None)
    assert isinstance(model, CategoryModel)
    with saying_warnings(model), counting("trying") as told:
        return search(model, examples, seconds=60 * minutes, progress=told)


def examples_of(target: Path) -> int:
    """Return how many examples the model in a file has learned; 0 if there is none. Refuse any
    other file.
    """
    from shortlist.files.store import is_model_file, learned_examples

    if not target.is_file() or not target.stat().st_size:
        return 0
    if not is_model_file(target):
        raise InputError(
            f"{target} is not a model file; --force replaces it, --output NAME writes elsewhere"
        )
    try:
        return learned_examples(target)
    except ShortlistError:
        return 0  # a damaged file, or one of another version


def another(target: Path, known: int, learned: int) -> Path:
    """Return where to write a model that has learned less than the one in the file; replace
    that only if told to.
    """
    more = f"{target} has learned from {counted(known, 'examples')}, the new model from {learned:,}"
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        if typer.confirm(f"{more}. Replace it?", err=True):
            return target
    else:
        say(f"{more}; --force replaces it")
    return target.with_name(f"{target.stem}-new{target.suffix}")
