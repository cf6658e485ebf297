"""shortlist train"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli.models import describe
from shortlist.cli.options import Data, Json, Output, Reading, Setting, change, named_values, reads, with_labels
from shortlist.cli.terminal import print_json, progress, say_when_compiling, size
from shortlist.errors import InputError

LEARNERS = {"feature-focus": "FeatureFocus", "independent": "IndependentIndex", "frequency": "FrequencyBaseline"}


@reads
def train(
    *,
    data: Data,
    output: Output = None,
    learner: Annotated[str, typer.Option(help=f"One of {', '.join(LEARNERS)}.")] = "feature-focus",
    settings: Setting = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Learn from a file of labelled examples and write a model file.

    Examples are shuffled, so that a file sorted by label does no harm. `shortlist learn` takes them as they come.
    """
    import shortlist
    from shortlist.categorizer import default_learner, default_text

    say_when_compiling()
    if learner not in LEARNERS:
        raise InputError(f"--learner must be one of {', '.join(LEARNERS)}, not {learner!r}")
    values = named_values("--set", settings)
    for_text = {name[5:]: values.pop(name) for name in list(values) if name.startswith("text.")}
    usual = default_learner() if learner == "feature-focus" else getattr(shortlist, LEARNERS[learner])()
    chosen = change(usual, values)
    text = change(default_text(), for_text, prefix="text.")
    stream = reading.open(data)
    target = output or Path(Path(data if data != "-" else "model").name.partition(".")[0] + ".shortlist")

    began = time.perf_counter()
    model = fit(with_labels(data, stream, progress(stream, "reading")), chosen, text)
    seconds = time.perf_counter() - began
    model.save(target)
    facts = {"model": str(target), "format": stream.format, **describe(model)}
    n_bytes = target.stat().st_size
    if as_json:
        print_json(facts | {"seconds": round(seconds, 3), "bytes": n_bytes, "skipped": stream.skipped.count})
    else:
        print(
            f"Learned {facts['examples']:,} examples with {facts['labels']:,} labels and {facts['features']:,} "
            f"features in {seconds:.1f} s; wrote {target} ({size(n_bytes)}).\n"
            f"Next: shortlist rank {target} --text '…'"
        )


def fit(batches: Iterator[Any], learner: Any, text: Any) -> Any:
    """A Categorizer where the data are texts, the learner alone where they are rows of features."""
    from shortlist import Categorizer
    from shortlist.door import Rows

    first = next(batches, None)
    if first is None:
        raise InputError("there are no examples to learn from")
    if first.texts is not None:

        def texts() -> Iterator[tuple[list[str], list[list[Any]]]]:
            yield first.texts, first.labels
            for batch in batches:
                yield batch.texts, batch.labels

        return Categorizer(learner, text).fit_batches(texts())
    every = [first, *batches]
    labels = [own for batch in every for own in batch.labels]
    return learner.fit_rows(Rows.stack([batch.rows for batch in every]), labels)

