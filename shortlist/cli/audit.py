"""shortlist audit"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options import Data, Json, Reading, Settable, complete_learner, named_values, reads
from shortlist.cli.terminal import counting, print_json, print_table, progress, say_when_compiling
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.arrays.given_labels import Label
    from shortlist.models.categorizer import Categorizer

LETTERS = 70  # of a text that a table shows
SHOWN = 15  # duplicates, and pairs of labels, that a table shows


@reads
def audit(
    *,
    data: Data = "-",
    limit: Annotated[int, typer.Option(min=1, help="How many of the most doubtful examples to list.")] = 50,
    learner: Annotated[
        str | None, typer.Option(help="The learner, as for train.", autocompletion=complete_learner)
    ] = None,
    settings: Settable = None,
    model: Annotated[
        Path | None, typer.Option(help="A model file whose learner and settings to take; not what it has learned.")
    ] = None,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Find examples whose labels may be wrong, equal texts with different labels, and labels that get confused.

    Each fifth of the examples is ranked by a model that has learned the others; what it contradicts most comes first,
    with the words that speak against the label. Examples are numbered from 1, in the order of the file.
    """
    from shortlist.inputs.labelled import teaching
    from shortlist.labels import NumberedLabels
    from shortlist.models.text_batches import texts_and_labels

    say_when_compiling()
    auditor = auditor_like(model, learner, named_values("--set", settings))
    stream = reading.open_for("categories", data)
    batches = list(teaching("categories", data, stream, progress(stream, "reading")))
    if batches[0].texts is None:
        raise InputError(f"{data} holds rows of numbers, and audit looks through texts; --text-column names theirs")
    pairs = [texts_and_labels(batch) for batch in batches]
    texts = [text for some, _ in pairs for text in some]
    labels = NumberedLabels.stack([own for _, own in pairs])  # type: ignore[misc]
    with counting("looking") as watch:
        found = auditor.audit(texts, labels, limit, watch=watch).numbered_as(range(1, len(texts) + 1))
    if as_json:
        print_json(found.to_dict() | {"skipped": stream.skipped.count})
        return
    are = "is" if found.contradicted == 1 else "are"
    print(
        f"{found.contradicted:,} of {found.examples:,} examples {are} contradicted by a model that learned the others."
    )
    called = auditor.name_of
    rows = [
        [
            one.number,
            called(one.label),
            called(one.found),
            one.by,
            ", ".join(word for word, _ in one.words),
            one.text[:LETTERS],
        ]
        for one in found.doubts
    ]
    print_table("Most doubtful", ["example", "label", "rather", "by", "because of", "text"], rows)
    if found.duplicates:
        said = [
            [
                ", ".join(map(str, one.numbers)),
                " | ".join(in_words([*map(called, own)]) for own in one.labels),
                one.text[:LETTERS],
            ]
            for one in found.duplicates[:SHOWN]
        ]
        print_table(f"Equal texts, different labels ({len(found.duplicates):,})", ["examples", "labels", "text"], said)
    if found.confusions:
        often = [[called(one.label), called(one.found), len(one.numbers)] for one in found.confusions[:SHOWN]]
        print_table("Labels that get confused", ["label", "rather", "examples"], often)


def auditor_like(path: Path | None, learner: str | None, values: dict[str, Any]) -> Categorizer:
    """A model of the settings that are asked for: those of a model file, or these."""
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.making import Settings, open_model

    if path is None:
        found = Settings("categories", learner, None, values).model(of_texts=True)
    elif learner or values:
        raise InputError("--model has a learner and settings; leave out --learner and --set, or --model")
    else:
        found = open_model(path)
    if not isinstance(found, Categorizer):
        raise InputError(f"{path} is not a model of texts with labels, and has no settings for one")
    return found


def in_words(labels: list[Label]) -> str:
    return ", ".join(map(str, labels)) or "none"
