"""The labelling configuration of a Label Studio project: where its texts are, and which labels people choose from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from shortlist.errors import InputError

BETWEEN = " > "  # the parts of a label of a taxonomy
TEXTS = ("Text", "HyperText", "Paragraphs")


@dataclass(frozen=True)
class Control:
    """A tag with which people choose labels of a text."""

    name: str
    to_name: str
    kind: str  # choices, taxonomy
    field: str  # of a task's data, which holds the text
    several: bool
    paths: dict[str, list[str]]  # of each label; empty where the labels come with the tasks

    def has(self, label: str) -> bool:
        return label in self.paths if self.paths else label != "" and self.kind == "choices"

    def text(self, task: dict[str, Any]) -> str:
        """The text of a task."""
        data = task.get("data")
        text = data.get(self.field) if isinstance(data, dict) else None
        if not isinstance(text, str):
            raise InputError(f"task {task.get('id')} has no text in its field {self.field!r}")
        return text

    def labels_in(self, results: object) -> list[str]:
        """The labels that were chosen with this tag."""
        found: list[str] = []
        for one in as_list(results, "result"):
            if isinstance(one, dict) and one.get("from_name") == self.name:
                value = one.get("value")
                chosen = as_list(value.get(self.kind) if isinstance(value, dict) else None, self.kind)
                found += [BETWEEN.join(map(str, label)) if isinstance(label, list) else str(label) for label in chosen]
        return list(dict.fromkeys(found))

    def as_result(self, labels: Sequence[str]) -> dict[str, Any]:
        """Labels as if they had been chosen with this tag."""
        chosen = [self.paths[label] for label in labels] if self.kind == "taxonomy" else list(labels)
        return {"from_name": self.name, "to_name": self.to_name, "type": self.kind, "value": {self.kind: chosen}}


def as_list(given: object, what: str) -> list[Any]:
    """A list, which may be left out."""
    if given is not None and not isinstance(given, list):
        raise InputError(f"{what} must be a list, not {str(given)[:40]}")
    return given or []


def control_of(config: object) -> Control:
    """The first tag of a configuration with which people choose labels of a whole text."""
    try:
        root = ElementTree.fromstring(config if isinstance(config, str) else "")
    except (ElementTree.ParseError, ValueError):
        raise InputError("the labelling configuration of the project is missing, or is no XML") from None
    fields = {tag.get("name"): tag.get("value", "") for tag in root.iter() if tag.tag in TEXTS}
    for tag in root.iter():
        field = fields.get(tag.get("toName"), "")
        if tag.tag in ("Choices", "Taxonomy") and field.startswith("$") and tag.get("perRegion") != "true":
            several = tag.tag == "Taxonomy" or tag.get("choice") == "multiple"
            leaves = {BETWEEN.join(path): path for path in paths_below(tag, [])}
            return Control(
                tag.get("name", ""), tag.get("toName", ""), tag.tag.lower(), field[1:], several, leaves
            )  # fmt: skip
    raise InputError("the labelling configuration needs <Choices> or <Taxonomy> for a <Text> whose value is a $field")


def paths_below(tag: ElementTree.Element, above: list[str]) -> Iterator[list[str]]:
    """The way to each choice, from the top; what Label Studio calls it is its alias, if it has one."""
    for below in tag:
        if below.tag == "Choice":
            path = [*above, below.get("alias") or below.get("value") or ""]
            yield path
            yield from paths_below(below, path)
        else:
            yield from paths_below(below, above)
