"""shortlist learn"""

from __future__ import annotations

from shortlist.cli.options import (
    Data,
    Json,
    Language,
    MaxMemory,
    ModelFile,
    Output,
    Policy,
    Reading,
    Vocabulary,
    check_output,
    read_names,
    reads,
    with_names,
)
from shortlist.cli.terminal import (
    facts_in_words,
    print_json,
    progress,
    say,
    say_when_compiling,
    saying_warnings,
    warn_of_labels,
)


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
    """Go on learning: take up more labelled examples, in the order in which they come.

    New words and labels may come at any time. The model file is replaced once everything has been learned, or left as
    it is.
    """
    from shortlist.inputs.labelled import teaching
    from shortlist.models.category_model import CategoryModel
    from shortlist.models.making import bound_memory, open_model

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
        model.learn_batches(teaching(model.task, data, stream, progress(stream, "learning"), may_be_empty=True))
    model.save(target)
    facts = model.describe()
    if getattr(model, "vocabulary_", None) is None:  # whose labels may have no example
        warn_of_labels(facts)
    if isinstance(model, CategoryModel) and model.confidence_.runs.now:
        say(
            "warning: the examples came sorted by label, from which nothing can be promised: no label is assigned by "
            "--precision until others come mixed; shuffle the file, or use shortlist train"
        )
    if as_json:
        print_json({"model": str(target), "format": stream.format, **facts, "skipped": stream.skipped.count})
    else:
        new = {name: n - before[name] for name, n in facts.items() if name in ("examples", "labels", "features")}
        print(f"Learned {facts_in_words(new)} more, and wrote {target}.")
