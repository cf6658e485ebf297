"""shortlist labels, inspect."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from shortlist.cli.options import (
    Json,
    Language,
    PolicyOption,
    Reading,
    VocabularyFile,
    label_called,
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
    from shortlist.models.label_changes import Change
    from shortlist.models.model import Model

MOST_LABELS_SHOWN = 20
FIRST_LETTERS = 60  # of a cell in a table


def labels(
    model_file: Annotated[
        Path,
        Argument(
            help="A model file, or the state folder of a server, which may be running.",
            show_default=False,
        ),
    ],
    action: Annotated[
        str,
        Argument(
            help="list, rename, merge, split, retire, restore, undo, or name.", show_default="list"
        ),
    ] = "list",
    names: Annotated[
        list[str] | None,
        Argument(
            help="The labels; behind them the new name or the label to merge into.",
            show_default=False,
        ),
    ] = None,
    vocabulary: VocabularyFile = None,
    language: Language = None,
    policy: PolicyOption = "grow",
    as_json: Json = False,
) -> None:
    """Look at the labels of a model, and change them.

    list PART finds labels by a part of their names or synonyms. rename OLD NEW; merge LABEL… INTO;
    split LABEL NEW, which begins with what LABEL has learned; retire LABEL…; restore LABEL…. undo
    takes the last change back: the model as it was is kept beside it, as MODEL-FILE.before. name
    gives the model the vocabulary of --vocabulary.

    In a state folder, changes are written to the journal, and a running server follows at once.
    """
    from shortlist.models.categorizer import Categorizer
    from shortlist.models.label_changes import CHANGES
    from shortlist.models.training_settings import open_model

    say_when_compiling()
    if model_file.is_dir():
        from shortlist.cli.state_labels import labels_of_state

        if vocabulary is not None:
            raise InputError("names are given to a model file, before it is served")
        labels_of_state(model_file, action, names or [], as_json)
        return
    backup = Path(f"{model_file}.before")
    if action == "undo":
        if not backup.is_file():
            raise InputError(f"there is no {backup}: nothing was changed that could be taken back")
        os.replace(backup, model_file)
        if as_json:
            print_json({"model": str(model_file)})
        else:
            print(f"Took the last change back: {model_file} is as it was before it.")
        return
    model = open_model(model_file)
    if not isinstance(model, Categorizer):
        raise InputError(
            "labels can be changed in models of texts with labels; this is another one"
        )
    if action == "list":
        show(model, " ".join(names or ()), as_json)
        return
    if action == "name":
        label_names = read_names(vocabulary, language, policy)
        if label_names is None or names:
            raise InputError("name takes a file of names, with --vocabulary, and no labels")
        n_named = sum(label in label_names for label in model.classes_.tolist())
        done = f"gave names to {counted(n_named, 'labels')}"
        with_names(model, label_names)
    elif action in CHANGES:
        change = change_in_words(model, action, names or [])
        model.change_labels(change)
        done = str(change)
    else:
        raise InputError(
            f"labels are changed by {', '.join(CHANGES)}, undo or name, not by {action!r}"
        )
    shutil.copyfile(model_file, backup)
    model.save(model_file)
    if as_json:
        print_json({"model": str(model_file), "done": done})
    else:
        print(f"Done: {done}. To take it back: shortlist labels {model_file} undo")


def change_in_words(model: Categorizer, action: str, names: list[str]) -> Change:
    """Return the change of labels that an action and names ask for."""
    from shortlist.models.label_changes import CHANGES, Change

    changed = [label_called(model, name) for name in names]
    goal = None
    if action in CHANGES[:3] and changed:
        goal = changed.pop()
    return Change(action, tuple(changed), goal)


def show(model: Categorizer, part: str, as_json: bool) -> None:
    """Print the labels whose names contain a text, the most frequent first."""
    vocabulary = model.vocabulary_
    hits = set() if vocabulary is None else set(vocabulary.find(part))
    pairs = zip(model.classes_.tolist(), model.label_counts_.tolist(), strict=True)
    records = [
        {
            "label": label,
            "name": model.name_of(label),
            "examples": n,
            "retired": label in model.retired_,
        }
        for label, n in sorted(pairs, key=lambda pair: -pair[1])
        if part.casefold() in str(label).casefold() or str(label) in hits
    ]
    if as_json:
        print_json({"labels": records})
        return
    rows = []
    for record in records[:MOST_LABELS_SHOWN]:
        note = "retired" if record["retired"] else ""
        rows.append([str(record["label"]), record["name"], record["examples"], note])
    title = counted(len(records), "labels")
    print_table(title, ["label", "name", "examples", ""], rows)


@reads
def inspect(
    *,
    file: Annotated[
        Path,
        Argument(help="A model file, or a file or folder of examples.", show_default=False),
    ],
    top: Annotated[
        int, Option("--top", "-n", min=1, help="How many labels and features to show.")
    ] = 10,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Show what a file holds: the size, labels and strongest features of a model, or how data
    are read; of a table without a column `text`, its columns.
    """
    from shortlist.files.store import is_model_file
    from shortlist.models.training_settings import open_model

    if not file.exists():
        raise InputError(f"there is no file or folder {file}")
    if file.is_file() and is_model_file(file):
        facts = about_model(open_model(file), top) | {"bytes": file.stat().st_size}
        show_facts = show_model
    else:
        show_facts = show_data
        try:
            facts = about_data(reading.open_for("categories", str(file)))
        except InputError:
            if reading.text_column or reading.target:
                raise
            try:
                facts = about_columns(reading, str(file))
            except InputError:
                facts = {}
            if not facts:
                raise
            show_facts = show_columns
    if as_json:
        print_json(facts)
    else:
        show_facts(file, facts)


PRECISIONS_EXAMINED = ("0.9", "0.95", "0.99")


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
    if model.confidence_.checks.n_checks:
        facts["spot_checks"] = {
            precision: str(model.examined(float(precision))) for precision in PRECISIONS_EXAMINED
        }
    counts = model.learner_.label_counts_
    frequent = []
    for number in np.argsort(-counts, kind="stable")[:top]:
        label = model.classes_[number].item()
        entry = {"label": label, "examples": int(counts[number])}
        if hasattr(model.learner_, "strongest"):
            entry["features"] = [list(pair) for pair in model.strongest(label, 5)]
        frequent.append(entry)
    facts["frequent_labels"] = frequent
    if hasattr(model.learner_, "strongest"):
        facts["largest_leaks"] = [list(pair) for pair in model.leaks(top)]
    return facts


def settings_in_words(model: Model[Any]) -> str:
    """Return the learner and the text part with the settings that are not the defaults."""
    from shortlist.models.model_search import called, changes
    from shortlist.models.text_batches import default_text

    text = getattr(model, "text_", None)
    settings = called(model.learner_)
    if text is not None:
        unusual = changes(text, default_text())
        if unusual:
            settings += f", text {unusual}"
    return settings


def show_model(file: Path, facts: dict[str, Any]) -> None:
    names = ["labels", "ratings", "queries", "features", "edges"]
    numbers = {name: facts[name] for name in names if name in facts}
    print(
        f"{file}: {facts['learner']}, {size(facts['bytes'])}, learned from "
        f"{counted(facts['examples'], 'examples')}: {facts_in_words(numbers)}"
    )
    print(f"Settings: {facts['settings']}")
    for struck in facts.get("struck", ()):
        print(f"Struck out: {struck}")
    if "encoder_device" in facts:
        print(f"Encoder: {facts['encoder']}, {facts['encoder_device']}")
    if "search" in facts:
        tried = facts["search"]["tried"]
        print(
            f"Chosen by a search among {len(tried)}, by {facts['search']['measure']}: "
            f"{facts['search']['chosen']}"
        )
    for precision, words in facts.get("spot_checks", {}).items():
        print(f"Spot checks at {precision}: {words}")
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
        for names in batch.labels or ():
            labels.update(names)
            n_labels += len(names)
        if batch.rows is not None:
            n_features = max(n_features, batch.rows.n_features)
            active += batch.rows.indices.size
    facts = {"format": stream.format, "examples": examples, "labels": len(labels)}
    if examples:
        facts |= {"labels_per_example": n_labels / examples, "first_example": first}
    if n_features:
        facts |= {"features": n_features, "features_per_example": active / examples}
    return facts | {"skipped": stream.skipped.count}


def about_columns(reading: Reading, source: str) -> dict[str, Any]:
    """Return what the columns of a table hold, whatever they are called; nothing if there are
    none.
    """
    from shortlist.inputs.tables import ALL_OTHERS

    every: dict[str, Any] = {"text": [], "labels": [], "wrong": None, "keep": ALL_OTHERS}
    stream = reading.open(source, **every)
    examples = 0
    columns: dict[str, dict[str, Any]] = {}
    values: dict[str, set[str]] = {}
    for batch in progress(stream, "reading"):
        examples += len(batch)
        for row in batch.kept or ():
            for name, cell in row.items():
                column = columns.setdefault(name, {"column": name, "filled": 0, "first": ""})
                if cell:
                    column["filled"] += 1
                    column["first"] = column["first"] or _brief([cell])
                    values.setdefault(name, set()).add(cell)
    for name, column in columns.items():
        column["different"] = len(values.get(name, ()))
    if not columns:
        return {}
    return {"format": stream.format, "examples": examples, "columns": list(columns.values())}


def show_columns(file: Path, facts: dict[str, Any]) -> None:
    rows = [
        [column["column"], column["filled"], column["different"], column["first"][:FIRST_LETTERS]]
        for column in facts["columns"]
    ]
    title = f"{file}: {facts['format']}, {counted(facts['examples'], 'rows')}"
    print_table(title, ["column", "filled", "different", "first"], rows)
    print("Name the columns of texts and labels: --text-column NAME --label-column NAME")


def show_data(file: Path, facts: dict[str, Any]) -> None:
    print(f"{file}:")
    for name, value in facts.items():
        if isinstance(value, int):
            value = f"{value:,}"
        elif isinstance(value, float):
            value = f"{value:.2f}"
        if name != "first_example":
            print(f"  {name.replace('_', ' ')}: {value}")
    for name, value in facts.get("first_example", {}).items():
        print(f"  first example, {name}: {value}")


def _brief(values: Any) -> Any:
    """Return the first of some values, cut short."""
    first = values[0]
    if isinstance(first, str):
        first = " ".join(first.split())
        if len(first) > 200:
            first = first[:200] + " …"
    return first.item() if hasattr(first, "item") else first
