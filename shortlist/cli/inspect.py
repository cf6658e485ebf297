"""shortlist inspect"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options import Json, Reading, reads
from shortlist.cli.terminal import facts_in_words, print_json, print_table, progress, size
from shortlist.errors import InputError, counted

if TYPE_CHECKING:
    from shortlist.inputs import Stream
    from shortlist.models.base import Model


@reads
def inspect(
    *,
    file: Annotated[Path, typer.Argument(help="A model file, or a file or folder of examples.", show_default=False)],
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="How many labels and features to show.")] = 10,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Say what a file is: of a model its size, labels and strongest connections; of data what was understood."""
    from shortlist.files.store import is_model_file
    from shortlist.models.making import open_model

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
    """The numbers of a model, the features behind its most frequent labels, and the features that leak the most."""
    import numpy as np

    from shortlist.models.category_model import CategoryModel

    facts = model.describe() | model._parameters() | {"settings": settings_in_words(model)}
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
    """The learner, and the text part where there is one, with the settings that are not the usual ones."""
    from shortlist.models.search import called, changes
    from shortlist.models.text_batches import default_text

    text = getattr(model, "text_", None)
    unusual = "" if text is None else changes(text, default_text())
    return called(model.learner_) + (f", text {unusual}" if unusual else "")


def show_model(file: Path, facts: dict[str, Any]) -> None:
    named = ["labels", "ratings", "queries", "features", "edges"]
    numbers = {name: facts[name] for name in named if name in facts}
    print(
        f"{file}: {facts['learner']}, {size(facts['bytes'])}, learned from {counted(facts['examples'], 'examples')}: "
        f"{facts_in_words(numbers)}"
    )
    print(f"Settings: {facts['settings']}")
    if "search" in facts:
        tried = facts["search"]["tried"]
        print(f"Chosen by a search among {len(tried)}, by {facts['search']['measure']}: {facts['search']['chosen']}")
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
    """What was understood of a file of examples."""
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
            shown = f"{value:,}" if isinstance(value, int) else f"{value:.2f}" if isinstance(value, float) else value
            print(f"  {name.replace('_', ' ')}: {shown}")
    for name, value in facts.get("first_example", {}).items():
        print(f"  first example, {name}: {value}")


def _brief(values: Any) -> Any:
    """The first of some values, cut short."""
    first = values[0]
    if isinstance(first, str):
        first = " ".join(first.split())
        return first if len(first) <= 200 else first[:200] + " …"
    return first.item() if hasattr(first, "item") else first
