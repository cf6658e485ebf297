"""shortlist learn"""

from __future__ import annotations

from shortlist.cli.models import describe, learn_batch, load_model
from shortlist.cli.options import Data, Json, ModelFile, Output, Reading, reads, with_labels
from shortlist.cli.terminal import print_json, progress, say_when_compiling


@reads
def learn(
    *,
    model_file: ModelFile,
    data: Data = "-",
    output: Output = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Go on learning: take up more labelled examples, in the order in which they come.

    New words and labels just arrive. The model file is replaced once everything has been learned, or left as it is.
    """
    say_when_compiling()
    model = load_model(model_file)
    before = describe(model)
    stream = reading.open(data)
    for batch in with_labels(data, stream, progress(stream, "learning")):
        learn_batch(model, batch)
    target = output or model_file
    model.save(target)
    facts = {"model": str(target), "format": stream.format, **describe(model), "skipped": stream.skipped.count}
    if as_json:
        print_json(facts)
    else:
        print(
            f"Learned {facts['examples'] - before['examples']:,} more examples, "
            f"{facts['labels'] - before['labels']:,} new labels and {facts['features'] - before['features']:,} new "
            f"features; wrote {target}."
        )
