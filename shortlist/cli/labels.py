"""shortlist labels"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.options import Json, Language, ModelFile, Policy, Vocabulary, read_names, with_names
from shortlist.cli.terminal import print_json, print_table, say_when_compiling
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.models.categorizer import Categorizer

SHOWN = 20


def labels(
    model_file: ModelFile,
    action: Annotated[
        str, typer.Argument(help="list, rename, merge, split, retire, restore, undo, or name.", show_default="list")
    ] = "list",
    given: Annotated[
        list[str] | None,
        typer.Argument(help="The labels; behind them the new name or the label to merge into.", show_default=False),
    ] = None,
    vocabulary: Vocabulary = None,
    language: Language = None,
    policy: Policy = "grow",
    as_json: Json = False,
) -> None:
    """Look at the labels of a model, and change them.

    list PART finds labels by a part of their names or synonyms. rename OLD NEW; merge LABEL… INTO; split LABEL NEW,
    which begins with what LABEL has learned; retire LABEL…; restore LABEL…. undo takes the last change back: the model
    as it was is kept beside it, as MODEL-FILE.before. name gives the model the vocabulary of --vocabulary.
    """
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.making import open_model
    from shortlist.models.relabelling import CHANGES, Change

    say_when_compiling()
    before = Path(f"{model_file}.before")
    if action == "undo":
        if not before.is_file():
            raise InputError(f"there is no {before}: nothing was changed that could be taken back")
        os.replace(before, model_file)
        print_json({"model": str(model_file)}) if as_json else print(f"{model_file} is as it was before.")
        return
    model = open_model(model_file)
    if not isinstance(model, Categorizer):
        raise InputError("labels can be changed in models of texts with labels; this is another one")
    if action == "list":
        show(model, " ".join(given or ()), as_json)
        return
    if action == "name":
        names = read_names(vocabulary, language, policy)
        if names is None or given:
            raise InputError("name takes a file of names, with --vocabulary, and no labels")
        done = f"gave names to {counted(sum(label in names for label in model.classes_.tolist()), 'labels')}"
        with_names(model, names)
    elif action in CHANGES:
        known = {str(label): label for label in model.classes_.tolist()}
        names_of = model.vocabulary_
        found = [
            known.get(name if name in known or names_of is None else names_of.of_name(name) or name, name)
            for name in given or ()
        ]
        has_goal = action in CHANGES[:3] and found
        change = Change(action, tuple(found[:-1] if has_goal else found), found[-1] if has_goal else None)
        model.change_labels(change)
        done = str(change)
    else:
        raise InputError(f"labels are changed by {', '.join(CHANGES)}, undo or name, not by {action!r}")
    shutil.copyfile(model_file, before)
    model.save(model_file)
    if as_json:
        print_json({"model": str(model_file), "done": done})
    else:
        print(f"Done: {done}. To take it back: shortlist labels {model_file} undo")


def show(model: Categorizer, part: str, as_json: bool) -> None:
    """The labels whose names hold these letters, the most frequent first."""
    vocabulary = model.vocabulary_
    hits = None if vocabulary is None else set(vocabulary.find(part))
    pairs = zip(model.classes_.tolist(), model.label_counts_.tolist(), strict=True)
    wanted = part.casefold()
    found = [
        {"label": label, "name": model.name_of(label), "examples": n, "retired": label in model.retired_}
        for label, n in pairs if wanted in str(label).casefold() or (hits is not None and str(label) in hits)
    ]  # fmt: skip
    found.sort(key=lambda one: -int(one["examples"]))
    if as_json:
        print_json({"labels": found})
        return
    rows = [[str(one["label"]), one["name"], one["examples"], "retired" if one["retired"] else ""] for one in found]
    print_table(counted(len(found), "labels"), ["label", "name", "examples", ""], rows[:SHOWN])
