"""shortlist groups."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from shortlist.cli.options import Json, ModelFile, Reading, reads
from shortlist.cli.terminal import print_json, print_table, say_when_compiling
from shortlist.errors import InputError, counted

TEXT_CHARACTERS = 60  # of a text in the table


@reads
def groups(
    *,
    model_file: ModelFile,
    data: Annotated[
        str, Argument(help="A file or folder of texts, or - for standard input.")
    ] = "-",
    precision: Annotated[
        float, Option(help="Texts that the model decides at this target precision are left out.")
    ] = 0.95,
    limit: Annotated[int, Option(min=1, help="How many groups to show.")] = 20,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Group the texts that the model does not decide: labels that nobody has named.

    Texts of a group share words that are new, or much more frequent than in what the model has
    learned; with an encoder, they are also close by meaning. Labels in the file are ignored. --json
    has the numbers of the texts of each group, from 0.
    """
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.training_settings import open_model

    say_when_compiling()
    model = open_model(model_file)
    if not isinstance(model, Categorizer):
        raise InputError("texts can be grouped by models of texts with labels only")
    stream = reading.open_for(model.task, data, model)
    texts = [text for batch in stream for text in model.inputs_of(batch)]
    found = model.group_unnamed(texts, precision=precision)[:limit]
    if as_json:
        print_json({"texts": len(texts), "groups": [group.to_dict() for group in found]})
        return
    rows = []
    for group in found:
        size = str(len(group.numbers))
        words = ", ".join(group.words)
        for text in group.typical:
            rows.append([size, words, " ".join(text.split())[:TEXT_CHARACTERS]])
            size = ""
            words = ""
    title = f"{counted(len(found), 'groups')} in {counted(len(texts), 'texts')}"
    print_table(title, ["texts", "words", "typical texts"], rows)
