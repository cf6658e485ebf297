"""shortlist learn"""

from __future__ import annotations

from shortlist.cli.options import Data, Json, MaxMemory, ModelFile, Output, Reading, reads
from shortlist.cli.tasks import bound_memory, load_model
from shortlist.cli.terminal import facts_in_words, print_json, progress, say_when_compiling, saying_what_is_forgotten


@reads
def learn(
    *,
    model_file: ModelFile,
    data: Data = "-",
    output: Output = None,
    max_memory: MaxMemory = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Go on learning: take up more labelled examples, in the order in which they come.

    New words and labels just arrive. The model file is replaced once everything has been learned, or left as it is.
    """
    say_when_compiling()
    model, task = load_model(model_file)
    if max_memory is not None:
        bound_memory(model, max_memory)
    before = task.describe(model)
    stream = task.open_data(reading, data)
    with saying_what_is_forgotten(model):
        task.learn(model, task.labelled(data, stream, progress(stream, "learning")), stream)
    target = output or model_file
    model.save(target)
    facts = task.describe(model)
    if as_json:
        print_json({"model": str(target), "format": stream.format, **facts, "skipped": stream.skipped.count})
    else:
        counted = [name for name in ("examples", "labels", "features") if name in facts]
        new = {name: facts[name] - before[name] for name in counted}
        print(f"Learned {facts_in_words(new)} more, and wrote {target}.")
