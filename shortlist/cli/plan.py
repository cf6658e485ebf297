"""shortlist plan"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.options import Data, Json, Reading, Settable, named_values, reads
from shortlist.cli.terminal import print_json, say_when_compiling, size
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.inputs import Stream
    from shortlist.models.plan import Plan


@reads
def plan(
    *,
    data: Data,
    sample: Annotated[int, typer.Option(help="How many examples to try, from the beginning of the data.")] = 20_000,
    settings: Settable = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Predict the memory, the time and the model file that `shortlist train` will need, from a sample of the data."""
    say_when_compiling()
    from shortlist.arrays.validation import as_whole
    from shortlist.inputs.labelled import teaching
    from shortlist.models.making import Settings
    from shortlist.models.plan import LEAST
    from shortlist.models.plan import plan as planned

    as_whole(sample, "--sample", least=LEAST)
    stream = reading.open_for("categories", data)
    if data == "-":
        raise InputError("a plan needs a file or a folder: standard input does not say how long it is")
    began, batches, tried, share = time.process_time(), [], 0, 1.0
    for batch in teaching("categories", data, stream, iter(stream)):
        batches.append(batch)
        tried += len(batch)
        if tried >= sample:
            share = share_read(stream, tried)
            break
    seconds = time.process_time() - began
    if tried > sample:  # blocks are read whole
        batches[-1] = batches[-1].take(list(range(len(batches[-1]) - (tried - sample))))
        share, seconds = share * sample / tried, seconds * sample / tried
    asked = Settings(values=named_values("--set", settings))
    of_texts = bool(batches) and batches[0].texts is not None
    found = planned(batches, share, asked.model(of_texts=of_texts), seconds)
    if as_json:
        print_json(dataclasses.asdict(found))
    elif found.sample == found.examples:
        print(f"All {found.examples:,} examples were tried. Training takes {needs(found)}.")
    else:
        print(
            f"From the first {found.sample:,} of about {found.examples:,} examples, training on all of them will take "
            f"{needs(found)}.\nExpected: {counted(found.labels, 'labels')}, "
            f"{counted(found.features, 'features')}, {counted(found.edges, 'edges')}."
        )


def share_read(stream: Stream, tried: int) -> float:
    """Which share of the data has been read: by bytes, or, where they are not known, by examples, counted."""
    if stream.bytes_total:
        return min(1.0, stream.bytes_read / stream.bytes_total)
    return tried / (tried + sum(len(batch) for batch in stream))


def needs(found: Plan) -> str:
    on_cores = f" (about {found.elapsed:.1f} s on {found.cores} cores)" if found.cores > 1 else ""
    return (
        f"{size(found.memory)} of memory and {found.seconds:.1f} s of processor time{on_cores}, and gives a model file "
        f"of {size(found.model_size)}"
    )
