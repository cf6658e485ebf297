"""shortlist train, learn"""

from __future__ import annotations

import sys
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from shortlist.cli.on_cluster import check_cluster, on_cluster
from shortlist.cli.options import (
    LEARNERS_IN_WORDS,
    Clustering,
    Data,
    EncoderModel,
    FilesOrNone,
    Jobs,
    Json,
    Language,
    MaxMemory,
    ModelFile,
    OutputFile,
    PolicyOption,
    Reading,
    Settable,
    Teach,
    VocabularyFile,
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
    from shortlist.models.training_settings import TrainingSettings

SEARCH_MINUTES = 10.0


@reads
def train(
    *,
    data: FilesOrNone = None,
    output: OutputFile = None,
    task: Annotated[
        str, Option(help="What to learn: categories, ratings, documents.")
    ] = "categories",
    learner: Annotated[
        str | None,
        Option(
            help=f"The learner: {LEARNERS_IN_WORDS}. The first is the default.",
            autocompletion=complete_learner,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        Option(help="For documents: the measure to optimise, map, roc, ndcg or mrr."),
    ] = None,
    settings: Settable = None,
    max_memory: MaxMemory = None,
    best: Annotated[
        bool,
        Option(
            "--best",
            help="Try learners and settings on held-back parts of the data; keep the best.",
        ),
    ] = False,
    minutes: Annotated[
        float | None,
        Option(min=0, help="How long --best may take; 10 if not given.", show_default=False),
    ] = None,
    encoder: Annotated[
        str | None,
        Option(
            help=(
                "Learn meaning, too: all-MiniLM-L6-v2, the folder of an encoder, LIBRARY:NAME, "
                "the address of an endpoint, or MODULE:FUNCTION."
            )
        ),
    ] = None,
    encoder_model: EncoderModel = None,
    vocabulary: VocabularyFile = None,
    language: Language = None,
    policy: PolicyOption = "grow",
    teach: Teach = 0,
    n_jobs: Jobs = -1,
    compact: Annotated[
        bool, Option("--compact", help="Write a file of less than a third of the size.")
    ] = False,
    reading: Reading,
    cluster: Clustering,
    force: Annotated[
        bool,
        Option(
            "--force", help="Replace the model file even if its model has learned more than this."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Learn from a file of labelled examples and write a model file.

    Examples are shuffled, so that a file sorted by label does no harm. `shortlist learn` takes them
    as they come. With --best the default learner is kept unless another one is better by more than
    chance.

    An existing model file is replaced. If its model has learned from more examples than the new
    one, as after `shortlist learn`, train asks first. In a script it cannot ask: it writes the new
    model under another name, and ends with exit code 2.

    With --vocabulary and --encoder, and no data, the model ranks by the meaning of the labels'
    names.
    """
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.training_settings import TrainingSettings

    say_when_compiling()
    from_names = not data
    if not data:
        if vocabulary is None or encoder is None:
            raise InputError(
                "there are no data to learn from: name a file, or both --vocabulary and --encoder"
            )
        data = [str(vocabulary)]  # for the name of the model
    source = data[0]
    target = output
    if target is None:
        stem = "model" if source == "-" else Path(source).name.partition(".")[0]
        target = Path(f"{stem}.shortlist")
    check_output(target)
    n_replaced = 0 if force else examples_of(target)
    names = read_names(vocabulary, language, policy, teach)
    if names is not None and task != "categories":
        raise InputError(f"--vocabulary names labels; there are none in {task}")
    parameters = TrainingSettings(
        task,  # type: ignore[arg-type]
        learner,
        measure,
        named_values("--set", settings),
        max_memory,
        None if encoder is None else find_encoder(encoder, encoder_model),
    )
    check_best(parameters, best, minutes, cluster)
    check_cluster(cluster, parameters)
    began = time.perf_counter()
    search: Found | None = None
    format: str | None = None
    n_skipped = 0
    model: Model[Any]
    if from_names:
        model = with_names(parameters.model(of_texts=True), names)
    else:
        with on_cluster(cluster, reading, data) as parts:
            if parts:
                model = with_names(parts.train(parameters), names)
                format = parts.format
                n_skipped = parts.skipped.count
            else:
                stream = reading.open_for(task, source)
                if best:
                    limit = SEARCH_MINUTES if minutes is None else minutes
                    search = search_here(parameters, source, stream, limit)
                    model = with_names(search.model, names)
                else:
                    model = train_here(parameters, source, stream, n_jobs, names)
                format = stream.format
                n_skipped = stream.skipped.count
    seconds = time.perf_counter() - began
    facts = model.describe()
    refusal = None
    if n_replaced > facts["examples"]:
        refusal = not_replaced(target, n_replaced, facts["examples"])
        if refusal:
            target = target.with_name(f"{target.stem}-new{target.suffix}")
    if isinstance(model, Categorizer):
        model.training_columns_ = reading.to_remember() or None
    model.save(target, compact=compact)
    n_bytes = target.stat().st_size
    if names is None:  # labels of a vocabulary may have no example
        warn_of_labels(facts)
    if as_json:
        facts = {
            "model": str(target),
            "format": format,
            "seconds": round(seconds, 3),
            "bytes": n_bytes,
            **facts,
            "skipped": n_skipped,
        }
        if search:
            facts["search"] = search.record
        print_json(facts)
    else:
        if search:
            table = search.table()
            print_table(table.title, table.columns, table.rows)
            note = "" if search.model.can_learn else ", which cannot go on learning"
            print(f"Chosen: {search.chosen}{note}.")
        learned = f"Learned in {seconds:.1f} s: {facts_in_words(facts)}"
        if teach:
            learned += "; each name that teaches counts as an example"
        if from_names:
            n_labels = counted(facts["labels"], "labels")
            learned = f"No example was learned; {n_labels} are ranked by the meaning of their names"
        if refusal is None:
            print(f"{learned}.\nWrote {target} ({size(n_bytes)}). Next: shortlist rank {target} …")
    if refusal:
        raise InputError(
            f"{refusal}; the new model is in {target}, and --force replaces the old one"
        )


@reads
def learn(
    *,
    model_file: ModelFile,
    data: Data = "-",
    output: OutputFile = None,
    max_memory: MaxMemory = None,
    vocabulary: VocabularyFile = None,
    language: Language = None,
    policy: PolicyOption = "grow",
    checked: Annotated[
        bool,
        Option(
            "--checked",
            help=(
                "The examples are spot checks: drawn by chance from all that arrive, and judged "
                "without seeing the model's answer."
            ),
        ),
    ] = False,
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
    earlier = model.describe()
    stream = reading.open_for(model.task, data, model)
    options: dict[str, Any] = {}
    if checked:
        if not isinstance(model, CategoryModel):
            raise InputError("--checked is for models of labels; leave it out")
        options["checked"] = True
    with saying_warnings(model):
        model.learn_batches(
            teaching(model.task, data, stream, progress(stream, "learning"), may_be_empty=True),
            **options,
        )
    model.save(target)
    facts = model.describe()
    if getattr(model, "vocabulary_", None) is None:
        warn_of_labels(facts)
    if isinstance(model, CategoryModel) and model.confidence_.is_in_run:
        say(
            "warning: the examples came sorted by label, so nothing can be promised: no label is "
            "assigned by --precision until other examples come mixed; shuffle the file, or use "
            "shortlist train"
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
            name: n - earlier[name]
            for name, n in facts.items()
            if name in ("examples", "labels", "features")
        }
        print(f"Learned {facts_in_words(new)} more, and wrote {target}.")


def train_here(
    parameters: TrainingSettings,
    source: str,
    stream: Stream,
    n_jobs: int = 1,
    names: LabelVocabulary | None = None,
) -> Model[Any]:
    """Fit a model to a stream."""
    from shortlist.inputs.labelled import teaching

    parameters.check()
    batches = teaching(parameters.task, source, stream, progress(stream, "reading"))
    first = next(batches)
    model = with_names(parameters.model(of_texts=first.texts is not None), names)
    with saying_warnings(model), learning_bar() as bar:
        return model.fit_with_threads(chain([first], batches), n_jobs, bar)


def check_best(
    parameters: TrainingSettings, best: bool, minutes: float | None, cluster: Clustering
) -> None:
    """Refuse options that do not go with --best, or need it."""
    if not best and minutes is not None:
        raise InputError("--minutes is how long a search may take; it goes with --best")
    if best and parameters.task != "categories":
        raise InputError(f"--best is for --task categories, not {parameters.task}")
    if best and (parameters.learner is not None or parameters.values):
        raise InputError(
            "--best chooses the learner and its settings; leave out --learner and --set"
        )
    if best and cluster.asked:
        raise InputError("--best tries models on this machine; leave out --workers and --dask")


def search_here(parameters: TrainingSettings, source: str, stream: Stream, minutes: float) -> Found:
    """Search the best model for a stream of examples, which are all held in memory."""
    from shortlist.inputs.labelled import gathered, teaching
    from shortlist.models.category_model import CategoryModel
    from shortlist.models.model_search import search

    examples = gathered(teaching(parameters.task, source, stream, progress(stream, "reading")))
    model = parameters.model(of_texts=examples.texts is not None)
    assert isinstance(model, CategoryModel)
    with saying_warnings(model), counting("trying") as watch:
        return search(model, examples, seconds=60 * minutes, progress=watch)


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


def not_replaced(target: Path, n_replaced: int, n_learned: int) -> str | None:
    """Return why a model that has learned more than the new one is not replaced; None if the
    user agrees to replace it.
    """
    counts = (
        f"it has learned from {counted(n_replaced, 'examples')}, the new model from {n_learned:,}"
    )
    can_ask = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if can_ask and typer.confirm(f"Replace {target}? {counts}.", err=True):
        return None
    return f"{target} was not replaced: {counts}"
