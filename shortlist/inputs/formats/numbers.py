"""Tables of numbers: CSV or TSV whose first line names the columns, one of which may be the target.

The target, a rating, may be a number or a text; all other columns are features. ``columns`` of the stream names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import ClassVar

import numpy as np

from shortlist.arrays.validation import as_rows
from shortlist.errors import InputError
from shortlist.inputs.examples import Examples, Places
from shortlist.inputs.formats.delimited import Csv, Layout
from shortlist.inputs.parsing.columns import Column, named, shown, twice
from shortlist.inputs.parsing.quoting import place_of
from shortlist.inputs.source import Source

TEXTS = "; to learn from texts, name their column with --text-column"
LEARNED = "; the column of what is learned is named with --target"


@dataclass
class Numbers(Csv):
    name = "numbers"
    description = "comma-separated numbers with named columns, of which target names the label"
    carries: ClassVar[tuple[str, ...]] = ("rows", "labels")
    endings = ()
    separators = ()

    target: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.target, str):
            self.target = self.target.strip()  # as the names of the columns are

    def wanted(self) -> list[Column]:
        return [] if self.target is None else [Column("target", self.target)]

    def _layout(self, source: Source, first: list[str]) -> Layout:
        """The columns by name: the target if it is there, and the features."""
        written, first = first, [name.strip() for name in first]
        if len(set(first)) != len(first):
            name = next(name for name in first if first.count(name) > 1)
            raise twice(f"{source.name}, line 1", name, written)
        places = {Column("feature", name): place for place, name in enumerate(first)}
        if all(_is_number(name) for name in first):
            raise InputError(f"{source.name}, line 1: expected the names of the columns, found numbers")
        if self.target is not None and self.target not in first:
            expected = f"expected a column {self.target!r} for the target, found {named(first)}"
            raise InputError(f"{source.name}, line 1: {expected}; name the right one with target= (--target)")
        source.progress.columns = [name for name in first if name != self.target]
        return Layout(len(first), places, True)

    def _examples(
        self, source: Source, layout: Layout, numbers: Sequence[int], columns: Sequence[Sequence[str]]
    ) -> Examples:
        places = {str(column.name): place for column, place in layout.columns.items()}
        features = {name: list(columns[place]) for name, place in places.items() if name != self.target}
        if self.separator == ";":
            features = {name: [self._with_point(cell) for cell in cells] for name, cells in features.items()}
        bad: dict[int, str] = {}  # each bad row is reported once, for its first bad cell
        for name, cells in features.items():
            for n in _bad_cells(cells):
                bad.setdefault(n, name)
        for n, name in sorted(bad.items()):
            column = place_of(places[name], [cells[n] for cells in columns])
            cell = features[name][n]
            hint = TEXTS if any(letter.isspace() for letter in cell.strip()) else "" if self.target else LEARNED
            source.bad(numbers[n], column, f"expected a finite number in {shown(name)}, found {shown(cell)}{hint}")
        kept = [n for n in range(len(numbers)) if n not in bad]
        table = np.empty((len(kept), len(features)))
        for column, cells in enumerate(features.values()):
            table[:, column] = [cells[n] for n in kept] if bad else cells
        examples = Examples(rows=as_rows(table), places=Places(source.name, [numbers[n] for n in kept]))
        if self.target in places:
            targets = [self._with_point(columns[places[self.target]][n].strip()) for n in kept]
            examples = replace(examples, labels=[[cell] if cell else [] for cell in targets])
        return examples


def _bad_cells(cells: list[str]) -> list[int]:
    """Which cells of a column are no finite numbers."""
    try:
        if np.isfinite(np.array(cells, dtype=np.float64)).all():
            return []
    except ValueError:
        pass
    return [n for n, cell in enumerate(cells) if not _is_number(cell)]


def _is_number(cell: str) -> bool:
    try:
        return isfinite(float(cell))
    except ValueError:
        return False
