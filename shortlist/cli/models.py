"""shortlist labels, inspect."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options import (
    Json,
    Language,
    ModelFile,
    Policy,
    Reading,
    Vocabulary,
    read_names,
    reads,
    with_names,
)
from shortlist.cli.terminal import (
    facts_in_words,
    print_json,
    print_table,
    progress,
    say_when_compiling,
    size,
)
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.inputs import Stream
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.model import Model

SHOWN = 20


def labels(
    model_file: ModelFile,
    action: Annotated[
        str,
        typer.Argument(
            help="list, rename, merge, split, retire, restore, undo, or name.", show_default="list"
        ),
    ] = "list",
    given: Annotated[
        list[str] | None,
        typer.Argument(
            help="The labels; behind them the new name or the label to merge into.",
            show_default=False,
        ),
    ] = None,
    vocabulary: Vocabulary = None,
    language: Language = None,
    policy: Policy = "grow",
    as_json: Json = False,
) -> None:
    """Look at the labels of a model, and change them.

    list PART finds labels by a part of their names or synonyms. rename OLD NEW; merge LABEL… INTO;
    split LABEL NEW, which begins with what LABEL has learned; retire LABEL…; restore LABEL…. undo
    takes the last change back: the model as it was is kept beside it, as MODEL-FILE.before. name
    gives the model the vocabulary of --vocabulary.
    """
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.label_changes import CHANGES, Change
    from shortlist.models.training_settings import open_model

    say_when_compiling()
    before = Path(f"{model_file}.before")
    if action == "undo":
        if not before.is_file():
            raise InputError(f"there is no {before}: nothing was changed that could be taken back")
        os.replace(before, model_file)
        print_json({"model": str(model_file)}) if as_json else print(
            f"{model_file} is as it was before."
        )
        return
    model = open_model(model_file)
    if not isinstance(model, Categorizer):
        raise InputError(
            "labels can be changed in models of texts with labels; this is another one"
        )
    if action == "list":
        show(model, " ".join(given or ()), as_json)
        return
    if action == "name":
        names = read_names(vocabulary, language, policy)
        if names is None or given:
            raise InputError("name takes a file of names, with --vocabulary, and no labels")
        done = (
            "gave names to "
            f"{counted(sum(label in names for label in model.classes_.tolist()), 'labels')}"
        )
        with_names(model, names)
    elif action in CHANGES:
        known = {str(label): label for label in model.classes_.tolist()}
        names_of = model.vocabulary_
        found = [
            known.get(
                name if name in known or names_of is None else names_of.of_name(name) or name, name
            )
            for name in given or ()
        ]
        has_goal = action in CHANGES[:3] and found
        change = Change(
            action, tuple(found[:-1] if has_goal else found), found[-1] if has_goal else None
        )
        model.change_labels(change)
        done = str(change)
    else:
        raise InputError(
            f"labels are changed by {', '.join(CHANGES)}, undo or name, not by {action!r}"
        )
    shutil.copyfile(model_file, before)
    model.save(model_file)
    if as_json:
        print_json({"model": str(model_file), "done": done})
    else:
        print(f"Done: {done}. To take it back: shortlist labels {model_file} undo")


def show(model: Categorizer, part: str, as_json: bool) -> None:
    """Print the labels whose names contain a text, the most frequent first."""
    vocabulary = model.vocabulary_
    hits = None if vocabulary is None else set(vocabulary.find(part))
    pairs = zip(model.classes_.tolist(), model.label_counts_.tolist(), strict=True)
    wanted = part.casefold()
    found = [
        {
            "label": label,
            "name": model.name_of(label),
            "examples": n,
            "retired": label in model.retired_,
        }
        for label, n in pairs
        if wanted in str(label).casefold() or (hits is not None and str(label) in hits)
    ]
    found.sort(key=lambda one: -int(one["examples"]))
    if as_json:
        print_json({"labels": found})
        return
    rows = [
        [str(one["label"]), one["name"], one["examples"], "retired" if one["retired"] else ""]
        for one in found
    ]
    print_table(counted(len(found), "labels"), ["label", "name", "examples", ""], rows[:SHOWN])


@reads
def inspect(
    *,
    file: Annotated[
        Path,
        typer.Argument(help="A model file, or a file or folder of examples.", show_default=False),
    ],
    top: Annotated[
        int, typer.Option("--top", "-n", min=1, help="How many labels and features to show.")
    ] = 10,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Show what a file holds: the size, labels and strongest features of a model, or how data
    are read.
    """
    from shortlist.files.store import is_model_file
    from shortlist.models.training_settings import open_model

    if not file.exists():
        raise InputError(f"there is no file or folder {file}")
    if file.is_file() and is_model_file(file):
        facts = about_model(open_model(file), top) | {"bytes": file.stat().st_size}
        print_json(facts) if as_json else show_model(file, facts)
    else:
        stream = reading.open_for("categories", str(file))
        facts = about_data(stream)
        print_json(facts) if as_json else show_data(file, facts)


def about_model(model: Model[Any], top: int) -> dict[str, Any]:
    """Return the numbers of a model, the features of its most frequent labels, and its largest
    leaks.
    """
    import numpy as np

    from shortlist.models.category_model import CategoryModel
    from shortlist.models.encoding import facts_of_encoder

    facts = model.describe() | model.part_parameters() | {"settings": settings_in_words(model)}
    facts |= facts_of_encoder(getattr(model, "encoder", None))
    if getattr(model, "search_", None) is not None:
        facts["search"] = model.search_
    if not isinstance(model, CategoryModel):
        return facts
    labels, counts = model.classes_, model.learner_.label_counts_
    frequent = [labels[i].item() for i in np.argsort(-counts, kind="stable")[:top]]
    facts["frequent_labels"] = [
        {"label": label, "examples": int(n)}
        for label, n in zip(frequent, -np.sort(-counts, kind="stable")[:top], strict=True)
    ]
    if hasattr(model.learner_, "strongest"):
        for entry in facts["frequent_labels"]:
            entry["features"] = [list(pair) for pair in model.strongest(entry["label"], 5)]
        facts["largest_leaks"] = [list(pair) for pair in model.leaks(top)]
    return facts


def settings_in_words(model: Model[Any]) -> str:
    """Return the learner and the text part with the settings that are not the defaults."""
    from shortlist.models.model_search import called, changes
    from shortlist.models.text_batches import default_text

    text = getattr(model, "text_", None)
    unusual = "" if text is None else changes(text, default_text())
    return called(model.learner_) + (f", text {unusual}" if unusual else "")


def show_model(file: Path, facts: dict[str, Any]) -> None:
    named = ["labels", "ratings", "queries", "features", "edges"]
    numbers = {name: facts[name] for name in named if name in facts}
    print(
        f"{file}: {facts['learner']}, {size(facts['bytes'])}, learned from "
        f"{counted(facts['examples'], 'examples')}: "
        f"{facts_in_words(numbers)}"
    )
    print(f"Settings: {facts['settings']}")
    if "encoder_device" in facts:
        print(f"Encoder: {facts['encoder']}, {facts['encoder_device']}")
    if "search" in facts:
        tried = facts["search"]["tried"]
        print(
            f"Chosen by a search among {len(tried)}, by {facts['search']['measure']}: "
            f"{facts['search']['chosen']}"
        )
    if "frequent_labels" not in facts:
        return
    rows = []
    for entry in facts["frequent_labels"]:
        features = "  ".join(f"{name} {weight:.2f}" for name, weight in entry.get("features", []))
        rows.append([str(entry["label"]), entry["examples"], features])
    print_table("The most frequent labels", ["label", "examples", "strongest features"], rows)
    if facts.get("largest_leaks"):
        print("Features with the largest leaks: seen with everything, they predict nothing")
        print_table("", ["feature", "leak"], facts["largest_leaks"])


def about_data(stream: Stream) -> dict[str, Any]:
    """Return what was read of a file of examples."""
    examples = n_labels = n_features = active = 0
    labels: set[str] = set()
    first: dict[str, Any] = {}
    for batch in progress(stream, "reading"):
        if not examples:
            first = {name: _brief(values) for name, values in batch.columns() if name != "rows"}
        examples += len(batch)
        for own in batch.labels or ():
            labels.update(own)
            n_labels += len(own)
        if batch.rows is not None:
            n_features = max(n_features, batch.rows.n_features)
            active += batch.rows.indices.size
    facts = {"format": stream.format, "examples": examples, "labels": len(labels)}
    if examples:
        facts |= {"labels_per_example": n_labels / examples, "first_example": first}
    if n_features:
        facts |= {"features": n_features, "features_per_example": active / examples}
    return facts | {"skipped": stream.skipped.count}


def show_data(file: Path, facts: dict[str, Any]) -> None:
    print(f"{file}:")
    for name, value in facts.items():
        if name != "first_example":
            shown = (
                f"{value:,}"
                if isinstance(value, int)
                else f"{value:.2f}"
                if isinstance(value, float)
                else value
            )
            print(f"  {name.replace('_', ' ')}: {shown}")
    for name, value in facts.get("first_example", {}).items():
        print(f"  first example, {name}: {value}")


def _brief(values: Any) -> Any:
    """Return the first of some values, cut short."""
    first = values[0]
    if isinstance(first, str):
        first = " ".join(first.split())
        return first if len(first) <= 200 else first[:200] + " …"
    return first.item() if hasattr(first, "item") else first
