"""shortlist compare"""

from __future__ import annotations

from collections import deque
from dataclasses import asdict
from typing import Annotated, Any

import typer

from shortlist.cli.options import Data, Json, Reading, reads
from shortlist.cli.terminal import print_json, print_table, progress, say_when_compiling, size
from shortlist.errors import InputError, counted

SURE = 0.05


@reads
def compare(
    *,
    data: Data,
    learners: Annotated[str, typer.Option(help="Short names of learners with commas between, or all.")] = (
        "tuned-index,feature-focus,independent,mmp1,rocchio,frequency"
    ),
    splits: Annotated[int, typer.Option(help="How many random splits.")] = 5,
    held_out: Annotated[float, typer.Option(help="The share of examples to test on.")] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the splits.")] = 0,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Train and test learners of categories side by side, on the same random splits.

    Texts become features as `shortlist train` makes them. Prints quality, seconds, edges or weights, bytes, and which
    differences of R1 are more than chance: a binomial sign test over splits and a Wilcoxon test over all test examples.
    """
    from rich.console import Console
    from rich.progress import track

    from shortlist.inputs.labelled import gathered, teaching
    from shortlist.models.base import learners as known_learners
    from shortlist.models.base import named
    from shortlist.models.search import ORDERED_BY, differences
    from shortlist.models.search import compare as compare_learners

    say_when_compiling()
    known = list(known_learners("categories"))
    names = known if learners == "all" else [name.strip() for name in learners.split(",") if name.strip()]
    if not names:
        raise InputError(f"--learners must name some of {', '.join(known)}, or be all")
    for name in names:
        named("categories", name, "--learners")
    if not 0 < held_out < 1 or splits < 1:
        raise InputError("--held-out must lie between 0 and 1, and --splits must be at least 1")
    stream = reading.open_for("categories", data)
    given = gathered(teaching("categories", data, stream, progress(stream, "reading")))
    examples: Any = list(given.texts) if given.texts is not None else given.rows
    labels = [list(own) for own in given.labels or ()]
    rounds = compare_learners(names, examples, labels, splits=splits, held_out=held_out, random_state=seed)
    watched = track(rounds, "comparing", splits, console=Console(stderr=True), transient=True)
    contestants = deque(watched, maxlen=1)[0]  # each round has what is known so far
    found = differences(contestants)
    if as_json:
        kept = [{**asdict(one), "per_row": None} for one in contestants]
        print_json({"learners": kept, "differences": [asdict(one) for one in found]})
        return
    ranked = sorted(contestants, key=lambda one: -one.mean(ORDERED_BY))
    columns = ["learner", "R1", "R5", "MRR", "learn, s", "rank, µs", "weights", "bytes"]
    rows = [
        [one.name, one.mean("R1"), one.mean("R5"), one.mean("MRR"), sum(one.seconds) / splits,
         round(sum(one.microseconds) / splits), one.weights, size(one.n_bytes)]
        for one in ranked
    ]  # fmt: skip
    print_table(counted(splits, "splits"), columns, rows)
    shown = [
        [f"{one.first} > {one.second}", one.difference, one.sign_test, one.wilcoxon,
         "yes" if one.wilcoxon < SURE else "no"]
        for one in found
    ]  # fmt: skip
    print_table("Differences", ["", ORDERED_BY, "sign test p", "Wilcoxon p", "more than chance"], shown)
