"""shortlist strike."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from shortlist.cli.options import Json, ModelFile, Reading, label_called, reads
from shortlist.cli.rank import as_one_cell
from shortlist.cli.terminal import print_json, print_table, say_when_compiling
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.striking import ChangedAnswer

MOST_TEXTS_SHOWN = 20
TEXT_CHARACTERS = 60  # of a text in the table


@reads
def strike(
    *,
    model_file: ModelFile,
    word: Annotated[str, Argument(help="The word or phrase.", show_default=False)],
    label: Annotated[
        str | None,
        Option(help="The label that it must not count for.", show_default="any label"),
    ] = None,
    preview: Annotated[
        str | None,
        Option(help="Change nothing; show the texts of this file whose answers would change."),
    ] = None,
    undo: Annotated[bool, Option("--undo", help="Let the word count again.")] = False,
    person: Annotated[str, Option(help="Who strikes it out, for explanations.")] = "",
    precision: Annotated[float, Option(help="The target precision of a preview.")] = 0.95,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Strike out a word that must not count for a label, or for any.

    Later learning does not bring it back; --undo does. The model as it was is kept beside it, as
    MODEL-FILE.before. With --preview, the best labels and the labels assigned at --precision are
    compared, exactly.
    """
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.training_settings import open_model

    say_when_compiling()
    model = open_model(model_file)
    if not isinstance(model, Categorizer):
        raise InputError("words can be struck out in models of texts with labels only")
    struck_for = None if label is None else label_called(model, label)
    if preview is not None:
        if undo:
            raise InputError("--preview shows what a strike would change; leave out --undo")
        stream = reading.open_for(model.task, preview, model)
        texts = [text for batch in stream for text in model.inputs_of(batch)]
        changed = model.preview_strike(texts, word, struck_for, precision=precision)
        show_preview(model, texts, changed, as_json)
        return
    if undo:
        model.unstrike(word, struck_for)
    else:
        model.strike(word, struck_for, person=person)
    shutil.copyfile(model_file, Path(f"{model_file}.before"))
    model.save(model_file)
    struck = [str(one) for one in model.strikes_]
    if as_json:
        print_json({"model": str(model_file), "struck": struck})
    elif undo:
        print(f"Done: {word!r} counts again.")
    else:
        print(f"Done: {struck[-1]}.")


def show_preview(
    model: Categorizer, texts: list[Any], changed: list[ChangedAnswer], as_json: bool
) -> None:
    """Print which texts would have another best label or decision."""
    if as_json:
        print_json({"texts": len(texts), "changed": [answer._asdict() for answer in changed]})
        return
    rows = []
    for answer in changed[:MOST_TEXTS_SHOWN]:
        text = " ".join(as_one_cell(texts[answer.number]).split())
        rows.append(
            [
                str(answer.number + 1),
                text[:TEXT_CHARACTERS],
                in_words(model, answer.best, answer.decided),
                in_words(model, answer.best_then, answer.decided_then),
            ]
        )
    title = f"{len(changed)} of {counted(len(texts), 'texts')} would change"
    print_table(title, ["text", "", "now", "then"], rows)


def in_words(model: Categorizer, best: Any, decided: list[Any]) -> str:
    """The labels that would be assigned, or the best one in brackets."""
    if decided:
        return ", ".join(map(model.name_of, decided))
    return "none" if best is None else f"({model.name_of(best)})"
