"""Answers as they are printed: lines, JSON or CSV, each with the name of its example, and the text on request."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.concepts.vocabulary import LabelVocabulary
    from shortlist.inputs import Examples, Stream
    from shortlist.models.base import Answers

TOGETHER = "; "  # between labels in one cell


@dataclass
class Output:
    """How answers are printed. ``most``: how many labels each has, where that is fixed; CSV gives each its columns."""

    form: str = "lines"
    ids: bool = False
    texts: bool = False
    most: int | None = None
    probabilities: bool = False
    names: LabelVocabulary | None = None  # what labels are called
    _separator: str = ","
    _waiting: deque[Examples] = field(default_factory=deque)

    def noted(self, batches: Iterable[Examples]) -> Iterator[Examples]:
        """The same batches, of which is noted what goes with their answers."""
        for batch in batches:
            self._waiting.append(batch)
            yield batch

    def lines(self, answers: Iterable[Answers], stream: Stream | None = None) -> Iterator[str]:
        """What is printed of the answers to batches that were noted, line by line."""
        columns: list[str] | None = None
        for some in answers:
            examples = self._carried(self._waiting.popleft())
            if self.form == "lines" and self.names is None:
                for beside, line in zip(examples, some.lines(), strict=True):
                    yield "\t".join([*(" ".join(one.split()) for one in beside.values()), line]) + "\n"
                continue
            for beside, record in zip(examples, some.records(), strict=True):
                whole = beside | self._named(record)
                if self.form == "lines":
                    yield "\t".join([*(" ".join(one.split()) for one in beside.values()), *_triples(whole)]) + "\n"
                    continue
                if self.form == "json":
                    yield json.dumps(whole, ensure_ascii=False) + "\n"
                    continue
                if columns is None:
                    self._separator = (stream.separator if stream else None) or ","
                cells = self._cells(whole)
                if columns is None:
                    columns = list(cells)
                    yield self._row(columns)
                yield self._row(cells.get(name) for name in columns)

    def _carried(self, batch: Examples) -> Iterator[dict[str, str]]:
        """What goes with each answer."""
        ids = batch.ids if batch.ids is not None and (self.ids or self.form == "csv") else None
        texts = batch.texts if self.texts else None
        for n in range(len(batch)):
            named = {} if ids is None else {"id": ids[n]}
            yield named | ({} if texts is None else {"text": _as_one(texts[n])})

    def _named(self, record: dict[str, Any]) -> dict[str, Any]:
        """The answer with the names of its labels."""
        if self.names is None or "labels" not in record:
            return record
        named = {"labels": record["labels"], "names": [self.names.name(label) for label in record["labels"]]}
        return {name: value for name, value in record.items() if name == "id"} | named | record

    def _cells(self, record: dict[str, Any]) -> dict[str, Any]:
        """The cells of a row, by the names of their columns."""
        if "labels" not in record:
            return record
        lists = {"label": "labels", "name": "names", "score": "scores", "probability": "probabilities"}
        cells = {name: value for name, value in record.items() if not isinstance(value, list)}
        if self.most is None:
            if "names" in record:
                cells["names"] = TOGETHER.join(record["names"])
            cells["labels"] = TOGETHER.join(map(str, record["labels"]))
            cells["probabilities"] = TOGETHER.join(self._number(p) for p in record.get("probabilities", ()))
            return {"reason": None} | cells
        left_out = {"probability": not self.probabilities, "name": self.names is None}
        shown = [one for one in lists if not left_out.get(one)]
        for n in range(self.most):
            for one in shown:
                values = record.get(lists[one], ())
                cells[f"{one} {n + 1}"] = values[n] if n < len(values) else None
        return cells

    def _row(self, cells: Iterable[Any]) -> str:
        from shortlist.inputs.tables import as_line

        row = [self._number(cell) if isinstance(cell, float) else _guarded(cell) for cell in cells]
        return as_line(row, self._separator)

    def _number(self, number: float) -> str:
        """Where semicolons separate cells, numbers have decimal commas."""
        said = f"{number:.6g}"
        return said.replace(".", ",") if self._separator == ";" else said


def _guarded(cell: Any) -> Any:
    """A cell that no spreadsheet runs as a formula."""
    from shortlist.inputs.tables import guarded

    return guarded(cell) if isinstance(cell, str) else cell


def _triples(record: dict[str, Any]) -> Iterator[str]:
    """Label, name and score or probability, one after the other."""
    numbers = record.get("scores", record.get("probabilities", ()))
    for label, name, number in zip(record["labels"], record["names"], numbers, strict=True):
        yield from (" ".join(str(label).split()), " ".join(name.split()), f"{number:.6g}")


def _as_one(text: Any) -> str:
    """A text, or one of several fields, in one cell."""
    return text if isinstance(text, str) else "\n".join(value for value in text.values() if isinstance(value, str))
