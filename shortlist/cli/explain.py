"""shortlist explain"""

from __future__ import annotations

from typing import Annotated

import typer

from shortlist.cli.options import Json, ModelFile
from shortlist.cli.terminal import print_json, print_table, say_when_compiling


def explain(
    model_file: ModelFile,
    text: Annotated[str, typer.Option(help="The text to explain.", show_default=False)],
    label: Annotated[str | None, typer.Option(help="The label to explain; the best one if not given.")] = None,
    top: Annotated[int, typer.Option("--top", "-n", min=0, help="How many votes to show; 0 for all.")] = 10,
    as_json: Json = False,
) -> None:
    """Say why a text gets a label: the votes of its words, which sum to the label's score."""
    from shortlist.models.making import open_model

    say_when_compiling()
    model = open_model(model_file)
    found = model._explain_text(text, label)
    votes = found.votes if top == 0 else found.votes[:top]
    name = model.name_of(found.label)
    if as_json:
        named = {} if getattr(model, "vocabulary_", None) is None else {"name": name}
        print_json({"label": found.label} | named | {"score": found.score, "votes": votes})
        return
    rest = found.votes[len(votes) :]
    shown = list(votes) + ([(f"{len(rest)} others", sum(vote for _, vote in rest))] if rest else [])
    title = name if name == str(found.label) else f"{name} ({found.label})"
    print_table(f"{title}: {found.score:.4f}", ["word", "vote"], shown)
