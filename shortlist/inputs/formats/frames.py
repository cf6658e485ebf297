"""pandas and polars frames, from Python: columns for the text and the labels; a cell may hold one label or a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from shortlist.errors import InputError
from shortlist.inputs.examples import Examples
from shortlist.inputs.parsing.table import Table
from shortlist.inputs.source import Progress, Source


class Column(Protocol):
    """A column of a pandas or polars frame."""

    def to_list(self) -> list[object]: ...


class Frame(Protocol):
    """A pandas or polars frame."""

    @property
    def columns(self) -> Iterable[str | int]: ...
    def __getitem__(self, column: str | int, /) -> Column: ...
    def __len__(self) -> int: ...


@dataclass
class Frames(Table):
    name = "frame"
    description = "a pandas or polars frame, from Python, with columns for the text and the labels"

    @staticmethod
    def is_frame(source: object) -> TypeGuard[Frame]:
        return hasattr(type(source), "columns") and hasattr(type(source), "__len__")

    def examples(self, source: Source) -> Iterator[Examples]:
        raise InputError("a frame is given to read() itself, not as a file")

    def frame_examples(self, frame: Frame, progress: Progress) -> Iterator[Examples]:
        names = list(frame.columns)
        present = self.present(names, "the frame", progress)
        columns = [(column, frame[names[place]].to_list()) for column, place in present.items()]
        yield from self.columns_examples("the frame", 0, columns, progress)
